"""MTVr matches its definition: the kernels agree with all merges in exact fractions, up to the rounding error."""

from fractions import Fraction

import numpy as np
import pytest

from skdpmic.statistics.mtv.counts import MOST_RECORDS, ROUNDING_ERROR, CountsScorer
from skdpmic.statistics.mtv.family import UNITS, Family, Side, class_family, numeric_family
from skdpmic.table.domains import Nominal
from tests.folding import each
from tests.statistics.mtv.naive_mtv_r import (
    class_scorer,
    naive_mtv_r,
    naive_part,
    naive_score,
    naive_score_of_codes,
    numeric_scorer,
)

UNIT = (0.0, 1.0)
FAMILIES = {
    "default, small": numeric_family(8, 2),
    "no penalty": Family(4, 8, (Side((0, 0, 1, 1), 4), Side((0, 1, 1, 0), 3)), penalty=0.0),
    "even sides": Family(4, 8, (Side((0, 0, 1, 1), 3), Side((0, 1, 2, 3), 2, 4)), penalty=0.25),
    "all columns apart": Family(4, 4, (Side((0, 1, 2, 3), 2, 3),), penalty=0.1, by_place=True),
    "other sizes": Family(4, 8, (Side((0, 1, 0, 1), 4, 3.5), Side((0, 1, 2, 3), 2, 2.5)), penalty=0.1, by_place=True),
    "known quarters": numeric_family(6, 2).with_target_shares(
        (2, 4, 6, 8), tuple(UNITS // 16 * i for i in (1, 5, 7, 3))
    ),
    "known, all columns apart": Family(
        4, 5, (Side((0, 1, 2, 3), 2, 3), Side((0, 0, 1, 1), 3)), penalty=0.1, by_place=True
    ).with_target_shares(
        (1, 2, 3, 4), (UNITS // 3, UNITS // 2, UNITS // 9, UNITS - UNITS // 3 - UNITS // 2 - UNITS // 9)
    ),
    "more parts than master parts": Family(2, 2, (Side((0, 1), 5),), penalty=0.0),
    "columns that do not divide": Family(3, 7, (Side((0, 1, 2), 2), Side((0, 1, 0), 2)), penalty=0.0),
    "known halves": numeric_family(8, 2).with_target_shares((4, 8), (UNITS // 2, UNITS // 2)),
}


COLUMNS = {  # two columns of n numbers
    "independent": lambda n, rng: rng.random((2, n)),
    "dependent": lambda n, rng: (x := rng.random(n), (2 * x - 1) ** 2 + 0.1 * rng.standard_normal(n)),
    "tied": lambda n, rng: rng.integers(4, size=(2, n)) / 4,
    "constant": lambda n, rng: (np.full(n, 0.3), rng.random(n)),
    "in one place": lambda n, rng: (np.full(n, 0.3), np.full(n, 0.9)),
    "outside": lambda n, rng: 3 * rng.standard_normal((2, n)),
    "skewed": lambda n, rng: (rng.random(n) ** 8, 1 - rng.random(n) ** 8),  # many empty master parts
    "some missing": lambda n, rng: (
        x := np.where(rng.random(n) < 0.3, np.nan, rng.random(n)),
        np.where((x >= 0.5) ^ (rng.random(n) < 0.2), 0.2, 0.8),
    ),
}


def assert_matches_the_definition(family, x, y):
    score = numeric_scorer(y, UNIT, family).score(x, UNIT)
    exact = naive_mtv_r(x.tolist(), y.tolist(), UNIT, UNIT, family)
    assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)


SIZES = [2, 3, 7, 40]
KINDS = list(COLUMNS)


@pytest.mark.few
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@each("kind, n", [(kind, SIZES[(i + j) % 4]) for i, kind in enumerate(KINDS) for j in (0, 2)])
def test_score_equals_that_of_all_merges_in_exact_fractions(family, kind, n):
    assert_matches_the_definition(family, *COLUMNS[kind](n, np.random.default_rng(n)))


@pytest.mark.few
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n", [2, 3, 40])
@pytest.mark.combinations
def test_score_against_classes_equals_that_of_all_merges_in_exact_fractions(n_classes, n):
    rng = np.random.default_rng(n)
    family = class_family(4 * n_classes, 1.0, n_classes)
    family = Family(n_classes, 8, family.sides, penalty=0.1, by_place=True)
    codes, x = rng.integers(n_classes, size=n), rng.random(n)
    score = class_scorer(codes, family).score(x, UNIT)
    exact = naive_score([naive_part(v, *UNIT, 8) for v in x], codes.tolist(), family)
    assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)


# --- The longest paths ------------------------------------------------------------------------------------------


def scores_without_skipping(tables, family, factor=1):
    """The scores, with the threshold below which turns are skipped `factor` times as large, and without skipping."""
    scorers = [CountsScorer(int(tables[0].sum()), family) for _ in range(2)]
    for scorer, times in zip(scorers, (factor, 0), strict=True):
        per_length, offsets, least = scorer._constants(int(tables[0].sum()))
        scorer._constants = lambda _, of=(per_length, offsets, times * least): of
    return [scorer.of_rows(tables) for scorer in scorers]


def zigzag(rng, n_parts, n):
    """Counts of two classes: runs of a class that are long, short, or turn at each part."""
    turns = rng.random((n_parts, 2)) ** 4
    turns[np.arange(n_parts), rng.integers(2, size=n_parts)] *= rng.random() ** 2
    return rng.multinomial(n, (turns / turns.sum()).ravel()).reshape(n_parts, 2).T.astype(np.uint32)


@pytest.mark.parametrize("penalty", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("margins", [None, (UNITS // 2, UNITS // 2), (UNITS // 5, UNITS - UNITS // 5)])
def test_skipping_turns_that_cannot_pay_for_two_more_cuts_changes_no_score(penalty, margins):
    rng = np.random.default_rng(0)
    for n_master in (4, 12, 28):
        for by_place in (False, True):
            family = Family(2, n_master, (Side((0, 1), 16, margins=margins),), penalty=penalty, by_place=by_place)
            for n in (20, 400):
                tables = np.array([zigzag(rng, n_master + 1, n) for _ in range(40)])
                np.testing.assert_array_equal(*scores_without_skipping(tables, family))


def with_a_step_back(w, n=10_000):
    """Counts of two classes along four parts: up, w records back, up again, and down; no value is missing."""
    return np.array([[[3 * n // 10, 0, n // 5, 0, 0], [0, w, 0, n // 2 - w, 0]]], dtype=np.uint32)


@each("times", [1, 16])
def test_a_step_back_is_skipped_only_where_it_cannot_pay(times):
    """With a threshold 16 times too large, some steps that pay would be skipped."""
    family = Family(2, 4, (Side((0, 1), 16, margins=(UNITS // 2, UNITS // 2)),))
    scores = [scores_without_skipping(with_a_step_back(w), family, times) for w in range(0, 400, 3)]
    assert all(one == other for one, other in scores) == (times == 1)


@each("margins", [None, (UNITS // 2, UNITS // 2), (1, UNITS - 1)])
def test_scores_are_exact_up_to_the_largest_number_of_records(margins):
    """The same shares, so without a penalty the same score, as that of few records."""
    few, family = 7, Family(3, 4, (Side((0, 0, 1), 3, margins=margins), Side((0, 1, 2), 2)), penalty=0.0)
    tables = np.random.default_rng(0).multinomial(few, np.full(15, 1 / 15), 20).reshape(20, 3, 5)
    times = MOST_RECORDS // few
    many = CountsScorer(times * few, family).of_tables((times * tables).astype(np.uint32), UNIT)
    np.testing.assert_allclose(many, CountsScorer(few, family).of_tables(tables.astype(np.uint32), UNIT), atol=1e-12)
    with pytest.raises(ValueError, match=r"at most 2,147,483,647 records, got n_samples=2,147,483,648"):
        CountsScorer(MOST_RECORDS + 1, family)


# --- Missing values and nominal features ---------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("family", [FAMILIES["even sides"], FAMILIES["columns that do not divide"]])
@each("how", ["all", "some", "low ones"])
@pytest.mark.parametrize("kind", KINDS)
@each("n", [2, 7, 30])
@pytest.mark.combinations
def test_missing_values_are_a_part_after_or_before_all_others(family, how, kind, n):
    rng = np.random.default_rng(n)
    x, y = COLUMNS[kind](n, rng)
    is_missing = {"all": np.full(n, True), "some": rng.random(n) < 0.3, "low ones": x < np.median(x)}[how]
    assert_matches_the_definition(family, np.where(is_missing, np.nan, x), y)


def test_missing_values_may_be_joined_to_low_or_to_high_ones():
    family = Family(2, 32, (Side((0, 1), 2),), penalty=0.0)
    x = np.arange(400) / 400
    for of_half in (0, 1):
        is_missing = (x >= 0.5) == of_half
        assert numeric_scorer(x, UNIT, family).score(np.where(is_missing & (np.arange(400) % 2), np.nan, x), UNIT) == 1


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("n_labels", [1, 2, 3, 6])
@each("n", [2, 3, 40])
@pytest.mark.combinations
def test_score_of_a_nominal_feature_equals_its_definition_in_exact_fractions(family, n_labels, n):
    rng = np.random.default_rng(n)
    for kind in ("labels alone", "all codes", "one code", "dependent"):
        codes, y = rng.integers(n_labels + 2 * (kind == "all codes"), size=n), rng.random(n)
        if kind == "one code":
            codes[:] = n_labels + 1
        if kind == "dependent":
            codes = (y * (n_labels + 2)).astype(int)
        score = numeric_scorer(y, UNIT, family).score(codes.astype(np.uint32), Nominal(n_labels))
        columns = [naive_part(value, *UNIT, family.n_columns) for value in y]
        exact = naive_score_of_codes(codes.tolist(), columns, n_labels, family)
        assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_labels", [1, 2, 3, 6])
def test_score_of_a_nominal_feature_against_classes_equals_its_definition_in_exact_fractions(n_classes, n_labels):
    rng = np.random.default_rng(0)
    family = class_family(32, 10, n_classes)
    for dependent in (False, True):
        classes = rng.integers(n_classes, size=60)
        codes = np.minimum(classes, n_labels + 1) if dependent else rng.integers(n_labels + 2, size=60)
        score = class_scorer(classes, family).score(codes.astype(np.uint32), Nominal(n_labels))
        exact = naive_score_of_codes(codes.tolist(), classes.tolist(), n_labels, family)
        assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)
    assert score > 0.3


def test_no_score_exceeds_one_even_if_eight_parts_are_predicted_exactly():
    """Eight parts against eight have a total variation of 7/8, more than the normaliser of 3/4."""
    codes = np.arange(4000) % 8
    assert class_scorer(codes, class_family(512, 64, 8)).score(codes.astype(np.uint32), Nominal(8)) == 1
