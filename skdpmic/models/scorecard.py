"""A scorecard: an additive model from the table of each column with the target only.

The effects of single columns count what columns have in common more than once. So all are multiplied by one factor,
which is chosen privately by the squared error of the predictions.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import special

from skdpmic.budget.filters import Cost
from skdpmic.models.parts import codes_of, n_parts_of, offsets_of
from skdpmic.models.ridge import Effects
from skdpmic.models.scorecard_noise import OF_FACTOR, STEPS, ScorecardNoise
from skdpmic.models.target_steps import in_steps, sums_in_parts

_SHRUNK = 4.0  # standard deviations of the noise, as the number of records of a typical distribution in each part


@dataclass(frozen=True)
class ScorecardRelease:
    """The table of each column with the target, and one factor."""

    epsilon: float
    delta: float
    n_features: int

    publishes = "tables"
    k = None
    epsilon_of_target = 0
    kind = "scorecard"

    @property
    def cost(self):
        """The charge of the ledger: of one table per column, and of the factor."""
        if self.delta > 0:
            return Cost.concentrated(self.epsilon, self.delta)
        return Cost.of_parts(self.epsilon, (1 - OF_FACTOR) ** 2 / Fraction(self.n_features) + OF_FACTOR**2)

    def noise(self, n_classes, rows_per_group=1):
        """The noise."""
        return ScorecardNoise.for_budget(self.epsilon, self.delta, self.n_features, n_classes, rows_per_group)

    def draw(self, records, noise, n_jobs, random_bytes):
        """The published attributes, and the effects of all parts."""
        columns, n_classes = records.map_features(codes_of, n_jobs), records.n_classes
        sizes = [n_parts_of(domain) for domain in records.domains]
        offsets = offsets_of(sizes)
        if n_classes is None:
            values, n_steps = in_steps(records.target)
            counts = noise.on_counts(sums_in_parts(columns, sizes, np.ones_like(values)), random_bytes)[:, 0]
            sums = noise.on_sums(sums_in_parts(columns, sizes, values), n_steps, random_bytes) / n_steps
            effects = effects_on_numbers(counts, sums, offsets, noise, records.n_samples)
            truth = values / n_steps
        else:
            truth = (np.asarray(records.target.values)[:, None] == np.arange(n_classes)).astype(np.int64)
            sums = noise.on_counts(sums_in_parts(columns, sizes, truth), random_bytes)
            counts = sums.sum(axis=1)
            effects = effects_on_classes(sums, offsets, noise)
        scores = sum(effects.of_parts[first + codes] for first, codes in zip(offsets[:-1], columns, strict=True))
        factors = candidate_factors(len(sizes))
        losses = [losses_in_steps(truth, effects.intercept + t * scores, n_classes is not None) for t in factors]
        factor = factors[noise.choose(np.array(losses), unlikely(factors), random_bytes)]
        published = {
            "kind_": self.kind,
            "noisy_counts_": np.split(counts, offsets[1:-1]),
            "noisy_sums_": sums,
            "factor_": float(factor),
        }
        return published, Effects(effects.intercept, factor * effects.of_parts, factor * effects.deviations)


def candidate_factors(n_columns):
    """Factors from which one is chosen: one over the root of the number of columns, times powers of two, up to 1."""
    usual = 1 / np.sqrt(n_columns)
    return np.array([usual * 2.0**k for k in range(-4, 4) if usual * 2.0**k < 0.75] + [1.0])


def unlikely(factors):
    """How unlikely each factor is before the data, in units of the logarithm of a probability."""
    return np.abs(np.log2(factors / factors[0]) - 4)


def effects_on_numbers(counts, sums, offsets, noise, n_samples):
    """The mean of the target, and how far its mean in each part is from it, shrunk by the noise."""
    n_columns, n_parts = len(offsets) - 1, offsets[-1]
    noise_of_total = noise.sum_scale * np.sqrt(n_parts) / n_columns  # each column has the total
    mean = float(np.clip(sums.sum() / n_columns / (n_samples + 2 * noise_of_total), -0.5, 0.5))
    sizes = np.maximum(counts, 0.0) + 1 + _SHRUNK * noise.noise_scale
    of_parts = (sums[:, 0] - mean * counts) / sizes
    deviations = np.hypot(noise.sum_scale, mean * noise.noise_scale) / sizes
    return Effects(np.array([mean]), np.clip(of_parts, -1.0, 1.0)[:, None], deviations[:, None])


def effects_on_classes(counts, offsets, noise):
    """Logarithms of the shares of all classes, and of their relative shares in each part, shrunk by the noise."""
    totals = np.maximum(np.add.reduceat(counts, offsets[:-1], axis=0).mean(axis=0), 0.0) + 1 + 2 * noise.noise_scale
    shares = totals / totals.sum()
    sizes = np.maximum(counts, 0.0) + (1 + _SHRUNK * noise.noise_scale) * shares
    ratios = np.log(sizes / sizes.sum(axis=1, keepdims=True) / shares)
    return Effects(np.log(shares), ratios - ratios.mean(axis=1, keepdims=True), noise.noise_scale / sizes)


def losses_in_steps(truth, scores, are_classes):
    """The sum of the squared errors of predictions, each in [0, 1] and rounded by itself, in steps.

    Parameters
    ----------
    truth : ndarray of shape (n_samples, n_targets)
        Numbers in [-1/2, 1/2], or indicators of classes.
    scores : ndarray of shape (n_samples, n_targets)
        Predictions of numbers, or logarithms of unnormalised probabilities.
    are_classes : bool

    Returns
    -------
    int
    """
    if are_classes:
        errors = ((special.softmax(scores, axis=1) - truth) ** 2).sum(axis=1) / 2
    else:
        errors = 4 * ((np.clip(scores, -0.5, 0.5) - truth) ** 2).sum(axis=1)  # half a range counts fully
    return int(np.rint(np.clip(errors, 0.0, 1.0) * STEPS).astype(np.int64).sum())
