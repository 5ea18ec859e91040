"""The plot of a noisy table of counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.texts import names_of
from skdpmic.plotting.figures import WIDTH, Display, label_of
from skdpmic.plotting.sides import side_of_classes, side_of_range
from skdpmic.privacy.mechanisms import laplace_quantile
from skdpmic.privacy.parameters import check_confidence
from skdpmic.table.features import allowed_keys, numbers_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import ArrayLike

    from skdpmic._utils.typing import Range

_HATCH = "0.6"
_MOST_LETTERS = 60


@dataclass(eq=False, repr=False)
class NoisyCountsDisplay(Display):
    """Plot of the noisy table of counts of a feature and the target, released by ``mechanism="geometric"``.

    The table is already private, so the plot costs no further budget and may be published. Counts that may be due to
    noise alone are hatched: those up to the bound on the noise at this confidence.

    All parts have the same size in the plot. With "log" or knots, they differ in the units of the column; the axes
    always show these units, never logarithms.

    Parameters
    ----------
    noisy_counts : ndarray of shape (n_parts, n_target_parts)
        Rows are parts of the feature, columns parts of the target.
    feature_name : str, default=None
    feature_bounds : tuple or array-like, default=None
        Range of the feature, for the axis, in the form of an entry of `bounds` of :class:`DPMICScorer`: numbers, dates
        or durations. None numbers the parts.
    target_bounds : tuple or array-like, default=None
        Range of a continuous target, in the same form; None numbers the parts.
    classes : array-like of shape (n_target_parts,), default=None
        Labels of a discrete target.
    noise_scale : float, default=None
        Scale of the noise on each count, in records; None or 0 hatches nothing.
    confidence : float, default=0.95
        Probability that the noise on a count is at most that bound, in (0, 1).

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
    hatch_ : matplotlib PolyCollection or None
        Cells whose counts are within the noise.

    See Also
    --------
    NoisyCountsDisplay.from_estimator : Plots a fitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.plotting import NoisyCountsDisplay
    >>> display = NoisyCountsDisplay(np.array([[9, 0], [2, 7]]), feature_name="age", feature_bounds=(0, 100))
    >>> display.feature_name
    'age'
    """

    noisy_counts: np.ndarray
    _: KW_ONLY
    feature_name: str | None = None
    feature_bounds: Range | None = None
    target_bounds: Range | None = None
    classes: ArrayLike | None = None
    noise_scale: float | None = None
    confidence: float = 0.95

    @classmethod
    def from_estimator(
        cls,
        estimator,
        feature: int | str,
        *,
        confidence: float = 0.95,
        ax: Axes | None = None,
        cmap: str | Colormap = "viridis",
    ) -> NoisyCountsDisplay:
        """Plot the noisy table of one feature of a fitted estimator.

        Parameters
        ----------
        estimator : DPMICScorer
            A scorer fitted with ``mechanism="geometric"``.
        feature : int or str
            Name of the feature; its number if features have no names.
        confidence : float, default=0.95
            Confidence level of the bound on the noise up to which counts are hatched; in (0, 1).
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
        cmap : str or matplotlib Colormap, default="viridis"

        Returns
        -------
        NoisyCountsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the estimator has released no table, there is no such feature, or `confidence` is invalid.
        """
        check_confidence(confidence)
        check_published(estimator)
        if not hasattr(estimator, "noisy_counts_"):
            raise ValueError(
                f"estimator must be fitted with mechanism='geometric', which releases noisy counts, got {estimator!r}."
            )
        names = names_of(estimator)
        columns = estimator.n_features_in_, getattr(estimator, "feature_names_in_", None)
        index = numbers_of(*columns)(feature)
        if index is None:
            raise ValueError(f"feature must be {allowed_keys(*columns)}, got {feature!r}.")
        description = vars(estimator).get("_described")
        display = cls(
            estimator.noisy_counts_[index],
            feature_name=names[index],
            feature_bounds=None if description is None else description.domains[index],
            target_bounds=None if description is None else description.target,
            classes=None if description is None else description.classes,
            noise_scale=estimator.noise_scale_,
            confidence=confidence,
        )
        return display.plot(ax=ax, cmap=cmap)

    def plot(self, ax: Axes | None = None, *, cmap: str | Colormap = "viridis") -> Self:
        """Plot the table.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
        cmap : str or matplotlib Colormap, default="viridis"

        Returns
        -------
        self : NoisyCountsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If bounds are invalid.
        """
        n_parts, n_target_parts = np.shape(self.noisy_counts)
        x = side_of_range(self.feature_bounds, n_parts, "feature_bounds")
        if self.classes is not None:
            y = side_of_classes(np.asarray(self.classes))
        elif self.target_bounds is None:
            y = side_of_classes(np.arange(n_target_parts))
        else:
            y = side_of_range(self.target_bounds, n_target_parts, "target_bounds")
        ax = self._begin(ax, (WIDTH, 4.2))
        self.image_ = ax.imshow(
            np.transpose(self.noisy_counts), origin="lower", aspect="auto", cmap=cmap, extent=(*x.ends, *y.ends)
        )
        self.hatch_ = self._hatch(ax, x.edges, y.edges)
        ax.set_xlim(x.ends)
        ax.set_ylim(y.ends)
        x.write(ax.xaxis, label_of(self.feature_name or "feature", _MOST_LETTERS))
        y.write(ax.yaxis, "target")
        self.figure_.colorbar(self.image_, ax=ax, label="number of records, with noise")
        return self._end()

    def _hatch(self, ax, x_edges, y_edges):
        """Hatch the cells whose counts may be due to noise alone."""
        if not self.noise_scale:
            return None
        from matplotlib.collections import PolyCollection

        reach = laplace_quantile(self.noise_scale, self.confidence)
        cells = np.argwhere(np.asarray(self.noisy_counts) <= reach)
        corners = [
            [(x_edges[i + right], y_edges[j + top]) for right, top in ((0, 0), (1, 0), (1, 1), (0, 1))]
            for i, j in cells
        ]
        label = f"within the noise: at most {reach:,} records with {100 * self.confidence:g}% confidence"
        hatch = PolyCollection(corners, facecolor="none", edgecolor=_HATCH, hatch="////", linewidth=0, label=label)
        return ax.add_collection(hatch)
