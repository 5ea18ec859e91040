"""A scorecard: an additive model from the table of each column with the target only.

Effects of single columns count shared information more than once. So all are multiplied by one factor, chosen privately
by the squared error of the predictions.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from skdpmic.budget.filters import Cost
from skdpmic.models.parts import codes_of, n_parts_of, offsets_of
from skdpmic.models.ridge import Effects
from skdpmic.models.scorecard_noise import FACTOR_SHARE, STEPS, TOTAL_SHARE, ScorecardNoise, share_of_tables
from skdpmic.models.target_steps import in_steps, sums_in_parts
from skdpmic.models.target_window import MEAN_SHARE, squares_of_window

_PSEUDO_RECORDS = 4.0  # pseudo-records with the overall distribution in each part, in standard deviations of the noise
_CAUTION = 4.0  # halves the usual factor for numbers, whose bad predictions may be worse than none


@dataclass(frozen=True)
class ScorecardRelease:
    """The table of each column with the target, and one factor; for numbers, also their total."""

    epsilon: float
    delta: float
    n_features: int
    of_numbers: bool
    is_bent: bool = False  # the axis of the target

    publishes = "tables"
    k = None
    epsilon_of_target = 0
    kind = "scorecard"

    @property
    def cost(self):
        """The charge of the ledger: for one table per column and the factor; for numbers, also for window and total."""
        if self.delta > 0:
            return Cost.concentrated(self.epsilon, self.delta)
        squares = share_of_tables(self.of_numbers, self.is_bent) ** 2 / self.n_features + FACTOR_SHARE**2
        squares += squares_of_window() + TOTAL_SHARE**2 if self.of_numbers else 0
        return Cost.of_parts(self.epsilon, squares + (MEAN_SHARE**2 if self.is_bent else 0))

    def noise(self, n_classes, rows_per_group=1):
        """The noise."""
        columns = self.n_features, n_classes, rows_per_group, self.is_bent
        return ScorecardNoise.for_budget(self.epsilon, self.delta, *columns)

    def draw(self, records, noise, n_jobs, random_bytes):
        """The published attributes, and the effects of all parts."""
        columns, n_classes = records.map_features(codes_of, n_jobs), records.n_classes
        sizes = [n_parts_of(domain) for domain in records.domains]
        offsets = offsets_of(sizes)
        if n_classes is None:
            values, n_steps = in_steps(records.target)
            counts = noise.on_counts(sums_in_parts(columns, sizes, np.ones_like(values)), random_bytes)[:, 0]
            sums = noise.on_sums(sums_in_parts(columns, sizes, values), n_steps, random_bytes) / n_steps
            total = noise.on_total(int(values.sum()), n_steps, random_bytes) / n_steps
            effects = effects_on_numbers(counts, sums, total[0], offsets, noise, records.n_samples)
            truth, n_telling = values / n_steps, _CAUTION * effective_n_columns(effects, counts, offsets)
        else:
            truth = (np.asarray(records.target.values)[:, None] == np.arange(n_classes)).astype(np.int64)
            sums = noise.on_counts(sums_in_parts(columns, sizes, truth), random_bytes)
            counts = sums.sum(axis=1)
            effects, n_telling, total = effects_on_classes(sums, offsets, noise), len(sizes), None
        scores = sum(effects.of_parts[first + codes] for first, codes in zip(offsets[:-1], columns, strict=True))
        factors = candidate_factors(n_telling)
        losses = [losses_in_steps(truth, effects.intercept + t * scores, n_classes is not None) for t in factors]
        factor = factors[noise.choose(np.array(losses), minus_log_prior(factors), random_bytes)]
        published = {
            "kind_": self.kind,
            "noisy_counts_": np.split(counts, offsets[1:-1]),
            "noisy_sums_": sums,
            "factor_": float(factor),
        }
        published |= {} if total is None else {"noisy_total_": float(total[0])}
        return published, Effects(effects.intercept, factor * effects.of_parts, factor * effects.deviations)


def candidate_factors(n_columns):
    """Factors to choose from: one over the root of a number of columns, times powers of two, up to 1."""
    usual = 1 / np.sqrt(n_columns)
    return np.array([usual * 2.0**k for k in range(-4, 4) if usual * 2.0**k < 0.75] + [1.0])


def minus_log_prior(factors):
    """Minus the logarithm of the prior probability of each factor, up to a constant."""
    return np.abs(np.log2(factors / factors[0]) - 4)


def effects_on_numbers(counts, sums, total, offsets, noise, n_samples):
    """The mean of the target, and the difference of its mean in each part.

    Effects are shrunk by the noise, and those of each column by the share of their spread that noise would give.
    """
    mean = float(np.clip(total_by_all(sums, total, offsets, noise) / n_samples, -0.5, 0.5))
    sizes = np.maximum(counts, 0.0) + 1 + _PSEUDO_RECORDS * noise.noise_scale
    of_parts = (sums[:, 0] - mean * counts) / sizes
    deviations = np.hypot(noise.sum_scale, mean * noise.noise_scale) / sizes
    spread, of_noise = (spread_in_columns(effects, counts, offsets) for effects in (of_parts, deviations))
    share = np.divide(of_noise, spread, out=np.ones_like(spread), where=spread > of_noise)
    kept = np.repeat(1 - share, np.diff(offsets))
    noisy = deviations_if_shrunk(of_parts, deviations, counts, kept, np.maximum(spread, of_noise), of_noise, offsets)
    return Effects(np.array([mean]), np.clip(kept * of_parts, -1.0, 1.0)[:, None], noisy[:, None])


def deviations_if_shrunk(effects, deviations, counts, kept, spread, of_noise, offsets):
    """Standard deviations of effects that are multiplied by the share of their spread that is kept, to first order.

    That share varies with the effects, so that those of a column that is not kept at all are not certain to be 0.
    """
    weights, widths = np.maximum(counts, 0.0), np.diff(offsets)
    of_spread = 4 * np.add.reduceat((weights * effects * deviations) ** 2, offsets[:-1])
    of_share = np.divide(of_noise, spread**2, out=np.zeros_like(spread), where=spread > 0)
    slope = effects * np.repeat(of_share, widths)
    own = kept * deviations**2 * (kept + 4 * slope * weights * effects)
    return np.sqrt(own + slope**2 * np.repeat(of_spread, widths))


def total_by_all(sums, total, offsets, noise):
    """The total of the target: a mean of the noisy total and the sum over all parts, weighted by their noise."""
    n_columns, n_parts = len(offsets) - 1, offsets[-1]
    of_tables = noise.sum_scale**2 * n_parts / n_columns**2
    weight = of_tables / (of_tables + noise.total_deviation**2) if of_tables > 0 else 1.0
    return weight * total + (1 - weight) * sums.sum() / n_columns


def spread_in_columns(effects, counts, offsets):
    """The sum of the squared effects of each column over its records, by noisy counts."""
    return np.add.reduceat(np.maximum(counts, 0.0) * effects**2, offsets[:-1])


def effective_n_columns(effects, counts, offsets):
    """The effective number of columns: of equal spreads with the same ratio of sum to squares; at least 1."""
    spread = spread_in_columns(effects.of_parts[:, 0], counts, offsets)
    return max(spread.sum() ** 2 / (spread**2).sum(), 1.0) if spread.any() else 1.0


def effects_on_classes(counts, offsets, noise):
    """Logarithms of the shares of all classes, and of their relative shares in each part, shrunk by the noise."""
    totals = np.maximum(np.add.reduceat(counts, offsets[:-1], axis=0).mean(axis=0), 0.0) + 1 + 2 * noise.noise_scale
    shares = totals / totals.sum()
    sizes = np.maximum(counts, 0.0) + (1 + _PSEUDO_RECORDS * noise.noise_scale) * shares
    ratios = np.log(sizes / sizes.sum(axis=1, keepdims=True) / shares)
    squares = np.log1p(deviation_above_0(counts, noise.noise_scale) / sizes) ** 2  # of logarithms, also if large
    n_classes = counts.shape[1]  # the mean over the classes is subtracted, with its noise
    squares = (1 - 2 / n_classes) * squares + squares.sum(axis=1, keepdims=True) / n_classes**2
    return Effects(np.log(shares), ratios - ratios.mean(axis=1, keepdims=True), np.sqrt(squares))


def deviation_above_0(counts, deviation):
    """Standard deviation of noisy counts clipped at 0, by that of the noise, which is taken as normal."""
    if deviation == 0:
        return np.zeros_like(counts, dtype=np.float64)
    means = np.maximum(counts, 0.0) / deviation
    above, density = special.ndtr(means), np.exp(-(means**2) / 2) / np.sqrt(2 * np.pi)
    clipped = means * above + density
    return deviation * np.sqrt((means**2 + 1) * above + means * density - clipped**2)


def losses_in_steps(truth, scores, are_classes):
    """The sum of the squared errors of predictions, each in [0, 1] and rounded separately, in steps.

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
