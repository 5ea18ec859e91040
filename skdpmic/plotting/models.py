"""Plots of the effects of one column in an additive model, and of its private test score."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.readable import is_position
from skdpmic._utils.texts import budget, in_short, names_of, quoted
from skdpmic.plotting.figures import CHOSEN, NOISE, WIDTH, Axes, Display, ink_of, label_of, labels_apart, write_dates
from skdpmic.privacy.composition import check_confidence
from skdpmic.privacy.mechanisms import normal_half_width
from skdpmic.table.domains import ends_in_words

_MISSING = "missing values"
_SLANTED: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}  # ends at its tick


@dataclass(eq=False, repr=False)
class EffectsDisplay(Display):
    """Plot of the effect of one column over its parts, with the band of the noise.

    For a range, it is a curve with a step at each part, and a point for missing values; for labels, a point for each.
    A fitted model gives no point to labels, nor to missing values, whose number does not exceed its noise. The band
    has the means of the effects over the noise, at a confidence for each part separately, approximately. The noise
    makes a model shrink its effects, so the band need not contain those of a fit without noise. It does not include
    sampling error. The effects are already private, so the plot costs no further budget and may be published.

    Parameters
    ----------
    effects : array-like of shape (n_parts,)
        Effects, such as those of one column in `coef_` of :class:`skdpmic.PrivateAdditiveClassifier`.
    edges : array-like of shape (n_parts,), default=None
        Ends of the parts of a range, in ascending order: numbers, dates or durations. The last effect is then that of
        missing values. None for labels.
    part_names : sequence of str of length n_parts, default=None
        Names of the parts of labels; None numbers them.
    margins : array-like of shape (n_parts,), default=None
        Half-widths of the band; None draws none.
    confidence : float, default=0.95
        Confidence level of the band.
    column : str, default=""
        Name of the column.
    title : str, default=""
        Title of the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    curve_ : matplotlib Line2D or None
        The effects of the parts of a range.
    points_ : matplotlib Line2D or None
        The effects of labels, or of missing values; None for a range if that of missing values is NaN.

    See Also
    --------
    EffectsDisplay.from_estimator : Plots a column of a fitted model.

    Examples
    --------
    >>> from skdpmic.plotting import EffectsDisplay
    >>> display = EffectsDisplay([-0.1, 0.2, 0.0], edges=[0, 10, 20], margins=[0.05, 0.05, 0.2], column="age")
    >>> display.plot().ax_.get_xlabel()
    'age'
    """

    effects: ArrayLike
    _: KW_ONLY
    edges: ArrayLike | None = None
    part_names: Sequence[str] | None = None
    margins: ArrayLike | None = None
    confidence: float = 0.95
    column: str = ""
    title: str = ""

    @classmethod
    def from_estimator(
        cls, estimator, feature: str | int, *, target: Any = None, confidence: float = 0.95, ax: Axes | None = None
    ) -> Self:
        """Plot the effects of one column of a fitted model.

        Parameters
        ----------
        estimator : PrivateAdditiveClassifier or PrivateAdditiveRegressor
            A fitted model.
        feature : str or int
            Name of the column, or its number if columns have no names.
        target : label, default=None
            Class to which the effects belong, required for more than two classes. For two, they are those on the second
            one.
        confidence : float, default=0.95
            Confidence level of the band, for each part separately; in (0, 1).
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        EffectsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator is not an additive model.
        ValueError
            If a parameter is invalid.

        Examples
        --------
        >>> import numpy as np
        >>> from skdpmic import PrivateAdditiveRegressor
        >>> from skdpmic.plotting import EffectsDisplay
        >>> X = np.random.default_rng(0).uniform(size=(5000, 2))
        >>> model = PrivateAdditiveRegressor(epsilon=1.0, bounds=(0, 1), target_bounds=(0, 1)).fit(X, X[:, 1] ** 2)
        >>> display = EffectsDisplay.from_estimator(model, 1)
        >>> bool(display.effects[7] > display.effects[0])
        True
        """
        if not hasattr(estimator, "_effects_of"):
            raise TypeError(f"estimator must be an additive model of skdpmic, got {type(estimator).__name__}.")
        check_published(estimator)
        check_confidence(confidence)
        place = _row_of(estimator, target)
        part_names, edges, has_records, *both = estimator._effects_of(_number_of(estimator, feature))
        effects, deviations = (values[place] for values in both)
        is_point = edges is None or np.arange(len(effects)) == len(effects) - 1
        display = cls(
            np.where(is_point & ~has_records, np.nan, effects),
            edges=edges,
            part_names=part_names,
            margins=normal_half_width(confidence) * deviations,
            confidence=confidence,
            column=str(feature),
            title=f"effect on {_what(estimator, place)}, {budget(*estimator.privacy_spent_)}",
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Plot the effects.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        self : EffectsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._begin(ax, (WIDTH, 3.4))
        effects = np.asarray(self.effects, dtype=np.float64)
        margins = np.zeros(len(effects)) if self.margins is None else np.asarray(self.margins, dtype=np.float64)
        self.curve_ = self.points_ = None
        ax.axhline(0.0, color=ink_of(ax), linewidth=0.8, alpha=0.5)
        if self.edges is None:
            self._draw_points(ax, np.arange(len(effects)), effects, margins, CHOSEN)
            names = [f"part {j}" for j in range(len(effects))] if self.part_names is None else self.part_names
            ax.set_xticks(range(len(effects)), labels=labels_apart(names), **(_SLANTED if len(effects) > 4 else {}))
        else:
            self._draw_curve(ax, np.asarray(self.edges), effects, margins)
        ax.set_xlabel(label_of(self.column))
        ax.set_ylabel("effect")
        return self._end(label_of(self.title, 60))

    def _band(self):
        return f"noise, {100 * self.confidence:g}%"

    def _draw_curve(self, ax, edges, effects, margins):
        if not _are_even(edges):  # of logarithms, or knots: parts of equal width, with their ends beside them
            ax.set_xticks(range(len(edges)), labels=ends_in_words(edges), **_SLANTED)
            edges = np.arange(len(edges))
        values, widths = effects[:-1], margins[:-1]
        lower, upper = (np.append(values + side * widths, values[-1] + side * widths[-1]) for side in (-1, 1))
        if self.margins is not None:
            ax.fill_between(edges, lower, upper, step="post", color=NOISE, alpha=0.3, linewidth=0, label=self._band())
        (self.curve_,) = ax.step(edges, np.append(values, values[-1]), where="post", color=CHOSEN)
        beyond = edges[-1] + (edges[-1] - edges[0]) / 15
        if not np.isnan(effects[-1]):
            self._draw_points(ax, [beyond], effects[-1:], margins[-1:], ink_of(ax), _MISSING)
        if edges.dtype.kind == "M":
            write_dates(ax.xaxis)

    def _draw_points(self, ax, places, effects, margins, color, label=None):
        drawn = ax.errorbar(places, effects, margins, fmt="o", color=color, ecolor=NOISE, elinewidth=3, markersize=4)
        self.points_ = drawn.lines[0]
        self.points_.set_label(label)
        if self.edges is None and self.margins is not None:
            drawn.lines[2][0].set_label(self._band())


def _are_even(edges):
    """Whether parts are of equal width."""
    widths = np.diff(edges).astype(np.float64)
    return np.allclose(widths, widths[0], rtol=1e-3)


def _number_of(estimator, feature):
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and feature in names.tolist():
        return names.tolist().index(feature)
    if names is None and is_position(feature) and 0 <= feature < estimator.n_features_in_:
        return int(feature)
    allowed = names_of(estimator) if names is not None else f"a number below {estimator.n_features_in_}"
    raise ValueError(f"feature must be a column of the fitted table, {allowed}, got {quoted(feature)}.")


def _row_of(estimator, target):
    """The row of the effects on a class."""
    classes = getattr(estimator, "classes_", np.array([]))
    if len(classes) <= 2:
        if target is not None:
            raise ValueError(f"target must be None unless there are more than two classes, got {quoted(target)}.")
        return 0
    if target not in classes.tolist():
        raise ValueError(f"target must be one of the classes, {classes.tolist()}, got {quoted(target)}.")
    return classes.tolist().index(target)


def _what(estimator, row):
    if not hasattr(estimator, "classes_"):
        return "the target"
    classes = estimator.classes_
    label = classes[1] if len(classes) == 2 else classes[row]
    on = "probability" if estimator.kind_ == "two-way" else "log odds" if len(classes) == 2 else "log probability"
    return f"{on} of {label}"


_AXES = {
    "roc": ("false positive rate", "true positive rate"),
    "calibration": ("predicted probability", "share of records"),
}
_MARKS = {"roc": "-", "calibration": "o"}


@dataclass(eq=False, repr=False)
class EvaluationDisplay(Display):
    """Plot of the private test score of a classifier: its ROC curve, or its calibration.

    The ROC curve follows from noisy counts, so it is not exactly what the records would give. In the calibration, each
    point is a range of predictions, with the 95% interval of the noise on the share of records that are of the class;
    points on the dashed line are well calibrated. The plot costs no further budget and may be
    published.

    Parameters
    ----------
    x, y : array-like of shape (n_points,)
        False and true positive rates, or predicted and observed shares.
    lower, upper : array-like of shape (n_points,), default=None
        Ends of the intervals of y.
    kind : {"roc", "calibration"}, default="roc"
        Which of the two is plotted.
    title : str, default=""
        Title of the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        The curve, or the points.

    See Also
    --------
    EvaluationDisplay.from_evaluation : Plots the result of :func:`skdpmic.private_evaluation`.

    Examples
    --------
    >>> from skdpmic.plotting import EvaluationDisplay
    >>> display = EvaluationDisplay([0, 0.2, 1], [0, 0.8, 1]).plot()
    >>> display.ax_.get_ylabel()
    'true positive rate'
    """

    x: ArrayLike
    y: ArrayLike
    _: KW_ONLY
    lower: ArrayLike | None = None
    upper: ArrayLike | None = None
    kind: Literal["roc", "calibration"] = "roc"
    title: str = ""

    @classmethod
    def from_evaluation(
        cls,
        evaluation: Any,
        *,
        kind: Literal["roc", "calibration"] = "roc",
        label: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Plot the result of :func:`skdpmic.private_evaluation`.

        Parameters
        ----------
        evaluation : PrivateEvaluation
            Of a classifier.
        kind : {"roc", "calibration"}, default="roc"
            Which of the two to plot.
        label : object, default=None
            A class; None is the second of two.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        EvaluationDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a parameter is invalid, or the evaluation is not of a classifier.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> from skdpmic import private_evaluation
        >>> from skdpmic.plotting import EvaluationDisplay
        >>> X = np.random.default_rng(0).normal(size=(2000, 1))
        >>> model = LogisticRegression().fit(X[:1000], X[:1000, 0] > 0)
        >>> evaluation = private_evaluation(model, X[1000:], X[1000:, 0] > 0, epsilon=5, model_is_public=True)
        >>> display = EvaluationDisplay.from_evaluation(evaluation, kind="calibration")
        >>> display.ax_.get_xlabel()
        'predicted probability'
        """
        _check_kind(kind)
        if kind == "calibration":
            parts = evaluation.calibration(label)
            drawn = [(part.predicted, part.observed, part.lower, part.upper) for part in parts]
            x, y, lower, upper = np.reshape(drawn, (-1, 4)).T  # noise may leave none
            shown = cls(x, y, lower=lower, upper=upper, kind=kind)
        else:
            shown = cls(*evaluation.roc_curve(label), kind=kind)
        name = "roc_auc" if label is None or len(evaluation.noisy_counts) == 1 else f"roc_auc of {label}"
        area = evaluation.figures[name]
        shown.title = f"ROC AUC {in_short(area.value)} ({in_short(area.lower)} to {in_short(area.upper)})"
        shown.title += "" if label is None else f", {label_of(label)}"
        return shown.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        EvaluationDisplay
        """
        _check_kind(self.kind)
        ax = self._begin(ax, (WIDTH, WIDTH))
        ax.plot([0, 1], [0, 1], "--", color=ink_of(ax), linewidth=1)
        (self.line_,) = ax.plot(self.x, self.y, _MARKS[self.kind], color=CHOSEN, linewidth=2)
        if self.lower is not None:
            ax.vlines(self.x, np.asarray(self.lower), np.asarray(self.upper), color=CHOSEN)
        xlabel, ylabel = _AXES[self.kind]
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel=xlabel, ylabel=ylabel)
        return self._end(self.title)


def _check_kind(kind):
    if not isinstance(kind, str) or kind not in _AXES:
        raise ValueError(f"kind must be 'roc' or 'calibration', got {quoted(kind)}.")
