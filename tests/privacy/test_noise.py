"""The samplers follow their distributions, for any rational scale."""

import math
import os
from fractions import Fraction

import numpy as np
import pytest

from skdpmic.privacy import noise
from skdpmic.privacy.noise import (
    _bernoulli_exp,
    _bernoulli_exp_any,
    discrete_gaussian,
    discrete_k_norm,
    discrete_laplace,
    entropy_source,
    exponential_choice,
    geometric,
    laplace_deviation,
    laplace_scale,
    uniform_below,
)
from tests.folding import each
from tests.privacy.laws import gaussian_p_value, geometric_p_value, laplace_p_value, p_value_of_law

N_DRAWS = 20_000
ALPHA = 1e-3  # of each chi-square test; seeds are fixed, so a pass stays a pass
RATIO = Fraction(10**20, 10**19 + 7)
VARIANCES = [Fraction(1, 3), Fraction(1, 10), 2, RATIO, 300**2, 2**80 + 1]
P_VALUES = {geometric: geometric_p_value, discrete_laplace: laplace_p_value, discrete_gaussian: gaussian_p_value}


@pytest.mark.few
@pytest.mark.parametrize("draw", P_VALUES)
def test_noise_follows_its_distribution(draw):
    for scale in VARIANCES if draw is discrete_gaussian else [Fraction(1, 3), Fraction(7, 3), RATIO, 10**6]:
        assert P_VALUES[draw](draw(scale, N_DRAWS, entropy_source(0)), scale) > ALPHA


@pytest.mark.parametrize("sigma2", [*VARIANCES, 1, 4, Fraction(17, 4)])
def test_the_laplace_proposal_and_its_acceptance_give_exactly_the_gaussian_distribution(sigma2, monkeypatch):
    # The probability of y is proportional to exp(-a), and a is summed in rational arithmetic.
    proposed = {}
    ys = [*range(-40, 41), 10**12, -(10**13)]

    def propose(scale, size, source):
        proposed["scale"] = scale
        return np.array(ys, dtype=object)

    def accept(numerators, denominator, source):
        proposed["exponents"] = [Fraction(numerator, denominator) for numerator in numerators]
        return np.ones(len(numerators), dtype=bool)

    monkeypatch.setattr(noise, "discrete_laplace", propose)
    monkeypatch.setattr(noise, "_bernoulli_exp_any", accept)
    discrete_gaussian(sigma2, len(ys), None)
    excess = {
        Fraction(abs(y), proposed["scale"]) + exponent - Fraction(y**2) / (2 * sigma2)
        for y, exponent in zip(ys, proposed["exponents"], strict=True)
    }
    assert len(excess) == 1
    assert min(proposed["exponents"]) >= 0


@pytest.mark.few
@pytest.mark.parametrize("scale, shift", [(1, 0), (3, 10**30), (1000, 0)])
def test_exponential_choice_follows_its_distribution(scale, shift):
    # n = 2,000; at scales 1 and 3, a scale that is 20% off has a p-value below 1e-3
    scores, source = np.array([4, 0, 6, 3, -7], dtype=object), entropy_source(0)
    chosen = [int(exponential_choice(scores + shift, scale, source)) for _ in range(2000)]
    for factor in (0.8, 1, 1.25):
        weights = np.exp(scores.astype(float) / (factor * scale))
        p_value = p_value_of_law(chosen, dict(enumerate(weights / weights.sum())))
        assert (p_value > ALPHA) == (factor == 1) or scale > 10


@each("scale", [5, 10**6])
def test_the_fit_rejects_a_scale_that_is_ten_percent_off_and_rounded_continuous_noise(scale):
    draws = discrete_laplace(scale, N_DRAWS, entropy_source(0))
    assert laplace_p_value(draws, Fraction(9, 10) * scale) < ALPHA
    assert laplace_p_value(draws, Fraction(11, 10) * scale) < ALPHA
    assert laplace_p_value(np.random.default_rng(0).laplace(scale=2, size=N_DRAWS).astype(int), 2) < ALPHA


def test_operating_system_entropy_follows_the_same_distribution():
    # Unseeded: alpha is 1e-9, so that this fails by chance once in a billion runs.
    assert laplace_p_value(discrete_laplace(5, N_DRAWS, entropy_source()), 5) > 1e-9


HUGE = 10**30


@each("numerator, denominator", [(0, 5), (1, 5), (5, 5), (7, 5), (16, 5), (HUGE, 3 * HUGE), (7 * HUGE, 3 * HUGE)])
def test_bernoulli_exp_has_its_probability(numerator, denominator):
    n = 40_000
    kind = object if denominator > 2**62 else np.int64
    p = np.exp(-numerator / denominator)
    for flip in (_bernoulli_exp, _bernoulli_exp_any)[numerator > denominator :]:
        hits = flip(np.full(n, numerator, dtype=kind), denominator, entropy_source(1)).sum()
        assert abs(hits - n * p) <= 4 * np.sqrt(n * p * (1 - p))  # alpha 6e-5


@each("bound", [1, 2, 5, 200, 256])
def test_uniform_below_uses_every_accepted_byte_equally(bound):
    # If no bit is favoured, a source that counts through all bytes gives each number equally often.
    counter = iter(range(10**9))
    source = lambda n_bytes: bytes(next(counter) % 256 for _ in range(n_bytes))  # noqa: E731
    draws = uniform_below(bound, 256 * 4, source)
    assert draws.min() >= 0
    assert draws.max() < bound
    if bound & (bound - 1) == 0:
        assert set(np.bincount(draws.astype(int), minlength=bound)) == {1024 // bound}


@pytest.mark.parametrize("draw", [geometric, discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize("scale", [7, 10**6, Fraction(10**20, 10**19 + 7), 2**58])
def test_draws_kept_as_int64_equal_those_kept_as_python_integers(draw, scale, monkeypatch):
    # 2**58: some of the draws are above the limit.
    drawn = []
    for limit in (noise._LIMIT, -1):
        monkeypatch.setattr(noise, "_LIMIT", limit)
        drawn.append(draw(scale, 400, entropy_source(0)))
    assert drawn[0].dtype == (np.int64 if scale in (7, 10**6) or draw is discrete_gaussian else object)
    assert drawn[0].tolist() == drawn[1].tolist()


@pytest.mark.parametrize("draw", [geometric, discrete_laplace, discrete_gaussian, discrete_k_norm])
def test_draws_near_the_limit_of_int64_do_not_overflow(draw):
    for exponent in range(54, 70):
        scale = (2**exponent) ** (2 if draw is discrete_gaussian else 1)
        draws = draw(scale, 300, entropy_source(exponent))
        largest = max(map(abs, draws.tolist()))
        assert 2**exponent < largest < 2**exponent * (600 if draw is discrete_k_norm else 30)
        assert draws.dtype == object or largest < 2**61


@pytest.mark.parametrize("draw", P_VALUES)
def test_drawing_in_blocks_does_not_change_the_distribution_and_skips_no_draw(draw, monkeypatch):
    monkeypatch.setattr(noise, "_BLOCK", 1000)
    draws = draw(50, N_DRAWS + 1, entropy_source(0))
    assert len(draws) == N_DRAWS + 1
    assert P_VALUES[draw](draws, 50) > ALPHA
    assert len(draw(50, 0, entropy_source(0))) == 0


@pytest.mark.unseeded
def test_a_seed_gives_the_same_draws_and_no_seed_does_not():
    first, again = (discrete_laplace(10**6, 5, entropy_source(3)).tolist() for _ in range(2))
    assert first == again
    assert entropy_source(None) is os.urandom
    assert first != discrete_laplace(10**6, 5, entropy_source()).tolist()
    source = entropy_source(np.random.RandomState(3))  # continues where it stopped
    assert discrete_laplace(10**6, 5, source).tolist() != discrete_laplace(10**6, 5, source).tolist()


def test_without_a_seed_a_test_draws_what_it_drew_in_every_run():
    assert entropy_source(None) is not os.urandom
    assert entropy_source(None)(4).hex() == "2b022f73"


@each("scale", [0, -1])
def test_a_scale_or_variance_that_is_not_positive_is_refused(scale):
    with pytest.raises(ValueError, match="scale must be > 0"):
        discrete_laplace(scale, 1, entropy_source(0))
    with pytest.raises(ValueError, match="sigma2 must be > 0"):
        discrete_gaussian(scale, 1, entropy_source(0))


@each("scale", [0.02, 0.3, 1, 7.5, 1e4])
def test_the_deviation_of_discrete_laplace_noise_is_that_of_its_exact_law(scale):
    z = np.arange(0, 60 * scale + 60)
    weights = np.exp(-z / scale)
    weights[0] /= 2
    assert laplace_deviation(scale) == pytest.approx(math.sqrt((weights * z**2).sum() / weights.sum()), rel=1e-6)
    assert laplace_deviation(scale) <= math.sqrt(2) * scale
    assert laplace_scale(laplace_deviation(scale)) == pytest.approx(float(scale), rel=1e-6)
