"""Learnt quantiles: the line of all numbers, the exact choice, the distribution of medians for all small columns."""

import math
from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations

import numpy as np
import pytest
from scipy import stats

from skdpmic.budget.filters import Cost
from skdpmic.privacy import noise as weighted_choice
from skdpmic.privacy.noise import entropy_source, exponential_bounds
from skdpmic.release import bounds as edges
from skdpmic.release import public_lines as number_line
from skdpmic.release.bounds import medians, n_levels, private_quantiles, rates
from skdpmic.release.public_lines import DATE_LINE, NUMBER_LINE, PLACES_IN_CELL
from tests.privacy.auditing import largest_log_ratio, privacy_loss_at_least

N_POSITIONS = NUMBER_LINE.n_positions
to_numbers, to_positions = NUMBER_LINE.to_numbers, NUMBER_LINE.to_positions
ALPHA = 1e-3  # of each chi-square test; seeds are fixed, so a pass stays a pass

# --- The line of all numbers --------------------------------------------------------------------------------------

MAX = np.finfo(np.float64).max
NUMBERS = np.array(
    [-MAX, -1e20, -3.0, -1.0, -1e-20, -5e-324, -0.0, 0.0, 5e-324, 1e-310, 1e-20, 0.1, 1, 3, 65537, 131071, 1e20, MAX]
)


def to_number(position):
    return to_numbers(np.array([position]))[0]


def lowest(n_bytes):
    return b"\x00" * n_bytes


def highest(n_bytes):
    return b"\xff" * n_bytes


@pytest.mark.parametrize("source", [lowest, highest, entropy_source(0)])
def test_finite_numbers_have_ordered_positions_and_are_recovered_up_to_rounding(source):
    positions = to_positions(NUMBERS, source)
    assert ((positions >= 0) & (positions < N_POSITIONS)).all()
    assert (np.diff(positions[np.diff(NUMBERS, prepend=-math.inf) > 1e-300]) > 0).all()
    back = to_numbers(positions)
    np.testing.assert_allclose(back, NUMBERS, rtol=2**-16, atol=1e-311)
    assert (np.abs(back) <= np.abs(NUMBERS)).all()  # rounded towards zero; the smallest become zero
    exact = np.isin(NUMBERS, [-3, -1, 0, 1, 3, 65537, 131071])
    assert (back[exact] == NUMBERS[exact]).all()


def test_a_line_of_positions_has_room_for_weights_in_64_bits():
    assert N_POSITIONS < 2**58
    assert to_number(0) < -1.79e308
    assert to_number(N_POSITIONS) > 1.79e308  # the last possible position of a median


def test_equal_numbers_are_spread_over_their_cell():
    first, last = (int(to_positions(np.array([3.0]), source)[0]) for source in (lowest, highest))
    assert to_number(first) == to_number(last) == 3.0
    assert to_number(first - 1) < 3.0
    cell = (last - first) // (PLACES_IN_CELL - 1) * PLACES_IN_CELL
    assert to_number(first + cell - 1) == 3.0
    assert to_number(first + cell) > 3.0
    places = (to_positions(np.full(1000, 3.0), entropy_source(0)) - first) / cell
    assert stats.kstest(places, "uniform").pvalue > ALPHA


def test_the_position_of_a_number_depends_on_no_other_number():
    here, there = NUMBERS.copy(), NUMBERS.copy()
    there[4] = 17.0
    moved = to_positions(here, entropy_source(0)) != to_positions(there, entropy_source(0))
    assert np.flatnonzero(moved).tolist() == [4]


@pytest.mark.parametrize("first", [1, 2**16, (1023 << 16) - 40])
def test_a_code_weighs_as_much_as_the_powers_of_two_that_divide_it(first):
    codes = np.arange(first, first + 100)
    weights = np.diff(number_line._weight_of_codes_to(np.arange(first - 1, first + 100)))
    assert weights.tolist() == [sum(2**i for i in range(17) if code % 2**i == 0) for code in codes]


def octave(power):
    return np.diff(to_positions(np.array([2.0**power, 2.0 ** (power + 1)]), lowest))[0]


def test_octaves_of_everyday_size_weigh_more_and_every_octave_has_some_weight():
    assert octave(0) == octave(23) == octave(-16) == 8 * octave(24) == 8 * octave(63) == 8 * octave(-64)
    assert octave(0) == 256 * octave(64) == 256 * octave(1000) == 256 * octave(-65) == 256 * octave(-1000)
    assert octave(0) * 58 < N_POSITIONS / 2 < octave(0) * 60


# --- The line of all dates ----------------------------------------------------------------------------------------

FAR = ["-100000", "0001", "1899-12-31T23:59:59.9", "2100", "9999-12-31", "100000"]
NEAR = ["1900", "1969-12-31T23:59:59.5", "1970", "2023-05-17", "2023-05-17T00:00:01", "2023-05-17T09:30:00.7", "2099"]
DATES = np.sort(np.array([*FAR, *NEAR, "2099-12-31T23:59:59.9"], dtype="M8[ms]"))
SECONDS = DATES.astype(np.int64) / 1000


@pytest.mark.parametrize("source", [lowest, highest, entropy_source(0)])
def test_dates_have_ordered_positions_and_are_recovered_to_the_second_or_beyond_200_years_to_the_day(source):
    positions = DATE_LINE.to_positions(SECONDS, source)
    assert ((positions >= 0) & (positions < DATE_LINE.n_positions)).all()
    assert (np.diff(positions) > 0).all()
    back = DATE_LINE.to_numbers(positions).astype(np.int64).astype("M8[s]")
    years = DATES.astype("M8[Y]").astype(int) + 1970
    is_modern = (years >= 1900) & (years < 2100)
    np.testing.assert_array_equal(back, np.where(is_modern, DATES.astype("M8[s]"), DATES.astype("M8[D]")))


def test_the_farthest_instants_also_have_positions():
    far = np.array([-9.2e18, 9.2e18])  # seconds, as far as numpy counts
    positions = DATE_LINE.to_positions(far, lowest)
    assert positions[0] == 0
    assert 0 < positions[1] < DATE_LINE.n_positions < 2**58
    ends = DATE_LINE.to_numbers(np.array([0, DATE_LINE.n_positions]))
    np.testing.assert_array_equal(ends, DATE_LINE.to_numbers(positions))


@pytest.mark.parametrize("first", ["1900", "1969-12-31T23:59:00", "2023-05-17T09:59:30", "2099-12-31T23:00:00"])
def test_the_weight_of_a_second_includes_the_minute_hour_and_day_that_begin_with_it(first):
    codes = int(np.datetime64(first, "s").astype(np.int64)) + np.arange(3601)
    weights = np.diff(DATE_LINE.starts(codes))
    expected = [sum(each for each in (1, 60, 3600, 86400) if code % each == 0) for code in codes[:-1].tolist()]
    assert weights.tolist() == expected


def test_all_days_within_200_years_weigh_the_same_and_days_beyond_have_a_small_weight():
    def day(date):
        first = float(np.datetime64(date, "s").astype(np.int64))
        return int(np.diff(DATE_LINE.to_positions(np.array([first, first + 86_400]), lowest))[0])

    assert day("1900-01-01") == day("1969-12-31") == day("2023-05-17") == day("2099-12-31") == 4 * 86400 * 2**20
    assert day("1899-12-31") == day("2100-01-01") == day("-50000-01-01") == 64 * 2**20
    assert 0.75 < 73_049 * day("2023-05-17") / DATE_LINE.n_positions < 0.85


@pytest.mark.parametrize("n_seconds, atol", [(86_400, 0.05), (3_600, 0.05), (2 * 365 * 86_400, 0.04)])
def test_quantiles_are_found_for_dates_within_a_day_and_within_an_hour(n_seconds, atol):
    # n * epsilon = 2,000; 7 quantiles. On the line of numbers, a day has 5 parts and an hour has one.
    seconds = 1_684_314_000 + np.random.default_rng(0).integers(0, n_seconds, size=20_000).astype(np.float64)
    found = private_quantiles(seconds, Fraction(1, 10), 3, DATE_LINE, entropy_source(0))
    ranks = [(seconds < quantile).mean() for quantile in found]
    np.testing.assert_allclose(ranks, np.arange(1, 8) / 8, atol=atol)
    assert DATE_LINE.is_too_coarse_for(found) is False


def test_a_line_is_too_coarse_if_quantiles_outnumber_the_neighbouring_parts_that_hold_them():
    assert DATE_LINE.is_too_coarse_for(np.array([5.0, 5.0, 6.0]))
    assert not DATE_LINE.is_too_coarse_for(np.array([5.0, 6.0, 7.0]))
    assert not DATE_LINE.is_too_coarse_for(np.array([5.0]))  # one quantile says nothing about the others
    assert NUMBER_LINE.is_too_coarse_for(np.array([-9.0, *np.full(5, 3.0), 1e9]))  # the outer quantiles may be outliers
    assert not NUMBER_LINE.is_too_coarse_for(np.array([0.0, 0, 0, 0, 0, 1, 1]))
    assert not NUMBER_LINE.is_too_coarse_for(np.array([-9.0, 3.0, 3.0, 3.0, 3.0, 4.0, 1e9]))


# --- An exact choice ------------------------------------------------------------------------------------------------


def exact_exponential(x, digits=120):
    with localcontext() as context:
        context.prec = digits
        return (-Decimal(x.numerator) / Decimal(x.denominator)).exp()


@pytest.mark.parametrize("precision", [1, 64, 200])
@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(77, 3), 10**4])
def test_bounds_of_an_exponential_contain_it_and_are_tight(x, precision):
    below, above = exponential_bounds(Fraction(x), precision)
    with localcontext() as context:
        context.prec = 120
        assert below <= exact_exponential(Fraction(x)) * 2**precision <= above
    assert above - below <= 2


def test_rounding_leaves_no_bound_of_an_exponential_on_the_wrong_side():
    # The margin is a thousandth of a unit: without it, one in a thousand bounds would be on the wrong side.
    random = np.random.default_rng(0)
    for numerator, denominator in random.integers(1, 2**20, size=(5000, 2)).tolist():
        x = Fraction(numerator, denominator)
        below, above = exponential_bounds(x, 20)
        assert below <= exact_exponential(x, 40) * 2**20 <= above


CHOICES = {  # weights, losses, rate
    "plain": ([3, 1, 4, 1, 5], [0, 2, 1, 5, 3], Fraction(1, 3)),
    "far above zero": ([3, 1, 4, 1, 5], [70, 72, 71, 75, 73], Fraction(1, 3)),
    "some without weight": ([0, 2, 0, 9, 0], [0, 7, 1, 9, 2], Fraction(1, 2)),
    "weights that make up for losses": ([1, 2**20, 2**40, 2**55], [0, 14, 28, 38], Fraction(1)),
    "no loss matters": ([1, 2, 3], [5, 0, 9], Fraction(0)),
    "only the least losses": ([1, 2, 3, 4], [5, 2, 2, 9], math.inf),
}


@pytest.mark.few
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in ("plain", "only the least losses")))
        for name in CHOICES
    ],
)
def test_a_weighted_choice_follows_its_distribution(name):
    # chi-square, n = 4,000; a rate that is 20% off has a p-value below alpha
    weights, losses, rate = CHOICES[name]
    weights, losses, n = np.array(weights), np.array(losses), 4000
    source = entropy_source(0)
    drawn = [weighted_choice.weighted_choice(weights, losses, rate, source) for _ in range(n)]
    observed = np.bincount(drawn, minlength=len(weights))

    def p_value(factor):
        least = losses[weights > 0].min()
        factors = (losses == least) if rate == math.inf else np.exp(-factor * float(rate) * (losses - least))
        expected = weights * factors / (weights * factors).sum()
        kept = expected > 0
        assert observed[~kept].sum() == 0
        return stats.chisquare(observed[kept], n * expected[kept]).pvalue

    assert p_value(1) > ALPHA
    if rate not in (0, math.inf):
        assert p_value(0.8) < ALPHA
        assert p_value(1.25) < ALPHA


def test_a_proposal_is_never_too_unlikely():
    random = np.random.default_rng(0)
    for _ in range(200):
        weights = np.floor(2.0 ** random.uniform(0, 50, size=20)).astype(np.int64) * random.integers(0, 2, size=20)
        weights[0] += 1
        losses = np.floor(2.0 ** random.uniform(0, 30, size=20)).astype(np.int64) - 1
        rate = Fraction(int(random.integers(1, 10**6)), int(2.0 ** random.uniform(1, 50)))
        losses -= losses[weights > 0].min()
        losses = np.maximum(losses, 0)
        ceilings, shift = weighted_choice._ceilings(weights, losses, rate)
        assert 2**57 < ceilings.sum() < 2**60
        for ceiling, weight, loss in zip(ceilings.tolist(), weights.tolist(), losses.tolist(), strict=True):
            _, above = exponential_bounds(rate * loss, 200)
            assert ceiling << 200 >= (weight << shift) * above  # one unit of 2**-200 is far below the slack
            if weight:
                assert ceiling <= (weight << shift) * above / 2**200 * (1 + 2**-30) + 2


def test_a_coin_takes_as_many_bits_as_it_needs():
    # The first 192 bits drawn are those of exp(-1), so the next ones decide.
    with localcontext() as context:
        context.prec = 120
        bits = int(exact_exponential(Fraction(1)) * 2**192).to_bytes(24, "big")

    def source_ending_in(last):
        chunks = [bits[i : i + 8][::-1] for i in (0, 8, 16)] + [last]
        return lambda n_bytes: chunks.pop(0)

    assert weighted_choice._is_below(0, 1, Fraction(1), source_ending_in(b"\x00" * 8))
    assert not weighted_choice._is_below(0, 1, Fraction(1), source_ending_in(b"\xff" * 8))


def test_a_coin_has_its_probability():
    n, p = 4000, 5 * math.exp(-1) - 1  # a point in [1, 2) is below 5 / e
    source = entropy_source(0)
    hits = sum(weighted_choice._is_below(1, 5, Fraction(1), source) for _ in range(n))
    assert abs(hits - n * p) <= 4 * math.sqrt(n * p * (1 - p))  # alpha 6e-5


# --- The distribution of medians, for all small columns -----------------------------------------------------------

LINES = {1: 30, 2: 8}  # number of positions by levels: enough to nearly attain the bound
EPSILON = Fraction(3)


class DrawNeeded(Exception):
    """The path of draws is used up, and another draw is requested."""


def every_path(run):
    """The distribution of ``run(draw)``, where ``draw(probabilities)`` draws, over all paths of its draws."""
    law, paths = defaultdict(float), [((), 1.0)]
    while paths:
        path, probability = paths.pop()
        rest = iter(path)

        def draw(probabilities, rest=rest):
            for choice in rest:
                return choice
            raise DrawNeeded(probabilities)

        try:
            law[run(draw)] += probability
        except DrawNeeded as needed:
            paths += [((*path, i), probability * p) for i, p in enumerate(needed.args[0]) if p > 0]
    return dict(law)


def law_of_medians(column, rates, monkeypatch):
    """The distribution of what the code returns, if its two draws follow their distributions."""
    positions = np.array(sorted(value for value in column if value is not None), dtype=np.int64)
    line = LINES[len(rates)]

    def run(draw):
        def choose(weights, losses, rate, source):
            likelihoods = weights * np.exp(-float(rate) * losses)
            return draw(likelihoods / likelihoods.sum())

        monkeypatch.setattr(edges, "weighted_choice", choose)
        monkeypatch.setattr(edges, "uniform_below", lambda bound, *_: [draw([1 / bound] * bound)])
        return tuple(medians(positions, line, rates, None))

    return every_path(run)


def law_by_the_theorem(column, rates):
    """The same distribution, as the theorem states it."""
    values = [value for value in column if value is not None]
    laws = {(0, LINES[len(rates)]): 1.0}
    for rate in rates:
        longer = defaultdict(float)
        for places, probability in laws.items():
            drawn = {(): probability}
            for first, last in pairwise(places):
                inside = [value for value in values if first <= value < last]
                weights = {
                    q: math.exp(-float(rate) * abs(sum(value < q for value in inside) - len(inside) / 2))
                    for q in range(first, last + 1)
                }
                total = sum(weights.values())
                drawn = {(*d, q): p * w / total for d, p in drawn.items() for q, w in weights.items()}
            for d, p in drawn.items():
                longer[tuple(sorted(places + d))] += p
        laws = longer
    return {places[1:-1]: probability for places, probability in laws.items()}


def largest(divergence, n, rates_of, monkeypatch, levels=2):
    """The maximum over columns of n records on four places and all replacements, including those by a missing value."""
    symbols = (None, 0, 1, LINES[levels] - 1)
    laws = {}
    for chosen in combinations_with_replacement(range(4), n):
        column = [symbols[i] for i in chosen]
        laws[chosen] = law_of_medians(column, rates_of(column), monkeypatch)
    neighbours = [
        (tuple(sorted((*rest, i))), tuple(sorted((*rest, j))))
        for rest in combinations_with_replacement(range(4), n - 1)
        for i, j in permutations(range(4), 2)
    ]
    return max(divergence(laws[here], laws[there]) for here, there in neighbours)


def largest_loss(*arguments):
    return largest(largest_log_ratio, *arguments)


@pytest.mark.parametrize("column", [(), (1,), (0, 0, 2), (None, 0, 1, 1, 2), (2, 2, 2, 2)])
def test_medians_have_the_distribution_of_the_theorem(column, monkeypatch):
    all_rates = rates(EPSILON, 2)
    found, expected = law_of_medians(column, all_rates, monkeypatch), law_by_the_theorem(column, all_rates)
    assert found.keys() == expected.keys()
    assert all(found[places] == pytest.approx(expected[places], rel=1e-9) for places in found)


@pytest.mark.parametrize("levels", [1, 2, 3, 4, 5])
def test_the_rates_of_all_levels_spend_epsilon_exactly(levels):
    spent = rates(Fraction(3, 7), levels)
    assert 2 * sum(spent) == Fraction(3, 7)
    assert all(there == 2 * here for here, there in pairwise(spent))


@pytest.mark.parametrize(
    "n, levels, share",
    [(2, 1, 0.93), (4, 1, 0.98), (5, 1, 0.98), (2, 2, 0.6), pytest.param(4, 2, 0.7, marks=pytest.mark.slow)],
)
def test_no_small_column_loses_more_than_epsilon_and_some_lose_nearly_all_of_it(n, levels, share, monkeypatch):
    loss = largest_loss(n, lambda column: rates(EPSILON, levels), monkeypatch, levels)
    assert share * EPSILON < loss <= EPSILON * (1 + 1e-9)


BROKEN = {
    "half the noise": lambda column: [2 * rate for rate in rates(EPSILON, 2)],
    "a level is not paid for": lambda column: [EPSILON / 2, EPSILON / 2],
    "levels for the values that are there": lambda column: rates(EPSILON, 1 if column.count(None) > 1 else 2),
    "rates for the values that are there": lambda column: rates(EPSILON * (1 + column.count(None)), 2),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "half the noise")) for name in BROKEN]
)
def test_a_broken_mechanism_loses_more_than_epsilon(name, monkeypatch):
    assert largest_loss(3, BROKEN[name], monkeypatch) > 1.1 * EPSILON


@pytest.mark.parametrize("n, levels", [(4, 1), pytest.param(3, 2, marks=pytest.mark.slow)])
def test_medians_stay_within_their_zcdp_cost_but_not_with_half_the_noise(n, levels, monkeypatch):
    rho = Cost.of_parts(EPSILON, edges.squared_rates(levels, 1)).rho

    def renyi(here, there, order):
        return math.log(sum(p**order * there[places] ** (1 - order) for places, p in here.items())) / (order - 1)

    def share_of_rho(here, there):
        return max(renyi(here, there, order) / (order * rho) for order in (1.0001, 2, 8))

    def largest_share(factor):
        all_rates = [factor * rate for rate in rates(EPSILON, levels)]
        return largest(share_of_rho, n, lambda column: all_rates, monkeypatch, levels)

    assert 0.38 < largest_share(1) <= 1
    assert largest_share(2) > 1


# --- Quantiles ----------------------------------------------------------------------------------------------------


def test_the_number_of_levels_is_a_function_of_the_public_budget():
    least = [48, 144, 336, 720, 1488]
    for levels, budget in enumerate(least, start=1):
        assert n_levels(10_000, Fraction(budget, 10_000)) == levels
        assert n_levels(10_000, Fraction(budget - 1, 10_000)) == levels - 1
    assert n_levels(4, math.inf) == 5


@pytest.mark.parametrize("scale", [1e-20, 1.0, -1e20])
def test_quantiles_are_found_wherever_they_lie(scale):
    # n * epsilon = 2,000; ranks are off by at most about 4 / rate, which is 4% of the records
    values = scale * np.random.default_rng(0).lognormal(sigma=2, size=20_000)
    found = private_quantiles(values, Fraction(1, 10), 3, NUMBER_LINE, entropy_source(0))
    ranks = [(values < quantile).mean() for quantile in found]
    np.testing.assert_allclose(ranks, np.arange(1, 8) / 8, atol=0.04)


def test_without_noise_quantiles_are_those_of_the_data():
    values = np.random.default_rng(0).normal(size=1001)
    found = private_quantiles(values, math.inf, 5, NUMBER_LINE, entropy_source(0))
    ranks = [(values < quantile).sum() for quantile in found]
    np.testing.assert_allclose(ranks, 1001 * np.arange(1, 32) / 32, atol=6)  # half a rank per median, on each level


def test_a_value_shared_by_most_records_gets_its_share_of_the_quantiles():
    values = np.where(np.arange(5000) < 4000, 0.0, np.random.default_rng(0).lognormal(size=5000))
    found = private_quantiles(values, Fraction(1), 4, NUMBER_LINE, entropy_source(0))
    assert (found == 0).sum() in (11, 12, 13)
    assert found.min() == 0.0


def test_no_quantile_has_more_bits_than_the_public_line():
    values = np.random.default_rng(0).normal(size=2000)
    found = private_quantiles(values, math.inf, 5, NUMBER_LINE, entropy_source(0))
    assert (found.view(np.int64) % 2**36 == 0).all()
    assert not set(found) & set(values)


@pytest.mark.parametrize("n", [0, 1])
def test_columns_without_values_have_quantiles_from_the_public_line(n):
    found = private_quantiles(np.ones(n), Fraction(1, 2), 5, NUMBER_LINE, entropy_source(0))
    assert len(found) == 31
    assert (np.diff(found) >= 0).all()
    assert np.isfinite(found).all()


# --- An audit by sampling -----------------------------------------------------------------------------------------


def exchange():
    """Neighbours on which the ranks of all numbers from 1 to 8192 move by one: from below half, or to half."""
    here = np.repeat([1.0, 8.0, 8192.0], [11, 2, 11])
    there = here.copy()
    there[0] = 8192.0
    return here, there


EIGHT = to_positions(np.array([8.0]), lowest)[0]


def is_low(places):
    return places[0] < EIGHT


@pytest.mark.slow
def test_sampling_detects_half_the_noise():
    # 500 runs on each of two neighbours; alpha = 1e-2, fixed seed
    epsilon, source = Fraction(3, 2), entropy_source(0)

    def loss_at_least(factor):
        def release(column):
            all_rates = [factor * rate for rate in rates(epsilon, 1)]
            return medians(np.sort(to_positions(column, source)), N_POSITIONS, all_rates, source)

        return privacy_loss_at_least(release, *exchange(), is_low, 500, 1e-2)

    assert epsilon / 4 < loss_at_least(1) <= epsilon
    assert loss_at_least(2) > epsilon
