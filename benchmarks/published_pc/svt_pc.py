"""The sparse vector of SVT-PC as published: NOT private at the epsilon it reports (``docs/theory/corrections.md``).

1. After an answer, the threshold is drawn anew with a *normal* variable. The proof of the sparse vector technique
   moves the threshold by the sensitivity, at a cost of epsilon / 2 if it is a Laplace variable; for a normal one that
   cost has no bound, and grows with the number of queries that stay below.
2. to 4. The sensitivity, the data-decided count and the sieve that is not counted, as in `sieve_and_examine`.

The rival of Priv-PC in the authors' comparison, from their program: level 0.1, delta 1e-3, all queries on all records.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from benchmarks.published_pc.loop import ALPHA, DELTA, advanced_composition
from benchmarks.published_pc.statistics import Records, assumed_sensitivity, kendall_p_value


def scales(epsilon, sensitivity):
    """Of the threshold's noise, of either kind, and of the queries'."""
    of_threshold = 2 * sensitivity / epsilon
    return of_threshold, 4 * of_threshold


@dataclass
class SparseVector:
    """Answers whether a p-value is at least alpha, with one threshold up to each answer that says so."""

    records: Records
    epsilon: float
    rng: np.random.Generator
    alpha: float = ALPHA
    p_value: object = kendall_p_value
    n_answers: int = field(default=0, init=False)

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
