"""MTVr of weighted records: its sensitivity, the learnt shares, and kernels that match the definition.

The theorems are in docs/theory/known_margin.md and learnt_margin.md.
"""

from fractions import Fraction

import numpy as np
import pytest

from skdpmic.privacy.noise import entropy_source
from skdpmic.statistics.mtv import released_shares
from skdpmic.statistics.mtv.counts import MOST_RECORDS, ROUNDING_ERROR, CountsScorer, TargetCounts
from skdpmic.statistics.mtv.family import UNITS, Family, Side, class_family, numeric_family
from skdpmic.statistics.mtv.released_shares import CountBudget, release_cut_shares, release_shares
from skdpmic.statistics.sensitivity import mtv_r_sensitivity
from skdpmic.table.domains import Nominal
from tests.folding import each
from tests.privacy.searches import ERROR, UNIT, all_tables, climb, compiled_only, largest_change
from tests.statistics.mtv.naive_mtv_r import naive_score, scores_of_joins
from tests.statistics.mtv.test_sensitivity import known

SOURCE = entropy_source(0)


# --- The largest change, in exact numbers ---------------------------------------------------------------------------


UNITS_OF_WEIGHT = 2


def largest(n, n_rows, shares, half=0.5):
    """The largest change over all data sets of n records with weights of 0 to 2 units, and replacements of one."""
    places = np.eye(n_rows * len(shares), dtype=np.int64)
    kinds = np.array([0 * places[0], *places, *(UNITS_OF_WEIGHT * places)])
    data_sets, moves = all_tables((len(kinds),), n)
    tables = (data_sets @ kinds).reshape(-1, n_rows, len(shares))
    return largest_change(scores_of_joins(tables, most=n * UNITS_OF_WEIGHT, shares=shares, half=half), moves)


@each("n_rows, shares, sizes", [(2, (1, 1), (2, 3, 4)), (2, (1, 3), (2, 3)), (3, (1, 1, 2), (2,))])
def test_a_weighted_record_moves_the_score_by_at_most_two_nths(n_rows, shares, sizes):
    for n in sizes:
        change = largest(n, n_rows, shares)
        assert 1 / n + ERROR < change <= 2 / n + ERROR
        assert shares != (1, 1) or change == pytest.approx(2 / n, abs=ERROR)  # attained at a half
        assert mtv_r_sensitivity(n, knows_target_shares=True, are_weighted=True) >= min(2 / n, 1)


def test_with_no_known_share_a_weighted_record_moves_the_score_by_at_most_four_nths():
    for n in (3, 4):
        change = largest(n, 2, (1, 10**9), half=1.0)
        assert 3 / n - 1e-6 < change + 1 / n <= 5 / n + ERROR
        assert change <= 4 * mtv_r_sensitivity(4 * n, are_weighted=True)  # that is 4 / n, not cut to 1


def test_divisions_of_unknown_shares_would_move_too_far_at_full_weight():
    assert largest(5, 2, (1, 1), half=1.0) > 2 / 5 + ERROR


# --- Kernels ----------------------------------------------------------------------------------------------------


FAMILIES = {
    "numbers": numeric_family(8, 1),
    "a known half": known(numeric_family(8, 1), UNITS // 2),
    "known quarters": numeric_family(8, 1).with_target_shares((2, 4, 6, 8), (UNITS // 4,) * 4),
    "classes": class_family(8, 1, 4),
    "two known classes": known(class_family(8, 1, 2), UNITS // 8),
}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@each("with_missing", [False, True])
def test_scores_match_the_definition(family, with_missing):
    rng = np.random.default_rng(1)
    for n, heavy in ((4, 1.0), (12, 0.4), (60, 0.1)):
        weights = rng.integers(0, 9, n) * (rng.random(n) < heavy)
        table = np.zeros((family.n_columns, family.n_master + 1), dtype=np.uint32)
        y = rng.integers(family.n_columns, size=n)
        x = (y + rng.integers(2, size=n)) % (family.n_master + with_missing)
        np.add.at(table, (y, x), weights.astype(np.uint32))
        if not table.any():
            continue
        score = Fraction(CountsScorer(n, family, 8).score(table.ravel(), UNIT))
        exact = naive_score(np.repeat(x, weights).tolist(), np.repeat(y, weights).tolist(), family, 8, n)
        assert abs(score - exact) <= Fraction(ROUNDING_ERROR)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@each("scale", [UNIT, Nominal(2), Nominal(5)])
def test_records_of_the_largest_weight_score_like_unweighted_records(family, scale):
    rng = np.random.default_rng(2)
    n_counts = family.n_columns * (family.n_master + 1 if scale is UNIT else scale.n_parts)
    counts = rng.multinomial(300, np.full(n_counts, 1 / n_counts)).astype(np.uint32)
    plain = CountsScorer(300, family).score(counts, scale)
    assert CountsScorer(300, family, 256).score(256 * counts, scale) == pytest.approx(plain, abs=2 * ROUNDING_ERROR)


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@each("scale", [UNIT, Nominal(3)])
def test_hill_climbing_never_exceeds_the_sensitivity(family, scale):
    n, units = 12, 4
    scorer = CountsScorer(n, family, units)
    places = np.eye(family.n_columns * (family.n_master + 1 if scale is UNIT else scale.n_parts), dtype=np.uint32)
    kinds = np.concatenate([0 * places[:1], places, units * places])
    allowed = mtv_r_sensitivity(n, knows_target_shares=family.knows_target_shares, are_weighted=True)
    largest = max(climb(seed, n, 10, kinds, lambda counts: scorer.score(counts, scale)) for seed in (1, 2, 3))
    assert 0.3 * allowed < largest <= allowed + 2 * ROUNDING_ERROR


def test_records_of_weight_0_score_0():
    for family in FAMILIES.values():
        scorer = CountsScorer(10, family, 8)
        assert scorer.score(np.zeros(family.n_columns * (family.n_master + 1), dtype=np.uint32), UNIT) == 0.0
        assert scorer.score(np.zeros(family.n_columns * 4, dtype=np.uint32), Nominal(2)) == 0.0


def test_counts_of_weighted_records_are_sums_of_weights():
    rng = np.random.default_rng(4)
    family, n = numeric_family(8, 1), 500
    grids, y, weights = TargetCounts(family, UNIT, 256), rng.random(n), rng.integers(0, 257, n).astype(np.uint32)
    for x, scale in ((rng.random(n), UNIT), (rng.integers(4, size=n).astype(np.uint32), Nominal(2))):
        counts = grids.count(x, scale, grids.place(y, weights))
        each_alone = [
            weight * grids.count(x[i : i + 1], scale, grids.place(y[i : i + 1])).astype(np.int64)
            for i, weight in enumerate(weights.tolist())
        ]
        np.testing.assert_array_equal(counts, np.sum(each_alone, axis=0))


def test_fewer_records_can_be_scored_with_weights_than_without():
    family = Family(2, 4, (Side((0, 1), 2),))
    CountsScorer(MOST_RECORDS // 256, family, 256)
    with pytest.raises(ValueError, match="at most 8,388,607 records with weights, got n_samples=8,388,608"):
        CountsScorer(MOST_RECORDS // 256 + 1, family, 256)


# --- Learnt shares of the target --------------------------------------------------------------------------------


def test_shares_follow_from_noisy_sums_alone(monkeypatch):
    noise = np.array([40, -100], dtype=object)
    monkeypatch.setattr(released_shares, "discrete_laplace", lambda scale, size, _: noise[:size])
    budget = CountBudget(20, Fraction(16), 1, 256, SOURCE)
    margin = release_shares(np.array([1000, 3000]), budget)
    assert margin.sums == (1040, 2900)
    assert margin.shares == (Fraction(1040, 3940), Fraction(2900, 3940))
    assert margin.mean_weight == 3940 / (20 * 256)
    drowned = release_shares(np.array([1000, 60]), budget)  # a sum below its noise counts as that noise
    assert drowned.sums == (1040, -40)
    assert drowned.shares == (Fraction(1040, 1072), Fraction(32, 1072))
    assert all(0 <= share <= 1 for share in drowned.published())


def test_whether_a_cut_is_learnt_depends_on_public_numbers_only():
    """It depends on the number of records and epsilon, not on the weights."""
    for counts in (np.full(8, 1), np.full(8, 10**6)):
        budget = CountBudget(1000, Fraction(1, 5), 1, 256, SOURCE)  # 1,000 records of a quarter of the largest weight
        assert release_cut_shares(counts, 8, UNIT, budget).knots is None
        assert released_shares.releases_a_cut(budget)
        assert not released_shares.releases_a_cut(budget._replace(n=999))
