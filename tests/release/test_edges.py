"""Learnt quantiles: the line of all numbers, the exact choice, the distribution of medians for all small columns."""

import math
from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy import noise as weighted_choice
from skdpmic.privacy.composition import Cost
from skdpmic.privacy.noise import entropy_source, exponential_bounds
from skdpmic.release import bounds as edges
from skdpmic.release.bounds import medians, private_quantiles, rates
from skdpmic.release.public_lines import DATE_LINE, NUMBER_LINE, PLACES_IN_CELL
from tests.privacy.auditing import largest_log_ratio

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


@pytest.mark.parametrize("n_seconds, atol", [(86_400, 0.05), (3_600, 0.05), (2 * 365 * 86_400, 0.04)])
def test_quantiles_are_found_for_dates_within_a_day_and_within_an_hour(n_seconds, atol):
    # n * epsilon = 2,000; 7 quantiles. On the line of numbers, a day has 5 parts and an hour has one.
    seconds = 1_684_314_000 + np.random.default_rng(0).integers(0, n_seconds, size=20_000).astype(np.float64)
    found = private_quantiles(seconds, Fraction(1, 10), 3, DATE_LINE, entropy_source(0))
    ranks = [(seconds < quantile).mean() for quantile in found]
    np.testing.assert_allclose(ranks, np.arange(1, 8) / 8, atol=atol)
    assert DATE_LINE.is_too_coarse_for(found) is False


# --- An exact choice ------------------------------------------------------------------------------------------------


def exact_exponential(x, digits=120):
    with localcontext() as context:
        context.prec = digits
        return (-Decimal(x.numerator) / Decimal(x.denominator)).exp()


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
@pytest.mark.parametrize("name", CHOICES)
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


@pytest.mark.parametrize("scale", [1e-20, 1.0, -1e20])
def test_quantiles_are_found_wherever_they_lie(scale):
    # n * epsilon = 2,000; ranks are off by at most about 4 / rate, which is 4% of the records
    values = scale * np.random.default_rng(0).lognormal(sigma=2, size=20_000)
    found = private_quantiles(values, Fraction(1, 10), 3, NUMBER_LINE, entropy_source(0))
    ranks = [(values < quantile).mean() for quantile in found]
    np.testing.assert_allclose(ranks, np.arange(1, 8) / 8, atol=0.04)


@pytest.mark.parametrize("n", [0, 1])
def test_columns_without_values_have_quantiles_from_the_public_line(n):
    found = private_quantiles(np.ones(n), Fraction(1, 2), 5, NUMBER_LINE, entropy_source(0))
    assert len(found) == 31
    assert (np.diff(found) >= 0).all()
    assert np.isfinite(found).all()
