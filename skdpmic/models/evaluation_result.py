"""The result of a private evaluation: figures of merit with intervals, the curve, and the calibration."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdpmic._utils.results import dataframe, with_intervals
from skdpmic._utils.summaries import ResultColumn, Summary, as_html, why_broken
from skdpmic._utils.texts import budget, counted, escaped, in_short, quoted
from skdpmic.budget.ledger_entry import RECORD, LedgerEntry
from skdpmic.models.figures_of_merit import CalibrationPart, Figure, calibration_of, curve

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
        return curve(*self._counts_of(label))

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
        if label not in self.noisy_counts:
            raise ValueError(f"label must be one of {list(self.noisy_counts)}, got {quoted(label)}.")
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
        return "\n".join([*lines, *(f"{_in_words(name)}: {_written(*of)}" for name, of in self.figures.items())])

    def _repr_html_(self):
        return as_html(self._shown())

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


def _written(value, lower, upper, _):
    return f"{_short(value)} ({_short(lower)} to {_short(upper)})"


def _short(number):
    return in_short(number) if np.isfinite(number) else {np.inf: "∞", -np.inf: "-∞"}.get(number, "unknown")
