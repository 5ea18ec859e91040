"""The picture of a noisy table of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from skdpmic.checks.fitted import check_published
from skdpmic.plotting.figures import axes_for, explain, label_of, names_of
from skdpmic.privacy.arguments import check_confidence
from skdpmic.privacy.mechanisms import laplace_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from numpy.typing import ArrayLike

_HATCH = "0.6"
_MOST_LETTERS = 60


class NoisyCountsDisplay:
    """The noisy table of counts of one feature and the target, which ``mechanism="geometric"`` releases.

    The table is private already, so the picture costs no further budget and may be published. Counts that noise
    alone may have made are hatched: those up to a limit that the noise keeps to with this confidence.

    Parameters
    ----------
    noisy_counts : ndarray of shape (n_parts, n_target_parts)
        Rows are parts of the feature, columns parts of the target.
    feature_name : str, default=None
    feature_bounds : pair of floats, default=None
        Range of the feature, for the axis; None numbers the parts.
    target_bounds : pair of floats, default=None
        Range of a continuous target; None numbers the parts.
    classes : array-like of shape (n_target_parts,), default=None
        Labels of a discrete target.
    noise_scale : float, default=None
        Scale of the noise on each count, in records; None or 0 hatches nothing.
    confidence : float, default=0.95
        Probability that the noise on a count is no larger than that limit, in (0, 1).

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on; after :meth:`plot`.
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
    hatch_ : matplotlib PolyCollection or None
        The cells whose counts are within the noise.

    See Also
    --------
    NoisyCountsDisplay.from_estimator : From a fitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.plotting import NoisyCountsDisplay
    >>> display = NoisyCountsDisplay(np.array([[9, 0], [2, 7]]), feature_name="age", feature_bounds=(0, 100))
    >>> display.feature_name
    'age'
    """

    def __init__(
        self,
        noisy_counts: np.ndarray,
        *,
        feature_name: str | None = None,
        feature_bounds: tuple[float, float] | None = None,
        target_bounds: tuple[float, float] | None = None,
        classes: ArrayLike | None = None,
        noise_scale: float | None = None,
        confidence: float = 0.95,
    ) -> None:
        self.noisy_counts = noisy_counts
        self.feature_name = feature_name
        self.feature_bounds = feature_bounds
        self.target_bounds = target_bounds
        self.classes = classes
        self.noise_scale = noise_scale
        self.confidence = confidence

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
        """Draw the noisy table of one feature of a fitted estimator.

        Parameters
        ----------
        estimator : DPMICScorer or DPMICSelector
            Fitted with ``mechanism="geometric"``.
        feature : int or str
            Number of the feature, or its name.
        confidence : float, default=0.95
            Counts are hatched up to a limit that the noise, by its law, keeps to with this confidence; in (0, 1).
        ax : matplotlib Axes, default=None
            None makes a new figure.
        cmap : str or matplotlib Colormap, default="viridis"

        Returns
        -------
        NoisyCountsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the estimator has released no table, there is no such feature, or `confidence` is not as described.
        """
        check_confidence(confidence)
        check_published(estimator)
        if not hasattr(estimator, "noisy_counts_"):
            raise ValueError(
                f"estimator must be fitted with mechanism='geometric', which releases noisy counts, got {estimator!r}."
            )
        names = names_of(estimator)
        index = _index_of(feature, names, len(estimator.noisy_counts_))
        display = cls(
            estimator.noisy_counts_[index],
            feature_name=f"feature {index}" if names is None else names[index],
            feature_bounds=_bounds_of(getattr(estimator, "bounds", None), index, names),
            target_bounds=_pair_of_numbers(getattr(estimator, "target_bounds", None)),
            classes=_labels(getattr(estimator, "classes", None)),
            noise_scale=estimator.noise_scale_,
            confidence=confidence,
        )
        return display.plot(ax=ax, cmap=cmap)

    def plot(self, ax: Axes | None = None, *, cmap: str | Colormap = "viridis") -> Self:
        """Draw the table.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a new figure.
        cmap : str or matplotlib Colormap, default="viridis"

        Returns
        -------
        self : NoisyCountsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax, figure, is_new = axes_for(ax, type(self).__name__)
        n_parts, n_target_parts = np.shape(self.noisy_counts)
        x_lo, x_hi = (0, n_parts) if self.feature_bounds is None else self.feature_bounds
        target_ends = self.target_bounds if self.classes is None else None
        y_lo, y_hi = (-0.5, n_target_parts - 0.5) if target_ends is None else target_ends
        self.image_ = ax.imshow(
            np.transpose(self.noisy_counts), origin="lower", aspect="auto", cmap=cmap, extent=(x_lo, x_hi, y_lo, y_hi)
        )
        edges = np.linspace(x_lo, x_hi, n_parts + 1), np.linspace(y_lo, y_hi, n_target_parts + 1)
        self.hatch_ = self._hatch(ax, *edges)
        ax.set_xlim(x_lo, x_hi)
        ax.set_ylim(y_lo, y_hi)
        ax.set_xlabel(label_of(self.feature_name or "feature", _MOST_LETTERS))
        ax.set_ylabel("target")
        if target_ends is None:
            labels = np.arange(n_target_parts) if self.classes is None else np.asarray(self.classes)
            ax.set_yticks(range(n_target_parts), labels=[label_of(label) for label in labels])
        figure.colorbar(self.image_, ax=ax, label="records, with noise")
        explain(ax, is_new)
        self.ax_, self.figure_ = ax, figure
        return self

    def _hatch(self, ax, x_edges, y_edges):
        """Hatch the cells whose counts noise alone may have made."""
        if not self.noise_scale:
            return None
        from matplotlib.collections import PolyCollection

        reach = laplace_quantile(self.noise_scale, self.confidence)
        cells = np.argwhere(np.asarray(self.noisy_counts) <= reach)
        corners = [
            [(x_edges[i + right], y_edges[j + top]) for right, top in ((0, 0), (1, 0), (1, 1), (0, 1))]
            for i, j in cells
        ]
        label = f"within the noise: {100 * self.confidence:g} % of it is at most {reach:,} records"
        hatch = PolyCollection(corners, facecolor="none", edgecolor=_HATCH, hatch="////", linewidth=0, label=label)
        return ax.add_collection(hatch)


def _index_of(feature, names, n_features):
    if isinstance(feature, str):
        if names is None or feature not in list(names):
            raise ValueError(f"feature must be a name in feature_names_in_ or a number, got {feature!r}.")
        return list(names).index(feature)
    if not 0 <= feature < n_features:
        raise ValueError(f"feature must be in [0, {n_features}), got {feature!r}.")
    return int(feature)


def _bounds_of(bounds, index, names):
    """The range of one feature, if `bounds` gives it in numbers."""
    if isinstance(bounds, dict):
        return None if names is None else _pair_of_numbers(bounds.get(names[index]))
    if bounds is None or isinstance(bounds, str):
        return None
    return _pair_of_numbers([bound if np.ndim(bound) == 0 else np.asarray(bound)[index] for bound in bounds])


def _pair_of_numbers(bounds):
    return None if bounds is None or isinstance(bounds, str) else tuple(float(bound) for bound in bounds)


def _labels(classes):
    """Labels in the order of the columns, if they are public."""
    return None if classes is None or isinstance(classes, str) else np.unique(classes)
