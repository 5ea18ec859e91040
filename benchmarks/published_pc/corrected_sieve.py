"""Sieve-and-examine as it may be done: (epsilon, delta)-differentially private, but for noise in floating point.

What is other than in `sieve_and_examine`:

1. The statistic is |T|, T = (1/n) sum over strata of (n_z - 1) tau_z, with all strata: one record moves it by less than
   6/n, however many there are (``docs/theory/conditional_ranks.md``). There is no p-value; the threshold is three
   standard errors of T for independent columns without ties.
2. The number of steps, as many as there are pairs of columns, is fixed beforehand, and each is paid for whether or not
   it ends with an answer. Once they are used up, nothing more is looked at, and the edges left stay.

A step is a sieve and an examination, each epsilon'-differentially private, hence epsilon'^2 / 2-zCDP.
"""

import math

from benchmarks.published_pc.loop import graph_by
from benchmarks.published_pc.statistics import concordance
from skdpmic.privacy.composition import rho_for


def conditional_kendall(records, i, j, given):
    """T of columns i and j given others."""
    tables = records.table(i, j, given).astype(float)
    return (2 * concordance(tables) / tables.sum(axis=(1, 2))).sum() / records.n


class CorrectedSieve:
    """Answers whether |T| is below the threshold, for a total of (epsilon, delta).

    Parameters
    ----------
    records : Records
    epsilon, delta : float
    rng : Generator
    n_steps : int
    """

    def __init__(self, records, epsilon, delta, rng, n_steps):
        self.records, self._rng, self._epsilon, self._n_left = records, rng, epsilon, n_steps
        of_half_a_step = math.sqrt(rho_for(epsilon, delta) / n_steps)
        self._scale = 6 / records.n / of_half_a_step
        self.n_answers = 0
        self._new_sieve()

    def is_independent(self, i, j, given):
        """The noisy answer to one query."""
        if self._n_left == 0:
            return False
        distance = abs(self.records.known(conditional_kendall, i, j, given))
        if distance + self._rng.laplace(0, 4 * self._scale) > self._threshold:
            return False
        self.n_answers += 1
        self._n_left -= 1
        self._new_sieve()
        return distance + self._rng.laplace(0, self._scale) <= self._middle

    @property
    def _middle(self):
        return 2 / math.sqrt(self.records.n)

    def claimed_epsilon(self):
        """What all steps cost, used or not."""
        return self._epsilon

    def _new_sieve(self):
        self._threshold = self._middle + self._rng.laplace(0, 2 * self._scale)


def corrected_sieve(records, epsilon, rng, delta=1e-6):
    """The graph, for a total of (epsilon, delta)."""
    n_pairs = records.n_columns * (records.n_columns - 1) // 2
    return graph_by(CorrectedSieve(records, epsilon, delta, rng, n_pairs))
