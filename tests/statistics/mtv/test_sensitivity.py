"""The sensitivity of MTVr is exactly 4(n-1)/n**2: the steps of docs/theory/mtv_r.md, in exact numbers."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numba
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
from tests.privacy.searches import climb_places

UNIT = (0, 1)
compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a search too long for uncompiled code")


@pytest.mark.parametrize("m", [1, 2, 3, 10, 333])
@pytest.mark.parametrize("n", [2, 3, 7, 100, 999, 12_345, 2**31 - 1])
@pytest.mark.combinations
def test_sensitivity_to_m_records_is_m_times_that_to_one_rounded_up_and_at_most_1(n, m):
    exact = min(m * Fraction(4 * (n - 1), n**2), 1)
    assert exact <= Fraction(mtv_r_sensitivity(n, n_replaced=m)) <= exact * (1 + Fraction(1, 10**12))


def test_a_measure_has_the_largest_sensitivity_of_its_families():
    n, shape = 10, Shape(10, [(0.0, 1.0)])
    plain = statistic_named("mtv_r", None).measure("auto", "auto", n, 1.0, 4)
    halves = replace(
        plain, target_shares=public_shares([0.5, 0.5], None, 4)
    )  # known for two classes together, for none alone
    assert halves._family.knows_target_shares
    assert not any(family.knows_target_shares for family in _families_of(halves)[1:])
    assert halves.sensitivity(shape) == plain.sensitivity(shape) == mtv_r_sensitivity(n)
    known = mtv_r_sensitivity(n, knows_target_shares=True)
    assert (
        plain.spending_on_target().sensitivity(shape)
        == plain.with_target_shares([0.25] * 4).sensitivity(shape)
        == known
    )


# --- All data sets on a few places ------------------------------------------------------------------------------
#
# A data set is a table of counts, a cell per place. Its score is a whole number of units of 1 / (3 n**2), since TV is
# S / (2 n**2) for the integer S = sum of |n a_ij - r_i c_j|: S / n**2 is 3 S units, S / (1.5 n**2) is 2 S units.


def neighbours_joined(m):
    """All ways to cut a row of m places into two or more groups: the group 0, 1, ... of each place."""
    cuts = product([0, 1], repeat=m - 1)
    return [np.cumsum([0, *cut]) for cut in cuts if any(cut)]


def any_joined(m):
    """All ways to divide m places into two or more groups."""
    groupings = [[0]]
    for _ in range(m - 1):
        groupings = [[*groups, group] for groups in groupings for group in range(max(groups) + 2)]
    return [np.array(groups) for groups in groupings if max(groups) > 0]


def tables_of(n, shape):
    """All tables of n records: (n_tables, n_places)."""
    n_places = shape[0] * shape[1]
    places = np.array(list(combinations_with_replacement(range(n_places), n)), dtype=np.int64).reshape(-1, n)
    tables = np.zeros((len(places), n_places), dtype=np.int64)
    for column in places.T:
        tables[np.arange(len(places)), column] += 1
    return tables


def exact_scores(tables, shape, joined, offsets=None, thirds_of_two=3, thirds_of_three=2):
    """Scores of tables of n records, with all merges of rows and of columns, in units of 1 / (3 n**2)."""
    tables = tables.reshape(-1, *shape)
    n = int(tables[0].sum())
    best = np.zeros(len(tables), dtype=np.int64)
    for number, (rows, columns) in enumerate(product(joined(shape[0]), joined(shape[1]))):
        joined_rows = np.eye(rows.max() + 1, dtype=np.int64)[rows].T @ tables
        cells = joined_rows @ np.eye(columns.max() + 1, dtype=np.int64)[columns]
        margins = cells.sum(axis=2, keepdims=True) * cells.sum(axis=1, keepdims=True)
        S = np.abs(n * cells - margins).sum(axis=(1, 2))
        thirds = thirds_of_two if min(rows.max(), columns.max()) == 1 else thirds_of_three
        best = np.maximum(best, S * thirds - (0 if offsets is None else offsets[number]))
    return np.minimum(best, 3 * n * n)


def largest_change(n, m, shape, joined, **options):
    """The largest change over all data sets of n records and replacements of m of them, in units of 1 / (3 n**2)."""
    others = tables_of(n - m, shape)
    lowest, highest = np.full(len(others), 3 * n * n), np.zeros(len(others), dtype=np.int64)
    for added in tables_of(m, shape):
        scores = exact_scores(others + added, shape, joined, **options)
        lowest, highest = np.minimum(lowest, scores), np.maximum(highest, scores)
    return int((highest - lowest).max())


SHAPES = [
    *(((2, 2), n) for n in range(2, 13)),
    *(((2, 3), n) for n in range(2, 9)),
    *(((3, 3), n) for n in range(2, 8)),
    *(((2, 4), n) for n in range(2, 7)),
    *(((3, 4), n) for n in range(2, 5)),
    *(((4, 4), n) for n in range(2, 5)),
]


@pytest.mark.few
@pytest.mark.parametrize("joined", [neighbours_joined, any_joined])
@pytest.mark.parametrize("shape, n", SHAPES)
@pytest.mark.combinations
def test_largest_change_over_all_data_sets_is_exactly_the_sensitivity(shape, n, joined):
    assert largest_change(n, 1, shape, joined) == 12 * (n - 1)


@pytest.mark.parametrize("shape, n", [((2, 2), 10), ((2, 3), 6), ((3, 3), 4)])
def test_offsets_do_not_increase_the_change(shape, n):
    rng = np.random.default_rng(n)
    for _ in range(3):
        offsets = rng.integers(1, n * n, size=len(any_joined(shape[0])) * len(any_joined(shape[1])))
        assert largest_change(n, 1, shape, any_joined, offsets=offsets) <= 12 * (n - 1)
        offsets[0] = 0  # a grid of two by two groups, as those come first
        assert largest_change(n, 1, shape, any_joined, offsets=offsets) == 12 * (n - 1)


@pytest.mark.parametrize("joined", [neighbours_joined, any_joined])
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("shape, n", [((2, 2), 6), ((2, 2), 9), ((2, 3), 6), ((3, 3), 6)])
@pytest.mark.combinations
def test_m_records_change_the_score_by_at_most_m_times_as_much_and_nearly_attain_that(shape, n, m, joined):
    change = largest_change(n, m, shape, joined)
    assert 12 * m * (n - m) <= change <= 12 * m * (n - 1)
    assert Fraction(change, 3 * n**2) <= Fraction(mtv_r_sensitivity(n, n_replaced=m))
    assert Fraction(change, 3 * n**2) > Fraction(mtv_r_sensitivity(n))  # what one record does is not enough


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


@pytest.mark.parametrize("shape, n_cases", [((2, 2), 300), ((2, 5), 300), ((3, 3), 300), ((5, 4), 300)])
def test_one_grid_changes_by_two_or_three_times_n_minus_1(shape, n_cases):
    rng = np.random.default_rng(0)
    for _ in range(n_cases):
        others = rng.integers(0, rng.integers(1, 100), size=shape) * (rng.random(shape) < rng.random())
        n = int(others.sum()) + 1
        start, end = ((int(rng.integers(shape[0])), int(rng.integers(shape[1]))) for _ in range(2))
        two = min(shape) == 2 or start[0] == end[0] or start[1] == end[1]
        assert change_of_one_grid(others, start, end) <= (2 if two else 3) * (n - 1)


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


def test_scores_stay_within_the_sensitivity_where_three_parts_change_most():
    n = 10**6
    scorer = CountsScorer(n, CLIMBED["three groups"])
    scores = []
    for cell in ((0, 0), (1, 1)):
        table = three_by_three(n, 2000).astype(np.uint32)
        table[cell] += 1
        scores.append(scorer.score(table.ravel(), Nominal(1)))  # a label, others and missing values: three parts
    assert 0 < abs(scores[1] - scores[0]) <= mtv_r_sensitivity(n) + 2 * ROUNDING_ERROR


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
    n_parts = family.n_master + 1
    cells = range(family.n_columns * n_parts)
    data_sets = list(combinations_with_replacement(cells, n))
    tables = np.array([np.bincount(records, minlength=len(cells)) for records in data_sets]).astype(np.uint32)
    scores = CountsScorer(n, family).of_tables(tables.reshape(-1, family.n_columns, n_parts), UNIT)
    score_of = dict(zip(data_sets, scores, strict=True))
    largest = max(
        abs(score - score_of[tuple(sorted((*records[:i], cell, *records[i + 1 :])))])
        for records, score in score_of.items()
        for i in range(n)
        for cell in cells
    )
    assert 0.5 * family.sensitivity(n) < largest <= family.sensitivity(n) + 2 * ROUNDING_ERROR
    if family.sides[0].margins is None and n > 2:
        assert largest > 0.99 * family.sensitivity(n)


def test_exhaustion_catches_a_normaliser_that_is_too_small():
    assert largest_change(5, 1, (2, 2), any_joined, thirds_of_two=4) > 12 * 4
    assert largest_change(4, 1, (3, 3), any_joined, thirds_of_three=4) > 12 * 3


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
DEFAULTS = {
    "numbers": numeric_family(32, 32),
    "3 classes": class_family(32, 32, 3),
    "10 classes": class_family(32, 30, 10),
}


def climb(seed, n, n_steps, family, scale=UNIT):
    """The largest change found by hill climbing over data sets of n records.

    Of more than 100 places, 40 are used, including the two outermost corners.
    """
    scorer = CountsScorer(n, family)
    n_places = family.n_columns * (scale.n_parts if isinstance(scale, Nominal) else family.n_master + 1)
    others = np.random.default_rng(seed).integers(n_places, size=38)
    places = np.arange(n_places) if n_places <= 100 else np.array([0, n_places - 1, *others])

    def height(records):
        counts, scores = np.bincount(records, minlength=n_places).astype(np.uint32), []
        for place in places:
            counts[place] += 1
            scores.append(scorer.score(counts, scale))
            counts[place] -= 1
        return max(scores) - min(scores)

    return climb_places(seed, n, n_steps, places, height)


def shares_reached_by_climbing(family, n, n_steps, scale=UNIT):
    """The share of the sensitivity that each climb reaches; if none is known, the first starts at the worst case."""
    allowed = mtv_r_sensitivity(n, knows_target_shares=family.knows_target_shares) + 2 * ROUNDING_ERROR
    heights = [climb(seed, n, n_steps, family, scale) for seed in (0, 1)]
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


def test_the_normaliser_of_two_labels_is_that_of_their_four_parts():
    # The records of the proof's remark. With a normaliser of 1/2 for two labels, other and missing would cost nothing.
    n = 1000
    others = np.pad(three_by_three(n, 40), ((0, 0), (0, 1)))
    scores = []
    for cell in ((0, 0), (1, 1)):
        table = others.astype(np.uint32)
        table[cell] += 1
        scores.append(CountsScorer(n, CLIMBED["three groups"]).score(table.ravel(), Nominal(2)))
    assert 0.9 * mtv_r_sensitivity(n) < abs(scores[1] - scores[0]) <= mtv_r_sensitivity(n) + 2 * ROUNDING_ERROR


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("family", DEFAULTS.values(), ids=DEFAULTS)
@pytest.mark.parametrize("n", [20, 500])
def test_hill_climbing_on_the_default_families_never_exceeds_the_sensitivity(family, n):
    assert shares_reached_by_climbing(family, n, n_steps=100)[0] >= 0.9999


def test_hill_climbing_catches_too_small_a_sensitivity():
    assert climb(0, 50, 0, CLIMBED["two groups and four"]) > 0.99 * mtv_r_sensitivity(50)


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
