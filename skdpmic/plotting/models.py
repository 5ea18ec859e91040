"""The plots of what was learnt: the effects of a column in an additive model, its test score, and a causal graph."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from skdpmic._utils.private_estimator import check_published, check_publishes
from skdpmic._utils.texts import budget, names_of, quoted, require, require_type
from skdpmic.plotting.figures import CHOSEN, NOISE, WIDTH, Axes, Display, feature_labels, label_of
from skdpmic.privacy.composition import check_confidence
from skdpmic.privacy.quantiles import normal_half_width
from skdpmic.table.domains import ends_in_words

_SHARES = (1e-4, 1e-2, 1.0)  # of alpha: p-values up to which an edge is drawn by each of these lines
_LINES = ((2.6, "solid"), (1.4, "solid"), (1.4, (0, (3, 2))), (1.4, (0, (1, 2))))  # the last if a test is no evidence
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
    curve_ : matplotlib StepPatch or None
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
        require_type(hasattr(estimator, "_effects_of"), "estimator must be an additive model of skdpmic", estimator)
        check_published(estimator)
        check_confidence(confidence)
        classes = getattr(estimator, "classes_", np.array([])).tolist()
        names = getattr(estimator, "feature_names_in_", np.arange(estimator.n_features_in_)).tolist()
        j = _place_of(feature, names, "feature must be a column of the fitted table")
        row = _place_of(target, classes if len(classes) > 2 else [None], "target must be a class if there are over two")
        part_names, edges, has_records, *both = estimator._effects_of(j)
        effects, deviations = (values[row] for values in both)
        is_point = edges is None or np.arange(len(effects)) == len(effects) - 1
        return cls(
            np.where(is_point & ~has_records, np.nan, effects),
            edges=edges,
            part_names=part_names,
            margins=normal_half_width(confidence) * deviations,
            confidence=confidence,
            column=str(feature),
            title=f"effect on {_what(estimator, classes, row)}, {budget(*estimator.privacy_spent_)}",
        ).plot(ax)

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
        effects, is_range = np.asarray(self.effects, dtype=np.float64), self.edges is not None
        margins = np.zeros(len(effects)) if self.margins is None else np.asarray(self.margins, dtype=np.float64)
        lower, upper = effects - margins, effects + margins
        band = "" if self.margins is None else f"noise, {100 * self.confidence:g}%"
        ax.axhline(0.0, color=self._ink, linewidth=0.8, alpha=0.5)
        self.curve_ = self.points_ = None
        if is_range:  # in parts of equal width on its own axis
            self.curve_ = ax.stairs(effects[:-1], baseline=None, color=CHOSEN, linewidth=1.5)
            ax.stairs(upper[:-1], baseline=lower[:-1], fill=True, color=NOISE, alpha=0.3, label=band)
            names = ends_in_words(self.edges)
        else:
            names = feature_labels(self.part_names, len(effects), "part")
        ax.set_xticks(range(len(effects)), labels=names, **(_SLANTED if len(names) > 4 else {}))
        as_points = slice(-1, None) if is_range else slice(None)
        if not np.isnan(effects[as_points]).all():
            places = (np.arange(len(effects)) + (0.5 if is_range else 0))[as_points]
            ax.vlines(places, lower[as_points], upper[as_points], color=NOISE, linewidth=3, label=band)
            style = {"color": self._ink, "label": "missing values"} if is_range else {"color": CHOSEN}
            (self.points_,) = ax.plot(places, effects[as_points], "o", markersize=4, **style)
        ax.set_xlabel(label_of(self.column))
        ax.set_ylabel("effect")
        return self._end(label_of(self.title, 60))


def _place_of(value, allowed, must):
    require(value in allowed, f"{must}, one of {quoted(allowed)}", value)
    return allowed.index(value)


def _what(estimator, classes, row):
    """What the effects are added to."""
    if not classes:
        return "the target"
    on = "probability" if estimator.kind_ == "two-way" else "log odds" if len(classes) == 2 else "log probability"
    return f"{on} of {classes[1] if len(classes) == 2 else classes[row]}"


Kind = Literal["roc", "calibration"]
_KINDS = {  # how points are drawn, and what is at the axes
    "roc": ("-", "false positive rate", "true positive rate"),
    "calibration": ("o", "predicted probability", "share of records"),
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
    kind: Kind = "roc"
    title: str = ""

    @classmethod
    def from_evaluation(cls, evaluation: Any, *, kind: Kind = "roc", label: Any = None, ax: Axes | None = None) -> Self:
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
        if kind == "calibration":
            parts = [(part.predicted, part.observed, part.lower, part.upper) for part in evaluation.calibration(label)]
            values = np.reshape(parts, (-1, 4)).T  # noise may leave none
        else:
            values = evaluation.roc_curve(label)
        name = "roc_auc" if label is None or len(evaluation.noisy_counts) == 1 else f"roc_auc of {label}"
        title = f"ROC AUC {evaluation.figures[name]}" + ("" if label is None else f", {label_of(label)}")
        drawn = dict(zip(("x", "y", "lower", "upper"), values, strict=False))
        return cls(**drawn, kind=kind, title=title).plot(ax)

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
        require(self.kind in _KINDS, "kind must be 'roc' or 'calibration'", self.kind)
        marks, xlabel, ylabel = _KINDS[self.kind]
        ax = self._begin(ax, (WIDTH, WIDTH))
        ax.plot([0, 1], [0, 1], "--", color=self._ink, linewidth=1)
        (self.line_,) = ax.plot(self.x, self.y, marks, color=CHOSEN, linewidth=2)
        if self.lower is not None:
            ax.vlines(self.x, np.asarray(self.lower), np.asarray(self.upper), color=CHOSEN)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel=xlabel, ylabel=ylabel)
        return self._end(self.title)


def _from_causes_down(arrows):
    """The nodes of a graph, causes before their effects."""
    levels = np.zeros(len(arrows), dtype=int)
    for _ in arrows:
        levels = np.where(arrows, levels[:, None] + 1, 0).max(axis=0, initial=0)
    return np.argsort(levels, kind="stable")


@dataclass(eq=False, repr=False)
class GraphDisplay(Display):
    """Plot of a causal graph: arrows for known directions, lines for unknown ones, thicker for stronger evidence.

    The graph is computed from a release, so the plot costs no further budget and may be published. If no edge was
    tested, because values repeat too often, the title says so.

    Parameters
    ----------
    marks : array-like of bool of shape (n_features, n_features)
        ``marks[i, j]`` is True for an arrow from i to j; for a line, ``marks[j, i]`` is also True.
    p_values : array-like of shape (n_features, n_features), default=None
        Largest p-value of the tests of each pair of columns, which sets the thickness of edges; above `alpha` or NaN
        if a test is no evidence of the edge. None draws all edges alike.
    alpha : float, default=0.01
        Level of the tests: edges with a larger p-value are drawn dotted.
    feature_names : sequence of str, default=None
        Names of the columns; None numbers them.
    title : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    nodes_ : list of matplotlib Text
        The name of each column, at its position.
    edges_ : dict of (int, int) to matplotlib Annotation
        Each arrow, from the first column to the second; each line, by increasing column number.

    See Also
    --------
    GraphDisplay.from_estimator : Plots a fitted estimator.

    Examples
    --------
    >>> from skdpmic.plotting import GraphDisplay
    >>> display = GraphDisplay([[0, 0, 1], [0, 0, 1], [0, 0, 0]], feature_names=["rain", "sprinkler", "wet"]).plot()
    >>> sorted(display.edges_)
    [(0, 2), (1, 2)]
    """

    marks: ArrayLike
    _: KW_ONLY
    p_values: ArrayLike | None = None
    alpha: float = 0.01
    feature_names: Sequence[str] | None = None
    title: str = ""

    @classmethod
    def from_estimator(cls, estimator, *, ax: Axes | None = None) -> Self:
        """Plot the graph of a fitted estimator.

        Parameters
        ----------
        estimator : PrivatePC
            A fitted estimator. Its current `alpha` and `max_order` are used.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        GraphDisplay

        Raises
        ------
        AttributeError
            If the estimator has no graph.
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator is not fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from skdpmic.causal import PrivatePC
        >>> from skdpmic.plotting import GraphDisplay
        >>> X = np.random.default_rng(0).normal(size=(5000, 3))
        >>> X[:, 2] += X[:, 0] + X[:, 1]
        >>> sorted(GraphDisplay.from_estimator(PrivatePC(alpha=1e-4).fit(X)).edges_)
        [(0, 2), (1, 2)]
        """
        check_publishes(estimator, "cpdag_", f"{cls.__name__} requires a graph, as in PrivatePC")
        return cls(
            np.asarray(estimator.cpdag_),
            p_values=np.asarray(estimator.p_values_),
            alpha=estimator.alpha,
            feature_names=names_of(estimator),
            title=f"{budget(*estimator.privacy_spent_)}, alpha = {estimator.alpha:g}",
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Plot the graph.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        self : GraphDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        marks = np.asarray(self.marks, dtype=np.bool_)
        size = math.sqrt(max(len(marks), 8) / 8)
        ax = self._begin(ax, (WIDTH * size, 4.4 * size))
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.margins(0.1, 0.07)
        self._draw_names(ax, marks)
        p_values = np.zeros(marks.shape) if self.p_values is None else np.asarray(self.p_values, dtype=np.float64)
        self._draw_edges(ax, marks, np.searchsorted(_SHARES, p_values / self.alpha))  # NaN is beyond all
        is_untested = marks.any() and np.isnan(p_values[marks]).all()
        untested = "\nall edges untested: each may be there or not" if is_untested else ""
        return self._end((self.title + untested).strip())

    def _draw_names(self, ax, marks):
        """Draw the names around a circle, causes above their effects, so that no edge crosses another name."""
        ranks = np.argsort(_from_causes_down(marks & ~marks.T))
        sides, angles = np.where(ranks % 2, -1, 1), np.pi * (ranks + 0.5) / len(marks)
        places = np.column_stack([sides * np.sin(angles), np.cos(angles)])
        box = {"boxstyle": "round,pad=0.35", "facecolor": ax.get_facecolor(), "edgecolor": self._ink, "linewidth": 0.8}
        style = {"va": "center", "fontsize": "small", "color": self._ink, "zorder": 1}
        named = zip(places, feature_labels(self.feature_names, len(marks)), sides, strict=True)
        ends = {1: "left", -1: "right"}  # names extend outwards
        self.nodes_ = [ax.text(*place, name, ha=ends[side], bbox=box, **style) for place, name, side in named]
        ax.update_datalim(places)
        ax.autoscale_view()

    def _draw_edges(self, ax, marks, of_evidence):
        """Draw arrows, and each line once, from box to box; the legend explains what is drawn.

        `of_evidence` is the number of the line for each edge: 0 for the strongest, 3 if a test is no evidence.
        """
        is_line = marks & marks.T
        is_drawn = marks & ~np.tril(is_line)
        self.edges_ = {}
        for i, j in np.argwhere(is_drawn).tolist():
            start, end = self.nodes_[i], self.nodes_[j]
            width, style = _LINES[of_evidence[i, j]]
            look = {"linewidth": width, "linestyle": style, "color": self._ink if is_line[i, j] else CHOSEN}
            look |= {"arrowstyle": "-" if is_line[i, j] else "-|>", "mutation_scale": 14}
            boxes = {"patchA": start.get_bbox_patch(), "patchB": end.get_bbox_patch(), "shrinkA": 0, "shrinkB": 0}
            ends = end.get_position(), start.get_position()
            self.edges_[i, j] = ax.annotate("", *ends, arrowprops=look | boxes, zorder=2)
        if (is_drawn & ~is_line).any():
            ax.plot([], [], color=CHOSEN, marker=">", linewidth=1.4, label="cause to effect")
        if (is_drawn & is_line).any():
            ax.plot([], [], color=self._ink, linewidth=1.4, label="direction not known")
        labels = [*(f"p ≤ {share * self.alpha:.3g} in all tests" for share in _SHARES), "a test is no evidence"]
        for kind in [] if self.p_values is None else np.unique(of_evidence[is_drawn]).tolist():
            width, style = _LINES[kind]
            ax.plot([], [], linewidth=width, linestyle=style, color=self._ink, alpha=0.6, label=labels[kind])
