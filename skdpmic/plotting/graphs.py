"""The plot of a causal graph, and its layout."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.sparse.csgraph import shortest_path

from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.texts import budget, names_of
from skdpmic.plotting.figures import CHOSEN, WIDTH, Axes, Display, feature_labels, ink_of

_TINY = 1e-9
_STRONGEST, _STRONG = 1e-4, 1e-2  # shares of alpha: p-values up to which an edge is drawn thicker
_WIDTHS = (2.6, 1.4, 1.4, 1.4)
_STYLES = ("solid", "solid", (0, (3, 2)), (0, (1, 2)))
_UNTESTED = 3


def layout(marks):
    """Positions of the nodes of a graph, deterministic.

    The distance of two nodes approximates the number of edges between them, near ones above all, and each arrow goes
    down by 1: the least squares [1]_, from a start on a circle.

    Parameters
    ----------
    marks : bool ndarray of shape (n_nodes, n_nodes)
        ``marks[i, j]`` for an arrow from i to j; also ``marks[j, i]`` for a line.

    Returns
    -------
    ndarray of shape (n_nodes, 2)
        In [0, 1].

    References
    ----------
    .. [1] T. Kamada and S. Kawai, "An Algorithm for Drawing General Undirected Graphs", Information Processing Letters
       1989.
    """
    angles = math.tau * np.arange(len(marks)) / len(marks)
    circle = np.column_stack([np.sin(angles), np.cos(angles)]) * len(marks) / math.tau
    found = minimize(_squares, circle.ravel(), (_distances(marks), marks & ~marks.T), "L-BFGS-B", jac=True)
    places = found.x.reshape(-1, 2)
    lowest, size = places.min(axis=0), np.ptp(places, axis=0)
    return np.where(size > _TINY, (places - lowest) / np.where(size > _TINY, size, 1.0), 0.5)


def _distances(marks):
    """Number of edges between every two nodes; at most three between disconnected parts of the graph."""
    distances = shortest_path(marks | marks.T, unweighted=True)
    connected = np.isfinite(distances)
    return np.where(connected, distances, min(distances[connected].max() + 1, 3))


def _squares(places, distances, arrows):
    """The sum of squares that a layout minimises, and its gradient."""
    across = places.reshape(-1, 2)[:, None] - places.reshape(-1, 2)
    apart, no_pair = np.linalg.norm(across, axis=2), np.eye(len(distances))
    excess, rise = apart - distances, arrows * (across[..., 1] - 1)
    pull = excess / (distances + no_pair) ** 2
    gradient = 2 * (pull / np.maximum(apart, _TINY))[..., None] * across
    gradient[..., 1] += 2 * (rise - rise.T)
    return (pull * excess).sum() / 2 + (rise**2).sum(), gradient.sum(axis=1).ravel()


@dataclass(eq=False, repr=False)
class GraphDisplay(Display):
    """Plot of a causal graph: arrows for known directions, lines for unknown ones, thicker for stronger evidence.

    The graph is computed from a release, so the plot costs no further budget and may be published.

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
        check_published(estimator)
        if not hasattr(estimator, "cpdag_"):
            raise AttributeError(f"{cls.__name__} requires a graph, as in PrivatePC, got {type(estimator).__name__}.")
        display = cls(
            np.asarray(estimator.cpdag_),
            p_values=np.asarray(estimator.p_values_),
            alpha=estimator.alpha,
            feature_names=names_of(estimator),
            title=f"{budget(*estimator.privacy_spent_)}, alpha = {estimator.alpha:g}",
        )
        return display.plot(ax)

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
        boxes = self._draw_names(ax, layout(marks))
        self._draw_edges(ax, marks, boxes)
        return self._end(self.title)

    def _draw_names(self, ax, places):
        """Write the names above the edges; return boxes of the same size below, at which edges end."""
        labels, ink = feature_labels(self.feature_names, len(places)), ink_of(ax)
        box = {"boxstyle": "round,pad=0.35", "facecolor": ax.get_facecolor(), "linewidth": 0.8}
        where = {"ha": "center", "va": "center", "fontsize": "small"}
        below, self.nodes_ = (
            [
                ax.text(*place, label, color=color, bbox={**box, "edgecolor": color}, zorder=zorder, **where)
                for place, label in zip(places, labels, strict=True)
            ]
            for color, zorder in (("none", 1), (ink, 3))
        )
        ax.update_datalim(places)
        ax.autoscale_view()
        return [text.get_bbox_patch() for text in below]

    def _draw_edges(self, ax, marks, boxes):
        sureness, said = self._evidence_levels(marks), set()
        self.edges_ = {}
        for i, j in np.argwhere(marks).tolist():
            is_line = bool(marks[j, i])
            if is_line and i > j:
                continue
            degree = sureness[i, j]
            said.add((is_line, degree))
            self.edges_[i, j] = ax.annotate(
                "",
                self.nodes_[j].get_position(),
                self.nodes_[i].get_position(),
                arrowprops={
                    "arrowstyle": "-" if is_line else "-|>",
                    "mutation_scale": 14,
                    "color": ink_of(ax) if is_line else CHOSEN,
                    "linewidth": _WIDTHS[degree],
                    "linestyle": _STYLES[degree],
                    "patchA": boxes[i],
                    "patchB": boxes[j],
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
                zorder=2,
            )
        self._explain_edges(ax, said)

    def _evidence_levels(self, marks):
        """Level of evidence: 0 for the strongest edges, 2 for the weakest, 3 if a test is no evidence."""
        if self.p_values is None:
            return np.zeros(marks.shape, dtype=np.int64)
        p_values = np.asarray(self.p_values, dtype=np.float64) / self.alpha
        return np.where(~(p_values <= 1), _UNTESTED, np.searchsorted([_STRONGEST, _STRONG], p_values, side="left"))

    def _explain_edges(self, ax, said):
        for is_line, label in ((False, "cause to effect"), (True, "direction not known")):
            if is_line in {of_line for of_line, _ in said}:
                colour, marker = (ink_of(ax), "") if is_line else (CHOSEN, ">")
                ax.plot([], [], color=colour, marker=marker, linewidth=1.4, label=label)
        if self.p_values is None:
            return
        labels = [f"p ≤ {share * self.alpha:.3g} in all tests" for share in (_STRONGEST, _STRONG, 1.0)]
        for degree, label in enumerate([*labels, "a test is no evidence"]):
            if degree in {of_edge for _, of_edge in said}:
                style = {"linewidth": _WIDTHS[degree], "linestyle": _STYLES[degree], "color": ink_of(ax), "alpha": 0.6}
                ax.plot([], [], **style, label=label)
