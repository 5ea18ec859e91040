"""Missing values are a separate part in every grid of MICr; without them, nothing changes."""

import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import (
    ClassTargetScorer,
    NumericTargetScorer,
    closed_plan,
    continuous_plan,
    largest_rounding_error,
)
from skdpmic.statistics.mic.optimize_axis import rounding_error
from tests.folding import each
from tests.naive import naive_mic_r, naive_mic_r_discrete
from tests.statistics.mic.counted import UNIT, check_scores_from_counts

CORRECTIONS = [None, "miller-madow"]
KINDS = ["random", "tied", "constant", "related", "where y is high", "all", "none", "all but one"]


def with_missing(kind, n):
    """A feature with missing values, and a target."""
    rng = np.random.default_rng([n, 0])
    x, y = rng.random((2, n))
    if kind == "tied":
        x, y = np.round(4 * x) / 4, np.round(6 * y) / 6
    elif kind == "constant":
        x = np.full(n, 0.3)
    elif kind == "related":
        y = (2 * x - 1) ** 2
    order = np.arange(n)
    missing = {"where y is high": y > 0.6, "all": order >= 0, "none": order < 0, "all but one": order > 0}
    return np.where(missing.get(kind, rng.random(n) < 0.3), np.nan, x), y


@pytest.mark.parametrize("kind", KINDS)
@each("n", [2, 5, 30])
@each("B, c", [(4, 1), (9, 2.5), (17.9, 1.5)])
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.combinations
def test_score_equals_the_definition_by_brute_force(kind, n, B, c, correction):
    x, y = with_missing(kind, n)
    score = NumericTargetScorer(y, UNIT, B, c, correction=correction).score(x, UNIT)
    expected = naive_mic_r(x, y, bounds=(UNIT, UNIT), B=B, c=c, correction=correction)
    assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.few
@pytest.mark.parametrize("kind", KINDS)
@each("n", [2, 5, 30])
@each("n_classes, B, c", [(2, 4, 1), (2, 12, 2), (3, 10, 3.5), (3, 15, 2), (5, 20, 2)])
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.combinations
def test_score_against_classes_equals_the_definition_by_brute_force(kind, n, n_classes, B, c, correction):
    x, y = with_missing(kind, n)
    codes = np.minimum((y * n_classes).astype(int), n_classes - 1)
    sizes = {"n_classes": n_classes, "B": B, "c": c, "correction": correction}
    expected = naive_mic_r_discrete(x, codes, bounds=UNIT, **sizes)
    assert ClassTargetScorer(codes, **sizes).score(x, UNIT) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n, B, c", [(5, 4, 5), (60, 8.5, 0.3), (9000, 40, 3)])
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.combinations
def test_scores_from_counts_equal_those_from_records_bit_for_bit(kind, n, B, c, correction):
    x, y = with_missing(kind, n)
    check_scores_from_counts(x, UNIT, y, B, c, correction)


@pytest.mark.parametrize("B", [9.0, 60.0])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_rounding_error_covers_the_part_for_missing_values(B, correction):
    plan_of = continuous_plan if correction is None else closed_plan
    n_cells = max((n_fixed + 1) * k_max for n_fixed, _, k_max in plan_of(B, 2, "reduced").tolist())
    allowed = largest_rounding_error(1000, [UNIT], None, B, 2, correction)
    assert allowed == rounding_error(1000, np.array([[n_cells, 1, 1]]))
    assert allowed > rounding_error(1000, np.array([[n_cells - 1, 1, 1]]))


def test_missing_values_may_be_joined_to_low_or_to_high_ones():
    x = np.linspace(0, 1, 600)
    codes = (x > 0.5).astype(int)
    target = ClassTargetScorer(codes, 2, 4, 5)  # two merged parts and no more
    for of_class in (0, 1):
        is_missing = (codes == of_class) & (np.arange(600) % 2 == 0)
        assert target.score(np.where(is_missing, np.nan, x), UNIT) > 0.99
