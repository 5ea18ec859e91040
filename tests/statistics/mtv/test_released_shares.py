"""Learnt target shares are epsilon-differentially private, and mean what they say: docs/theory/learnt_margin.md."""

import datetime
import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from skdpmic import DPMICScorer, DPMICSelector, mtv_r
from skdpmic.privacy.noise import entropy_source
from skdpmic.statistics import chance
from skdpmic.statistics.mtv import released_shares
from skdpmic.statistics.mtv.family import N_PLACES, UNITS, TargetShares, class_family, numeric_family
from skdpmic.statistics.mtv.released_shares import CountBudget, release_cut_shares, release_shares
from tests.folding import each
from tests.tables import UNIT, refused

SOURCE = entropy_source(0)


def budget(counts, epsilon, m=1):
    """The public numbers behind counts of records of equal weight."""
    return CountBudget(int(np.sum(counts)), epsilon, m, 1, SOURCE)


# --- Privacy, exactly ---------------------------------------------------------------------------------------------


def neighbours(n, n_parts, units, m):
    """Pairs of counts, or of sums of weights, of n people with m rows each, one of whom is replaced."""
    weights = range(units + 1) if units > 1 else [1]
    kinds = [u * np.eye(n_parts, dtype=np.int64)[part] for part in range(n_parts) for u in weights]
    for others in combinations_with_replacement(kinds, n - 1):
        rest = m * np.sum(others, axis=0)
        for here, there in product(kinds, kinds):
            yield rest + m * here, rest + m * there


def learnt(margin):
    """The values that noise is added to (here the noise is 0); of two counts, the second is the remainder."""
    counts = [share * margin.n for share in margin.shares]
    return margin.sums or counts[: len(counts) - (len(counts) == 2)]


@pytest.fixture
def no_noise(monkeypatch):
    monkeypatch.setattr(released_shares, "discrete_laplace", lambda scale, size, _: np.zeros(size, dtype=np.int64))


@each("n_classes, m, units", [(2, 1, 1), (2, 3, 1), (3, 3, 1), (4, 1, 1), (2, 1, 2), (2, 3, 2), (3, 3, 2)])
def test_noisy_counts_of_classes_and_sums_of_weights_lose_exactly_epsilon(n_classes, m, units, no_noise):
    epsilon, largest = Fraction(7, 10), 0
    for tables in neighbours(3, n_classes, units, m):
        here, there = (release_shares(table, CountBudget(3 * m, epsilon, m, units, SOURCE)) for table in tables)
        moved = sum(abs(a - b) for a, b in zip(learnt(here), learnt(there), strict=True))
        largest = max(largest, moved / here.scale)
    assert largest == epsilon


def probabilities_of_cuts(counts, budget, monkeypatch):
    """The probability of each cut, from the arguments of the sampler, and the margin for each."""
    asked, margins = [], []
    for place in range(len(counts) - 1):
        choose = lambda *of, place=place: (asked.append(of[:3]), place)[1]  # noqa: E731
        monkeypatch.setattr(released_shares, "weighted_choice", choose)
        margins.append(release_cut_shares(counts, 8, (0.0, 1.0), budget))
    weights, losses, rate = asked[0]
    probabilities = weights * np.exp(-float(rate) * losses)
    return probabilities / probabilities.sum(), margins


@pytest.mark.slow
@each("n_places, m, units", [(6, 1, 1), (6, 2, 1), (3, 1, 2), (3, 2, 2)])
def test_a_cut_and_the_count_below_it_lose_at_most_epsilon_together(n_places, m, units, no_noise, monkeypatch):
    monkeypatch.setattr(released_shares, "_LEAST_FOR_A_CUT", 0)
    budget, largest = CountBudget(3 * m, Fraction(3), m, units, SOURCE), 0.0
    for tables in neighbours(3, n_places, units, m):
        (here, margins), (there, others) = (probabilities_of_cuts(table, budget, monkeypatch) for table in tables)
        for p, q, margin, other in zip(here, there, margins, others, strict=True):
            moved = sum(abs(a - b) for a, b in zip(learnt(margin), learnt(other), strict=True))
            largest = max(largest, math.log(p / q) + float(moved / margin.scale))
    assert 0.6 * budget.epsilon < largest <= budget.epsilon * (1 + 1e-9)


@each("n_places", [4, 8, N_PLACES])
def test_the_middle_edge_weighs_one_more_than_all_other_edges_together(n_places, monkeypatch):
    asked = []
    monkeypatch.setattr(released_shares, "weighted_choice", lambda weights, *_: (asked.append(weights), 0)[1])
    counts = np.full(n_places, 1000)
    release_cut_shares(counts, n_places, (0.0, 1.0), budget(counts, Fraction(3)))
    expected = np.ones(n_places - 1)
    expected[n_places // 2 - 1] = n_places - 1
    np.testing.assert_array_equal(asked[0], expected)


def test_only_noisy_counts_are_published(monkeypatch):
    noise = np.array([5, -7, 2], dtype=object)
    monkeypatch.setattr(released_shares, "discrete_laplace", lambda scale, size, _: noise[:size])
    three = release_shares(np.array([10, 20, 30]), budget([60], Fraction(1, 2)))
    assert three == TargetShares((1, 2, 3), (Fraction(15, 60), Fraction(13, 60), Fraction(32, 60)), Fraction(4), 60)
    two = release_shares(np.array([10, 50]), budget([60], Fraction(1, 2)))
    assert two == TargetShares((1, 2), (Fraction(1, 4), Fraction(3, 4)), Fraction(2), 60)
    counts = np.repeat([4, 6], N_PLACES // 2)
    n = int(counts.sum())
    assert n * Fraction(1, 1000) < 50
    middle = release_cut_shares(counts, 8, (0.0, 1.0), budget(counts, Fraction(1, 1000)))
    share = Fraction(2048 + 5, n)
    assert middle == TargetShares((4, 8), (share, 1 - share), Fraction(1000), n)


# --- Grids where shares are known with noise --------------------------------------------------------------------


def test_a_division_of_classes_counts_the_noisy_classes_of_the_smaller_side():
    shares, error = (0.1, 0.2, 0.3, 0.3), 0.01  # which do not add up to 1
    family = class_family(8, 2, 4).with_target_shares((1, 2, 3, 4), [round(share * UNITS) for share in shares], error)
    known = {side.groups: (side.margins, side.n_noisy) for side in family.sides if side.margins}
    for groups, (margins, n_noisy) in known.items():
        sides = [[share for share, g in zip(shares, groups, strict=True) if g == group] for group in (0, 1)]
        fewer = min(sides, key=len)
        assert n_noisy == len(fewer)
        assert sum(margins) == UNITS
        assert any(abs(margin / UNITS - sum(fewer)) < 1e-6 for margin in margins)
    assert len(known) == len([side for side in family.sides if side.n_groups == 2])
    (all_apart,) = [side for side in family.sides if side.n_groups > 2]
    assert all_apart.margins is None  # which stays at half weight
    assert family.normaliser(all_apart, 2) == 1.0


def test_a_share_below_its_error_counts_as_that_error():
    for share in (-0.2, 0.0, 0.04):
        units = [round(share * UNITS), round((1 - share) * UNITS)]
        family = numeric_family(8, 2).with_target_shares((4, 8), units, 0.05)
        (side,) = [side for side in family.sides if side.margins]
        assert side.margins == (int(0.05 * UNITS), UNITS - int(0.05 * UNITS))
        assert family.offset_of_error(side) == 0.025


# --- Learnt shares mean what they say -----------------------------------------------------------------------------

Y = np.random.default_rng(1).lognormal(size=2000)
DAYS, START = (Y * 86_400e6).astype("m8[us]"), datetime.datetime(2020, 1, 1)
SCALES = {
    "numbers": ((0, 60), Y, float),
    "log": ((0, 60, "log"), Y, float),
    "knots": ((0, 1, 5, 60), Y, float),
    "dates": ((START, START + datetime.timedelta(days=60)), np.datetime64(START) + DAYS, np.datetime64),
    "durations": ((datetime.timedelta(0), datetime.timedelta(days=60)), DAYS, np.timedelta64),
}


@each("scale", SCALES)
@each("epsilon", [0.05, 5.0, math.inf])
def test_the_published_share_is_that_of_the_records_below_the_published_cut(scale, epsilon):
    bounds, y, kind = SCALES[scale]
    X = np.random.default_rng(0).random((len(Y), 2))
    scorer = DPMICScorer(statistic="mtv_r", epsilon=epsilon, bounds=(0, 1), target_bounds=bounds).fit(X, y)
    assert isinstance(scorer.target_cut_, kind)
    below = (y < scorer.target_cut_).mean()
    lower, upper = scorer.target_shares_interval(1 - 1e-6)
    assert lower[0] - 1e-3 <= below <= upper[0] + 1e-3
    assert scorer.target_shares_.sum() == pytest.approx(1)
    is_learnt = len(y) * epsilon * 0.15 >= 50
    assert is_learnt == (epsilon > 1)
    if is_learnt:
        assert 0.3 < below < 0.7
    if epsilon == math.inf:
        assert (lower == upper).all()


def test_classes_are_published_in_ascending_order_and_given_in_the_order_of_the_user():
    X, y = np.random.default_rng(0).random((500, 2)), np.repeat(["well", "ill", "gone"], [250, 200, 50])
    public = {"statistic": "mtv_r", "epsilon": math.inf, "bounds": (0, 1), "classes": ["well", "ill", "gone"]}
    learnt = DPMICScorer(**public).fit(X, y)
    assert learnt.target_shares_.tolist() == [0.1, 0.4, 0.5]
    assert not hasattr(learnt, "target_cut_")
    given = DPMICScorer(**public, target_shares=[0.5, 0.4, 0.1]).fit(X, y)
    assert given.target_shares_.tolist() == pytest.approx([0.1, 0.4, 0.5])
    with pytest.raises(AttributeError, match="requires learnt shares of the target"):
        given.target_shares_interval()


@each("sums, units", [([12, 28], 1), ([900 * 64, 3000 * 64], 256)])
def test_intervals_contain_the_shares_as_often_as_stated(sums, units):
    """If 0.8 is right, fewer than 219 hits in 300 releases have a probability below 2e-3."""
    of = CountBudget(40 if units == 1 else 500, Fraction(1, 4), 1, units, SOURCE)
    true, hits, widths = sums[0] / sum(sums), 0, []
    for _ in range(300):
        lower, upper = released_shares.shares_interval(release_shares(np.array(sums), of), 0.8)
        hits += lower[0] <= true <= upper[0]
        widths.append(upper[0] - lower[0])
    assert 219 <= hits < 300
    assert np.median(widths) < 0.5


def test_a_sketch_cuts_at_an_eighth_and_counts_the_records_below():
    X = np.random.default_rng(0).random((len(Y), 2))
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, bounds=(0, 1), target_bounds=(0, 8))
    scorer.fit_sketch(scorer.empty_sketch(len(Y), n_features=2).update(X, Y))
    assert scorer.target_cut_ == 1.0  # e^0 is the median
    assert scorer.target_shares_[0] == (Y < 1).mean()
    known = {"bounds": ((0, 1), (0, 8)), "B": 32, "c": 38}
    eighths = np.histogram(np.clip(Y, 0, 7.999), bins=8, range=(0, 8))[0] / len(Y)
    assert scorer.scores_[0] <= mtv_r(X[:, 0], Y, target_shares=eighths, **known) + 1e-9  # which knows more shares


def test_the_noise_in_a_count_covers_all_rows_of_a_person():
    rng = np.random.default_rng(0)
    X, y, groups = rng.random((300, 1)), rng.random(300), np.repeat(np.arange(100), 3)
    scorer = DPMICScorer(statistic="mtv_r", epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1), max_rows_per_group=3)
    margin = scorer.fit(X, y, groups=groups)._target_shares
    assert (margin.scale, margin.n) == (Fraction(60, 3), 300)


# --- Errors -----------------------------------------------------------------------------------------------------

CLASSES = {"target_bounds": None, "classes": [0, 1, 2]}
REFUSED = [
    (
        {"statistic": "kendall", "target_shares": [0.5, 0.5]},
        "used with 'mtv_r', and for released scores of classes with",
    ),
    ({"target_shares": [0.3, 0.3, 0.4]}, "2 or 4 or 8 numbers above 0 with a sum of 1"),
    ({"target_shares": [0.0, 1.0]}, "above 0"),
    ({"target_shares": [1.0, 1.0]}, "with a sum of 1"),
    ({"target_shares": [0.5, math.nan]}, "above 0"),
    ({"target_shares": "half"}, "got 'half'"),
    ({"target_shares": [0.5, 0.5], **CLASSES}, "must be 3 numbers"),
    ({"target_shares": [0.5, 0.5], **CLASSES, "classes": [0, 1, 1]}, "classes must be distinct labels"),
]


@each("parameters, message", REFUSED)
def test_invalid_shares_are_refused_before_the_charge(parameters, message, ledger):
    public = {"statistic": "mtv_r", "ledger": ledger, **UNIT}
    with refused(ValueError, message, ledger):
        DPMICScorer(**public | parameters).fit(np.random.default_rng(0).random((20, 2)), np.zeros(20))


def test_fdr_is_refused_with_given_shares_of_unknown_error():
    selector = DPMICSelector(statistic="mtv_r", fdr=0.1, target_shares=[0.5, 0.5], **UNIT)
    with refused(ValueError, "fdr must be None with target_shares"):
        selector.fit(np.random.default_rng(0).random((20, 2)), np.zeros(20))


def test_chance_scores_are_a_function_of_the_learnt_shares():
    """For numbers and labels, one simulation serves all shares of two classes, since it is only rescaled."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(300), rng.integers(0, 5, 300)])
    public = {"bounds": {0: (0, 1)}, "categories": {1: range(5)}, "classes": [0, 1], "statistic": "mtv_r"}
    fits, simulations = [], []
    for share in (0.5, 0.05):
        fits.append(DPMICScorer(epsilon=50.0, **public).fit(X, (rng.random(300) < share).astype(int)))
        simulations.append(chance.chance_score.cache_info().misses)
    assert simulations[0] == simulations[1]
    by_chance = [fit.null_scores_ / np.sqrt(fit.target_shares_.prod()) * fit.target_shares_.max() for fit in fits]
    np.testing.assert_allclose(*by_chance, rtol=1e-6)
    assert (fits[0].null_scores_ > 2 * fits[1].null_scores_).all()


def test_shares_of_more_than_four_classes_are_not_learnt():
    X, y = np.random.default_rng(0).random((200, 2)), np.arange(200) % 5
    public = {"statistic": "mtv_r", "epsilon": 1.0, "bounds": (0, 1)}
    four = DPMICScorer(**public, classes=range(4)).fit(X, np.arange(200) % 4)
    five = DPMICScorer(**public, classes=range(5)).fit(X, y)
    known = DPMICScorer(**public, classes=range(5), target_shares=[0.2] * 5).fit(X, y)
    assert len(four.target_shares_) == 4
    assert not hasattr(five, "target_shares_")
    sensitivities = np.array([2 / 0.85, 4 * 199 / 200, 2]) / 200
    scales = [scorer.noise_scale_ / 2 for scorer in (four, five, known)]
    assert scales == pytest.approx(sensitivities, rel=1e-5)
