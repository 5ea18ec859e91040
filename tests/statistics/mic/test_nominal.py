"""MICr of nominal features equals brute force: against numbers and classes, from records and from counts."""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    NumericTargetScorer,
    degrees_in_two,
    labels_in_two,
    largest_rounding_error,
    nominal_plan,
)
from skdpmic.statistics.mic.optimize_axis import (
    entropy_table,
    groupings_of_classes,
    groupings_of_labels,
    rounding_error,
)
from skdpmic.table.domains import Nominal
from tests.folding import each
from tests.naive import (
    naive_groupings_of_classes,
    naive_groupings_of_labels,
    naive_mic_r_nominal,
    naive_mic_r_of_codes,
    naive_two_groups,
)
from tests.statistics.mic.counted import UNIT, check_scores_from_counts

CORRECTIONS = [None, "miller-madow"]
KINDS = ["labels alone", "all codes", "one code", "dependent", "missing where y is high", "all missing"]


def codes_and_target(kind, n_labels, n):
    """Codes of a nominal feature, and a numeric target."""
    rng = np.random.default_rng([n, n_labels])
    codes, y = rng.integers(n_labels + 2, size=n), rng.random(n)
    if kind == "labels alone":
        codes %= n_labels
    elif kind == "one code":
        codes[:] = n_labels // 2
    elif kind == "dependent":
        codes = (2 * y * (n_labels + 2)).astype(int) % (n_labels + 2)
    elif kind == "missing where y is high":
        codes[y > 0.6] = n_labels + 1
    elif kind == "all missing":
        codes[:] = n_labels + 1
    return codes.astype(np.uint32), y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 40])
@each("n_labels, B, c", [(1, 16, 1), (2, 4, 1), (2, 16, 2), (3, 16, 2), (3, 9, 3), (5, 30, 1), (9, 16, 3)])
@each("correction", CORRECTIONS)
@pytest.mark.combinations
def test_score_against_numbers_equals_the_definition_by_brute_force(kind, n, n_labels, B, c, correction):
    codes, y = codes_and_target(kind, n_labels, n)
    score = NumericTargetScorer(y, UNIT, B, c, correction=correction).score(codes, Nominal(n_labels))
    expected = naive_mic_r_nominal(codes, y, bounds=UNIT, n_labels=n_labels, B=B, c=c, correction=correction)
    assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 40])
@each("n_labels", [1, 2, 3, 4, 7])
@each("n_classes", [2, 3, 4, 7])
@each("correction", CORRECTIONS)
@pytest.mark.combinations
def test_score_against_classes_equals_the_definition_by_brute_force(kind, n, n_labels, n_classes, correction):
    codes, y = codes_and_target(kind, n_labels, n)
    classes = (y * n_classes).astype(int)
    score = ClassTargetScorer(classes, n_classes, 40, 5, correction).score(codes, Nominal(n_labels))
    expected = naive_mic_r_of_codes(codes, classes, n_labels=n_labels, n_classes=n_classes, correction=correction)
    assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@each("n_labels", [1, 2, 3, 6])
@each("n", [5, 500])
@each("correction", CORRECTIONS)
def test_scores_from_counts_equal_those_from_records_bit_for_bit(kind, n_labels, n, correction):
    codes, y = codes_and_target(kind, n_labels, n)
    check_scores_from_counts(codes, Nominal(n_labels), y, 33.7, 3.3, correction)


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 30])
def test_groupings_match_the_definition(n_labels):
    found = {grouping: degrees for grouping, degrees in map(_canonical, groupings_of_labels(n_labels))}
    assert found == dict(_canonical(grouping) for grouping in naive_groupings_of_labels(n_labels))
    found = {grouping: degrees for grouping, degrees in map(_canonical, groupings_of_classes(n_labels + 1))}
    assert found == dict(_canonical(grouping) for grouping in naive_groupings_of_classes(n_labels + 1))


def _canonical(grouping):
    """The groups, numbered in order of appearance."""
    groups, degrees = grouping
    order = list(dict.fromkeys(groups))
    return tuple(map(order.index, groups)), degrees


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("n_labels, most", [(2, 6), (3, 6), (4, 4), (10, 4)])
@pytest.mark.combinations
def test_omitted_groupings_never_hold_the_largest_entry(n_labels, most, correction):
    # B = 40, so ten labels have at most 4 merged parts. All groupings of two and of three labels are kept.
    assert nominal_plan(40.0, 1, n_labels)[0, 2] == min(6, 40 // n_labels)
    assert len(nominal_plan(40.0, 1, n_labels)) == {2: 2, 3: 5}.get(n_labels, 2 if n_labels < 6 else 1)
    for kind in KINDS:
        codes, y = codes_and_target(kind, n_labels, 60)
        score = NumericTargetScorer(y, UNIT, 40.0, 1, correction=correction).score(codes, Nominal(n_labels))
        expected = naive_mic_r_nominal(codes, y, bounds=UNIT, n_labels=n_labels, B=40, c=1, correction=correction)
        assert score == pytest.approx(expected, abs=1e-12)


# --- Labels in two groups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["labels alone", "all codes", "missing where y is high"])
@pytest.mark.parametrize("n_labels", [15, 40])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_many_labels_are_put_into_two_public_groups(kind, n_labels, correction):
    codes, y = codes_and_target(kind, n_labels, 200)
    score = NumericTargetScorer(y, UNIT, 40, 1, correction=correction).score(codes, Nominal(n_labels))
    expected = naive_mic_r_nominal(codes, y, bounds=UNIT, n_labels=n_labels, B=40, c=1, correction=correction)
    assert score == pytest.approx(expected, abs=1e-12)
    classes = (y * 5).astype(int)
    score = ClassTargetScorer(classes, 5, 40, 5, correction).score(codes, Nominal(n_labels))
    expected = naive_mic_r_of_codes(codes, classes, n_labels=n_labels, n_classes=5, correction=correction)
    assert score == pytest.approx(expected, abs=1e-12)


def test_two_perfectly_informative_groups_are_found_among_all_of_fourteen_labels_and_two_more_codes():
    rng = np.random.default_rng(0)
    for _ in range(5):
        is_first, codes = rng.permutation(16) < 8, rng.integers(16, size=3000).astype(np.uint32)
        target = is_first[codes] + 2.0 * rng.integers(2, size=3000)  # one of two classes each, out of four
        for score in (
            ClassTargetScorer((target % 2).astype(int), 4, 40, 5).score(codes, Nominal(14)),
            NumericTargetScorer(target % 2, UNIT, 40, 5).score(codes, Nominal(14)),
        ):
            assert score > 0.99


@pytest.mark.parametrize("n_labels, n_columns", [(2, 5), (5, 16), (8, 8), (14, 5), (14, 24), (14, 48)])
def test_the_offset_of_two_groups_is_their_mean_by_chance(n_labels, n_columns):
    # The mean of 400 draws of 5000 records: within a tenth, and 4 standard errors (alpha = 1e-4).
    rng, n = np.random.default_rng(n_columns), 5000
    table, in_two = entropy_table(n), labels_in_two(n_labels, n_columns)
    draws = [
        in_two.largest_entry(in_two.count(rng.integers(n_labels, size=n), rng.integers(n_columns, size=n)), table)
        for _ in range(400)
    ]
    degrees, expected = 2 * n * math.log(2) * np.array(draws), degrees_in_two(n_labels, n_columns)
    assert abs(degrees.mean() - expected) < expected / 10 + 4 * degrees.std() / 20


# --- Rounding -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("n", [10, 3000, pytest.param(10**6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_score_against_classes_is_within_the_rounding_error_of_its_exact_value(n_labels, n, correction):
    codes, y = codes_and_target("missing where y is high", n_labels, n)
    classes = (y * 5).astype(int)
    score = ClassTargetScorer(classes, 5, 40, 5, correction).score(codes, Nominal(n_labels))
    allowed = largest_rounding_error(n, [Nominal(n_labels)], 5, 40, 5, correction)
    apart = np.zeros((n_labels + 2, 5), dtype=int)
    np.add.at(apart, (codes, classes), 1)
    with mpmath.workdps(40):
        exact = max(
            _exact_entry(groups, apart, degrees * 4 * (correction is not None))
            for groups, degrees in [*naive_groupings_of_labels(n_labels), *_in_two_groups(n_labels)]
        )
        assert abs(exact - mpmath.mpf(score)) <= allowed


def _in_two_groups(n_labels):
    """The codes in two groups against five classes, with degrees of freedom in units of four."""
    degrees = (2 + mpmath.sqrt(4 * max(n_labels - 2, 0)) / 3) ** 2 / 4
    return [(groups, degrees) for groups in naive_two_groups(n_labels + 2, 5) if max(groups) > 0]


def _exact_entry(groups, apart, degrees):
    n, cells = apart.sum(), np.zeros((max(groups) + 1, 5), dtype=int)
    np.add.at(cells, np.array(groups), apart)
    sums = [cells.ravel(), cells.sum(axis=0), cells.sum(axis=1), [n]]
    n_mi = sum(sign * _g(total) for sign, totals in zip((1, -1, -1, 1), sums, strict=True) for total in totals)
    offset = degrees / (2 * mpmath.log(2))
    return max((n_mi - offset) / int(n) / mpmath.log(min(cells.shape), 2), mpmath.mpf(0))


@cache
def _g(count):
    return count * mpmath.log(int(count), 2) if count > 0 else mpmath.mpf(0)


def test_the_rounding_error_is_that_of_the_largest_table_of_all_features():
    n, B, c = 10**6, 40.0, 2.0

    def error(*domains, n_classes=None):
        return Fraction(largest_rounding_error(n, domains, n_classes, B, c, "miller-madow"))

    for n_classes in (None, 4):
        few, many = (error(Nominal(n_labels), n_classes=n_classes) for n_labels in (2, 1000))
        assert many > few
        assert error(UNIT, Nominal(1000), (3.0, 4.0), n_classes=n_classes) == many
        assert error(Nominal(2), UNIT, n_classes=n_classes) == max(few, error(UNIT, n_classes=n_classes))


def test_the_rounding_error_is_that_of_labels_in_two_groups_if_they_have_more_cells():
    n = 10**6
    assert nominal_plan(320.0, 2.0, 1)[0].tolist() == [3, 34, 17]
    of_two = rounding_error(n, np.array([[48, 0, 2]]))
    assert rounding_error(n, nominal_plan(320.0, 2.0, 1)) < of_two
    assert largest_rounding_error(n, [Nominal(1)], None, 320.0, 2.0, "miller-madow") == of_two
