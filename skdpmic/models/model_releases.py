"""The releases of an additive model: tables of pairs of columns, or a scorecard, each with the target's tables.

A scorecard has the table of each column with the target only. Effects of single columns count shared information more
than once, so all are multiplied by one factor, chosen privately by the squared error of the predictions.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import linalg, special

from skdpmic.models import parts
from skdpmic.privacy.composition import Concentrated, Cost, Pure, budget_of
from skdpmic.privacy.noise import discrete_gaussian, discrete_laplace, exponential_choice, laplace_deviation, with_noise
from skdpmic.release.path import UnscoredRelease, counts_of_sets, with_gaussian_noise

MOST_PARTS = 4_000  # of all columns together, to limit memory and time


@dataclass(frozen=True)
class TwoWayRelease(UnscoredRelease):
    """Tables of pairs of columns, counts of columns and sums of the target, in one release with Gaussian noise."""

    n_features: int
    is_bent: bool = False  # the axis of the target

    publishes = "tables"
    kind = "two-way"

    def noise(self, n_classes, rows_per_group=1):
        """The noise."""
        rho = budget_of(self.epsilon, self.delta).part(1 - parts.share_besides(n_classes is None, self.is_bent)).rho
        return TwoWayNoise.for_budget(rho, self.n_features, target_change(n_classes), rows_per_group)

    def draw(self, records, noise, n_jobs, random_bytes):
        """The published attributes, and the effects of all parts."""
        columns, domains = records.map_features(parts.codes_of, n_jobs), records.public.shape.domains
        sizes, progress = [parts.n_parts_of(domain) for domain in domains], records.progress
        singles = [(j,) for j in range(len(sizes))]
        sets = list(combinations(range(len(sizes)), 2))
        exact = counts_of_sets(columns, sizes, singles) + counts_of_sets(columns, sizes, sets, n_jobs, progress)
        tables = with_gaussian_noise(exact, noise.count_variance, random_bytes)
        counts, pairs = tables[: len(sizes)], dict(zip(sets, tables[len(sizes) :], strict=True))
        values, n_steps = parts.in_steps(records.target)
        sums = parts.sums_in_parts(columns, sizes, values)
        (sums,) = with_gaussian_noise([sums], noise.sum_variance * n_steps**2, random_bytes)
        sums = sums / n_steps
        offsets = parts.offsets_of(sizes)
        moments = moment_matrix(records.public.shape.n_samples, counts, pairs, offsets)
        centred, of_centred = sums, noise.sum_scale
        if sums.shape[1] > 1:
            centred, of_centred = sums - sums.mean(axis=1, keepdims=True), of_centred * np.sqrt(1 - 1 / sums.shape[1])
        effects = ridge(moments, centred, offsets, noise.noise_scale, of_centred)
        published = {"noisy_counts_": counts, "noisy_pairs_": pairs, "noisy_sums_": sums}
        return {"kind_": self.kind} | published, effects


class TargetChange(NamedTuple):
    """How much the sums of a target in the parts of one column may change if one record is replaced.

    Squared L2 distances, in units of the target's range: of two values in the same part, and in different parts. Both
    are attained by the same two values.
    """

    in_same_part: Fraction
    between_parts: Fraction


CHANGE_OF_NUMBERS = TargetChange(Fraction(1), Fraction(1, 2))  # from -1/2 to 1/2; two classes are these ends
CHANGE_OF_CLASSES = TargetChange(Fraction(2), Fraction(2))  # one count in each of several classes


def target_change(n_classes):
    """The change of the sums of a target with this many classes, or of numbers."""
    return CHANGE_OF_CLASSES if n_classes is not None and n_classes > 2 else CHANGE_OF_NUMBERS


def squared_sensitivity(n_columns, weight, change, rows_per_group=1):
    """Squared L2 sensitivity of all tables together, with the tables of the target multiplied by ``sqrt(weight)``.

    If the parts of a record change in all but m of d columns, d (d - 1) - m (m - 1) cells of the tables of pairs change
    by one, and 2 (d - m) counts of columns; the maximum over m is attained.

    Parameters
    ----------
    n_columns : int
    weight : int or Fraction
        Squared weight of the tables of the target.
    change : TargetChange
    rows_per_group : int, default=1
        Number of records per person, all of which may be replaced.

    Returns
    -------
    Fraction
        Exact.
    """
    d = n_columns
    most = max(
        d * (d - 1) - m * (m - 1) + 2 * (d - m) + weight * (m * change.in_same_part + (d - m) * change.between_parts)
        for m in range(d + 1)
    )
    return rows_per_group**2 * Fraction(most)


def squared_weight(n_columns, change):
    """Squared weight of the tables of the target, at which they cost as much as the pairs if all parts change."""
    return Fraction(n_columns + 1) / change.between_parts


@dataclass(frozen=True)
class TwoWayNoise:
    """Discrete Gaussian noise on all tables.

    Parameters
    ----------
    count_variance : int
        Variance of the noise on each count of records; 0 for none.
    sum_variance : Fraction
        Variance of the noise on each sum of the target, in units of its range.
    """

    count_variance: int
    sum_variance: Fraction

    name = "gaussian"

    @classmethod
    def for_budget(cls, rho, n_columns, change, rows_per_group=1):
        """The noise at which all tables cost rho in zCDP."""
        weight = squared_weight(n_columns, change)
        if rho == math.inf:
            return cls(0, Fraction(0))
        squared = squared_sensitivity(n_columns, weight, change, rows_per_group)
        count_variance = math.ceil(squared / (2 * Fraction(rho)))
        return cls(count_variance, count_variance / weight)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count of records."""
        return math.sqrt(self.count_variance)

    @property
    def sum_scale(self):
        """Standard deviation of the noise on a sum of the target, in units of its range."""
        return math.sqrt(self.sum_variance)


# --- Ridge regression on the noisy tables ----------------------------------------------------------------------------

_LEAST_PENALTY = 1.0  # in records; so that a fit without noise exists


def moment_matrix(n, counts, pairs, offsets):
    """The second moments of the constant and of the indicators of all parts, from tables of counts.

    Parameters
    ----------
    n : int
        Number of records, which is public.
    counts : list of ndarrays of shape (n_parts_j,)
    pairs : dict of (int, int) to ndarray of shape (n_parts_i, n_parts_j)
    offsets : ndarray of shape (n_columns + 1,)

    Returns
    -------
    float64 ndarray of shape (n_parts + 1, n_parts + 1)
        The first row is for the constant.
    """
    moments = np.zeros((offsets[-1] + 1, offsets[-1] + 1))
    moments[0, 0] = n
    moments[0, 1:] = moments[1:, 0] = np.concatenate(counts)
    np.fill_diagonal(moments[1:, 1:], moments[0, 1:])
    for (i, j), table in pairs.items():
        rows, columns = slice(1 + offsets[i], 1 + offsets[i + 1]), slice(1 + offsets[j], 1 + offsets[j + 1])
        moments[rows, columns] = table
        moments[columns, rows] = table.T
    return moments


def ridge(moments, sums, offsets, count_scale, sum_scale):
    """The effects of all parts; effects of a column have a mean of 0 over its records, by noisy counts.

    Parameters
    ----------
    moments : float64 ndarray of shape (n_parts + 1, n_parts + 1)
    sums : float64 ndarray of shape (n_parts, n_targets)
        Sums of the target in each part, in units of its range, with noise.
    offsets : ndarray of shape (n_columns + 1,)
    count_scale, sum_scale : float
        Standard deviations of the noise on an entry of `moments`, and of `sums`.

    Returns
    -------
    Effects
    """
    totals = np.add.reduceat(sums, offsets[:-1], axis=0).mean(axis=0)  # equal for all columns
    values, vectors = linalg.eigh(moments)
    penalty = max(count_scale * np.sqrt(len(moments)), _LEAST_PENALTY)
    inverse = (vectors / (np.maximum(values, 0.0) + penalty)) @ vectors.T
    raw = inverse @ np.vstack([totals, sums])
    to_effects = _with_mean_0(inverse, moments[0, 1:], offsets)
    effects = _with_mean_0(raw, moments[0, 1:], offsets)
    deviations = np.sqrt(_noise_of_effects(to_effects[1:], raw, offsets, count_scale, sum_scale))
    return parts.Effects(effects[0], effects[1:], deviations)


def _with_mean_0(raw, counts, offsets):
    """Effects with a mean of 0 in each column, weighted by its counts; the means are added to the first row."""
    weights = np.maximum(counts, 0.0)[:, None]
    widths = np.diff(offsets)
    totals = np.add.reduceat(weights, offsets[:-1], axis=0)
    weights = np.where(np.repeat(totals > 0, widths, axis=0), weights, 1.0)
    totals = np.add.reduceat(weights, offsets[:-1], axis=0)
    means = np.add.reduceat(weights * raw[1:], offsets[:-1], axis=0) / totals
    return np.vstack([raw[0] + means.sum(axis=0), raw[1:] - np.repeat(means, widths, axis=0)])


def _noise_of_effects(to_effects, raw, offsets, count_scale, sum_scale):
    """Variance of each effect, to first order in the noise of moments and sums.

    With the noise E on moments and e on sums, effects change by ``to_effects (e - E raw)``.
    """
    own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) + 1
    column = np.concatenate([[0], own])
    of_each_sum = to_effects[:, 1:] + to_effects[:, :1] / (len(offsets) - 1)  # which is also in the total
    of_sums = sum_scale**2 * (of_each_sum**2).sum(axis=1)
    variances = []
    for of_target in raw.T:
        squares = of_target**2
        in_column = np.bincount(column, weights=squares, minlength=len(offsets))
        is_constant = column == 0
        # Independent entries: pairs of columns, and the counts, which are also the row of the constant.
        diagonal = np.where(is_constant, 0.0, squares[1:].sum() - in_column[column])
        spread = (to_effects**2) @ diagonal
        along = to_effects * of_target
        mixed = along[:, 1:].sum(axis=1) ** 2
        for first, last in zip(offsets[:-1] + 1, offsets[1:] + 1, strict=True):
            mixed -= along[:, first:last].sum(axis=1) ** 2
        counts = (to_effects[:, 1:] * (of_target[1:] + of_target[0]) + to_effects[:, :1] * of_target[1:]) ** 2
        variances.append(of_sums + count_scale**2 * (spread + mixed + counts.sum(axis=1)))
    return np.maximum(np.column_stack(variances), 0.0)


# --- Scorecards -------------------------------------------------------------------------------------------------------

_PSEUDO_RECORDS = 4.0  # pseudo-records with the overall distribution in each part, in standard deviations of the noise
_CAUTION = 4.0  # halves the usual factor for numbers, whose bad predictions may be worse than none


@dataclass(frozen=True)
class ScorecardRelease(UnscoredRelease):
    """The table of each column with the target, and one factor; for numbers, also their total."""

    n_features: int
    of_numbers: bool
    is_bent: bool = False  # the axis of the target

    publishes = "tables"
    kind = "scorecard"

    @property
    def cost(self):
        """The charge of the ledger: for one table per column and the factor; for numbers, also for window and total."""
        if self.delta > 0:
            return super().cost
        squares = share_of_tables(self.of_numbers, self.is_bent) ** 2 / self.n_features + FACTOR_SHARE**2
        squares += parts.squares_of_window() + TOTAL_SHARE**2 if self.of_numbers else 0
        return Cost.of_parts(self.epsilon, squares + (parts.MEAN_SHARE**2 if self.is_bent else 0))

    def noise(self, n_classes, rows_per_group=1):
        """The noise."""
        columns = self.n_features, n_classes, rows_per_group, self.is_bent
        return ScorecardNoise.for_budget(self.epsilon, self.delta, *columns)

    def draw(self, records, noise, n_jobs, random_bytes):
        """The published attributes, and the effects of all parts."""
        columns, n_classes = records.map_features(parts.codes_of, n_jobs), records.public.n_classes
        sizes = [parts.n_parts_of(domain) for domain in records.public.shape.domains]
        offsets = parts.offsets_of(sizes)
        if n_classes is None:
            values, n_steps = parts.in_steps(records.target)
            counts = noise.on_counts(parts.sums_in_parts(columns, sizes, np.ones_like(values)), random_bytes)[:, 0]
            half = Fraction(n_steps, 2)  # so that the noise on sums has half the standard deviation of that on counts
            sums = noise.on_counts(parts.sums_in_parts(columns, sizes, values), random_bytes, half) / n_steps
            total = noise.on_total(int(values.sum()), n_steps, random_bytes) / n_steps
            effects = effects_on_numbers(counts, sums, total[0], offsets, noise, records.public.shape.n_samples)
            truth, n_telling = values / n_steps, _CAUTION * effective_n_columns(effects, counts, offsets)
        else:
            truth = (np.asarray(records.target.values)[:, None] == np.arange(n_classes)).astype(np.int64)
            sums = noise.on_counts(parts.sums_in_parts(columns, sizes, truth), random_bytes)
            counts = sums.sum(axis=1)
            effects, n_telling, total = effects_on_classes(sums, offsets, noise), len(sizes), None
        scores = sum(effects.of_parts[first + codes] for first, codes in zip(offsets[:-1], columns, strict=True))
        factors = candidate_factors(n_telling)
        losses = [losses_in_steps(truth, effects.intercept + t * scores, n_classes is not None) for t in factors]
        unlikely = np.abs(np.log2(factors / factors[0]) - 4)  # minus the logarithm of the prior, up to a constant
        factor = factors[noise.choose(np.array(losses), unlikely, random_bytes)]
        published = {
            "kind_": self.kind,
            "noisy_counts_": np.split(counts, offsets[1:-1]),
            "noisy_sums_": sums,
            "factor_": float(factor),
        }
        published |= {} if total is None else {"noisy_total_": float(total[0])}
        return published, parts.Effects(effects.intercept, factor * effects.of_parts, factor * effects.deviations)


def candidate_factors(n_columns):
    """Factors to choose from: one over the root of a number of columns, times powers of two, up to 1."""
    usual = 1 / np.sqrt(n_columns)
    return np.array([usual * 2.0**k for k in range(-4, 4) if usual * 2.0**k < 0.75] + [1.0])


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
    return parts.Effects(np.array([mean]), np.clip(kept * of_parts, -1.0, 1.0)[:, None], noisy[:, None])


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
    return parts.Effects(np.log(shares), ratios - ratios.mean(axis=1, keepdims=True), np.sqrt(squares))


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


FACTOR_SHARE = Fraction(3, 20)  # share of the budget for the factor
TOTAL_SHARE = Fraction(1, 10)  # share for the total of a numeric target
STEPS = 2**12  # of the loss of one record, so that losses are integers
_OF_MEAN = 4  # L1 and squared L2 sensitivity: 2 of the sums of the target in octaves, and of those of predictions


def share_of_tables(of_numbers, is_bent=False):
    """The share of the budget for the tables."""
    return 1 - FACTOR_SHARE - parts.share_besides(of_numbers, is_bent) - (TOTAL_SHARE if of_numbers else 0)


_NAMES = {Pure: "geometric", Concentrated: "gaussian"}  # of the noise, by the budget


def _scale_for(budget, change, rows_per_group):
    """Scale of Laplace noise, or variance of Gaussian noise, on counts that a record changes by this much; 0 for none.

    The change is the L1 sensitivity to one record, and the square of the L2 sensitivity.
    """
    if isinstance(budget, Pure):
        return change * rows_per_group / budget.epsilon
    return change * rows_per_group**2 / (2 * budget.rho)


@dataclass(frozen=True)
class ScorecardNoise:
    """Discrete Laplace noise ("geometric"), or discrete Gaussian noise, on all counts and sums.

    Parameters
    ----------
    name : {"geometric", "gaussian"}
    count_scale : Fraction
        Scale of the Laplace noise on a count, or variance of the Gaussian noise; 0 for none.
    choice_scale : int
        Scale of the exponential mechanism on sums of losses in steps; 0 for the best factor.
    total_scale : Fraction, default=0
        Like `count_scale`, for the noise on the total of a numeric target, in units of its range.
    """

    name: str
    count_scale: Fraction
    choice_scale: int
    total_scale: Fraction = Fraction(0)

    @classmethod
    def for_budget(cls, epsilon, delta, n_columns, n_classes, rows_per_group=1, is_bent=False):
        """The noise at which everything but the window and the mean costs the rest of (epsilon, delta)."""
        whole, of_numbers = budget_of(epsilon, delta), n_classes is None
        tables, factor, total = map(whole.part, (share_of_tables(of_numbers, is_bent), FACTOR_SHARE, TOTAL_SHARE))
        choice_scale = math.ceil(2 * STEPS * rows_per_group / factor.epsilon)
        change = n_columns * (4 if of_numbers else 2)  # of counts, and of sums with their weight
        total_scale = _scale_for(total, 1, rows_per_group) if of_numbers else Fraction(0)
        return cls(_NAMES[type(whole)], _scale_for(tables, change, rows_per_group), choice_scale, total_scale)

    @classmethod
    def of_mean(cls, epsilon, delta, rows_per_group=1):
        """The noise on the sums of a target in octaves and of its predictions, at which these cost their share."""
        part = budget_of(epsilon, delta).part(parts.MEAN_SHARE)
        return cls(_NAMES[type(part)], _scale_for(part, _OF_MEAN, rows_per_group), 0)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count."""
        return self._deviation(self.count_scale)

    @property
    def step_scale(self):
        """Standard deviation of the noise on a sum of numbers in [0, 1], which are in steps of a grid."""
        return self._deviation(self.count_scale, parts.GRID)

    @property
    def sure(self):
        """A sum of such numbers that noise alone exceeds with a probability below 1e-5."""
        return self.step_scale * (8 if self.name == "geometric" else 5)

    @property
    def sum_scale(self):
        """Standard deviation of the noise on a sum of a numeric target, in units of its range."""
        return self._deviation(self.count_scale / 2, parts.GRID) if self.name == "geometric" else self.noise_scale / 2

    @property
    def total_deviation(self):
        """Standard deviation of the noise on the total, likewise."""
        return self._deviation(self.total_scale, parts.GRID)

    def _deviation(self, scale, n_steps=1):
        """Standard deviation of noise of this scale that is drawn in this many steps."""
        return laplace_deviation(scale * n_steps) / n_steps if self.name == "geometric" else math.sqrt(scale)

    def on_counts(self, counts, random_bytes, n_steps=1):
        """Counts with noise; or sums of numbers in [0, 1], in this many steps, with the same noise."""
        return self._added(counts, self.count_scale, n_steps, random_bytes)

    def on_total(self, total, n_steps, random_bytes):
        """The total of a numeric target, in steps of its range, with noise: an array of one number."""
        return self._added(np.array([total]), self.total_scale, n_steps, random_bytes)

    def _added(self, exact, scale, n_steps, random_bytes):
        draw, power = (discrete_laplace, 1) if self.name == "geometric" else (discrete_gaussian, 2)
        return with_noise(draw, scale * n_steps**power, exact, random_bytes)

    def choose(self, losses, unlikely, random_bytes):
        """The index of a candidate with nearly the smallest sum of losses.

        Parameters
        ----------
        losses : int64 ndarray of shape (n_candidates,)
            In steps.
        unlikely : float ndarray of shape (n_candidates,)
            Public: minus the logarithm of the prior probability of each candidate, up to a constant.
        random_bytes : callable
        """
        if self.choice_scale == 0:
            return int(np.argmin(losses))
        before = np.rint(np.minimum(unlikely * self.choice_scale, 2.0**60)).astype(np.int64)
        return exponential_choice(-losses - before, self.choice_scale, random_bytes)
