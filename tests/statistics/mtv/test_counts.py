"""Counts of MTVr add up over chunks in any order, and give the score of the records, bit for bit."""

import numpy as np
import pytest

from skdpmic.statistics.mtv.counts import ROUNDING_ERROR, TargetCounts, counts_scorer
from skdpmic.statistics.mtv.family import class_family, numeric_family
from skdpmic.table.domains import Nominal
from tests.folding import each
from tests.statistics.mtv.naive_mtv_r import class_scorer, numeric_scorer

X_BOUNDS, Y_BOUNDS = (-1.0, 2.5), (0.0, 0.7)  # some of the values are outside


def numbers(n, B=32, c=32):
    """Grids, a feature, its target, and a function that makes the scorer of the records."""
    rng = np.random.default_rng(n)
    family = numeric_family(B, c)
    x = rng.normal(size=n)
    y = np.abs(x) / 3 + 0.1 * rng.random(n)
    return TargetCounts(family, Y_BOUNDS), x, y, lambda: numeric_scorer(y, Y_BOUNDS, family)


def classes(n, B=32, c=30):
    rng = np.random.default_rng(n)
    family = class_family(B, c, 10)
    codes = rng.integers(10, size=n)
    return TargetCounts(family), rng.normal(size=n) + codes % 4, codes, lambda: class_scorer(codes, family)


KINDS = {"numbers": numbers, "classes": classes}


@pytest.mark.parametrize("B, c", [(32, 32), (9, 2.5), (64, 7)])
@pytest.mark.parametrize("n", [2, 35, 3000])
@each("scale", [X_BOUNDS, Nominal(1), Nominal(2), Nominal(7)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.combinations
def test_scores_from_counts_of_chunks_in_any_order_equal_those_from_records_bit_for_bit(kind, n, scale, B, c):
    grids, x, target, of_records = KINDS[kind](n, B, c)
    rng = np.random.default_rng(1)
    x = np.where(rng.random(n) < 0.2, np.nan, x)
    if isinstance(scale, Nominal):
        x = (np.nan_to_num(np.abs(x) * 2, nan=9).astype(np.uint32)).clip(max=scale.n_parts - 1)
    counts = np.zeros_like(grids.count(x[:0], scale, grids.place(target[:0])))
    for rows in np.array_split(rng.permutation(n), 7):
        counts += grids.count(x[rows], scale, grids.place(target[rows]))
    assert counts.dtype == np.uint32
    assert counts.sum() == n * grids.n_tables(scale)
    assert np.array_equal(counts, grids.count(x, scale, grids.place(target)))
    score = counts_scorer(n, grids._family).score(counts, scale)
    assert score == of_records().score(x, scale)
    assert n < 3000 or 0.05 < score < 1


@pytest.mark.parametrize("kind", KINDS)
def test_grids_keep_nothing_of_the_records_that_they_counted(kind):
    grids, x, target, _ = KINDS[kind](500)
    before = dict(vars(grids))
    counts_scorer(500, grids._family).score(grids.count(x, X_BOUNDS, grids.place(target)), X_BOUNDS)
    assert vars(grids) == before
    assert counts_scorer(500, grids._family).rounding_error == ROUNDING_ERROR


def test_a_missing_target_value_let_in_by_assume_finite_counts_as_a_low_one():
    grids, _x, target, _ = numbers(50)
    holed = np.where(np.arange(50) < 5, np.nan, target)
    assert grids.place(holed).columns.max() < 8
    assert np.array_equal(grids.place(holed).columns, grids.place(np.nan_to_num(holed, nan=-9.0)).columns)
