"""The noisy tests of Priv-PC and SVT-PC as published: NOT private at the epsilon they report.

Wang, Pang and Song, "Towards practical differentially private causal graph discovery" (NeurIPS 2020), algorithm 1, with
the constants of the authors' program: level 0.1, threshold of the sieve 0.02 lower, delta 1e-3. Noise is drawn in
floating point. Commit 64ec2246 has the whole algorithms. ``docs/theory/corrections.md`` and the tests have the
counterexamples:

1. One record can move the conditional statistics from end to end. Strata in which a column is constant are left out,
   with their weight; a single record that breaks the constancy brings the whole stratum into the denominator, so no
   sensitivity of order 1/sqrt(n) holds. Even without this flaw, 6/sqrt(n), from which the noise is computed, is not a
   bound.
2. The total is computed afterwards by advanced composition from the number of answers above the threshold. That number
   depends on the data, so the theorem does not apply; a privacy filter, whose limit is fixed beforehand, would.
3. The last sieve, which ends without an answer, is not counted: if nothing is found independent, the total is 0.
4. SVT-PC redraws its threshold with *normal* noise. The proof of the sparse vector technique shifts the threshold by
   the sensitivity, which costs epsilon / 2 if its noise is Laplace; with normal noise, the cost has no bound, and grows
   with the number of queries that stay below.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.stats import norm

ALPHA, DELTA = 0.1, 1e-3  # in all experiments


# --- The test statistics: Definition 6 of the supplement, from cell counts ----------------------------------------


class Records:
    """A table of codes, stored as its distinct rows and their counts.

    Parameters
    ----------
    rows : int64 ndarray of shape (n_rows, n_columns)
    counts : int64 ndarray of shape (n_rows,)
    sizes : sequence of int
        Number of labels of each column.
    """

    def __init__(self, rows, counts, sizes):
        self.rows, self.counts, self.sizes = rows, counts, tuple(sizes)
        self._known = {}

    @cached_property
    def n(self):
        return int(self.counts.sum())

    @property
    def n_columns(self):
        return len(self.sizes)

    def subsample(self, share, rng):
        """This share of the records, drawn without replacement."""
        counts = rng.multivariate_hypergeometric(self.counts, int(self.n * share), method="marginals")
        return Records(self.rows[counts > 0], counts[counts > 0], self.sizes)

    def known(self, statistic, i, j, given):
        """A statistic of columns i and j given others, symmetric in i and j, computed once."""
        key = statistic, min(i, j), max(i, j), given
        if key not in self._known:
            self._known[key] = statistic(self, *key[1:])
        return self._known[key]

    def table(self, i, j, given):
        """Counts of columns i and j in each non-empty stratum of the others: shape (n_strata, size_i, size_j)."""
        stratum = np.zeros(len(self.rows), dtype=np.int64)
        for k in given:
            stratum = stratum * self.sizes[k] + self.rows[:, k]
        n_strata = math.prod(self.sizes[k] for k in given)
        if n_strata > len(self.rows):
            kept, stratum = np.unique(stratum, return_inverse=True)
            n_strata = len(kept)
        shape = n_strata, self.sizes[i], self.sizes[j]
        cells = (stratum * shape[1] + self.rows[:, i]) * shape[2] + self.rows[:, j]
        counts = np.bincount(cells, self.counts, math.prod(shape)).reshape(shape)
        return counts[counts.any(axis=(1, 2))]


def kendall_z(tables):
    """Definition 6 as implemented: z over the strata with more than two records and no constant column."""
    tables, n = _varying_strata(tables)
    tau = _concordance(tables) / (n * (n - 1) / 2)
    return _combined(tau, 9 * n * (n - 1) / (4 * n + 10))


def one_sided_p_value(z):
    """In [0, 1/2]; NaN if no stratum is left."""
    return math.erfc(abs(z) / math.sqrt(2)) / 2


def kendall_p_value(records, i, j, given):
    """p-value of columns i and j given others."""
    return one_sided_p_value(kendall_z(records.table(i, j, given)))


def assumed_sensitivity(n):
    """Sensitivity of a p-value, assuming that z had one of 6/sqrt(n)."""
    return norm.cdf(6 / math.sqrt(n)) - 0.5


def g_statistic(tables):
    """2 sum n log(n n_stratum / (n_row n_column))."""
    x, y = tables.sum(axis=2, keepdims=True), tables.sum(axis=1, keepdims=True)
    expected = x * y / tables.sum(axis=(1, 2), keepdims=True)
    ratio = np.divide(tables, expected, out=np.ones_like(expected), where=tables > 0)
    return 2 * np.sum(tables * np.log(ratio))


def _varying_strata(tables):
    several = [(tables.sum(axis=axis) > 0).sum(axis=1) > 1 for axis in (2, 1)]
    kept = tables[several[0] & several[1] & (tables.sum(axis=(1, 2)) > 2)].astype(float)
    return kept, kept.sum(axis=(1, 2))


def _concordance(tables):
    """Concordant minus discordant pairs in each stratum."""
    before = np.zeros_like(tables)  # records above (by the first column): those to the left minus those to the right
    above = tables.cumsum(axis=1)[:, :-1]
    left = above.cumsum(axis=2)
    before[:, 1:] = 2 * left - above - left[:, :, -1:]
    return (tables * before).sum(axis=(1, 2))


def _combined(values, weights):
    return (weights * values).sum() / math.sqrt(weights.sum()) if len(values) else math.nan


# --- The noisy tests ------------------------------------------------------------------------------------------


def advanced_composition(epsilon, count, log_term):
    """Total of `count` steps of `epsilon` each, which holds only for a count fixed beforehand, unlike this one."""
    return math.sqrt(2 * count * log_term) * epsilon + count * epsilon * math.expm1(epsilon)


@dataclass
class NoisyTest:
    """What the noisy tests of independence have in common; subclasses answer with `is_independent`."""

    records: Records
    epsilon: float
    rng: np.random.Generator
    alpha: float = ALPHA
    p_value: object = kendall_p_value
    n_answers: int = field(default=0, init=False)


LOWER = 0.02  # the sieve's threshold is below the examination's by this much


@dataclass(frozen=True)
class Scales:
    """The share of records that a sieve sees, and the scales of all noise, for a step of `epsilon`."""

    share: float
    threshold: float
    sieve: float
    examination: float

    @classmethod
    def of(cls, epsilon, n):
        half, sensitivity = epsilon / 2, assumed_sensitivity(n)
        share = min(max(math.expm1(half) / 3.9215, 1 / 20), 1)  # where sqrt(x) / log(1 + x (e^half - 1)) is least
        epsilon_on_sample = math.log1p(math.expm1(half) / share)
        threshold = 2 * sensitivity / math.sqrt(share) / epsilon_on_sample
        return cls(share, threshold, 2 * threshold, sensitivity / half)


@dataclass
class SieveAndExamine(NoisyTest):
    """Algorithm 1: answers whether a p-value is at least alpha; a step ends with each that passes the sieve."""

    def __post_init__(self):
        self.scales = Scales.of(self.epsilon, self.records.n)
        self._new_sieve()

    def is_independent(self, i, j, given):
        """The noisy answer to one query."""
        of_sample = self._sample.known(self.p_value, i, j, given)
        if not of_sample + self.rng.laplace(0, self.scales.sieve) >= self._threshold:  # NaN: no
            return False
        self.n_answers += 1
        self._new_sieve()
        of_all = self.records.known(self.p_value, i, j, given)
        return of_all + self.rng.laplace(0, self.scales.examination) >= self.alpha

    def claimed_epsilon(self, delta=DELTA):
        """Total reported at the end."""
        return 2 * advanced_composition(self.epsilon / 2, self.n_answers, math.log(2 / delta))

    def _new_sieve(self):
        self._threshold = self.alpha - LOWER + self.rng.laplace(0, self.scales.threshold)
        self._sample = self.records.subsample(self.scales.share, self.rng)


def scales(epsilon, sensitivity):
    """Scales of the threshold's noise, Laplace or normal, and of the queries' noise."""
    of_threshold = 2 * sensitivity / epsilon
    return of_threshold, 4 * of_threshold


@dataclass
class SparseVector(NoisyTest):
    """Answers whether a p-value is at least alpha, with a new threshold after each answer that it is."""

    def __post_init__(self):
        self._of_threshold, self._of_query = scales(self.epsilon, assumed_sensitivity(self.records.n))
        self._threshold = self.alpha + self.rng.laplace(0, self._of_threshold)

    def is_independent(self, i, j, given):
        """The noisy answer to one query."""
        p_value = self.records.known(self.p_value, i, j, given)
        if not p_value + self.rng.laplace(0, self._of_query) >= self._threshold:  # NaN: no
            return False
        self.n_answers += 1
        self._threshold = self.alpha + self.rng.normal(0, self._of_threshold)
        return True

    def claimed_epsilon(self, delta=DELTA):
        """Total reported at the end."""
        return advanced_composition(self.epsilon, self.n_answers, math.log(1 / delta))
