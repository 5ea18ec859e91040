"""Noise in a cube: its sampler, exact distribution on small grids, privacy loss, intervals, continuous distribution."""

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy import noise
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import (
    CubeLaw,
    GaussianMechanism,
    KNormMechanism,
    LaplaceMechanism,
    k_norm_quantile,
    reach_of_coordinate,
    reach_of_largest,
    tail_of_coordinate,
)
from skdpmic.privacy.noise import discrete_k_norm, entropy_source, geometric
from tests.folding import each
from tests.privacy.laws import half_width_pmf, p_value_of_pmf

ALPHA = 1e-3  # of each chi-square test; seeds are fixed, so a pass stays a pass

# --- The sampler ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size, scale", [(1, 1), (1, 5), (2, 1), (3, 1), (3, 2), (4, 7), (7, 1), (9, 2), (40, 3)])
def test_sums_and_their_acceptance_give_exactly_the_distribution_of_the_half_width(size, scale, monkeypatch):
    """In rational arithmetic; a sum is proposed with probability (total + 1) ... (total + size) e^(-total / unit)."""
    fineness, weights, exponents = -(-size // (2 * scale)), {}, set()
    for total in range(fineness, fineness * 19):
        seen = {}

        def propose(unit, n, source, seen=seen, total=total):
            assert n == size + 1
            seen["unit"] = unit
            return np.array([seen.pop("total", total)] + [0] * size, dtype=object)

        def bernoulli_exp(gamma, n, source, seen=seen):
            seen["gamma"] = gamma
            return np.array([True])

        def uniform_below_each(first, n, source, seen=seen):
            seen["bounds"] = range(first, first + n)
            return np.zeros(n, dtype=object) - 1  # below any number, so that the sum is accepted

        monkeypatch.setattr(noise, "geometric", propose)
        monkeypatch.setattr(noise, "bernoulli_exp", bernoulli_exp)
        monkeypatch.setattr(noise, "_uniform_below_each", uniform_below_each)
        half_width = noise._half_width(scale, size, None)
        assert seen["bounds"] == range(total + 1, total + size + 1)
        assert seen["gamma"] >= 0
        centre = fineness * (2 * half_width + 1)  # all uniform numbers must be below it
        assert centre <= total  # so that no probability is above 1
        weights[half_width] = weights.get(half_width, 0) + centre**size
        exponents.add(Fraction(total) / seen["unit"] + seen["gamma"] - Fraction(half_width, scale))
    assert sorted(weights) == list(range(9))
    assert len(exponents) == 1  # exp(-m / scale), up to a constant
    assert len({Fraction(weight, (2 * m + 1) ** size) for m, weight in weights.items()}) == 1  # (2 m + 1)^size


def test_the_uniform_numbers_are_compared_with_the_centre(monkeypatch):
    """A sum is accepted if all of them are below it: for a sum of 7 at size 2 and scale 5, half-width 3, centre 7."""
    kept = []
    for draws in ([6, 6], [7, 0], [0, 7], [0, 0]):
        answers = iter([np.array(draws), np.array([0, 0])])
        monkeypatch.setattr(noise, "geometric", lambda *_: np.array([3, 4, 0]))
        monkeypatch.setattr(noise, "bernoulli_exp", lambda *_: np.array([True]))
        monkeypatch.setattr(noise, "_uniform_below_each", lambda *_, answers=answers: next(answers))
        assert noise._half_width(5, 2, None) == 3
        kept.append(next(answers, None) is not None)  # an answer remains
    assert kept == [True, False, False, True]


def test_sums_without_a_half_width_and_rejected_sums_are_drawn_again(monkeypatch):
    totals, is_kept = iter([[0, 0, 0], [7, 0, 0], [9, 0, 0]]), iter([False, True])
    monkeypatch.setattr(noise, "geometric", lambda *_: np.array(next(totals)))
    monkeypatch.setattr(noise, "bernoulli_exp", lambda *_: np.array([next(is_kept)]))
    monkeypatch.setattr(noise, "_uniform_below_each", lambda *_: np.array([0, 0]))
    assert noise._half_width(5, 2, None) == 4


@pytest.mark.few
@pytest.mark.parametrize("first, size", [(1, 5), (2, 3), (2**61, 4), (2**62 - 2, 4), (10**30, 3)])
def test_uniform_numbers_below_each_bound_cover_their_ranges(first, size):
    source = entropy_source(0)
    draws = np.array([noise._uniform_below_each(first, size, source).tolist() for _ in range(2000)], dtype=object)
    for j, column in enumerate(draws.T):
        bound = first + j
        assert 0 <= min(column) <= bound / 100
        assert bound * 99 / 100 - 1 < max(column) < bound
        if bound < 10:  # alpha 1e-3 each
            assert bound == 1 or stats.chisquare(np.bincount(column.astype(int), minlength=bound)).pvalue > ALPHA


class Pool:
    """Geometric numbers, drawn by the thousand and handed out a few at a time: equally random, but faster."""

    def __init__(self):
        self._left = {}

    def __call__(self, unit, n, source):
        left = self._left.get(unit, [])
        if len(left) < n:
            left = [*left, *geometric(unit, 20_000 + n, source).tolist()]
        self._left[unit] = left[n:]
        return np.array(left[:n], dtype=object)


@cache
def draws_of(size, scale, n=2000):
    source = entropy_source(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "geometric", Pool())
        return np.array([discrete_k_norm(scale, size, source) for _ in range(n)]).astype(int)


def largest_pmf(size, scale):
    """The pmf of max(abs(z)): the number of vectors on each sphere times exp(-r / scale)."""
    r = np.arange(len(half_width_pmf(size, scale)))
    weights = half_width_pmf(size, scale) * (1 - (np.maximum(2 * r - 1, 0) / (2 * r + 1)) ** size)
    return weights / weights.sum()


def coordinate_pmf(size, scale):
    """The pmf of abs(z_1): given half-width m, 2 m + 1 values are equally likely."""
    half_widths = half_width_pmf(size, scale)
    m = np.arange(len(half_widths))
    each = np.cumsum((half_widths / (2 * m + 1))[::-1])[::-1]
    return np.where(m > 0, 2, 1) * each


@pytest.mark.slow
@pytest.mark.parametrize("size, scale", [(1, 6), (2, 1), (3, 10), (5, 1), (10, 30), (30, 2)])
def test_noise_in_a_cube_follows_its_distribution(size, scale):
    """The largest coordinate, and a single one: n = 2,000 vectors, alpha = 1e-3 each."""
    draws = draws_of(size, scale)
    assert p_value_of_pmf(np.abs(draws).max(axis=1), largest_pmf(size, scale)) > ALPHA
    assert p_value_of_pmf(np.abs(draws[:, -1]), coordinate_pmf(size, scale)) > ALPHA
    assert abs((draws > 0).sum() - (draws < 0).sum()) < 4 * math.sqrt((draws != 0).sum())  # alpha 6e-5


def test_all_vectors_of_a_cube_are_drawn(monkeypatch):
    """All 9 vectors of two numbers with half-width 1, one from each pair of uniform numbers below 3."""
    monkeypatch.setattr(noise, "_half_width", lambda *_: 1)
    drawn = set()
    for pair in product(range(3), repeat=2):

        def uniform_below(bound, size, source, pair=pair):
            assert (bound, size) == (3, 2)
            return np.array(pair)

        monkeypatch.setattr(noise, "uniform_below", uniform_below)
        drawn.add(tuple(discrete_k_norm(5, 2, None)))
    assert drawn == set(product((-1, 0, 1), repeat=2))


def test_as_many_numbers_are_drawn_as_there_are_scores():
    """Also if the mechanism was made for another number, on which the cost does not depend; no number is used twice."""
    for n_scores in (1, 3):
        released, _ = KNormMechanism(2**20, n_scores).release(np.full(3, 0.5), entropy_source(0))
        assert len(set(released)) == 3


# --- Its cost ---------------------------------------------------------------------------------------------------------

REACH = 9  # the largest coordinate of the vectors compared


def law_of_vectors(weights, size):
    """P(z) of all vectors of integers up to REACH: uniform in a cube whose half-width is m with probability weights[m].

    Weights are Fractions or floats; those beyond the last are 0.
    """
    per_vector = [weight / (2 * m + 1) ** size for m, weight in enumerate(weights)]
    at_least = [sum(per_vector[r:]) for r in range(REACH + 1)]
    total = sum(weights)
    return {z: at_least[max(map(abs, z))] / total for z in product(range(-REACH, REACH + 1), repeat=size)}


def largest_loss(law, size, steps):
    """The maximum over all neighbours whose scores each move by at most `steps`, and all possible vectors."""
    law = np.array(list(law.values()), dtype=float).reshape((2 * REACH + 1,) * size)
    losses = []
    for move in product(range(-steps, steps + 1), repeat=size):
        here, there = (
            law[tuple(slice(max(sign * by, 0), law.shape[0] + min(sign * by, 0)) for by in move)] for sign in (1, -1)
        )
        with np.errstate(divide="ignore"):
            losses.append(np.log(here[here > 0] / there[here > 0]).max())
    return max(losses)


def weights_of(size, scale, top=400):
    return [(2 * m + 1.0) ** size * math.exp(-m / scale) for m in range(top)]


@pytest.mark.parametrize("size, steps", [(1, 2), (2, 1), (2, 3), (3, 2)])
@each("epsilon", [0.5, 1.0, 2.0])
def test_no_vector_is_more_than_exp_epsilon_times_as_likely_for_a_neighbour_and_some_nearly_are(size, steps, epsilon):
    scale = KNormMechanism.for_budget(budget_of(epsilon), size, steps).scale
    loss = largest_loss(law_of_vectors(weights_of(size, scale), size), size, steps)
    assert loss <= epsilon * (1 + 1e-9)
    assert loss == pytest.approx(steps / scale)  # nothing is wasted except by rounding the scale up
    if steps / (scale - 1 or 0.5) > epsilon:  # true at least where the exact scale is an integer
        assert largest_loss(law_of_vectors(weights_of(size, scale - 1 or 0.5), size), size, steps) > epsilon


@each("size", [2, 3])
def test_broken_half_widths_lose_more_than_epsilon(size):
    for weights in (
        [(2 * m + 1.0) ** (size - 1) * math.exp(-m / 2) for m in range(400)],  # one geometric number too few
        np.diff(stats.gamma.cdf(np.arange(401), size + 1, scale=2)).tolist(),  # the floor of a continuous sum
        [float(m == 4) for m in range(400)],  # a cube of one size
    ):
        assert largest_loss(law_of_vectors(weights, size), size, 2) > 1.0 + 0.005


# --- Intervals --------------------------------------------------------------------------------------------------------


@each("size, scale", [(2, 1), (2, 30), (3, 2), (5, 1), (5, 20), (20, 3), (100, 5)])
def test_the_quantiles_are_exact_to_three_steps_and_never_too_small(size, scale):
    for pmf, is_of_all in ((coordinate_pmf(size, scale), False), (largest_pmf(size, scale), True)):
        tails = np.cumsum(pmf[::-1])[::-1]  # P(noise >= r)
        for confidence in (0.1, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9):
            q = k_norm_quantile(scale, confidence, size, is_of_all=is_of_all)
            assert tails[q + 1] <= (1 - confidence) * (1 + 1e-9)
            assert tails[max(q - 2, 0)] > 1 - confidence


MECHANISMS = {
    "laplace": lambda scale, d: LaplaceMechanism(scale),
    "gaussian": lambda scale, d: GaussianMechanism(scale),
    "k-norm": KNormMechanism,
}


def releases(mechanism, d, n, monkeypatch):
    """Releases of d scores of 1/2; independent noise is drawn all at once, which is equally random."""
    source = entropy_source(0)
    if mechanism.is_independent:
        return mechanism.release(np.full(n * d, 0.5), source)[0].reshape(n, d)
    monkeypatch.setattr(noise, "geometric", Pool())
    return [mechanism.release(np.full(d, 0.5), source)[0] for _ in range(n)]


@pytest.mark.parametrize("scale", [3, 10**5])
@pytest.mark.parametrize("d", [1, 12])
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.combinations
def test_intervals_have_the_stated_coverage_individually_and_jointly(name, d, scale, monkeypatch):
    # n = 1,000 releases, fixed seed: within 4 standard errors (alpha 6e-5), or above where noise has few values.
    confidence, n, mechanism = 0.9, 1000, MECHANISMS[name](scale, d)
    margin = 4 * math.sqrt(confidence * (1 - confidence) / n)
    released = releases(mechanism, d, n, monkeypatch)
    for simultaneous in (False, True):
        intervals = [mechanism.interval(scores, confidence, simultaneous) for scores in released]
        held = np.array([(lower <= 0.5) & (0.5 <= upper) for lower, upper in intervals])
        coverage = np.mean(held.all(axis=1) if simultaneous else held[:, 0])
        assert coverage > confidence - margin
        if scale > 100:
            assert coverage < confidence + margin


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_the_joint_quantile_of_independent_noise_is_exact_to_one_step(name):
    for scale, d, confidence in [(2, 1, 0.9), (5, 3, 0.5), (5, 100, 0.95), (40, 1000, 0.999), (3, 10**5, 1 - 1e-12)]:
        mechanism = MECHANISMS[name](scale, d)
        places = np.arange(60 * scale)
        weights = np.exp(-places / scale) if name == "laplace" else np.exp(-(places**2) / (2 * scale**2))
        weights[1:] *= 2
        at_least = np.cumsum((weights / weights.sum())[::-1])[::-1]
        q = mechanism._quantile(confidence, d)
        all_within = [d * math.log1p(-at_least[r + 1]) for r in (q, q - 2)]
        assert all_within[1] < math.log(confidence) <= all_within[0]


# --- The continuous distribution --------------------------------------------------------------------------------------


@each("d", [2, 3, 10, 100, 1000])
def test_the_tail_of_a_coordinate_is_a_sum_of_poisson_terms(d):
    """The sum over j <= d of (1 - j / d) P(Poisson(z) = j); no term is negative, so it is exact far out."""
    j = np.arange(d + 1)
    for z in d * np.array([0.0, 0.1, 0.9, 1.0, 1.1, 1.5]) + np.array([0, 0.1, 1, 2, 10, 30]):
        exact = stats.poisson.pmf(j, z) @ (1 - j / d)
        assert tail_of_coordinate(z, d) == pytest.approx(exact, rel=1e-9)
        assert CubeLaw(d, 0.3).sf(0.3 * z) == pytest.approx(exact / 2, rel=1e-9)
        assert CubeLaw(d, 0.3).cdf(-0.3 * z) == pytest.approx(exact / 2, rel=1e-9)


def test_for_one_score_the_distribution_is_laplace():
    z = np.linspace(-3, 3, 31)
    np.testing.assert_allclose(CubeLaw(1, 0.5).sf(z), stats.laplace(scale=0.5).sf(z), rtol=1e-12)
    assert KNormMechanism(2**29, 1).law.std() == CubeLaw(1, 0.5).std() == KNormMechanism(2**29, 1).noise_scale
    assert KNormMechanism(1000, 1).half_width(0.9) == LaplaceMechanism(1000).half_width(0.9)


@pytest.mark.slow
@each("d", [2, 10, 1000])
def test_reaches_invert_the_tails_and_representative_cubes_have_the_distribution_of_all_cubes(d):
    for tail in (0.9, 0.05, 1e-9):
        assert tail_of_coordinate(reach_of_coordinate(tail, d), d) == pytest.approx(tail, rel=1e-8)
        assert stats.gamma(d).sf(reach_of_largest(tail, d)) == pytest.approx(tail, rel=1e-8)
    law = CubeLaw(d, 0.5)
    half_widths = law.half_widths((np.arange(200) + 0.5) / 200)
    for z in (0.1 * d, 0.3 * d):
        assert np.mean(np.maximum(1 - z / half_widths, 0)) / 2 == pytest.approx(law.sf(z), rel=0.01)
