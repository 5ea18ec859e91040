"""Draws of noise-free scores follow their conditional distribution given the released scores."""

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.mechanisms import CubeLaw
from skdpmic.selection.selectors import chances_among_best, draw_truths
from tests.privacy.laws import cube_vectors

LAWS = {
    f"{law.name} {scale}": law(scale=scale) for law in (stats.laplace, stats.norm) for scale in (1e-4, 0.05, 0.3, 4.0)
}


def sample(law, n, seed):
    """Truths, uniform on [0, 1], and the scores that are released."""
    random = np.random.default_rng(seed)
    truths = random.random(n)
    return truths, np.clip(truths + law.rvs(size=n, random_state=random), 0, 1)


@pytest.mark.parametrize("name", LAWS)
def test_the_rank_of_the_truth_among_its_draws_is_uniform(name):
    """Its rank among 9 draws is uniform, even if the score was clamped: 40,000 scores, alpha = 0.001 each."""
    law = LAWS[name]
    truths, released = sample(law, 40_000, seed=1)
    draws = draw_truths(released, law, 9, np.random.default_rng(2))
    assert draws.min() >= 0
    assert draws.max() <= 1
    ranks = (draws < truths).sum(axis=0)
    clamped_to_0, clamped_to_1 = released == 0, released == 1
    for rows in (clamped_to_0, clamped_to_1, ~clamped_to_0 & ~clamped_to_1):
        if rows.sum() > 200:
            assert stats.chisquare(np.bincount(ranks[rows], minlength=10)).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.001, 0.05, 0.4])
@pytest.mark.parametrize("d", [2, 6])
@pytest.mark.combinations
def test_ranks_of_truths_among_their_draws_are_uniform_under_noise_in_a_cube(d, scale):
    """A single truth, and the sum and range of all truths of a release: 1,000 releases, alpha = 1e-3 each."""
    law, random = CubeLaw(d, scale), np.random.default_rng(1)
    truths = random.random((1000, d))
    released = np.clip(truths + cube_vectors(law, 1000, random), 0, 1)
    draws = np.array([draw_truths(scores, law, 9, random) for scores in released])
    assert draws.min() >= 0
    assert draws.max() <= 1
    for statistic in (lambda t: t[..., 0], lambda t: t.sum(axis=-1), lambda t: t.max(axis=-1) - t.min(axis=-1)):
        ranks = (statistic(draws) < statistic(truths)[:, np.newaxis]).sum(axis=1)
        assert stats.chisquare(np.bincount(ranks, minlength=10)).pvalue > 1e-3


@pytest.mark.slow
def test_features_are_among_the_best_as_often_as_reported():
    """3,000 uniform scores; a deviation beyond 4 standard errors occurs once in 16,000."""
    d, k, law, random, rows = 20, 5, stats.laplace(scale=0.15), np.random.default_rng(0), []
    for _ in range(150):
        truths = random.random(d)
        released = np.clip(truths + law.rvs(size=d, random_state=random), 0, 1)
        rows.append([chances_among_best(released, 0.0, law, k), truths >= np.sort(truths)[-k]])
    reported, are = np.concatenate(rows, axis=1)
    cells = np.digitize(reported, [0.1, 0.4, 0.8])
    for i in range(4):
        off = (reported - are)[cells == i]
        assert abs(off.mean()) < 4 * off.std() / np.sqrt(len(off))


def test_public_chance_scores_are_subtracted_before_features_are_compared():
    scores, by_chance = np.array([0.5, 0.4, 0.3]), np.array([0.3, 0.0, 0.0])
    assert chances_among_best(scores, by_chance, stats.laplace(scale=1e-4), 1).tolist() == [0, 1, 0]
