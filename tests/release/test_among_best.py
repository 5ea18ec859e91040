"""Draws of what scores were before the noise have their law given the released scores."""

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.cube_law import CubeLaw
from skdpmic.release.among_best import chances_among_best, draw_truths

LAWS = {
    f"{law.name} {scale}": law(scale=scale) for law in (stats.laplace, stats.norm) for scale in (1e-4, 0.05, 0.3, 4.0)
}


def sample(law, n, seed):
    """Truths, any in [0, 1] as likely as any other, and the scores that are released."""
    random = np.random.default_rng(seed)
    truths = random.random(n)
    return truths, np.clip(truths + law.rvs(size=n, random_state=random), 0, 1)


@pytest.mark.parametrize("name", LAWS)
def test_the_truth_is_anywhere_among_its_draws(name):
    """Its place among 9 draws is uniform, also where the score was clamped: 40,000 scores, alpha = 0.001, each."""
    law = LAWS[name]
    truths, released = sample(law, 40_000, seed=1)
    draws = draw_truths(released, law, 9, np.random.default_rng(2))
    assert draws.min() >= 0
    assert draws.max() <= 1
    places = (draws < truths).sum(axis=0)
    clamped_to_0, clamped_to_1 = released == 0, released == 1
    for rows in (clamped_to_0, clamped_to_1, ~clamped_to_0 & ~clamped_to_1):
        if rows.sum() > 200:
            assert stats.chisquare(np.bincount(places[rows], minlength=10)).pvalue > 0.001


def test_too_much_noise_and_released_scores_that_are_taken_for_the_truth_are_noticed():
    """By the same test of places, where the score was not clamped."""
    law = stats.laplace(scale=0.3)
    truths, released = sample(law, 40_000, seed=1)
    inside = (released > 0) & (released < 1)
    around = np.clip(released + law.rvs(size=(9, 40_000), random_state=np.random.default_rng(3)), 0, 1)
    twice = draw_truths(released, stats.laplace(scale=0.6), 9, np.random.default_rng(3))
    for draws in (around, twice):
        assert stats.chisquare(np.bincount((draws < truths).sum(axis=0)[inside], minlength=10)).pvalue < 1e-6


@pytest.mark.parametrize("end", [0.0, 1.0])
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.combinations
def test_a_clamped_score_says_that_the_truth_lies_near_the_end(name, end):
    """The mean of 20,000 draws against numerical integration, within 5 standard errors."""
    law = LAWS[name]
    t = np.linspace(0, 1, 400_001)
    weights = law.cdf(-t)
    mean = (t * weights).sum() / weights.sum()
    draws = draw_truths(np.array([end]), law, 20_000, np.random.default_rng(0))[:, 0]
    assert abs(abs(end - draws).mean() - mean) < 5 * draws.std() / np.sqrt(20_000) + 2.5e-6


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.001, 0.05, 0.4])
@pytest.mark.parametrize("d", [2, 6])
@pytest.mark.combinations
def test_truths_under_noise_in_a_cube_are_anywhere_among_their_draws(d, scale):
    """Each truth by itself, and the sum and the spread of all of a release: 1,000 releases, alpha = 1e-3 each."""
    law, random = CubeLaw(d, scale), np.random.default_rng(1)
    truths = random.random((1000, d))
    released = np.clip(truths + law.vectors(1000, random), 0, 1)
    draws = np.array([draw_truths(scores, law, 9, random) for scores in released])
    assert draws.min() >= 0
    assert draws.max() <= 1
    for of_all in (lambda t: t[..., 0], lambda t: t.sum(axis=-1), lambda t: t.max(axis=-1) - t.min(axis=-1)):
        places = (of_all(draws) < of_all(truths)[:, np.newaxis]).sum(axis=1)
        assert stats.chisquare(np.bincount(places, minlength=10)).pvalue > 1e-3


@pytest.mark.slow
def test_truths_that_are_drawn_as_if_noise_in_a_cube_were_independent_are_noticed():
    """By how far the released scores lie from them at most: 1,000 releases."""
    law, random = CubeLaw(6, 0.01), np.random.default_rng(1)
    truths = random.uniform(0.3, 0.7, (1000, 6))
    released = truths + law.vectors(1000, random)
    furthest = lambda t: np.abs(released[:, np.newaxis] - t).max(axis=-1)  # noqa: E731
    joint = np.array([draw_truths(scores, law, 9, random) for scores in released])
    alone = released[:, np.newaxis] - law.rvs((1000, 9, 6), random)
    for draws, is_right in ((joint, True), (alone, False)):
        places = (furthest(draws) < furthest(truths[:, np.newaxis])).sum(axis=1)
        assert (stats.chisquare(np.bincount(places, minlength=10)).pvalue > 1e-3) == is_right


@pytest.mark.slow
def test_features_are_among_the_best_as_often_as_is_said():
    """3,000 scores that are as likely as others; beyond 4 standard errors once in 16,000."""
    d, k, law, random, rows = 20, 5, stats.laplace(scale=0.15), np.random.default_rng(0), []
    for _ in range(150):
        truths = random.random(d)
        released = np.clip(truths + law.rvs(size=d, random_state=random), 0, 1)
        rows.append([chances_among_best(released, 0.0, law, k), truths >= np.sort(truths)[-k]])
    said, are = np.concatenate(rows, axis=1)
    cells = np.digitize(said, [0.1, 0.4, 0.8])
    for i in range(4):
        off = (said - are)[cells == i]
        assert abs(off.mean()) < 4 * off.std() / np.sqrt(len(off))


def test_what_is_public_about_chance_is_taken_off_before_features_are_compared():
    scores, by_chance = np.array([0.5, 0.4, 0.3]), np.array([0.3, 0.0, 0.0])
    assert chances_among_best(scores, by_chance, stats.laplace(scale=1e-4), 1).tolist() == [0, 1, 0]
