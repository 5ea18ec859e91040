"""The sparse vector of SVT-PC as published: NOT private at the epsilon it reports (``docs/theory/corrections.md``).

1. After an answer, the threshold is redrawn with *normal* noise. The proof of the sparse vector technique shifts the
   threshold by the sensitivity, which costs epsilon / 2 if its noise is Laplace; with normal noise, the cost has no
   bound, and grows with the number of queries that stay below.
2. to 4. The sensitivity, the data-dependent count and the uncounted sieve, as in `sieve_and_examine`.

It is Priv-PC's rival in its authors' comparison, and follows their program: level 0.1, delta 1e-3, all queries on all
records.
"""

import math
from dataclasses import dataclass

from benchmarks.published_pc.loop import DELTA, NoisyTest, advanced_composition
from benchmarks.published_pc.statistics import assumed_sensitivity


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
