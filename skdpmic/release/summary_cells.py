"""The cells of a value (missing, invalid, or a part of its range), and the release of their noisy counts."""

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.special import betainc, gammaincc, gammaln

from skdpmic.privacy.composition import Cost, budget_of, exact
from skdpmic.privacy.noise import discrete_gaussian, geometric, uniform_below
from skdpmic.privacy.quantiles import gaussian_quantile
from skdpmic.table import domains
from skdpmic.table.domains import MISSING, OTHER, Integers, Labels

BELOW, ABOVE = "below", "above"
_FLAGS_OF_NUMBERS, _FLAGS_OF_LABELS = (MISSING, BELOW, ABOVE), (MISSING, OTHER)
# A fiftieth, then tenths: skewed columns are recognised by their lower end.
_ENDS = (0.0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MOST_PARTS = len(_ENDS) - 1
_NEAR = 2**14  # values whose cells are in the processor's cache together


@dataclass(frozen=True)
class SummaryCells:
    """The cells of one column, in two sets; every value is in one cell of each set.

    Parameters
    ----------
    domain : Range, LogRange, Knots, Integers or Labels
        Public description of the column.
    """

    domain: Any

    @property
    def is_nominal(self):
        """Whether the column holds labels."""
        return isinstance(self.domain, Labels)

    @property
    def n_values(self):
        """Number of labels or integers; infinity for other numbers."""
        return len(self.domain.labels) if self.is_nominal else domains.parts_at_most(math.inf, self.domain.encoded)

    @property
    def has_names(self):
        """Whether parts have the names of their labels or integers, of which each has about equally many."""
        return self.n_values < math.inf

    @property
    def flags(self):
        """What may be wrong with a value; a further cell of this set holds the valid values."""
        return _FLAGS_OF_LABELS if self.is_nominal else _FLAGS_OF_NUMBERS

    @property
    def n_parts(self):
        """The number of parts of the public range; a further cell holds missing values and those outside."""
        return min(self.n_values, _MOST_PARTS)

    @property
    def sizes(self):
        """Number of cells of the two sets."""
        return len(self.flags) + 1, self.n_parts + 1

    def part_ends(self):
        """The two ends of each part of numbers or dates, its labels, or its first and last integer: all as text."""
        if isinstance(self.domain, Integers):
            return self.domain.runs(self.n_parts)
        if self.is_nominal:
            parts, names = self._parts_of_labels(), domains.names_of_labels(self.domain.labels)
            return [[name for name, j in zip(names, parts, strict=True) if j == part] for part in range(self.n_parts)]
        lower, upper = self.domain.encoded
        ends = [self.domain.decode(lower + end * (upper - lower)) for end in _ENDS]
        return [*pairwise(domains.ends_in_words(ends))]

    def first_and_last(self):
        """The ends of the range, or the first and the last label, as text."""
        first, *_, last = self.part_ends()
        return first[0], last[-1]

    def part_places(self):
        """The ends of the parts on an axis from 0 to 1, for figures."""
        return np.linspace(0, 1, self.n_parts + 1) if self.has_names else np.array(_ENDS)

    def _parts_of_labels(self):
        """Single labels, or groups of neighbouring labels of equal size if there are more labels than parts."""
        n = len(self.domain.labels)
        return [j * self.n_parts // n for j in range(n)]

    def count(self, values):
        """The number of records in each cell of both sets.

        Parameters
        ----------
        values : ndarray of shape (n_samples,)
            Unchanged numbers, NaN if missing; or codes of labels.

        Returns
        -------
        flags, parts : int64 ndarrays of shapes (n_flags + 1,) and (n_parts + 1,)
            The last cell of each set holds all other records.
        """
        cells_of, (n_flags, n_parts) = self._cells_of_labels if self.is_nominal else self._cells_of_numbers, self.sizes
        flags, parts = np.zeros(n_flags, dtype=np.int64), np.zeros(n_parts, dtype=np.int64)
        for first in range(0, len(values), _NEAR):
            flag_of, part_of = cells_of(values[first : first + _NEAR])
            flags += np.bincount(flag_of, minlength=n_flags)
            parts += np.bincount(part_of, minlength=n_parts)
        return flags, parts

    def _cells_of_labels(self, codes):
        n = len(self.domain.labels)  # the code of other labels; one more for missing values
        flag_of_code = np.array([2] * n + [1, 0])
        part_of_code = np.array([*self._parts_of_labels(), self.n_parts, self.n_parts])
        return flag_of_code[codes], part_of_code[codes]

    def _cells_of_numbers(self, values):
        values = values.astype(np.float64, copy=False)  # in float32, bounds would be rounded
        values = domains.nearest_integers(values) if self.has_names else values
        lowest, highest = domains.limits_of(self.domain)
        flag_of = np.select([np.isnan(values), values < lowest, values > highest], [0, 1, 2], 3)
        inside = self.domain.encode(np.where(flag_of == 3, values, lowest))
        places = domains.in_unit_interval(inside, *self.domain.encoded)
        # A search among few ends takes longer.
        part_of = sum((places >= end).view(np.int8) for end in self.part_places()[1:-1])
        return flag_of, np.where(flag_of == 3, part_of, self.n_parts)


# --- Noisy counts of all cells ---------------------------------------------------------------------------------------


_FLOAT_ERROR = 2.0**-30  # upper bound on the relative error of the computed reach
_FEWEST_STEPS = 20  # of the scale, or nearly
_STEPS_BEYOND = 2  # discrete noise reaches no further than continuous noise and two grid steps


@dataclass(frozen=True)
class MovesMechanism:
    """Noise calibrated to a record that moves from one cell to another in each column, at a cost of epsilon.

    Parameters
    ----------
    n_cells : tuple of int
        Number of cells of each column.
    n_steps : int
        Number of grid steps per record.
    scale : Fraction
        Scale of the noise, in grid steps; 0 for none.
    """

    n_cells: tuple
    n_steps: int
    scale: Fraction

    name = "k-norm"

    @property
    def noise_scale(self):
        """Scale of the noise, in records."""
        return float(self.scale / self.n_steps)

    @classmethod
    def for_budget(cls, epsilon, n_cells, rows_per_group):
        """The mechanism that spends epsilon, a float or a Fraction; a person has `rows_per_group` rows."""
        if epsilon == math.inf:
            return cls(tuple(n_cells), 1, Fraction(0))
        n_moves = sum(n_cells) - len(n_cells)  # with fewer steps, many radii are rejected, or a step is a large error
        n_steps = math.ceil(max(n_moves, _FEWEST_STEPS) * exact(epsilon) / rows_per_group)
        return cls(tuple(n_cells), n_steps, n_steps * rows_per_group / exact(epsilon))

    def release(self, counts, random_bytes):
        """Noisy counts as arrays of floats, not clamped, which sum to the number of records in each column."""
        if self.scale == 0:
            return [of_column.astype(np.float64) for of_column in counts]
        noise = discrete_moves(list(self.n_cells), self.scale, random_bytes)
        steps = [of_column.astype(object) * self.n_steps + z for of_column, z in zip(counts, noise, strict=True)]
        return [np.array([float(Fraction(int(step), self.n_steps)) for step in of_column]) for of_column in steps]

    def reach(self, tail, n_cells, n_together=1):
        """Bound, in records, that the total noise on this many cells exceeds with at most this probability."""
        if self.scale == 0:
            return 0.0
        n_moves = sum(self.n_cells) - len(self.n_cells)
        reach = reach_of_cells(tail, n_cells, n_moves, n_together) * float(self.scale) * (1 + _FLOAT_ERROR)
        return (reach + _STEPS_BEYOND) / self.n_steps


@dataclass(frozen=True)
class GaussianCells:
    """Independent Gaussian noise on all cells, less its mean in each column, with a budget in zCDP.

    The number of records is public, so counts that sum to it cost nothing more, and their noise is smaller.

    Parameters
    ----------
    n_cells : tuple of int
        Number of cells of each column.
    variance : Fraction
        Variance of the noise on a cell before its mean is subtracted, in squared records.
    """

    n_cells: tuple
    variance: Fraction

    name = "gaussian"

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count, in records: the largest of all columns."""
        return max(map(self._deviation, self.n_cells))

    def _deviation(self, n_cells, n_together=1):
        """Standard deviation of the total noise on some cells of a column."""
        return math.sqrt(self.variance * n_together * Fraction(n_cells - n_together, n_cells))

    @classmethod
    def for_budget(cls, rho, n_cells, rows_per_group):
        """The mechanism that spends rho: a record that moves changes two cells of each column by one."""
        return cls(tuple(n_cells), Fraction(2 * len(n_cells) * rows_per_group**2) / (2 * Fraction(rho)))

    def release(self, counts, random_bytes):
        """Noisy counts as arrays of floats, not clamped, which sum to the number of records in each column."""
        ends = np.cumsum(self.n_cells)[:-1]
        noise = np.split(discrete_gaussian(self.variance, sum(self.n_cells), random_bytes), ends)
        released = []
        for of_column, z in zip(counts, noise, strict=True):
            noisy, n = of_column + z, int(of_column.sum())  # the number of records, which is public
            released.append(noisy.astype(float) + (n - int(noisy.sum())) / len(noisy))
        return released

    def reach(self, tail, n_cells, n_together=1):
        """Bound, in records, that the total noise on this many cells exceeds with at most this probability."""
        return gaussian_quantile(self._deviation(n_cells, n_together), 1 - 2 * tail) + 1.0  # discrete noise


# --- The release -----------------------------------------------------------------------------------------------------


CONFIDENCE = 0.95  # that all intervals contain their shares
# Share of the budget for flags: a tenth of clipped values matters; of parts, only if one or two have nearly all.
_FLAG_SHARE = Fraction(2, 3)
_SHARES = (_FLAG_SHARE, 1 - _FLAG_SHARE)


@dataclass(frozen=True)
class CellsRelease:
    """The release for columns of these sizes: their flags (set 0) and their parts (set 1).

    Parameters
    ----------
    epsilon, delta : float
    sizes : tuple of (int, int)
        Numbers of cells of the two sets, for each column.
    rows_per_group : int, default=1
        Number of rows per person, all of which may be replaced.
    """

    epsilon: float
    delta: float
    sizes: tuple
    rows_per_group: int = 1

    @cached_property
    def mechanisms(self):
        """Mechanisms of the two sets: the kind with less noise on flags."""
        pure = self._split(MovesMechanism, budget_of(self.epsilon).epsilon)
        if self.delta == 0 or self.epsilon == math.inf:
            return pure
        gaussian, largest = self._split(GaussianCells, budget_of(self.epsilon, self.delta).rho), max(self.n_cells(0))
        return min(pure, gaussian, key=lambda mechanisms: self._margin(mechanisms[0], 0, largest))

    def _split(self, kind, budget):
        budgets = (share * budget for share in _SHARES)
        return [kind.for_budget(each, self.n_cells(i), self.rows_per_group) for i, each in enumerate(budgets)]

    def n_cells(self, which):
        """The number of cells of a set in each column."""
        return [size[which] for size in self.sizes]

    @property
    def cost(self):
        """The charge of a ledger."""
        if self.mechanisms[0].name == GaussianCells.name:
            return Cost.concentrated(self.epsilon, self.delta)
        return Cost.of_parts(self.epsilon, sum(share**2 for share in _SHARES))

    def half_width(self, which, n_cells):
        """Simultaneous error bound, in records, for all counts of both sets, in a column with this many cells."""
        return self._margin(self.mechanisms[which], which, n_cells)

    def _margin(self, mechanism, which, n_cells):
        return mechanism.reach((1 - CONFIDENCE) / (4 * self._n_counts(which)), n_cells)

    def reach(self, which, n_cells, n_together=1):
        """Simultaneous bound, in records, on the excess of all counts and sums that a finding rests on."""
        # Of flags: each, the valid values, and the sum of two. Of parts: each label, or each two neighbours.
        n_bounded = sum(self.n_cells(0)) + len(self.sizes) if which == 0 else self._n_counts(1)
        return self.mechanisms[which].reach((1 - CONFIDENCE) / (2 * n_bounded), n_cells, n_together)

    def usual_reach(self, which, n_cells, n_together=1):
        """Bound, in records, which 95% of the errors of one count, or of one sum of two, do not exceed."""
        return self.mechanisms[which].reach(1 - CONFIDENCE, n_cells, n_together)

    def _n_counts(self, which):
        """Number of counts used; those of the last cells are remainders."""
        return sum(self.n_cells(which)) - len(self.sizes)


def n_within(n_cells, size):
    """The number of integer vectors with sum 0 and at most this size (Conway and Sloane 1997, lattice A_d).

    Parameters
    ----------
    n_cells : int, at least 2
    size : int, at least -1

    Returns
    -------
    int
        ``sum(comb(d, k)**2 comb(size + d - k, d) for k = 0 ... d)``, with d the number of cells less one.
    """
    d = n_cells - 1
    return sum(math.comb(d, k) ** 2 * math.comb(size + d - k, d) for k in range(min(d, size) + 1))


def n_of_signs(n_cells, size):
    """The numbers of these vectors with exactly this size, above 0, by their number of positive cells, from 1 on."""
    return [
        math.comb(n_cells, i) * math.comb(size - 1, i - 1) * math.comb(size + n_cells - i - 1, n_cells - i - 1)
        for i in range(1, n_cells)
    ]


def discrete_moves(n_cells, scale, random_bytes):
    """Noise for the counts of several columns.

    The distribution is a mixture, over a radius r, of uniform distributions on all vectors with sizes up to r.

    Parameters
    ----------
    n_cells : list of int
        Number of cells of each column, at least 2.
    scale : int or Fraction, above 0
    random_bytes : callable
        From :func:`skdpmic.privacy.noise.entropy_source`.

    Returns
    -------
    list of ndarrays of shape (n_cells_j,)
        Python integers.
    """
    radius = _radius(n_cells, scale, random_bytes)
    return [_uniform_within(m, radius, random_bytes) for m in n_cells]


def _radius(n_cells, scale, random_bytes):
    """An integer r >= 0 with ``P(r)`` proportional to ``exp(-r / scale)`` times the number of vectors within r.

    The sum g of D + 1 geometric numbers, D the sum of all d, has P(g) proportional to (g + 1) ... (g + D) exp(-g /
    scale). It is kept with the quotient of the two, which is at most 1: each comb(g + d - k, d) is at most
    comb(g + d, d), and the sum of comb(d, k)**2 is comb(2 d, d).
    """
    degrees = [m - 1 for m in n_cells]
    largest = math.prod(math.comb(2 * d, d) for d in degrees)
    factorials = math.prod(map(math.factorial, degrees))
    while True:
        radius = sum(geometric(scale, sum(degrees) + 1, random_bytes).tolist())
        n_vectors = math.prod(n_within(m, radius) ** count for m, count in Counter(n_cells).items())
        bound = largest * math.perm(radius + sum(degrees), sum(degrees))
        if uniform_below(bound, 1, random_bytes)[0] < n_vectors * factorials:
            return radius


def _uniform_within(n_cells, radius, random_bytes):
    """A uniformly random integer vector with sum 0 and at most this size."""
    place = int(uniform_below(n_within(n_cells, radius), 1, random_bytes)[0])
    size, most = 0, radius
    while size < most:  # the smallest with more vectors; bisect takes no range of such a length
        middle = (size + most) // 2
        size, most = (size, middle) if n_within(n_cells, middle) > place else (middle + 1, most)
    moves = np.zeros(n_cells, dtype=object)
    if size == 0:
        return moves
    ends = list(accumulate(n_of_signs(n_cells, size)))  # a choice by weight
    n_positive = 1 + bisect_right(ends, int(uniform_below(ends[-1], 1, random_bytes)[0]))
    is_positive = np.zeros(n_cells, dtype=bool)
    is_positive[_subset(n_cells, n_positive, random_bytes)] = True
    n_others = n_cells - n_positive
    moves[is_positive] = _parts(size, n_positive, random_bytes)
    # Parts that may be 0 are the positive parts of a larger number, minus one each.
    moves[~is_positive] = [1 - part for part in _parts(size + n_others, n_others, random_bytes)]
    return moves


def _parts(total, n_parts, random_bytes):
    """A uniformly random composition of a number into this many positive parts."""
    cuts = sorted(_subset(total - 1, n_parts - 1, random_bytes))
    ends = [0, *(cut + 1 for cut in cuts), total]
    return [after - before for before, after in pairwise(ends)]


def _subset(n, size, random_bytes):
    """A uniformly random subset of this size of 0 ... n - 1 (Floyd's algorithm)."""
    chosen: set[int] = set()
    for last in range(n - size, n):
        one = int(uniform_below(last + 1, 1, random_bytes)[0])
        chosen.add(last if one in chosen else one)
    return list(chosen)


# --- The distribution of the noise on counts -------------------------------------------------------------------------
#
# The distribution of noise on counts, up to grid steps: of one, or a sum of several (``docs/theory/summary.md``).
#
# Given the size of a column's noise, the sum of its positive parts, these parts are those of a stick broken at
# random; their number is also random.


_N_NODES = 4001


def tail_of_cells(z, n_cells, n_moves, n_together=1):
    """A bound on the probability that the sum of the noise on some cells of a column is above z; exact for one cell.

    Parameters
    ----------
    z : float, above 0
        Noise, in units of the scale.
    n_cells : int, at least 2
        Number of cells of the column.
    n_moves : int
        Number of cells of all columns, minus one for each column.
    n_together : int, default=1
        Number of cells in the sum; the positive parts are summed, which gives an upper bound.

    Returns
    -------
    float
    """
    sizes, density = _law_of_size(z, n_cells, n_moves)
    beyond = np.zeros_like(sizes)
    n_vectors = math.comb(2 * n_cells - 2, n_cells - 1)
    for n_positive in range(1, n_cells):
        of_signs = math.comb(n_cells, n_positive) * math.comb(n_cells - 2, n_positive - 1)
        for among in range(1, min(n_together, n_positive) + 1):
            ways = math.comb(n_together, among) * math.comb(n_cells - n_together, n_positive - among)
            likely = of_signs / n_vectors * ways / math.comb(n_cells, n_positive)
            beyond += likely * _share_above(z / sizes, among, n_positive)
    return float(simpson(beyond * density, x=sizes))


def _law_of_size(z, n_cells, n_moves):
    """Sizes above z of the noise on a column, and their density; there are other columns unless d equals n_moves."""
    d = n_cells - 1
    sizes = np.linspace(z, max(z, n_moves) + 12 * math.sqrt(n_moves + 1) + 40, _N_NODES)
    rest = n_moves + 1 - d
    with np.errstate(divide="ignore"):  # far in the tail
        logs = (d - 1) * np.log(sizes) + np.log(gammaincc(rest, sizes)) + gammaln(rest) - gammaln(n_moves + 1)
    return sizes, d * np.exp(logs)


def _share_above(share, among, n_positive):
    """The probability that the sum of some parts of a broken stick is above a share of it, in (0, 1]."""
    if among == n_positive:
        return np.ones_like(share)
    return betainc(n_positive - among, among, 1 - np.minimum(share, 1.0))


@lru_cache(maxsize=1024)
def reach_of_cells(tail, n_cells, n_moves, n_together=1):
    """The z at which :func:`tail_of_cells` is `tail`, in (0, 1/2)."""
    furthest = n_moves + 12 * math.sqrt(n_moves + 1) + 40 - math.log(tail)
    return brentq(lambda z: tail_of_cells(z, n_cells, n_moves, n_together) - tail, 1e-6, furthest, xtol=1e-9)
