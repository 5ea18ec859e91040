"""The share of features that a plan expects to be found follows from its public assumption."""

import numpy as np
import pytest
from scipy import stats

from skdpmic.planning import chances
from skdpmic.planning.chances import chance_chosen, share_found
from skdpmic.privacy.mechanisms import CubeLaw
from skdpmic.statistics.registry import STATISTICS
from tests.privacy.laws import cube_vectors

DISTRIBUTIONS = {"laplace": stats.laplace, "normal": stats.norm, "exponential": stats.expon, "gumbel": stats.gumbel_r}


def share_in_trials(true, noise, k, distribution, n_trials, random):
    """Share of the true features among the k best noisy scores; scores of shape (n_features,) or (n_trials, ...)."""
    scores = np.hstack([np.broadcast_to(part, (n_trials, part.shape[-1])) for part in (true, noise)])
    noisy = scores + distribution.rvs(size=scores.shape, random_state=random)
    return np.mean(np.argsort(-noisy, axis=1)[:, :k] < true.shape[-1])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("scale", [0.01, 0.1, 0.4])
@pytest.mark.combinations
def test_the_chance_matches_simulated_choices(name, scale):
    # 20,000 trials of 3 features: a standard error of 0.002; representing a distribution by few values adds as much.
    random, distribution = np.random.default_rng(1), DISTRIBUTIONS[name](scale=scale)
    values = np.linspace(0.2, 0.8, 5), np.linspace(0, 0.4, 5)
    true, noise = random.choice(values[0], (20_000, 3)), random.choice(values[1], (20_000, 17))
    expected = share_in_trials(true, noise, 3, distribution, 20_000, random)
    assert chance_chosen(*values, np.full(5, 0.2), 2, 17, 3, distribution) == pytest.approx(expected, abs=0.01)


def share_in_cubes(true, noise, k, distribution, random):
    """As above, with one vector of noise per trial."""
    scores = np.hstack([true, noise])
    noisy = scores + cube_vectors(distribution, len(scores), random)
    return np.mean(np.argsort(-noisy, axis=1)[:, :k] < true.shape[1])


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("std", [0.05, 0.15, 0.5])
def test_the_chance_under_noise_in_a_cube_matches_simulated_choices(std, d):
    # 20,000 trials: a standard error of 0.003; the small numbers of cubes and values add as much.
    random, distribution = np.random.default_rng(1), CubeLaw(d, std / CubeLaw(d, 1.0).std())
    values = np.linspace(0.2, 0.8, 5), np.linspace(0, 0.4, 5)
    true, noise = random.choice(values[0], (20_000, 2)), random.choice(values[1], (20_000, d - 2))
    expected = share_in_cubes(true, noise, 2, distribution, random)
    assert chance_chosen(*values, np.full(5, 0.2), 1, d - 2, 2, distribution) == pytest.approx(expected, abs=0.012)


# --- The public assumption ------------------------------------------------------------------------------------------


def test_the_share_matches_choices_among_scores_of_this_shape():
    """Five sizes, 40 features with scores spread along the shape, 4,000 trials: a standard error of 0.003."""
    random, d, k = np.random.default_rng(5), 40, 6
    shape = np.linspace(1, 0, len(chances.PLACES)) ** 2
    sizes = np.array([0.1, 0.2, 0.4, 0.5, 0.9])
    scores = np.interp((np.arange(d) + 0.5) / d, chances.PLACES, shape)
    for name, scale in (("exponential", 0.02), ("laplace", 0.05), ("gumbel", 0.15)):
        distribution = DISTRIBUTIONS[name](scale=scale)
        found = [share_in_trials(a * scores[:k], a * scores[k:], k, distribution, 4000, random) for a in sizes]
        # The best scores are drawn from their part of the shape, not fixed, which blurs the border with the others.
        assert chances.share_of(sizes, shape, d, k, distribution) == pytest.approx(np.mean(found), abs=0.03)


@pytest.mark.slow
def test_more_noise_more_features_or_a_weaker_signal_lowers_the_share_found():
    distribution = stats.laplace(scale=0.05)
    for statistic in (*STATISTICS, chances.JOINT):
        shares = [share_found(statistic, "typical", 50, 5, stats.laplace(scale=s)) for s in np.geomspace(1e-5, 30, 8)]
        assert all(np.diff(shares) < 1e-3)
        assert shares[0] > 0.97
        assert shares[-1] == pytest.approx(5 / 50, abs=0.02)
        of_sizes = [share_found(statistic, "typical", d, 5, distribution) for d in (5, 10, 100, 1000)]
        assert of_sizes[0] == 1.0
        assert all(np.diff(of_sizes) < 0)
        of_signals = [share_found(statistic, signal, 50, 5, distribution) for signal in chances.SIGNALS]
        assert all(np.diff(of_signals) < 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_features, k", [(4, 1), (40, 10), (1000, 5), pytest.param(200, 50, marks=pytest.mark.slow), (100_000, 5)]
)
def test_the_noise_that_finds_half_exists_for_wide_tables_and_falls_with_their_width(n_features, k):
    for statistic in (*STATISTICS, chances.JOINT):
        for signal in chances.SIGNALS:
            excess = chances.excess_of_noise(statistic, signal, n_features, k, stats.expon(scale=1.0))
            assert 1 < excess < 1000 if n_features > 4 else excess > 0.5
    wider = chances.excess_of_noise("mtv_r", "weak", 10 * n_features, k, stats.expon(scale=1.0))
    assert wider > chances.excess_of_noise("mtv_r", "weak", n_features, k, stats.expon(scale=1.0))


@pytest.mark.parametrize(
    "distribution",
    [stats.expon(scale=0.2), stats.norm(scale=0.03), CubeLaw(12, 0.01)],
    ids=["exponential", "normal", "cube"],
)
def test_noise_divided_by_its_excess_finds_half(distribution):
    excess = chances.excess_of_noise("mtv_r", "typical", 12, 3, distribution)
    assert share_found("mtv_r", "typical", 12, 3, distribution, excess) == pytest.approx(0.5, abs=0.01)
