"""Priv-PC as published: NOT differentially private at the epsilon it reports (``docs/theory/corrections.md``).

1. The noise is scaled to a sensitivity that the p-value does not have: see `statistics`.
2. The total is computed afterwards by advanced composition from the number of answers above the threshold. That number
   depends on the data, so the theorem does not apply; a privacy filter, whose limit is fixed beforehand, would.
3. The last sieve, which ends without an answer, is not counted: if nothing is found independent, the total is 0.

Algorithms 1 and 2 of Wang, Pang and Song, "Towards practical differentially private causal graph discovery" (NeurIPS
2020), with the constants of the authors' program: level 0.1, threshold of the sieve 0.02 lower, delta 1e-3. The sieve
is the sparse vector technique on a subsample, with the noise reduced by the gain from subsampling; what passes is
examined on all records by a Laplace mechanism. Noise is drawn in floating point.
"""

import math
from dataclasses import dataclass

from benchmarks.published_pc.loop import ALPHA, DELTA, NoisyTest, advanced_composition, graph_by
from benchmarks.published_pc.statistics import assumed_sensitivity

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


def priv_pc(records, epsilon, rng, alpha=ALPHA):
    """Algorithm 2.

    Parameters
    ----------
    records : Records
    epsilon : float
        Of one step; the total is larger.
    rng : Generator
    alpha : float
        Level of the one-sided p-values.

    Returns
    -------
    Published
    """
    return graph_by(SieveAndExamine(records, epsilon, rng, alpha))
