"""Null scores of rank statistics are drawn from the distribution over all permutations."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from skdpmic.statistics import null_laws as rank_nulls
from skdpmic.statistics.null_laws import null_scores
from skdpmic.statistics.ranks import kernels as ranks
from tests.naive_ranks import naive_chatterjee, naive_squared_distance_correlation, naive_tau

NAIVE = {
    "kendall": lambda x, y: abs(naive_tau(x, y)),
    "chatterjee": naive_chatterjee,
    "distance_correlation": lambda x, y: float(naive_squared_distance_correlation(x, y)) ** 0.5,
}


@pytest.mark.few
@pytest.mark.parametrize("n", [5, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAIVE)
def test_draws_have_the_distribution_over_all_permutations(name, n):
    """A chi-squared test of 20,000 draws, at 1e-5."""
    in_order = list(range(n))
    law = Counter(round(float(NAIVE[name](in_order, list(y))), 9) for y in permutations(in_order))
    drawn = Counter(np.round(null_scores(name, n, 20_000, 1), 9).tolist())
    assert set(drawn) <= set(law)
    observed, expected = np.array([(drawn[value], law[value]) for value in law]).T
    assert stats.chisquare(observed, expected / expected.sum() * 20_000).pvalue > 1e-5


def test_drawn_scores_are_rounded_like_scores_of_records():
    """So a score without noise ties with equal draws."""
    n = 6
    of_records = {ranks.kendall(2 * np.arange(n) + 1, 2 * np.array(y) + 1) for y in permutations(range(n))}
    assert set(null_scores("kendall", n, 5000, 0).tolist()) == of_records


def test_the_draws_depend_on_the_seed_alone_and_are_read_only():
    scores = null_scores("kendall", 50, 100, 3)
    assert null_scores.__wrapped__("kendall", 50, 100, 3).tolist() == scores.tolist()
    assert null_scores("kendall", 50, 100, 4).tolist() != scores.tolist()
    with pytest.raises(ValueError, match="read-only"):
        scores[0] = 1


@pytest.mark.parametrize("name", ["chatterjee", "distance_correlation"])
def test_scores_for_four_times_the_limit_of_records_are_half_as_large(name, monkeypatch):
    draw, spread, _ = rank_nulls._LAWS[name]
    monkeypatch.setitem(rank_nulls._LAWS, name, (draw, spread, 100))
    drawn = null_scores.__wrapped__(name, 100, 50, 0)
    assert null_scores.__wrapped__(name, 400, 50, 0) == pytest.approx(drawn / 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n"), [(name, 40_000) for name in list(NAIVE)[:2]] + [("distance_correlation", 8_000)]
)
def test_above_the_limit_of_records_scaled_draws_have_the_distribution_of_full_draws(name, n, monkeypatch):
    """A Kolmogorov-Smirnov test of 9,999 draws each, at 1e-3."""
    scaled = null_scores(name, n, 9_999, 0)
    draw, spread, _ = rank_nulls._LAWS[name]
    monkeypatch.setitem(rank_nulls._LAWS, name, (draw, spread, n))
    assert stats.ks_2samp(scaled, null_scores.__wrapped__(name, n, 9_999, 1)).pvalue > 1e-3
