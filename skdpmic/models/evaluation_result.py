"""The result of a private evaluation: figures of merit with intervals, the curve, and the calibration."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skdpmic._utils.dataframes import dataframe, with_intervals
from skdpmic._utils.summaries import ResultColumn, Summary, as_html, why_broken
from skdpmic._utils.texts import budget, counted, escaped, in_short, require
from skdpmic.budget.ledger_entry import RECORD, LedgerEntry
from skdpmic.privacy.noise import laplace_deviation, reach


class Figure(NamedTuple):
    """A figure of merit, and two kinds of error."""

    value: float
    lower: float
    """Lower end of the 95% interval for the value without noise, for the same records."""
    upper: float
    sampling_error: float
    """Estimated standard error for another sample of people; NaN where the release does not determine it."""

    def __str__(self):
        return f"{_short(self.value)} ({_short(self.lower)} to {_short(self.upper)})"


def bounded_scale(scale):
    """The scale of noise as a float whose powers do not overflow: larger noise leaves nothing to be seen, either."""
    return float(min(scale, 10**30))


def mean_over_records(worth, noisy, scale, n_samples, usual=0.0, limits=(0.0, 1.0)):
    """The mean over records, whose number is public, of what they are worth: its value and interval.

    Parameters
    ----------
    worth, noisy : ndarrays of one shape
        What a record of each cell is worth, less `usual`; and the noisy numbers of records, with noise of this scale.
    scale : float
    n_samples : int
    usual : float
    limits : (float, float)
        Of the mean.
    """
    worth, noisy = worth.ravel(), np.ravel(noisy)
    nothing = np.zeros(len(worth))
    mean = Ratio(worth @ noisy, n_samples, worth, nothing, nothing + laplace_deviation(scale))
    return mean_of([mean._replace(top=mean.top + usual * n_samples)], limits)


def accuracy(n_right, scale, n_samples, rows_per_group):
    """The share of right predictions, from their noisy number."""
    value, *ends = mean_over_records(np.ones(1), n_right, scale, n_samples)
    return Figure(value, *ends, math.sqrt(value * (1 - value) * rows_per_group / n_samples))


def brier_score(middles, tables, scale, n_samples, rows_per_group):
    """The sum over classes of the mean squared difference between a prediction and whether the record is of the class.

    Parameters
    ----------
    middles : ndarray of shape (n_bins,)
        The prediction that represents each bin.
    tables : ndarray of shape (n_scored, 2, n_bins)
        Noisy counts.
    scale : float
        That of their noise.
    n_samples, rows_per_group : int
    """
    worth, n_scored = (np.arange(2)[:, None] - middles) ** 2, len(tables)
    usual = worth.mean()
    centred = np.tile(worth - usual, (n_scored, 1, 1))  # as the sum of all counts is known
    limits = n_scored * worth.min(), n_scored * worth.max()
    value, *ends = mean_over_records(centred, tables, scale, n_samples, n_scored * usual, limits)
    means, squares = ((centred**power * tables).sum(axis=(1, 2)) / n_samples for power in (1, 2))
    spreads = np.sqrt(np.maximum(squares - means**2, 0.0) * rows_per_group / n_samples)
    return Figure(value, *ends, float(spreads.sum()))


# --- ROC AUC ----------------------------------------------------------------------------------------------------------


def area_under_curve(tables, scale, rows_per_group):
    """The mean over classes of the probability that a member has a larger prediction than another; ties count half.

    Parameters
    ----------
    tables : ndarray of shape (n_scored, 2, n_bins)
        Noisy counts, others first.
    scale : float
        That of their noise.
    rows_per_group : int
    """
    areas = mean_of([_area(*table, scale) for table in tables])
    return Figure(*areas, float(np.mean([_sampling_error_of_area(*table, rows_per_group) for table in tables])))


def _area(others, members, scale):
    """The number of pairs in which the member has the larger prediction, by that of all; 1/2 if there is none."""
    n_members, n_others = members.sum(), others.sum()
    if n_members <= 0 or n_others <= 0:
        nothing, is_known = np.zeros(1), float(scale == 0)
        return Ratio(is_known / 2, is_known, nothing, nothing, nothing)
    wins, losses = _of_one_more(others, members)
    of_pairs = np.repeat([n_members, n_others], len(members))
    of_wins = np.concatenate([losses, wins])
    deviations = np.full(len(of_wins), laplace_deviation(scale))
    return Ratio(members @ wins, n_members * n_others, of_wins, of_pairs, deviations)


def _of_one_more(others, members):
    """Pairs that one more member of each bin wins, and that one more of the others loses."""
    return np.cumsum(others) - others / 2, members[::-1].cumsum()[::-1] - members / 2


def _sampling_error_of_area(others, members, rows_per_group):
    n_members, n_others = members.sum(), others.sum()
    if n_members <= 0 or n_others <= 0:
        return math.nan
    wins, losses = _of_one_more(others, members)
    area = np.clip(members @ wins / (n_members * n_others), 0, 1)
    variance = np.maximum(members, 0) @ (wins / n_others - area) ** 2 / n_members**2
    variance += np.maximum(others, 0) @ (losses / n_members - area) ** 2 / n_others**2
    return math.sqrt(variance * rows_per_group)


# --- Numbers ----------------------------------------------------------------------------------------------------------


def figures_of_sums(noisy, scales, steps, width, n_samples, rows_per_group):
    """R2 and the mean absolute error.

    Parameters
    ----------
    noisy : ndarray of shape (4,)
        The four sums of :func:`skdpmic.models.evaluation.error_sums`.
    scales : list of float
        Scales of their noise.
    steps : int
    width : float
        Width of the range of the target.
    n_samples, rows_per_group : int

    Returns
    -------
    dict of Figure
    """
    units = np.array([steps, steps**2, 2 * steps, 4 * steps**2], dtype=np.float64)
    worth = 1 / units / n_samples
    error, square, mean, mean_square = worth * noisy
    absolute = mean_over_records(1 / units[:1], error / worth[:1], scales[0], n_samples)
    sampling = math.sqrt(max(square - error**2, 0.0) * rows_per_group / n_samples)
    deviations = np.array(list(map(laplace_deviation, scales)))
    return {
        "r2": _r2(square, float(np.clip(mean, -0.5, 0.5)), mean_square, worth, deviations),
        "mean_absolute_error": Figure(*(width * end for end in (*absolute, sampling))),
    }


def _r2(square, mean, mean_square, worth, deviations):
    """1 - S / V, with S the mean of squares of errors, and V the variance of the target.

    The square of the noise on the mean, less its expectation, is in V, too. Its deviation is that of sqrt(5) times the
    variance of this noise, so it counts as one more noisy number.
    """
    of_mean = worth[2] * deviations[2]
    variance = mean_square - mean**2 + of_mean**2
    of_variance = [0.0, worth[3], -2 * mean * worth[2], math.sqrt(5) * worth[2] * of_mean]
    of_square = np.array([worth[1], 0.0, 0.0, 0.0])
    ratio = Ratio(square, variance, of_square, np.array(of_variance), deviations[[1, 3, 2, 2]])
    share, lower, upper = mean_of([ratio], (0.0, math.inf))
    return Figure(1 - share if variance > 0 else math.nan, 1 - upper, 1 - lower, math.nan)


# --- Curves -----------------------------------------------------------------------------------------------------------


def _rates_from_the_top(counts):
    """Shares of these records at all bin ends, highest first: an ascending array from 0 to 1."""
    total = counts.sum()
    if total <= 0:
        return np.linspace(0, 1, len(counts) + 1)
    shares = np.clip(np.concatenate([[0.0], counts[::-1].cumsum()]) / total, 0, 1)
    return np.maximum.accumulate(shares)


class CalibrationPart(NamedTuple):
    """Records with predictions in one range: the mean prediction, and the share of the class."""

    lower_end: float
    upper_end: float
    predicted: float
    observed: float
    lower: float
    upper: float


_PARTS = 10  # of the records, or fewer if their counts are not clear
_CLEAR = 6.0  # standard deviations of the noise


def calibration_of(others, members, edges, scale):
    """Observed shares of a class by predicted probability, in ranges of bins with clearly more records than noise."""
    both, parts, start = others + members, [], 0
    fewest, deviation = max(both.sum() / _PARTS, 1.0), laplace_deviation(scale)
    for end in range(1, len(both) + 1):
        inside = slice(start, end)
        count = both[inside].sum()
        if count >= max(fewest, _CLEAR * deviation * math.sqrt(2 * (end - start))):
            parts.append(_part(others[inside], members[inside], edges[start : end + 1], scale))
            start = end
    return parts


def _part(others, members, edges, scale):
    middles, weights = (edges[:-1] + edges[1:]) / 2, np.maximum(others + members, 0)
    of_class = np.repeat([0.0, 1.0], len(members))
    of_both = np.ones(len(of_class))
    share = Ratio(members.sum(), others.sum() + members.sum(), of_class, of_both, laplace_deviation(scale) * of_both)
    predicted = float(middles @ weights / weights.sum())
    return CalibrationPart(float(edges[0]), float(edges[-1]), predicted, *mean_of([share]))


_NAMES = {
    "roc_auc": "ROC AUC",
    "accuracy": "accuracy",
    "brier_score": "Brier score",
    "r2": "R²",
    "mean_absolute_error": "mean absolute error",
}


@dataclass(frozen=True, repr=False)
class PrivateEvaluation:
    """The private test score of a model, returned by :func:`private_evaluation`. It contains only published values.

    Attributes
    ----------
    figures : dict
        For classes "roc_auc", "accuracy" and "brier_score"; with three classes or more also "roc_auc" of each class
        against the others, such as "roc_auc of high"; "roc_auc" is their mean, with 1/2 for a class that no record, or
        every record, is of. For numbers "r2" and "mean_absolute_error". Each has `value`; `lower` and `upper`, the 95%
        interval for the value without noise, of each figure by itself, for the same records (with `groups`, for the
        rows that were drawn), which are all possible values where a number below a fraction bar is within its noise;
        and `sampling_error`, the estimated standard error that another sample of people would add (NaN for "r2"; with
        three classes or more, at most).
    noisy_counts : dict
        For classes: noisy counts of shape (2, n_bins) for each class that has a curve, records of other classes first.
        For numbers: noisy sums.
    edges : ndarray of shape (n_bins + 1,) or None
        Public ends of the bins of predictions.
    noise_scale : float
        For classes: scale of the noise on a count, in records. For numbers: standard deviation of the noise on the mean
        absolute error.
    n_samples : int
        Number of records counted; public.
    entry : LedgerEntry
        The release, its mechanism and its cost, as in a :class:`BudgetLedger`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skdpmic import private_evaluation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(6000, 1))
    >>> y = rng.uniform(size=6000) < 1 / (1 + np.exp(-3 * X[:, 0]))
    >>> model = LogisticRegression().fit(X[:3000], y[:3000])
    >>> evaluation = private_evaluation(model, X[3000:], y[3000:], epsilon=2, model_is_public=True)
    >>> evaluation.figures["roc_auc"].value > 0.85
    True
    >>> evaluation.to_frame().columns.tolist()
    ['figure', 'value', 'lower', 'upper', 'sampling_error']
    """

    figures: dict[str, Figure]
    noisy_counts: dict[Any, np.ndarray]
    edges: np.ndarray | None
    noise_scale: float
    n_samples: int
    entry: LedgerEntry

    @property
    def privacy_spent(self) -> tuple[float, float]:
        """Epsilon and delta."""
        return self.entry.epsilon, self.entry.delta

    def roc_curve(self, label: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the ROC curve of a class, from the noisy counts.

        Parameters
        ----------
        label : object, default=None
            A class; None is the second of two.

        Returns
        -------
        fpr, tpr : ndarrays of shape (n_bins + 1,)
            False and true positive rates, from 0 to 1. Both are made to rise, so where noise is large, the area under
            them may differ from the figure "roc_auc", which is not biased by that.
        """
        others, members = self._counts_of(label)
        return _rates_from_the_top(others), _rates_from_the_top(members)

    def calibration(self, label: Any = None) -> list[CalibrationPart]:
        """Return observed shares of a class by predicted probability.

        Parameters
        ----------
        label : object, default=None
            A class; None is the second of two.

        Returns
        -------
        list of CalibrationPart
            Up to ten ranges of predictions with about equally many records, fewer where noise is large. Each has
            `lower_end` and `upper_end`; `predicted`, the mean prediction; `observed`, the share of records that are of
            the class; and `lower` and `upper`, the 95% interval for this share without noise, each by itself.
        """
        others, members = self._counts_of(label)
        return calibration_of(others, members, self.edges, self.noise_scale)

    def _counts_of(self, label):
        if self.edges is None:
            raise ValueError("label must be a class, but this is the evaluation of a model of numbers, without curves.")
        if label is None and len(self.noisy_counts) == 1:
            (label,) = self.noisy_counts
        require(label in self.noisy_counts, f"label must be one of {list(self.noisy_counts)}", label)
        return self.noisy_counts[label]

    def to_frame(self) -> Any:
        """Return all figures and their intervals.

        Returns
        -------
        pandas.DataFrame
            One row per figure: `figure`, `value`, `lower`, `upper` and `sampling_error`, as in `figures`; its
            ``attrs["interval"]`` says what the intervals are for.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = [(name, *figure) for name, figure in self.figures.items()]
        return with_intervals(dataframe(rows, ["figure", *Figure._fields]), self._what_intervals_hold)

    @property
    def _what_intervals_hold(self):
        rows = "same records" if self.entry.unit == RECORD else "rows drawn of each person"
        return f"the value without noise, for the {rows}, each by itself"

    def __repr__(self):
        lines = [f"<PrivateEvaluation of {counted(self.n_samples, 'record')}, {budget(*self.privacy_spent)}>"]
        return "\n".join([*lines, *(f"{_in_words(name)}: {figure}" for name, figure in self.figures.items())])

    def _repr_html_(self):
        return as_html(self._shown(), " open")

    def _shown(self):
        noisy = "each count" if self.edges is not None else "the sums"
        facts = [
            ("Released", "test score of a model"),
            ("Cost", budget(*self.privacy_spent)),
            ("Noise", "none" if self.noise_scale == 0 else f"geometric noise on {noisy}"),
            ("Intervals", f"for {self._what_intervals_hold}"),
        ]
        names, figures = [_in_words(name) for name in self.figures], list(self.figures.values())
        columns = [
            ResultColumn("figure", names),
            ResultColumn("value", [_short(figure.value) for figure in figures], "number"),
            ResultColumn("95% interval", [f"{_short(f.lower)} to {_short(f.upper)}" for f in figures], "number"),
            ResultColumn("standard error of sampling", [_short(f.sampling_error) for f in figures], "number"),
        ]
        return Summary(facts, why_broken(self.entry), columns, range(len(names)), unit="figure", entries=(self.entry,))


def _in_words(name):
    figure, *of = name.split(" of ", 1)
    return " of ".join([_NAMES[figure], *map(escaped, of)])


def _short(number):
    return in_short(number) if np.isfinite(number) else {np.inf: "∞", -np.inf: "-∞"}.get(number, "unknown")


_CONFIDENCE = 0.95
_SURE = 2.0  # standard deviations of its noise, above which the number below is known to be above 0


class Ratio(NamedTuple):
    """``top / bottom``; with noise z, that on ``top - v bottom`` is ``(of_top - v of_bottom) @ z`` for every v."""

    top: float
    bottom: float
    of_top: np.ndarray
    of_bottom: np.ndarray
    deviations: np.ndarray  # standard deviations of z

    @property
    def is_clear(self):
        """Whether there is more than noise below."""
        return self.bottom > _SURE * _norm(self.of_bottom * self.deviations)

    @property
    def value(self):
        """The ratio, which noise may move beyond its limits."""
        return self.top / self.bottom

    @property
    def weights(self):
        """Those of the noise in `value`, to first order."""
        return (self.of_top - self.value * self.of_bottom) / self.bottom

    def ends(self, width, limits):
        """Smallest and largest v with ``top - v bottom`` within `width` standard deviations of its noise.

        If the noise exceeds `bottom`, they may be all but those between two numbers; then, those within the limits.
        """
        of_top, of_bottom = (of * self.deviations / self.bottom for of in (self.of_top, self.of_bottom))
        least = 1 - width**2 * (of_bottom @ of_bottom)
        middle = self.value - width**2 * (of_top @ of_bottom)
        apart = (of_top @ of_top) * (of_bottom @ of_bottom) - (of_top @ of_bottom) ** 2
        spread = width * math.sqrt(max(_norm(of_top - self.value * of_bottom) ** 2 - width**2 * apart, 0.0))
        if least > 0:
            return (middle - spread) / least, (middle + spread) / least
        low, high = ((middle + spread) / least, (middle - spread) / least) if least < 0 < spread else limits
        if low < limits[0] and limits[0] < high < limits[1]:
            return high, limits[1]
        if high > limits[1] and limits[0] < low < limits[1]:
            return limits[0], low
        return limits


def mean_of(ratios, limits=(0.0, 1.0)):
    """The mean of independent ratios within these limits: its value, and the ends of its 95% interval.

    Clear ratios share the width of Fieller's interval for one: their means are kept if the squares of their distances,
    in standard deviations, add up to at most its square. Others may be at any end of their own intervals.
    """
    clear = [ratio for ratio in ratios if ratio.is_clear]
    value = sum(ratio.value for ratio in clear)
    lower, upper = _ends_of_sum(clear, limits) if clear else (0.0, 0.0)
    for ratio in ratios:
        if not ratio.is_clear:
            middle, low, high = _unclear(ratio, limits)
            value, lower, upper = value + middle, lower + low, upper + high
    return tuple(float(np.clip(total / len(ratios), *limits)) for total in (value, lower, upper))


def _ends_of_sum(ratios, limits):
    """The ends of the interval of a sum: most of the width for the ratios with most of the noise, which is best."""
    shares = np.array([_norm(each.weights * each.deviations) for each in ratios])
    total = _norm(shares)
    if total == 0:
        return (sum(each.value for each in ratios),) * 2
    weights, deviations = (np.concatenate([getattr(each, of) for each in ratios]) for of in ("weights", "deviations"))
    width = reach(weights, deviations, _CONFIDENCE) / total
    ends = [each.ends(width * share / total, limits) for each, share in zip(ratios, shares, strict=True)]
    return np.sum(ends, axis=0)


def _unclear(ratio, limits):
    """Value and ends of the interval of a ratio with nothing below, or little more than noise."""
    if ratio.bottom <= 0:
        return np.mean(limits), *limits
    return np.clip([ratio.value, *_ends_of_sum([ratio], limits)], *limits)


def _norm(vector):
    return math.sqrt(vector @ vector)
