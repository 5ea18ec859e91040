"""The share of features that a plan says will be found is what its public assumption implies."""

import math

import numpy as np
import pytest
from scipy import stats

from skdpmic.planning import chances
from skdpmic.planning.chances import chance_chosen, share_found
from skdpmic.privacy.cube_law import CubeLaw
from skdpmic.statistics.registry import STATISTICS

LAWS = {"laplace": stats.laplace, "normal": stats.norm, "exponential": stats.expon, "gumbel": stats.gumbel_r}


def share_in_trials(true, noise, k, law, n_trials, random):
    """Share of the k true features among the k best with noise; scores of shape (n_features,) or (n_trials, ...)."""
    scores = np.hstack([np.broadcast_to(part, (n_trials, part.shape[-1])) for part in (true, noise)])
    noisy = scores + law.rvs(size=scores.shape, random_state=random)
    return np.mean(np.argsort(-noisy, axis=1)[:, :k] < true.shape[-1])


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scale", [0.01, 0.1, 0.4])
@pytest.mark.combinations
def test_the_chance_is_that_of_simulated_choices(name, scale):
    # 20,000 trials of 3 features: a standard error of 0.002, and as much from representing a law by few values.
    random, law = np.random.default_rng(1), LAWS[name](scale=scale)
    laws = np.linspace(0.2, 0.8, 5), np.linspace(0, 0.4, 5)
    true, noise = random.choice(laws[0], (20_000, 3)), random.choice(laws[1], (20_000, 17))
    expected = share_in_trials(true, noise, 3, law, 20_000, random)
    assert chance_chosen(*laws, np.full(5, 0.2), 2, 17, 3, law) == pytest.approx(expected, abs=0.01)


def share_in_cubes(true, noise, k, law, random):
    """As above, with noise of one vector for each trial."""
    scores = np.hstack([true, noise])
    noisy = scores + law.vectors(len(scores), random)
    return np.mean(np.argsort(-noisy, axis=1)[:, :k] < true.shape[1])


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("std", [0.05, 0.15, 0.5])
def test_the_chance_under_noise_in_a_cube_is_that_of_simulated_choices(std, d):
    # 20,000 trials: a standard error of 0.003, and as much from few cubes and few values.
    random, law = np.random.default_rng(1), CubeLaw(d, std / CubeLaw(d, 1.0).std())
    laws = np.linspace(0.2, 0.8, 5), np.linspace(0, 0.4, 5)
    true, noise = random.choice(laws[0], (20_000, 2)), random.choice(laws[1], (20_000, d - 2))
    expected = share_in_cubes(true, noise, 2, law, random)
    assert chance_chosen(*laws, np.full(5, 0.2), 1, d - 2, 2, law) == pytest.approx(expected, abs=0.012)


# --- The public assumption ------------------------------------------------------------------------------------------


def test_the_share_is_that_of_choices_among_scores_of_this_shape():
    """Five sizes, of 40 features whose scores are spread as the shape says; 4,000 trials: a standard error of 0.003."""
    random, d, k = np.random.default_rng(5), 40, 6
    shape = np.linspace(1, 0, len(chances.PLACES)) ** 2
    sizes = np.array([0.1, 0.2, 0.4, 0.5, 0.9])
    scores = np.interp((np.arange(d) + 0.5) / d, chances.PLACES, shape)
    for name, scale in (("exponential", 0.02), ("laplace", 0.05), ("gumbel", 0.15)):
        law = LAWS[name](scale=scale)
        found = [share_in_trials(a * scores[:k], a * scores[k:], k, law, 4000, random) for a in sizes]
        # Scores of the best are drawn from their part of the shape, not fixed: that blurs the border between the two.
        assert chances.share_of(sizes, shape, d, k, law) == pytest.approx(np.mean(found), abs=0.03)


@pytest.mark.slow
def test_more_noise_more_features_and_a_weaker_signal_find_less():
    law = stats.laplace(scale=0.05)
    for statistic in (*STATISTICS, chances.JOINT):
        shares = [share_found(statistic, "typical", 50, 5, stats.laplace(scale=s)) for s in np.geomspace(1e-5, 30, 8)]
        assert all(np.diff(shares) < 1e-3)
        assert shares[0] > 0.97
        assert shares[-1] == pytest.approx(5 / 50, abs=0.02)
        of_sizes = [share_found(statistic, "typical", d, 5, law) for d in (5, 10, 100, 1000)]
        assert of_sizes[0] == 1.0
        assert all(np.diff(of_sizes) < 0)
        of_signals = [share_found(statistic, signal, 50, 5, law) for signal in chances.SIGNALS]
        assert all(np.diff(of_signals) < 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_features, k", [(4, 1), (40, 10), (1000, 5), pytest.param(200, 50, marks=pytest.mark.slow), (100_000, 5)]
)
def test_wide_tables_have_a_noise_that_finds_half_and_it_falls_with_their_width(n_features, k):
    for statistic in (*STATISTICS, chances.JOINT):
        for signal in chances.SIGNALS:
            excess = chances.excess_of_noise(statistic, signal, n_features, k, stats.expon(scale=1.0))
            assert 1 < excess < 1000 if n_features > 4 else excess > 0.5
    wider = chances.excess_of_noise("mtv_r", "weak", 10 * n_features, k, stats.expon(scale=1.0))
    assert wider > chances.excess_of_noise("mtv_r", "weak", n_features, k, stats.expon(scale=1.0))


def test_of_a_statistic_that_nobody_has_measured_nothing_is_stated():
    assert math.isnan(share_found("agreement", "typical", 10, 2, stats.laplace(scale=0.1)))
    assert math.isnan(chances.excess_of_noise("agreement", "typical", 10, 2, stats.laplace(scale=0.1)))


@pytest.mark.parametrize(
    "law", [stats.expon(scale=0.2), stats.norm(scale=0.03), CubeLaw(12, 0.01)], ids=["exponential", "normal", "cube"]
)
def test_noise_that_is_so_many_times_less_finds_half(law):
    excess = chances.excess_of_noise("mtv_r", "typical", 12, 3, law)
    assert share_found("mtv_r", "typical", 12, 3, law, excess) == pytest.approx(0.5, abs=0.01)
    less = chances.excess_of_noise("mtv_r", "typical", 12, 3, law_of(law, 0.5))
    assert less == pytest.approx(excess / 2, rel=1e-6)


def law_of(law, times):
    if isinstance(law, CubeLaw):
        return CubeLaw(law.n_scores, law.scale * times)
    return getattr(stats, law.dist.name)(scale=law.kwds["scale"] * times)


@pytest.mark.parametrize("factor, largest", [(0.1, 1.0), (1.0, 0.05), (0.1, 0.005)])
def test_smaller_scores_need_as_much_less_noise(factor, largest):
    law, assumed = stats.expon(scale=0.01), ("mtv_r", "weak", 12, 3)
    excess = chances.excess_of_noise(*assumed, law, factor, largest)
    assert share_found(*assumed, law_of(law, 1 / excess), factor, largest) == pytest.approx(0.5, abs=0.01)
    assert excess > chances.excess_of_noise(*assumed, law)


def test_scores_of_nothing_are_found_with_no_budget():
    assert chances.excess_of_noise("mtv_r", "weak", 12, 3, stats.expon(scale=0.01), 0.1, 0.0) == math.inf
