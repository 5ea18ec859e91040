"""The null distribution of Kendall's tau for a smaller class of known size: theorems 5 and 6 of p_values.md."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.mechanisms import GRID
from skdpmic.statistics import null_laws as laws
from skdpmic.statistics.mtv.family import TargetShares, public_shares
from skdpmic.statistics.null_laws import AveragedLaw, SimulatedLaw, null_scores
from skdpmic.statistics.ranks import kernels
from skdpmic.statistics.ranks.statistic import MISSED, Kendall, SmallerClass, smaller_class
from tests.statistics.null_laws.test_laws import ANY_NOISE, tail, tie_patterns

# --- The exact distribution of a rank sum -----------------------------------------------------------------------------


@cache
def law_of_sums(n, m):
    """The values of the sum of m of the numbers -(n - 1), -(n - 3) ... n - 1, and their probabilities."""
    ways = [{0: 1}, *({} for _ in range(m))]
    for rank in range(1 - n, n, 2):
        for size in reversed(range(m)):
            for total, number in ways[size].items():
                ways[size + 1][total + rank] = ways[size + 1].get(total + rank, 0) + number
    return {total: Fraction(number, comb(n, m)) for total, number in ways[m].items()}


def mean_above(law, least, factor=1):
    return sum(share * max(factor * abs(total) - least, 0) for total, share in law.items())


@pytest.mark.few
@pytest.mark.parametrize("n", range(4, 14))
def test_a_smaller_class_has_smaller_sums_in_convex_order(n):
    """Theorem 6: the mean of (|sum| - u)+ is no larger for any u; it is linear between values, so those are enough."""
    for most in range(1, n // 2 + 1):
        widening = 1 + Fraction(1, n - most - 1)
        assert SmallerClass(most, is_exact=False).widening(n) == pytest.approx(float(widening), rel=1e-15)
        for fewer in range(most):
            one, other = law_of_sums(n, fewer), law_of_sums(n, most)
            for least in {*map(abs, one), *(widening * abs(total) for total in other)}:
                assert mean_above(one, least) <= mean_above(other, least, widening)


@pytest.mark.parametrize(("n", "m"), [(4, 1), (7, 3), (8, 4)])
def test_scores_are_multiples_of_the_rank_sum_and_drawn_from_its_distribution(n, m):
    """A chi-squared test of 20,000 draws, at 1e-5; the values equal those of the kernels, to the last bit."""
    y = kernels.mid_ranks(np.repeat([0.0, 1.0], [n - m, m]))
    law = {}
    for chosen in combinations(range(n), m):
        x = np.argsort(np.argsort([*(i for i in range(n) if i not in chosen), *chosen]))
        value = kernels.kendall(2 * x + 1, y)
        law[value] = law.get(value, 0) + 1 / comb(n, m)
    values, counts = np.unique(null_scores("kendall", n, 20_000, 1, m), return_counts=True)
    assert set(values.tolist()) <= set(law)
    observed = dict(zip(values.tolist(), counts.tolist(), strict=True))
    expected = np.array([20_000 * share for share in law.values()])
    if len(law) > 1:
        assert stats.chisquare([observed.get(value, 0) for value in law], expected).pvalue > 1e-5


# --- Ties in the feature as well --------------------------------------------------------------------------------------


def use_exact_distribution(n, m, monkeypatch):
    """Replace simulations by the exact distribution for a class of m records."""
    multiple = Fraction(2, n * (n - 1))
    values = np.array([float(multiple * abs(total)) for total in law_of_sums(n, m)])
    numbers = np.array([int(share * comb(n, m)) for share in law_of_sums(n, m).values()])
    scores = np.sort(np.repeat(values, numbers))
    shares = np.full(len(scores), 1 / len(scores))
    monkeypatch.setattr(laws, "null_scores", lambda *given: scores)
    of_tail = partial(tail, scores, shares)
    monkeypatch.setattr(SimulatedLaw, "p_values", lambda self, t, noise, *given: of_tail(noise, t - 3 * GRID))
    return len(scores)


def scores_of_classes(x, m):
    """The scores of a feature with values x, for all ways to choose a class of m records."""
    x_ranks, scores = kernels.mid_ranks(x), []
    for chosen in combinations(range(len(x)), m):
        y = np.zeros(len(x))
        y[list(chosen)] = 1.0
        scores.append(kernels.kendall(x_ranks, kernels.mid_ranks(y)))
    return np.array(scores)


@pytest.mark.parametrize("n", [4, 5, pytest.param(6, marks=pytest.mark.slow)])
@ANY_NOISE
@pytest.mark.combinations
def test_no_ties_in_the_feature_have_a_larger_tail_than_the_p_values(n, noise, monkeypatch):
    """Theorem 5 if the size of the class is known, and theorem 6 if it may be smaller."""
    for most in range(1, n // 2 + 1):
        n_drawn = use_exact_distribution(n, most, monkeypatch)
        for fewer, x in product(range(1, most + 1), tie_patterns(n)):
            scores = scores_of_classes(x, fewer)
            shares = np.full(len(scores), 1 / len(scores))
            least = np.minimum(np.unique(np.r_[scores[scores > 0], scores[scores > 0] + 0.05, 0.3, 0.9]), 1)
            exact = tail(scores, shares, noise, least)
            known = SmallerClass(most, is_exact=fewer == most)
            most_times = 2 if known.is_exact else math.inf
            law = AveragedLaw(SimulatedLaw("kendall", n, most), most_times, known.widening(n), 0.0)
            assert (law.p_values(least, noise, n_drawn, 0) >= exact - 1e-9).all()


# --- The known size of the class --------------------------------------------------------------------------------------


def test_without_noise_the_smaller_class_is_known():
    margin = TargetShares((1, 2), (Fraction(1900, 2000), Fraction(100, 2000)), Fraction(0), 2000)
    assert smaller_class(replace(margin, scale=Fraction(3)), 2000).missed == MISSED
    assert smaller_class(margin, 2000) == (100, True)
    assert smaller_class(margin, 2000).missed == 0
    assert smaller_class(margin, 2000).widening(2000) == 1


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(20)])
@pytest.mark.parametrize("count", [0, 60, 1000, 1995])
def test_with_noise_the_smaller_class_exceeds_its_bound_with_at_most_the_probability_allowed_for(scale, count):
    """Computed from the exact noise distribution. No smaller bound would do, except for classes of equal size."""
    n = 2000
    q = math.exp(-1 / scale)
    noise = np.arange(-800, 801)
    shares = (1 - q) / (1 + q) * q ** np.abs(noise)
    fewer = min(count, n - count)
    most = np.array([
        smaller_class(TargetShares((1, 2), (share := Fraction(count + int(z), n), 1 - share), scale, n), n).most
        for z in noise
    ])  # fmt: skip
    assert shares[most < fewer].sum() <= MISSED
    if fewer < n // 2:
        assert shares[most - 1 < fewer].sum() > MISSED / 4


@pytest.mark.parametrize("share", [0.001, 0.05, 0.5])
def test_a_public_share_may_be_that_of_a_population_or_of_the_records(share):
    n = 2000
    known = smaller_class(public_shares([1 - share, share], 2), n)
    assert not known.is_exact
    assert known.most >= round(share * n)
    assert known.most == n // 2 or stats.binom.sf(known.most, n, share) <= MISSED < stats.binom.sf(
        known.most - 1, n, share
    )


def test_the_probability_of_a_miss_is_added_to_p_values():
    released = np.array([0.0, 0.01, 0.05, 1.0])
    plain, paying = (
        AveragedLaw(SimulatedLaw("kendall", 500, 50), math.inf, 1.0, missed).p_values(released, None, 999, 0)
        for missed in (0.0, 0.1)
    )
    np.testing.assert_allclose(paying, np.minimum(plain + 0.1, 1))


def test_the_noise_in_the_count_is_proportional_to_the_rows_per_person():
    counts = np.array([80, 20])
    for rows in (1, 3):
        measure = Kendall().of_groups(rows).spending_on_target()
        margin = measure.release_target_shares(
            counts, 100, None, Fraction(1, 4), np.random.RandomState(0).bytes
        ).target_shares
        assert margin.scale == 4 * rows
        assert sum(margin.shares) == 1
