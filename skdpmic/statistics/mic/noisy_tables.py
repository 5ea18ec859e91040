"""Noise on a table of counts, from which all grids are computed (the valid MICr-Geom; ``docs/theory/geometric.md``).

The feature and the target are each cut into equal parts, the records are counted once, and noise is added once. The
noisy table is private, so everything computed from it has no further cost.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skdpmic._utils.arguments import one_of
from skdpmic._utils.jit import jit, leaf
from skdpmic.privacy.composition import exact
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.privacy.noise import discrete_laplace, with_noise
from skdpmic.statistics.grids import equal_parts
from skdpmic.statistics.mic.mic_r import ClassTargetScorer, NumericTargetScorer
from skdpmic.statistics.mic.optimize_axis import entropy_table, grids_of, largest_entry, one_table
from skdpmic.table.domains import Nominal

# --- Counts: raw data, not private ----------------------------------------------------------------------------


def check_have_ranges(domains):
    """Raise unless all features are numeric: the parts of a table are equal parts of a range."""
    if any(isinstance(domain, Nominal) for domain in domains):
        raise ValueError(f"mechanism must be {one_of(MECHANISMS)} with categories, got 'geometric'.")


class TableGrids:
    """Mergeable tables, one per feature; methods as in `ContinuousGrids`.

    Parameters
    ----------
    target_bounds : pair of floats, or None for a discrete target
    n_classes : int, or None for a continuous target
    n_parts : int
        Parts of each feature, and of a continuous target.
    """

    def __init__(self, target_bounds, n_classes, n_parts):
        self._target_bounds = target_bounds
        self.shape = (n_parts, n_classes or n_parts)

    def n_tables(self, domain):
        """Number of times each record is counted in the counts of a feature."""
        return 1

    def place(self, y):
        """The part of each value of the target; or its class number.

        A missing value, NaN, is in the first part: a noisy separate bin would reduce the precision for all columns.
        """
        return y if self._target_bounds is None else equal_parts(y, self._target_bounds, self.shape[1])

    def count(self, x, bounds, target_parts):
        """Number of records in each part of the feature `x` and of the target: a flat uint32 array, of `shape`."""
        check_have_ranges([bounds])
        cells = equal_parts(x, bounds, self.shape[0]) * np.int64(self.shape[1]) + target_parts
        return np.bincount(cells, minlength=math.prod(self.shape)).astype(np.uint32)


# --- Noise ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GeometricMechanism:
    """Truncated geometric noise on the tables of several features, with total budget epsilon.

    Parameters
    ----------
    scale : int or Fraction
        Scale of the noise in records; 0 for none.
    """

    scale: int | Fraction

    name = "geometric"

    @classmethod
    def for_budget(cls, epsilon, n_tables, rows_per_group=1):
        """The mechanism that spends epsilon / n_tables on each table.

        Replacing a person removes all records of that person from a table, and adds the same number.
        """
        return cls(0 if epsilon == math.inf else 2 * rows_per_group * n_tables / exact(epsilon))

    @property
    def noise_scale(self):
        """Scale of the noise on each count, in records."""
        return float(self.scale)

    def half_width(self, confidence):
        """NaN: the error distribution of a score computed from noisy counts is not known."""
        return math.nan

    def release(self, counts, n, random_bytes):
        """Noisy `counts` of any shape, truncated to [0, n]: an int64 array."""
        counts = np.asarray(counts, dtype=np.int64)
        return np.clip(with_noise(discrete_laplace, self.scale, counts, random_bytes), 0, n)


# --- Scores: from the noisy table and public numbers ----------------------------------------------------------

_ROUND_DRAWS = 2
_CHANCE_DRAWS = 3
_CHANCE_C = 5.0
_CHANCE_SAMPLES = 10_000  # beyond it, the bias falls as 1 / n


class TableScorer:
    """Estimates MICr from noisy tables.

    Parameters
    ----------
    n : int
        Number of records.
    scale : int or Fraction
        Scale of the noise on each count; 0 for none.
    B : float, at least 4
        Maximum grid size of the estimated MICr.
    is_discrete : bool
        Whether the columns of the tables are classes.
    """

    def __init__(self, n, scale, B, is_discrete):
        self._n = n
        self._scale = float(scale)
        self._B = B
        self._is_discrete = is_discrete

    def score(self, noisy):
        """The estimate, in [0, 1], from the noisy table of one feature, of shape (n_parts, n_target_parts).

        The largest entry of the table of expected counts is too low if noise has blurred the counts, and MICr of n
        records is above the truth, because among many grids some fit by chance. Both effects are estimated by
        simulation: of drawing records from the table, adding noise and estimating again; and of MICr of independent
        variables with the same margins. Independence is mapped to its chance level, full dependence to 1.
        """
        table = expected_counts(noisy, self._n, self._scale)
        largest = self._largest(table)
        by_chance, seen_by_chance = self._by_chance(table)
        as_it_is = (largest - seen_by_chance) / max(1 - seen_by_chance, 1e-9)
        restored = 2 * largest - self._after_another_round(table)
        # For weak dependence, another round adds bias rather than removing dependence: there is nothing to restore.
        dependence = max(as_it_is, restored)
        return float(np.clip(by_chance + (1 - by_chance) * dependence, 0, 1))

    def _largest(self, table):
        return mic_of_class_table(table, self._B) if self._is_discrete else mic_of_table(table, self._B)

    def _after_another_round(self, table):
        """Mean of the largest entry if `table` were true, with records, noise and expected counts drawn from it."""
        random = _simulation()
        largest = []
        for _ in range(_ROUND_DRAWS):
            counts = random.multinomial(self._n, table.ravel() / table.sum()).reshape(table.shape)
            noise = [np.floor(random.exponential(self._scale, table.shape)) for _ in range(2)]
            noisy = np.clip(counts + noise[0] - noise[1], 0, self._n)
            largest.append(self._largest(expected_counts(noisy, self._n, self._scale)))
        return np.mean(largest)

    def _by_chance(self, table):
        """Mean MICr of independent variables with the margins of `table`, and the part of it that the table shows."""
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        n = min(self._n, _CHANCE_SAMPLES)
        random = _simulation()
        scores, shown = [], []
        for _ in range(_CHANCE_DRAWS):
            x = np.repeat(np.arange(len(rows)), random.multinomial(n, rows / rows.sum()))
            y = random.permutation(np.repeat(np.arange(len(columns)), random.multinomial(n, columns / columns.sum())))
            scores.append(self._mic_r(x + random.random_sample(n), y, random, table.shape))
            counts = np.bincount(x * len(columns) + y, minlength=table.size).reshape(table.shape)
            shown.append(self._largest(counts))
        # Noise hides the excess in the counts that it changes; a share P(noise = 0) of them is unchanged.
        unmoved = 1.0 if self._scale == 0 else math.tanh(0.5 / self._scale)
        return np.mean(scores) * n / self._n, np.mean(shown) * n / self._n * unmoved

    def _mic_r(self, x, y, random, shape):
        bounds = (0, shape[0])
        if self._is_discrete:
            return ClassTargetScorer(y, shape[1], self._B, _CHANCE_C).score(x, bounds)
        y = y + random.random_sample(len(y))
        return NumericTargetScorer(y, (0, shape[1]), self._B, _CHANCE_C).score(x, bounds)


def _simulation():
    """Fixed random numbers for simulations, so that an estimate is a function of the noisy table.

    Privacy does not depend on them, so they need not be exact or secret.
    """
    return np.random.RandomState(0)


# --- The largest entry of the characteristic matrix of a table of weights instead of records --------------------------


_TOTAL = 2**16  # weights are converted to integers with this total, for OptimizeAxis


def mic_of_table(weights, B):
    """Largest I / log2 min(k, l) over the grids coarser than a table, with one side merged freely, the other evenly.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        Nonnegative, with a sum above 0. Only their proportions matter.
    B : float, at least 4
        Maximum grid size: k * l <= B.

    Returns
    -------
    float
        In [0, 1].
    """
    counts = _as_counts(weights)
    return max(_largest_entry(counts, _even_grids(counts, B)), _largest_entry(counts.T, _even_grids(counts.T, B)))


def mic_of_class_table(weights, B):
    """MIC of a table against classes, which are its columns and are not merged: only rows are merged.

    For three classes, also each against the other two, as in :func:`skdpmic.statistics.mic.mic_r.class_grids`.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_classes)
    B : float, at least 4

    Returns
    -------
    float
        In [0, 1].
    """
    counts = _as_counts(weights)
    tables = [counts]
    if counts.shape[1] == 3:
        tables.extend(np.c_[counts[:, j], np.delete(counts, j, axis=1).sum(axis=1)] for j in range(3))
    k_max = max(int(B // counts.shape[1]), 2)
    return max(_largest_entry(table, [(table.shape[1], k_max)]) for table in tables)


def _as_counts(weights):
    return np.rint(weights * (_TOTAL / weights.sum())).astype(np.int64)


def _even_grids(counts, B):
    """For each grid, the number of parts into which columns are joined, and the maximum into which rows are merged."""
    return [(n_fixed, min(n_fixed, int(B // n_fixed))) for n_fixed in range(2, min(counts.shape[1], int(B // 2)) + 1)]


def _largest_entry(counts, sizes):
    """The largest entry with the columns joined into `n_fixed` parts, as even as possible."""
    if not sizes:
        return 0.0
    n_rows, n_columns = counts.shape
    n_fixed = np.array([n_fixed for n_fixed, _ in sizes])
    grids = grids_of(np.array([(n_fixed, n_rows, k_max) for n_fixed, k_max in sizes]), borders=np.arange(len(sizes)))
    below = np.zeros((n_rows + 1, n_columns + 1), dtype=np.uint32)
    below[1:, 1:] = counts.cumsum(axis=0).cumsum(axis=1)
    tables = one_table(below, np.arange(n_columns + 1) * n_columns // n_fixed[:, np.newaxis])
    table = entropy_table(_TOTAL + counts.size)
    return min(largest_entry([(tables, grids.rows)], grids.most, table, int(below[-1, -1])), 1.0)


_SHAPES = 2.0 ** np.arange(-4, 2)  # equally likely a priori
_ROUNDS = 2
_BLOCKS = 48
_REACH = 8  # noise beyond this many scales has probability exp(-8)


def expected_counts(noisy, n, scale):
    """Posterior mean of the counts given the noisy table.

    Parameters
    ----------
    noisy : ndarray of shape (n_rows, n_columns)
        Counts with truncated geometric noise.
    n : int
        Number of records.
    scale : float
        Scale of the noise; 0 for none.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Nonnegative, with sum n.
    """
    noisy = np.asarray(noisy, dtype=np.float64)
    if scale == 0:
        return noisy
    means = noisy
    for _ in range(_ROUNDS):
        means = _with_sum(n, means)
        independent = np.outer(means.sum(axis=1), means.sum(axis=0)) / n
        means_of_shape, evidence = _posteriors(noisy, independent, float(n), float(scale), _SHAPES)
        weight = np.exp(evidence - evidence.max())
        means = np.tensordot(weight / weight.sum(), means_of_shape, axes=1)
    return _with_sum(n, means)


def _with_sum(n, means):
    means = means + 1e-6  # so that no row is certainly empty
    return means * (n / means.sum())


def _posteriors(noisy, independent, n, scale, shapes):
    """Posterior mean of each count, and the log-likelihood of the table up to a constant, for every shape.

    Returns
    -------
    means : ndarray of shape (n_shapes, n_rows, n_columns)
    evidence : ndarray of shape (n_shapes,)
    """
    means, evidence = np.empty((len(shapes), *noisy.shape)), np.zeros(len(shapes))
    # Consecutive equal noisy counts share the terms without m.
    order, room = np.argsort(noisy, axis=None, kind="stable"), np.empty((3, _BLOCKS))
    _fill_posteriors(
        noisy.ravel(), order, independent.ravel(), n, scale, shapes, room, means.reshape(len(shapes), -1), evidence
    )
    return means, evidence


@jit
def _fill_posteriors(values, order, m_of_cell, n, scale, shapes, room, means, evidence):
    """Fill in `means`, and add to `evidence`; `room` is a workspace."""
    for s in range(len(shapes)):
        a = shapes[s]
        value = np.nan
        n_blocks = 0
        for cell in order:
            if values[cell] != value:
                value = values[cell]
                n_blocks = _fill_blocks(room, value, n, scale, a)
            m = m_of_cell[cell]
            log_odds = math.log(m / (a + m))
            largest = -np.inf
            for b in range(n_blocks):
                room[2, b] = room[1, b] + room[0, b] * log_odds
                if room[2, b] > largest:
                    largest = room[2, b]
            total, first_moment = 0.0, 0.0
            for b in range(n_blocks):
                term = math.exp(room[2, b] - largest)
                total += term
                first_moment += term * room[0, b]
            means[s, cell] = first_moment / total
            evidence[s] += largest + math.log(total) + a * math.log(a / (a + m))


@leaf
def _fill_blocks(room, noisy, n, scale, a):
    """The possible counts, in at most _BLOCKS runs of integers: the middle of each, and the terms without m.

    Runs are single integers if there are few enough. If 0 is possible, runs are shorter near it, because counts are
    small there. The middles go into ``room[0]``. Log of the run's length, times the noise's probability, times
    Gamma(count + a) / (Gamma(a) count!), goes into ``room[1]``.
    """
    lowest = max(0.0, np.ceil(noisy - _REACH * scale))
    n_counts = min(n, np.floor(noisy + _REACH * scale)) - lowest + 1
    n_blocks = int(min(n_counts, _BLOCKS))
    start = 0.0
    for b in range(n_blocks):
        share = (b + 1) / n_blocks
        if lowest == 0:
            share *= share
        end = max(start + 1, np.rint(n_counts * share) if n_counts > _BLOCKS else start + 1)
        count = lowest + (start + end - 1) / 2
        room[0, b] = count
        term = math.log(end - start) - abs(noisy - count) / scale
        room[1, b] = term + (math.lgamma(count + a) - math.lgamma(a) - math.lgamma(count + 1))
        start = end
    return n_blocks
