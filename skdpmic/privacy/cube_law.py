"""Distributions of noise in a cube, up to grid steps: one score, all, the largest (``docs/theory/k_norm.md``)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincc, gammainccinv, gammaincinv


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

    @property
    def kwds(self):
        """The scale of one coordinate: its standard deviation."""
        return {"scale": self.std()}

    def std(self):
        """Standard deviation: ``scale sqrt((n_scores + 1) (n_scores + 2) / 3)``."""
        return self.scale * math.sqrt((self.n_scores + 1) * (self.n_scores + 2) / 3)

    def pdf(self, z):
        """Density at z: the regularised upper incomplete gamma function Q(n_scores, abs(z)) / (2 n_scores)."""
        return gammaincc(self.n_scores, np.abs(z) / self.scale) / (2 * self.n_scores * self.scale)

    def cdf(self, z):
        """Probability of a value of at most z."""
        return self.sf(-np.asarray(z))

    def sf(self, z):
        """Probability of a value above z."""
        tail = tail_of_coordinate(np.abs(z) / self.scale, self.n_scores) / 2
        return np.where(np.asarray(z) > 0, tail, 1 - tail)

    def rvs(self, size, random_state):
        """Independent draws, each a coordinate of a separate cube."""
        return self.half_widths(size, random_state) * random_state.uniform(-1, 1, size)

    def vectors(self, n_vectors, random_state):
        """Independent vectors, of shape (n_vectors, n_scores)."""
        half_widths = self.half_widths((n_vectors, 1), random_state)
        return half_widths * random_state.uniform(-1, 1, (n_vectors, self.n_scores))

    def half_widths(self, size, random_state):
        """Draws of the half-width of the cube."""
        return random_state.gamma(self.n_scores + 1, self.scale, size)

    def given_half_widths(self, n_laws):
        """Distributions of independent coordinates, in equally likely cubes that represent all."""
        levels = (np.arange(n_laws) + 0.5) / n_laws
        half_widths = self.scale * gammaincinv(self.n_scores + 1, levels)
        return [UniformLaw(half_width) for half_width in half_widths]


class UniformLaw(NamedTuple):
    """The uniform distribution on [-half_width, half_width], with methods as in scipy.stats."""

    half_width: float

    def sf(self, z):
        """Probability of a value above z."""
        return np.clip((1 - np.asarray(z) / self.half_width) / 2, 0, 1)

    def ppf(self, level):
        """Value that is exceeded with probability 1 - level."""
        return self.half_width * (2 * np.asarray(level) - 1)


def tail_of_coordinate(z, n_scores):
    """The probability that one coordinate, at scale 1, is more than z >= 0 away from 0.

    ``Q(n_scores + 1, z) - z / n_scores Q(n_scores, z)``: the mean of ``1 - z / m``, cut at 0, over half-widths m.
    """
    z = np.asarray(z, dtype=float)
    return np.maximum(gammaincc(n_scores + 1, z) - z / n_scores * gammaincc(n_scores, z), 0.0)


def reach_of_coordinate(tail, n_scores):
    """The z at which :func:`tail_of_coordinate` is `tail`, in (0, 1); up to rounding."""
    furthest = gammainccinv(n_scores + 1, tail)  # the point at which the half-width itself has this tail
    return brentq(lambda z: float(tail_of_coordinate(z, n_scores)) - tail, 0.0, float(furthest), xtol=1e-12)


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
    furthest = 2 * gammainccinv(n_scores + 1, tail)
    return brentq(lambda z: float(tail_of_difference(z, n_scores)) - tail, 0.0, float(furthest), xtol=1e-12)


def reach_of_largest(tail, n_scores):
    """The r that the largest coordinate, at scale 1, exceeds with probability `tail`; it is gamma of shape n_scores."""
    return float(gammainccinv(n_scores, tail))
