"""The plot of a private test score: the ROC curve, or the calibration."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from skdpmic._utils.texts import in_short, quoted
from skdpmic.plotting.figures import CHOSEN, WIDTH, Display, ink_of, label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

_AXES = {
    "roc": ("false positive rate", "true positive rate"),
    "calibration": ("predicted probability", "share of records"),
}


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
    ) -> EvaluationDisplay:
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
            x, y = [part.predicted for part in parts], [part.observed for part in parts]
            lower, upper = [part.lower for part in parts], [part.upper for part in parts]
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
        if self.kind == "roc":
            (self.line_,) = ax.plot(self.x, self.y, color=CHOSEN, linewidth=2)
        else:
            (self.line_,) = ax.plot(self.x, self.y, "o", color=CHOSEN)
        if self.lower is not None:
            ax.vlines(self.x, np.asarray(self.lower), np.asarray(self.upper), color=CHOSEN)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        ax.set_xlabel(_AXES[self.kind][0])
        ax.set_ylabel(_AXES[self.kind][1])
        return self._end(self.title)


def _check_kind(kind):
    if not isinstance(kind, str) or kind not in _AXES:
        raise ValueError(f"kind must be 'roc' or 'calibration', got {quoted(kind)}.")
