"""Output perturbation of scores on a grid, by Laplace, Gaussian or cubic noise (``docs/theory/laplace.md``, ...).

Floating-point noise is not private, because the set of possible doubles depends on the data (Mironov 2012). So a
score is first rounded down to an integer multiple of GRID, and everything after that is in integers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import gammaincc, gammainccinv, gammaincinv

from skdpmic.privacy.composition import exact, scale_for_rho
from skdpmic.privacy.noise import discrete_gaussian, discrete_k_norm, discrete_laplace
from skdpmic.privacy.quantiles import FLOAT_ERROR, gaussian_quantile, laplace_quantile

GRID = 2.0**-30
_STEPS = 2**30  # grid steps in a score of 1


def to_grid(scores):
    """Scores in [0, 1], rounded down to integer grid steps, as int64."""
    return np.floor(np.asarray(scores, dtype=np.float64) * _STEPS).astype(np.int64)


def from_grid(steps):
    """Integer grid steps as scores, clamped to [0, 1]."""
    return np.clip(steps, 0, _STEPS).astype(np.float64) * GRID


def grid_sensitivity(sensitivity, rounding_error):
    """Sensitivity of a score rounded to the grid, in steps: ceil((sensitivity + 2 rounding_error) / GRID).

    The floors of two numbers at most x apart are at most ceil(x) apart, and each computed score lies within
    `rounding_error` of its exact value.
    """
    return math.ceil((Fraction(sensitivity) + 2 * Fraction(rounding_error)) * _STEPS)


def scale_for_budget(epsilon, steps):
    """Scale of noise, in integer grid steps, at which a change of `steps` costs `epsilon`; 0 for infinite epsilon."""
    return 0 if epsilon == math.inf else math.ceil(steps / exact(epsilon))


@lru_cache(maxsize=256)
def law_of_scale(law, scale):
    """A frozen distribution, cached by public numbers: scipy needs longer to create it than a small fit takes."""
    return law(scale=scale)


class NoiseOnGrid:
    """The base of mechanisms that add noise with a `_law` and a `scale`, in grid steps, to each score."""

    splits_evenly = False  # whether each of n scores has independent noise that costs epsilon / n

    @property
    def noise_scale(self):
        """Scale of the noise as a score."""
        return self.scale * GRID

    @property
    def law(self):
        """The continuous distribution of the noise on each score, up to grid steps; None without noise."""
        return law_of_scale(self._law, self.noise_scale) if self.scale > 0 else None


@dataclass(frozen=True)
class _NoisyScores(NoiseOnGrid):
    """Noise of one distribution on several scores, independent unless a subclass differs.

    Parameters
    ----------
    scale : int
        Scale of the noise in grid steps; 0 for none.
    """

    scale: int

    is_independent = True  # between scores of one release

    def release(self, scores, random_bytes, offsets=0.0):
        """Noisy scores, clamped to [0, 1], and the order of the features, best first.

        The order is that of the noisy scores before clamping, so that it has no ties at 0 and 1; remaining ties are
        broken by index. The public `offsets`, the null scores, are subtracted for the order.
        """
        if self.scale == 0:
            return scores, np.argsort(offsets - scores, kind="stable")
        noisy = to_grid(scores) + self._noise(len(scores), random_bytes)
        adjusted = noisy - to_grid(np.broadcast_to(offsets, scores.shape))
        return from_grid(noisy), np.argsort(-adjusted, kind="stable")

    def interval(self, scores, confidence, simultaneous=False):
        """Intervals of at least this confidence for each noise-free score, or for all of them simultaneously."""
        if self.scale == 0:
            return scores.copy(), scores.copy()
        margin = self.half_width(confidence, len(scores) if simultaneous else 1)
        # A score is at most one step above the grid value to which noise was added, and never below it.
        return np.clip(scores - (margin - GRID), 0, 1), np.clip(scores + margin, 0, 1)

    def half_width(self, confidence, n_scores=1):
        """Half-width of an interval of at least this confidence for a noise-free score, before clamping.

        With `n_scores`, the interval is simultaneous for this many scores of one release.
        """
        return 0.0 if self.scale == 0 else (self._quantile(confidence, n_scores) + 1) * GRID


class LaplaceMechanism(_NoisyScores):
    """Discrete Laplace noise on several scores, pure budget (MICr-Lap; ``docs/theory/laplace.md``).

    Parameters
    ----------
    scale : int
        Scale of the noise in grid steps; 0 for none.
    """

    name = "laplace"
    needs_delta = False
    splits_evenly = True
    _law = stats.laplace

    @classmethod
    def for_budget(cls, budget, n_scores, steps):
        """The mechanism that spends an equal share of epsilon on each of `n_scores` scores of sensitivity `steps`."""
        return cls(scale_for_budget(budget.epsilon, n_scores * steps))

    @staticmethod
    def epsilon_per_score(budget, n_scores):
        """The epsilon of each score."""
        return float(budget.epsilon) / n_scores

    def _noise(self, size, random_bytes):
        return discrete_laplace(self.scale, size, random_bytes)

    def _quantile(self, confidence, n_scores=1):
        return laplace_quantile(self.scale, confidence, n_scores)


class GaussianMechanism(_NoisyScores):
    """Discrete Gaussian noise on several scores, budget in zCDP (``docs/theory/gaussian.md``).

    Parameters
    ----------
    scale : int
        Standard deviation of the noise in grid steps; 0 for none.
    """

    name = "gaussian"
    needs_delta = True
    _law = stats.norm

    @classmethod
    def for_budget(cls, budget, n_scores, steps):
        """The mechanism that spends rho on `n_scores` scores of sensitivity `steps` each."""
        return cls(scale_for_rho(budget.rho, n_scores, steps))

    @staticmethod
    def epsilon_per_score(budget, n_scores):
        """The epsilon of Laplace noise on one score with the same standard deviation: 2 sqrt(rho / n_scores)."""
        return 2 * math.sqrt(budget.rho / n_scores)

    def _noise(self, size, random_bytes):
        return discrete_gaussian(self.scale**2, size, random_bytes)

    def _quantile(self, confidence, n_scores=1):
        return gaussian_quantile(self.scale, confidence, n_scores)


@dataclass(frozen=True)
class KNormMechanism(_NoisyScores):
    """Noise in a cube on several scores together, pure budget (``docs/theory/k_norm.md``).

    The vector z of all noise has P(z) proportional to ``exp(-max(abs(z)) / scale)``. It is uncorrelated between
    scores, but not independent.

    Parameters
    ----------
    scale : int
        Scale of the noise, in grid steps; 0 for none.
    n_scores : int
        Number of scores; the distribution depends on it, the cost does not.
    """

    n_scores: int

    name = "k-norm"
    needs_delta = False
    is_independent = False

    @classmethod
    def for_budget(cls, budget, n_scores, steps):
        """The mechanism that spends epsilon on `n_scores` scores of sensitivity `steps` each."""
        return cls(scale_for_budget(budget.epsilon, steps), n_scores)

    @staticmethod
    def epsilon_per_score(budget, n_scores):
        """The epsilon of Laplace noise on one score with the same standard deviation."""
        return float(budget.epsilon) * math.sqrt(6 / ((n_scores + 1) * (n_scores + 2)))

    @property
    def noise_scale(self):
        """Standard deviation of the noise on each score."""
        return CubeLaw(self.n_scores, self.scale * GRID).std()

    @property
    def law(self):
        """The continuous distribution of the noise on each score, up to grid steps; None without noise."""
        if self.scale == 0:
            return None
        scale = self.scale * GRID
        return law_of_scale(stats.laplace, scale) if self.n_scores == 1 else CubeLaw(self.n_scores, scale)

    def _noise(self, size, random_bytes):
        return discrete_k_norm(self.scale, size, random_bytes)

    def _quantile(self, confidence, n_scores=1):
        if self.n_scores == 1:
            return laplace_quantile(self.scale, confidence)
        return k_norm_quantile(self.scale, confidence, self.n_scores, is_of_all=n_scores > 1)


# By name. For the interface of a mechanism, see docs/contributing.md.
MECHANISMS = {mechanism.name: mechanism for mechanism in (LaplaceMechanism, GaussianMechanism, KNormMechanism)}


def k_norm_quantile(scale, confidence, n_scores, *, is_of_all):
    """A q with P(|noise| > q) <= 1 - confidence: at most the probability that the continuous law exceeds q - 1/2.

    Parameters
    ----------
    scale : int, above 0
        Scale of noise in a cube.
    confidence : float in (0, 1)
        Probability that the noise on one score, or on all of them, is at most q.
    n_scores : int
        Number of scores.
    is_of_all : bool

    Returns
    -------
    int
    """
    reach = reach_of_largest if is_of_all else reach_of_coordinate
    return math.ceil(scale * reach(1 - confidence, n_scores) * (1 + FLOAT_ERROR) + 0.5)


@dataclass(frozen=True)
class CubeLaw:
    """One coordinate of a vector z of density proportional to ``exp(-max(abs(z)) / scale)``.

    It has the required methods of a frozen distribution of scipy.stats. Given the half-width of a cube, a gamma
    variable of shape n_scores + 1, all coordinates are independent and uniform in it.

    Parameters
    ----------
    n_scores : int, at least 1
        Number of coordinates.
    scale : float, above 0
    """

    n_scores: int
    scale: float

    def std(self):
        """Standard deviation: ``scale sqrt((n_scores + 1) (n_scores + 2) / 3)``."""
        return self.scale * math.sqrt((self.n_scores + 1) * (self.n_scores + 2) / 3)

    def cdf(self, z):
        """Probability of a value of at most z."""
        return self.sf(-np.asarray(z))

    def sf(self, z):
        """Probability of a value above z."""
        tail = tail_of_coordinate(np.abs(z) / self.scale, self.n_scores) / 2
        return np.where(np.asarray(z) > 0, tail, 1 - tail)

    def rvs(self, size, random_state):
        """Independent draws, each a coordinate of a separate cube."""
        return random_state.gamma(self.n_scores + 1, self.scale, size) * random_state.uniform(-1, 1, size)

    def half_widths(self, levels):
        """The half-widths of the cube at these quantiles."""
        return self.scale * gammaincinv(self.n_scores + 1, levels)


def tail_of_coordinate(z, n_scores):
    """The probability that one coordinate, at scale 1, is more than z >= 0 away from 0.

    ``Q(n_scores + 1, z) - z / n_scores Q(n_scores, z)``: the mean of ``1 - z / m``, cut at 0, over half-widths m.
    """
    z = np.asarray(z, dtype=float)
    return np.maximum(gammaincc(n_scores + 1, z) - z / n_scores * gammaincc(n_scores, z), 0.0)


def reach_of_coordinate(tail, n_scores):
    """The z at which :func:`tail_of_coordinate` is `tail`, in (0, 1); up to rounding."""
    furthest = gammainccinv(n_scores + 1, tail)  # the point at which the half-width itself has this tail
    return _where_tail_is(tail, tail_of_coordinate, n_scores, furthest)


def _where_tail_is(tail, tail_of, n_scores, furthest):
    return brentq(lambda z: float(tail_of(z, n_scores)) - tail, 0.0, float(furthest), xtol=1e-12)


def tail_of_difference(z, n_scores):
    """The probability that two of at least two coordinates, at scale 1, are more than z >= 0 apart.

    The mean of ``(1 - a / m)**2``, cut at 0, over half-widths m, with a = z / 2.
    """
    a = np.asarray(z, dtype=float) / 2
    once, twice = a / n_scores, a**2 / (n_scores * (n_scores - 1))
    of_parts = gammaincc(n_scores + 1, a) - 2 * once * gammaincc(n_scores, a) + twice * gammaincc(n_scores - 1, a)
    return np.maximum(of_parts, 0.0)


def reach_of_difference(tail, n_scores):
    """The z at which :func:`tail_of_difference` is `tail`, in (0, 1); up to rounding."""
    return _where_tail_is(tail, tail_of_difference, n_scores, 2 * gammainccinv(n_scores + 1, tail))


def reach_of_largest(tail, n_scores):
    """The r that the largest coordinate, at scale 1, exceeds with probability `tail`; it is gamma of shape n_scores."""
    return float(gammainccinv(n_scores, tail))
