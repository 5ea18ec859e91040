"""Families of grids depend on B, c and the number of classes, and on nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest

from skdpmic.statistics.grids import MOST_DIVISIONS
from skdpmic.statistics.mtv.family import Family, Side, class_family, numeric_family, resolve_mtv
from tests.folding import each
from tests.statistics.mtv.naive_mtv_r import numeric_scorer


def divisions(family):
    return ["".join(map(str, groups)) for groups, *_ in family.sides]


def test_a_numeric_target_is_divided_at_each_eighth_and_by_parity():
    family = numeric_family(32, 32)
    assert (family.n_columns, family.n_master) == (8, 512)
    assert {side.k_max for side in family.sides} == {16}
    assert divisions(family) == [
        *("0" * cut + "1" * (8 - cut) for cut in range(1, 8)),
        *("01010101", "00110011", "01100110", "01011010", "00111100", "01101001"),
    ]


def test_in_the_penalty_inner_intervals_few_of_many_classes_and_separate_classes_count_less():
    sizes = {"".join(map(str, side.groups)): side.size for side in numeric_family(32, 32).sides}
    assert [sizes[groups] for groups in ("00011111", "00111100", "01101001", "01010101")] == [2, 2.25, 3, 3.5]
    *in_two, separate = class_family(32, 32, 10).sides
    sizes = {min(sum(side.groups), 10 - sum(side.groups)): side.size for side in in_two}
    assert sizes == pytest.approx({1: 1.36, 2: 1.64, 3: 1.84, 4: 1.96, 5: 2})
    assert separate.size == 2.8


def test_ten_rows_per_person_have_the_penalty_of_a_tenth_of_the_rows():
    family = numeric_family(8, 2)
    y, x = np.random.default_rng(0).random((2, 50))
    of_ten = replace(family, penalty=family.penalty * math.sqrt(10))
    repeated = numeric_scorer(np.repeat(y, 10), (0, 1), of_ten).score(np.repeat(x, 10), (0, 1))
    assert repeated == pytest.approx(numeric_scorer(y, (0, 1), family).score(x, (0, 1)), abs=1e-12)


@each("B, c, n_master", [(4, 0.1, 2), (9, 2.5, 10), (32, 1e300, 10_000)])
def test_master_parts_are_c_times_the_merged_ones_from_2_to_10_000(B, c, n_master):
    assert numeric_family(B, c).n_master == n_master
    assert class_family(B, c, 3).n_master == n_master


def test_two_classes_are_divided_in_one_way_and_three_in_all_ways():
    assert class_family(32, 32, 2) == Family(2, 512, (Side((0, 1), 16, 2.0),), by_place=True)
    assert divisions(class_family(32, 32, 3)) == ["011", "010", "001"]


def test_more_classes_are_divided_each_against_the_rest_in_order_by_parity_and_also_kept_separate():
    family = class_family(20, 5, 6)
    assert family.n_master == 50
    assert divisions(family) == [
        *("011111", "010000", "001000", "000100", "000010", "000001"),
        *("001111", "000111", "000011"),  # the outermost cuts are already there
        *("010101", "001100", "011001", "010110", "011010"),  # two more are already there
        "012345",
    ]
    assert {k_max for _, k_max, *_ in family.sides[:-1]} == {10}
    assert family.sides[-1][1] == 2


@each("n_classes", [2, 3, 4, 5, 7, 10, 32, 33, 40, 100, 300, 1000])
def test_no_division_occurs_twice_in_a_family_and_none_has_an_empty_group(n_classes):
    sides = class_family(32, 8, n_classes).sides
    in_two = {groups for groups, *_ in sides if max(groups) == 1}
    assert {groups[0] for groups in in_two} == {0}
    assert len(in_two) == len(sides) - (n_classes > 3)
    assert len(sides) <= n_classes + 2 * MOST_DIVISIONS
    if n_classes > 3:  # any two classes are separated by some division
        assert len({tuple(column) for column in np.array(sorted(in_two)).T}) == n_classes


# --- The automatic B and c depend on public numbers only, and so do the errors ----------------------------------------


def test_numbers_are_kept_exponents_become_sizes_and_B_or_c_alone_may_be_auto():
    assert resolve_mtv("auto", "auto", 1000) == (32, 38)
    assert resolve_mtv(20, "auto", 1000) == (20, 38)
    assert resolve_mtv("auto", 3, 1000) == (32, 3)
    assert resolve_mtv(0.5, 2.5, 400, 3) == (20, 2.5)


@each("n_classes", [None, 2, 7, 8, 10, 37])
def test_automatic_counts_take_at_most_20_kB_per_feature(n_classes):
    B, c = resolve_mtv("auto", "auto", 1000, n_classes)
    family = numeric_family(B, c) if n_classes is None else class_family(B, c, n_classes)
    assert 4 * family.n_columns * family.n_master <= 20_000
