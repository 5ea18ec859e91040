"""The sensitivity of MTVr is exactly 4(n-1)/n**2: the steps of docs/theory/mtv_r.md, in exact numbers."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic.statistics.mtv.counts import ROUNDING_ERROR, CountsScorer
from skdpmic.statistics.mtv.family import UNITS, Family, Side, class_family, numeric_family, public_shares
from skdpmic.statistics.mtv.statistic import _families_of
from skdpmic.statistics.registry import statistic_named
from skdpmic.statistics.sensitivity import mtv_r_sensitivity
from skdpmic.table.domains import Nominal
from skdpmic.table.records import Shape
from tests.folding import each
from tests.privacy.searches import ERROR, UNIT, all_tables, climb, compiled_only, largest_change
from tests.statistics.mtv.naive_mtv_r import any_joined, neighbours_joined, scores_of_joins


@each("m", [1, 2, 3, 10, 333])
@each("n", [2, 3, 7, 100, 999, 12_345, 2**31 - 1])
def test_sensitivity_to_m_records_is_m_times_that_to_one_rounded_up_and_at_most_1(n, m):
    exact = min(m * Fraction(4 * (n - 1), n**2), 1)
    assert exact <= Fraction(mtv_r_sensitivity(n, n_replaced=m)) <= exact * (1 + Fraction(1, 10**12))


def test_a_measure_has_the_largest_sensitivity_of_its_families():
    n, shape = 10, Shape(10, [(0.0, 1.0)])
    plain = statistic_named("mtv_r", None).measure("auto", "auto", n, 1.0, 4)
    halves = replace(plain, target_shares=public_shares([0.5, 0.5], None, 4))  # known for two classes together
    assert halves._family.knows_target_shares
    assert not any(family.knows_target_shares for family in _families_of(halves)[1:])
    assert halves.sensitivity(shape) == plain.sensitivity(shape) == mtv_r_sensitivity(n)
    known = mtv_r_sensitivity(n, knows_target_shares=True)
    for measure in (replace(plain, spends_on_target=True), plain.with_target_shares([0.25] * 4)):
        assert measure.sensitivity(shape) == known


# --- All data sets on a few places ------------------------------------------------------------------------------


def of_one_record(n):
    return 4 * (n - 1) / n**2


def largest(shape, n, joins, m=1, **options):
    """The largest change over all data sets of n records and replacements of m of them."""
    tables, moves = all_tables(shape, n)
    return largest_change(scores_of_joins(tables, joins, **options), moves, m)


SIZES = {(2, 2): range(2, 13), (2, 3): range(2, 9), (3, 3): range(2, 8), (2, 4): range(2, 7), (4, 4): range(2, 5)}


@pytest.mark.few
@pytest.mark.parametrize("joins", [neighbours_joined, any_joined])
@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.combinations
def test_largest_change_over_all_data_sets_is_exactly_the_sensitivity(shape, joins):
    for n in SIZES[shape]:
        assert largest(shape, n, joins) == pytest.approx(of_one_record(n), abs=ERROR)


@each("shape, n", [((2, 2), 10), ((2, 3), 6), ((3, 3), 4)])
def test_offsets_do_not_increase_the_change(shape, n):
    rng = np.random.default_rng(n)
    for _ in range(3):
        offsets = rng.random(len(any_joined(shape[0])) * len(any_joined(shape[1]))) / 3
        assert largest(shape, n, any_joined, offsets=offsets) <= of_one_record(n) + ERROR
        offsets[0] = 0  # a grid of two by two groups, as those come first
        assert largest(shape, n, any_joined, offsets=offsets) == pytest.approx(of_one_record(n), abs=ERROR)


@pytest.mark.parametrize("joins", [neighbours_joined, any_joined])
@each("m", [2, 3])
@each("shape, n", [((2, 2), 6), ((2, 2), 9), ((2, 3), 6), ((3, 3), 6)])
def test_m_records_change_the_score_by_at_most_m_times_as_much_and_nearly_attain_that(shape, n, m, joins):
    change = largest(shape, n, joins, m)
    assert 4 * m * (n - m) / n**2 - ERROR <= change <= 4 * m * (n - 1) / n**2 + ERROR
    assert change <= mtv_r_sensitivity(n, n_replaced=m) + ERROR
    assert change > mtv_r_sensitivity(n) + ERROR  # what one record does is not enough


def test_exhaustion_catches_a_normaliser_that_is_too_small():
    assert largest((3, 3), 4, any_joined, of_three=2) > of_one_record(4) + ERROR


# --- One grid ---------------------------------------------------------------------------------------------------


def change_of_one_grid(others, start, end):
    """n**2 times the change of TV when a further record moves from one cell to another; a Fraction."""
    sums = []
    for cell in (start, end):
        table = others.copy()
        table[cell] += 1
        margins = np.outer(table.sum(axis=1), table.sum(axis=0))
        sums.append(int(np.abs(int(table.sum()) * table - margins).sum()))
    return Fraction(abs(sums[1] - sums[0]), 2)


@each("shape", [(2, 2), (2, 5), (3, 3), (5, 4)])
def test_one_grid_changes_by_two_or_three_times_n_minus_1(shape):
    rng = np.random.default_rng(0)
    for _ in range(300):
        others = rng.integers(0, rng.integers(1, 100), size=shape) * (rng.random(shape) < rng.random())
        start, end = (tuple(rng.integers(shape).tolist()) for _ in range(2))
        two = min(shape) == 2 or start[0] == end[0] or start[1] == end[1]
        assert change_of_one_grid(others, start, end) <= (2 if two else 3) * int(others.sum())


def three_by_three(n, s):
    """The other records in the proof's remark on the normaliser: nearly 3 (n - 1) / n**2 from (0, 0) to (1, 1)."""
    others = np.zeros((3, 3), dtype=np.int64)
    others[0, 2] = others[2, 0] = others[1, 1] = s
    others[2, 2] = n - 1 - 3 * s
    return others


def test_three_parts_on_both_sides_nearly_attain_their_bound():
    changes = [
        change_of_one_grid(three_by_three(n, s), (0, 0), (1, 1)) / (n - 1) for n, s in ((10**3, 40), (10**6, 2000))
    ]
    assert 2.7 < changes[0] < 2.98 < changes[1] < 3


def test_a_half_would_be_too_small_a_normaliser_for_three_parts():
    n = 1000
    change = change_of_one_grid(three_by_three(n, 40), (0, 0), (1, 1)) / n**2
    assert change / Fraction(3, 4) <= Fraction(mtv_r_sensitivity(n))
    assert change / Fraction(1, 2) > Fraction(mtv_r_sensitivity(n)) * Fraction(5, 4)


@pytest.mark.parametrize("n_labels, n, s", [(1, 10**6, 2000), (2, 1000, 40)])
def test_scores_stay_within_the_sensitivity_where_three_parts_change_most(n_labels, n, s):
    """Labels, others and missing values. With a normaliser of 1/2 for two labels, the last two would cost nothing."""
    scorer, scores = CountsScorer(n, CLIMBED["three groups"]), []
    for cell in ((0, 0), (1, 1)):
        table = np.pad(three_by_three(n, s), ((0, 0), (0, n_labels - 1))).astype(np.uint32)
        table[cell] += 1
        scores.append(scorer.score(table.ravel(), Nominal(n_labels)))
    change = abs(scores[1] - scores[0])
    assert 0.9 * mtv_r_sensitivity(n) < change <= mtv_r_sensitivity(n) + 2 * ROUNDING_ERROR


def known(family, share):
    """The family with this share of the first half of the columns, in units."""
    return family.with_target_shares((family.n_columns // 2, family.n_columns), (share, UNITS - share))


IN_TWO = Family(2, 4, (Side((0, 1), 3),), by_place=True)
BY_PLACE = {
    "two groups": IN_TWO,
    "two groups, a half known": known(IN_TWO, UNITS // 2),
    "two groups, a third known": known(IN_TWO, UNITS // 3),
    "three groups": Family(3, 4, (Side((0, 1, 2), 2), Side((0, 1, 1), 3)), by_place=True),
}


@pytest.mark.parametrize("family", BY_PLACE.values(), ids=BY_PLACE)
@each("n", [2, 3, 4])
def test_over_all_data_sets_cuts_weighted_by_place_change_by_no_more_than_the_sensitivity(family, n):
    """All data sets of records in any master part, or missing, and in any column; all neighbours."""
    tables, moves = all_tables((family.n_columns, family.n_master + 1), n)
    scores = CountsScorer(n, family).of_tables(tables.astype(np.uint32), UNIT)
    change = largest_change(np.array(scores), moves)
    assert 0.5 * family.sensitivity(n) < change <= family.sensitivity(n) + 2 * ROUNDING_ERROR
    if family.sides[0].margins is None and n > 2:
        assert change > 0.99 * family.sensitivity(n)


# --- The kernels, beyond what can be exhausted ------------------------------------------------------------------

CLIMBED = {
    "two groups and four": Family(4, 4, (Side((0, 0, 1, 1), 4), Side((0, 1, 2, 3), 2)), penalty=0.0),
    "all groups of four": Family(
        4,
        6,
        tuple(Side(groups, 4) for groups in [*product([0], [0, 1], [0, 1], [0, 1]), (0, 1, 2, 3)] if any(groups)),
        penalty=0.0,
    ),
    "three groups": Family(3, 3, (Side((0, 1, 2), 2),), penalty=0.0),
    "as released, numbers": numeric_family(16, 1),
    "as released, classes": class_family(16, 1, 6),
}
DEFAULTS = [numeric_family(32, 32), class_family(32, 32, 3), class_family(32, 30, 10)]


def largest_climbed(seed, n, n_steps, family, scale=UNIT):
    """The largest change found by hill climbing; of more than 100 places, 40 are used, with the outermost corners."""
    n_places = family.n_columns * (scale.n_parts if isinstance(scale, Nominal) else family.n_master + 1)
    others = np.random.default_rng(seed).integers(n_places, size=38)
    places = np.arange(n_places) if n_places <= 100 else np.array([0, n_places - 1, *others])
    counts_of = (places[:, np.newaxis] == np.arange(n_places)).astype(np.uint32)
    scorer = CountsScorer(n, family)
    return climb(seed, n, n_steps, counts_of, lambda counts: scorer.score(counts, scale))


def shares_reached_by_climbing(family, n, n_steps, scale=UNIT):
    """The share of the sensitivity that each climb reaches; if none is known, the first starts at the worst case."""
    allowed = mtv_r_sensitivity(n, knows_target_shares=family.knows_target_shares) + 2 * ROUNDING_ERROR
    heights = [largest_climbed(seed, n, n_steps, family, scale) for seed in (0, 1)]
    assert max(heights) <= allowed
    return [height / allowed for height in heights]


@pytest.mark.few
@compiled_only
@pytest.mark.parametrize("family", CLIMBED.values(), ids=CLIMBED)
@pytest.mark.parametrize("n", [10, 500])
@pytest.mark.combinations
def test_hill_climbing_never_exceeds_the_sensitivity(family, n):
    assert shares_reached_by_climbing(family, n, n_steps=60)[0] >= 0.9999


@compiled_only
@pytest.mark.parametrize("n_labels", [1, 2, 3, 5])
@pytest.mark.parametrize("family", CLIMBED.values(), ids=CLIMBED)
@pytest.mark.combinations
def test_hill_climbing_with_a_nominal_feature_never_exceeds_the_sensitivity(family, n_labels):
    reached = shares_reached_by_climbing(family, 60, n_steps=30, scale=Nominal(n_labels))[0]
    if n_labels == 2 or (family.penalty == 0 and any(side.n_groups == 2 for side in family.sides)):
        assert reached >= 0.9999


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("family", DEFAULTS)
@pytest.mark.parametrize("n", [20, 500])
def test_hill_climbing_on_the_default_families_never_exceeds_the_sensitivity(family, n):
    assert shares_reached_by_climbing(family, n, n_steps=100)[0] >= 0.9999


def test_hill_climbing_catches_too_small_a_sensitivity():
    assert largest_climbed(0, 50, 0, CLIMBED["two groups and four"]) > 0.99 * mtv_r_sensitivity(50)


@pytest.mark.parametrize(
    "family", [numeric_family(4, 1), numeric_family(32, 38), *(class_family(32, 30, k) for k in (2, 3, 10))]
)
@pytest.mark.parametrize("n", [2, 1000, 10**6])
@pytest.mark.parametrize("is_missing", [False, True])
@pytest.mark.combinations
def test_the_families_of_the_package_attain_the_sensitivity(family, n, is_missing):
    scorer = CountsScorer(n, family)
    tables = np.zeros((2, family.n_columns * (family.n_master + 1)), dtype=np.uint32)
    tables[:, 0] = n, n - 1
    tables[1, -1 if is_missing else -2] = 1
    assert scorer.score(tables[0], UNIT) == 0
    assert abs(Fraction(scorer.score(tables[1], UNIT)) - Fraction(4 * (n - 1), n**2)) <= Fraction(ROUNDING_ERROR)
