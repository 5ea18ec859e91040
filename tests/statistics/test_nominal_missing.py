"""Missing values and nominal features cost no privacy: the steps of docs/theory/nominal_missing.md.

Families small enough to be written down are tested on all data sets with few distinct records. The scores of the
package are tested by hill climbing, and on the data sets that are worst for families that are not closed.
"""

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    InTwoGroups,
    NumericTargetScorer,
    class_grids,
    continuous_grids,
    degrees_in_two,
    nominal_grids,
)
from skdpmic.statistics.mic.optimize_axis import (
    BORDERS,
    DEGREES,
    K_MAX,
    N_FIXED,
    N_MASTER,
    groupings_of_classes,
    groupings_of_labels,
)
from skdpmic.statistics.sensitivity import mi_sensitivity, mic_r_sensitivity
from skdpmic.table.domains import Nominal
from tests.folding import each
from tests.privacy.searches import ERROR, LOG3, MM, UNIT, all_tables, information, largest_change
from tests.statistics.mic.test_closed_family import change_of_family

# --- All data sets with few distinct records --------------------------------------------------------------------------


def merges(n_parts, k_max):
    """All ways to merge neighbouring parts into 2 ... k_max parts."""
    for k in range(2, k_max + 1):
        for cuts in combinations(range(1, n_parts), k - 1):
            yield tuple(np.searchsorted(cuts, np.arange(n_parts), side="right").tolist())


def in_two_groups(n_rows, n_columns, offset):
    """All ways to put the rows into two groups, against all columns."""
    columns = tuple(range(n_columns))
    return [((0, *others), columns, offset) for others in product((0, 1), repeat=n_rows - 1) if max(others) == 1]


def labels_in_two(n_labels, n_columns, chance):
    """The codes of a nominal feature in two groups."""
    return in_two_groups(n_labels + 2, n_columns, degrees_in_two(n_labels, n_columns) * chance)


def classes_in_two(n_labels, n_classes, chance):
    """The classes in two groups, against the codes."""
    grids = in_two_groups(n_classes, n_labels + 2, degrees_in_two(n_classes, n_labels) * chance)
    return [(codes, classes, offset) for classes, codes, offset in grids]


def label_class_grids(n_labels, n_classes, chance):
    """The grids of a nominal feature against classes."""
    in_two = labels_in_two(n_labels, n_classes, chance) + classes_in_two(n_labels, n_classes, chance)
    return in_two + [
        (rows.groups, columns.groups, rows.degrees * columns.degrees * chance)
        for rows, columns in product(groupings_of_labels(n_labels), groupings_of_classes(n_classes))
    ]


def label_number_grids(n_labels, n_parts, chance):
    """The grids of a nominal feature against a numeric target with `n_parts` master parts, in all merges."""
    return labels_in_two(n_labels, n_parts, chance) + [
        (rows.groups, columns, rows.degrees * max(columns) * chance)
        for rows, columns in product(groupings_of_labels(n_labels), merges(n_parts, n_parts))
    ]


def with_missing(n_parts, n_fixed, k_max, chance):
    """The grids of a feature with `n_parts` master parts, and missing values as the last row, against fixed parts."""
    columns = tuple(range(n_fixed))
    for rows in merges(n_parts + 1, k_max):
        for first in (False, True):
            yield (*rows[1:], rows[0]) if first else rows, columns, max(rows) * (n_fixed - 1) * chance


def missing_fixed(n_parts, n_master, chance):
    """The grids with the feature fixed, its last part for missing values, and the target in all merges."""
    rows = tuple(range(n_parts + 1))
    return [(rows, columns, max(columns) * (n_parts - 1) * chance) for columns in merges(n_master, n_parts)]


ALL_DATA_SETS = {
    "one label, 3 classes": ((3, 3), (3, 8, 9), lambda chance: label_class_grids(1, 3, chance)),
    "2 labels, 2 classes": ((4, 2), (5, 8), lambda chance: label_class_grids(2, 2, chance)),
    "2 labels, 3 classes": ((4, 3), (4, 6), lambda chance: label_class_grids(2, 3, chance)),
    "3 labels, 2 classes": ((5, 2), (4, 6), lambda chance: label_class_grids(3, 2, chance)),
    "3 labels, 4 classes": ((5, 4), (3, 4), lambda chance: label_class_grids(3, 4, chance)),
    "one label, numbers": ((3, 3), (3, 8, 9), lambda chance: label_number_grids(1, 3, chance)),
    "one label, more numbers": ((3, 4), (4, 6), lambda chance: label_number_grids(1, 4, chance)),
    "2 labels, numbers": ((4, 3), (4, 6), lambda chance: label_number_grids(2, 3, chance)),
    "missing, merged": ((3, 3), (3, 8, 9), lambda chance: list(with_missing(2, 3, 3, chance))),
    "missing, merged from more": ((4, 3), (4, 6), lambda chance: list(with_missing(3, 3, 3, chance))),
    "missing, fixed": ((4, 3), (4, 6), lambda chance: missing_fixed(3, 3, chance)),
}


@pytest.mark.few
@pytest.mark.parametrize("chance", [0.0, 3.0])
@pytest.mark.parametrize("name", ALL_DATA_SETS)
@pytest.mark.combinations
def test_the_largest_change_over_all_data_sets_is_at_most_h_of_1_over_n(name, chance):
    shape, sizes, grids_of = ALL_DATA_SETS[name]
    for n in sizes:  # from 9 records on, families that are not closed change by more
        largest = change_of_family(shape, n, grids_of(chance / (2 * n * math.log(2))))
        assert largest <= mic_r_sensitivity(n) + ERROR
        if chance == 0:
            assert largest == pytest.approx(mic_r_sensitivity(n), abs=ERROR)


# --- Labels in two groups: random subsets of the family, and all of it ------------------------------------------------

SHAPES_IN_TWO = [((4, 3), (4, 7)), ((3, 4), (4, 7)), ((6, 2), (5,))]


@pytest.mark.parametrize("shape, sizes", SHAPES_IN_TWO)
def test_two_groups_that_the_data_choose_would_change_by_more(shape, sizes):
    # Each code joins the group of the half of the columns that has most of its records.
    for n in sizes:
        tables, moves = all_tables(shape, n)
        below = 2 * tables[..., : shape[1] // 2].sum(axis=-1) > tables.sum(axis=-1)
        both = np.stack([(tables * side[..., np.newaxis]).sum(axis=-2) for side in (below, ~below)], axis=-2)
        assert largest_change(information(both), moves) > mic_r_sensitivity(n) + 1e-3


# --- The grids of the package ----------------------------------------------------------------------------------------


def assert_closed(grids):
    """Three merged parts can be merged into two, since every k occurs; three fixed parts occur in all divisions."""
    for rows in (grids.groups.complete.rows, grids.groups.merged.rows):
        divisions = {divided: row for row in rows if len(divided := parts_of(grids, row)) == 2}
        for row in rows:
            parts = parts_of(grids, row)
            assert row[K_MAX] >= 2
            if len(parts) == 3 and row[K_MAX] > 3:  # else kappa = 3 for k = 3 only, and k = 2 has half the offset
                for part in parts:
                    division = divisions[frozenset([part, frozenset.union(*parts - {part})])]
                    assert division[K_MAX] == row[K_MAX]
                    assert division[N_MASTER] == row[N_MASTER]
                    assert 2 * division[DEGREES] <= row[DEGREES]


def parts_of(grids, row):
    """The fixed parts of a grid, each as its codes."""
    starts = grids.codes.starts[int(row[BORDERS])][: int(row[N_FIXED]) + 1]
    cell_of_code = grids.codes.common[grids.groups.of_grid[int(row[BORDERS])]] - 1
    return frozenset(
        frozenset(np.flatnonzero((cell_of_code >= start) & (cell_of_code < end))) for start, end in pairwise(starts)
    )


@each("B", [4.0, 9.0, 16.0, 25.5, 60.0, 400.0])
def test_the_families_of_the_package_are_closed(B):
    for n in range(1, 12):
        assert_closed(nominal_grids(n, B, 2))
        assert_closed(class_grids(n + 1, B, 2))
    for correction in (None, MM):  # no grid has fewer fixed parts than merged ones, not counting missing values
        groups = continuous_grids(B, 2, correction=correction)[2]
        for grids in (groups.complete, groups.merged, groups.fixed):
            assert (grids.rows[:, K_MAX] <= grids.rows[:, DEGREES] + 1).all()
            assert (grids.rows[:, DEGREES] + 1 <= grids.rows[:, N_FIXED]).all()


# --- The scores of the package: the data sets that are worst where three parts cannot be merged ----------------------


def worst_neighbours(n):
    """Rows and columns of two neighbours, in a fixed table of 3 by 3 cells that changes most."""
    half = (n - 1) // 2
    rows, columns = np.repeat([0, 1, 0], [half, half, 1]), np.repeat([1, 0, 0], [half, half, 1])
    return (rows, columns), (np.append(rows[:-1], 2), np.append(columns[:-1], 2))


def score_against_classes(rows, columns, n_labels, n_classes, correction):
    return ClassTargetScorer(columns, n_classes, 40, 5, correction).score(rows.astype(np.uint32), Nominal(n_labels))


def score_against_numbers(rows, columns, n_labels, correction):
    """Four merged parts, more than there are labels: no merge of the target puts the labels into two parts."""
    first_half = np.flatnonzero((rows == 1) & (columns == 0))[: (len(rows) - 1) // 4]
    y = np.array([0.1, 0.3, 0.9])[columns]
    y[first_half] = 0.6
    return NumericTargetScorer(y, UNIT, 16, 1, correction=correction).score(rows.astype(np.uint32), Nominal(n_labels))


def change_at_worst(n, correction, n_labels, *n_classes):
    score = score_against_classes if n_classes else score_against_numbers
    return abs(np.diff([score(*table, n_labels, *n_classes, correction) for table in worst_neighbours(n)])[0])


WORST = [(1, 3), (1, 4), (3, 3), (3, 4), (4, 3), (1,), (3,)]  # labels, and classes unless the target is numeric


@each("kinds", WORST)
@each("n", [9, 13, 125, 1001])
@pytest.mark.parametrize("correction", [None, MM])
def test_without_divisions_three_parts_would_exceed_the_sensitivity(n, correction, kinds):
    table = np.zeros((2, 3, 3), dtype=np.int64)
    for counts, places in zip(table, worst_neighbours(n), strict=True):
        np.add.at(counts, places, 1)
    assert np.diff(information(table))[0] == pytest.approx(mi_sensitivity(n), abs=ERROR)
    assert mi_sensitivity(n) / LOG3 > 1.001 * mic_r_sensitivity(n)
    assert change_at_worst(n, correction, *kinds) <= mic_r_sensitivity(n) + ERROR


def test_the_worst_data_sets_catch_a_family_without_divisions(monkeypatch):
    monkeypatch.setattr(
        "skdpmic.statistics.mic.optimize_axis._with_each_of_three", lambda grouping, n_labels: [grouping]
    )
    monkeypatch.setattr(InTwoGroups, "largest_entry", lambda *_: 0.0)  # has all divisions, with a larger offset
    for kinds in ((1, 4), (3, 4), (1,), (3,)):
        assert change_at_worst(125, None, *kinds) > mic_r_sensitivity(125) + ERROR
