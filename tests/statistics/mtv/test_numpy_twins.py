"""For little work, numpy replaces the kernels: it passes their tests, and gives the same scores, bit for bit."""

import numpy as np
import pytest

from skdpmic._utils.jit import in_numpy
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.domains import Nominal
from skdpmic.table.values import ClassTarget, NumericTarget
from tests.folding import each
from tests.statistics.grids.test_partitions import (  # noqa: F401
    test_locate_equals_searchsorted,
    test_no_value_is_looked_up_outside_the_bucket_table,
    test_parts_match_the_definition_on_and_around_every_edge,
)
from tests.statistics.mtv.naive_mtv_r import numeric_scorer
from tests.statistics.mtv.test_counts import (  # noqa: F401
    test_scores_from_counts_of_chunks_in_any_order_equal_those_from_records_bit_for_bit,
)
from tests.statistics.mtv.test_mtv_r import (  # noqa: F401
    COLUMNS,
    FAMILIES,
    test_scores_are_exact_up_to_the_largest_number_of_records,
)


@pytest.fixture(autouse=True)
def all_is_little():
    with in_numpy(True):
        yield


def table_of(n, rng):
    """Numbers that are spread, tied, constant, partly or all missing, out of range and infinite; and labels."""
    some_missing = np.where(rng.random(n) < 0.3, np.nan, rng.random(n))
    infinite = np.resize([np.inf, -np.inf, 0.2], n)
    numbers = [rng.random(n), rng.integers(0, 3, n) / 2, np.full(n, 0.5), some_missing, np.full(n, np.nan)]
    numbers += [rng.normal(size=n) * 10, infinite]
    labels = [rng.integers(0, 4, n).astype(np.uint32)]
    return numbers + labels, [(0.0, 1.0)] * 3 + [(0.0, 2.0)] + [(-3.0, 5.0)] * 3 + [Nominal(3)]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@each("n", [2, 3, 7, 40])
@each("kind", COLUMNS)
def test_scores_in_any_family_equal_those_of_the_kernels_bit_for_bit(family, kind, n):
    x, y = COLUMNS[kind](n, np.random.default_rng(n))
    by_numpy = numeric_scorer(y, (0.0, 1.0), family).score(x, (0.0, 1.0))
    with in_numpy(False):
        assert numeric_scorer(y, (0.0, 1.0), family).score(x, (0.0, 1.0)) == by_numpy


@pytest.mark.parametrize("n_classes", [None, 2, 5])
@each("n", [2, 50, 3000])
@each("margin", ["learnt", "known"])
@each("is_weighted", [False, True])
def test_scores_of_a_block_equal_those_of_the_kernels_and_of_single_features_bit_for_bit(
    n_classes, n, margin, is_weighted
):
    rng = np.random.default_rng(n)
    measure = statistic_named("mtv_r", None).measure(32.0, 38.0, n, 1.0, n_classes)
    if margin == "known":
        measure = measure.with_target_shares(np.full(n_classes or 2, 1 / (n_classes or 2)))
    y = ClassTarget(np.arange(n) % n_classes, n_classes) if n_classes else NumericTarget(rng.random(n), (0.0, 1.0))
    if is_weighted:
        measure, y = measure.of_weights(), y._replace(weights=rng.integers(0, 257, n).astype(np.uint32))
    columns, domains = table_of(n, rng)
    by_numpy = measure.scorer(y, None).score_block(columns, domains)
    with in_numpy(False):
        scorer = measure.scorer(y, None)
        assert scorer.score_block(columns, domains) == by_numpy
        assert scorer.score_block(columns[::-1], domains[::-1]) == by_numpy[::-1]
        assert [scorer.score(*feature) for feature in zip(columns, domains, strict=True)] == by_numpy
    assert n < 3000 or len(set(by_numpy)) > 2
