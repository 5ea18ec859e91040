"""MICr of nominal features equals brute force: against numbers and classes, from records and from counts."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    NumericTargetScorer,
    largest_rounding_error,
    nominal_grids,
)
from skdpmic.statistics.mic.optimize_axis import rounding_error
from skdpmic.table.domains import Nominal
from tests.folding import each
from tests.naive import naive_groupings_of_labels, naive_mic_r_nominal, naive_mic_r_of_codes, naive_two_groups
from tests.statistics.mic.counted import UNIT, check_scores_from_counts
from tests.statistics.mic.test_rounding import exact_information

CORRECTIONS = [None, "miller-madow"]
KINDS = ["labels alone", "all codes", "one code", "dependent", "missing where y is high", "all missing"]


def codes_and_target(kind, n_labels, n):
    """Codes of a nominal feature, and a numeric target."""
    rng = np.random.default_rng([n, n_labels])
    codes, y = rng.integers(n_labels + 2, size=n), rng.random(n)
    codes = {
        "labels alone": codes % n_labels,
        "all codes": codes,
        "one code": np.full(n, n_labels // 2),
        "dependent": (2 * y * (n_labels + 2)).astype(int) % (n_labels + 2),
        "missing where y is high": np.where(y > 0.6, n_labels + 1, codes),
        "all missing": np.full(n, n_labels + 1),
    }[kind]
    return codes.astype(np.uint32), y


def assert_numbers_match(codes, y, n_labels, B, c, correction):
    score = NumericTargetScorer(y, UNIT, B, c, correction=correction).score(codes, Nominal(n_labels))
    expected = naive_mic_r_nominal(codes, y, bounds=UNIT, n_labels=n_labels, B=B, c=c, correction=correction)
    assert score == pytest.approx(expected, abs=1e-12)


def assert_classes_match(codes, y, n_labels, n_classes, correction):
    classes = (y * n_classes).astype(int)
    score = ClassTargetScorer(classes, n_classes, 40, 5, correction).score(codes, Nominal(n_labels))
    expected = naive_mic_r_of_codes(codes, classes, n_labels=n_labels, n_classes=n_classes, correction=correction)
    assert score == pytest.approx(expected, abs=1e-12)


SIZES = [(1, 16, 1), (2, 4, 1), (2, 16, 2), (3, 16, 2), (3, 9, 3), (5, 30, 1), (9, 16, 3)]  # labels, B, c
SIZES += [(2, 40, 1), (3, 40, 1), (4, 40, 1), (10, 40, 1)]  # of which groupings are omitted that never hold the largest


@pytest.mark.parametrize("kind", KINDS)
@each("n", [2, 40])
@each("n_labels, B, c", SIZES)
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.combinations
def test_score_against_numbers_equals_the_definition_by_brute_force(kind, n, n_labels, B, c, correction):
    assert_numbers_match(*codes_and_target(kind, n_labels, n), n_labels, B, c, correction)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 40])
@each("n_labels", [1, 2, 3, 4, 7])
@each("n_classes", [2, 3, 4, 7])
@each("correction", CORRECTIONS)
@pytest.mark.combinations
def test_score_against_classes_equals_the_definition_by_brute_force(kind, n, n_labels, n_classes, correction):
    assert_classes_match(*codes_and_target(kind, n_labels, n), n_labels, n_classes, correction)


@pytest.mark.parametrize("kind", KINDS)
@each("n_labels", [1, 2, 3, 6])
@each("n", [5, 500])
@each("correction", CORRECTIONS)
def test_scores_from_counts_equal_those_from_records_bit_for_bit(kind, n_labels, n, correction):
    codes, y = codes_and_target(kind, n_labels, n)
    check_scores_from_counts(codes, Nominal(n_labels), y, 33.7, 3.3, correction)


# --- Labels in two groups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["labels alone", "all codes", "missing where y is high"])
@pytest.mark.parametrize("n_labels", [15, 40])
@each("correction", CORRECTIONS)
@pytest.mark.combinations
def test_many_labels_are_put_into_two_public_groups(kind, n_labels, correction):
    columns = codes_and_target(kind, n_labels, 200)
    assert_numbers_match(*columns, n_labels, 40, 1, correction)
    assert_classes_match(*columns, n_labels, 5, correction)


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
        degrees_in_two = (2 + mpmath.sqrt(4 * (n_labels - 2)) / 3) ** 2
        in_two = [(groups, degrees_in_two) for groups in naive_two_groups(n_labels + 2, 5) if max(groups) > 0]
        groupings = [(groups, 4 * degrees) for groups, degrees in naive_groupings_of_labels(n_labels)] + in_two
        entries = [mpmath.mpf(0)]
        for groups, degrees in groupings:
            cells = np.zeros((max(groups) + 1, 5), dtype=int)
            np.add.at(cells, np.array(groups), apart)
            offset = degrees / (2 * mpmath.log(2)) * (correction is not None)
            entries.append((exact_information(cells) - offset) / n / mpmath.log(min(cells.shape), 2))
        assert abs(max(entries) - mpmath.mpf(score)) <= allowed


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
    assert nominal_grids(1, 320.0, 2.0).plan[0].tolist() == [3, 34, 17]
    of_two = rounding_error(n, np.array([[48, 0, 2]]))
    assert rounding_error(n, nominal_grids(1, 320.0, 2.0).plan) < of_two
    assert largest_rounding_error(n, [Nominal(1)], None, 320.0, 2.0, "miller-madow") == of_two
