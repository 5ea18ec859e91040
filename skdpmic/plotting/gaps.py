"""The plot of the gaps between chosen features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.results import best_first
from skdpmic._utils.texts import budget, in_short, names_of
from skdpmic.plotting.figures import CHOSEN, NOISE, WIDTH, Display, feature_labels, ink_of
from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.parameters import check_confidence
from skdpmic.privacy.top_k import OneShotTopK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


@dataclass(eq=False, repr=False)
class GapsDisplay(Display):
    """Plot of the gaps between the noisy scores of the features chosen, in order.

    A bar between two features is the difference of their noisy scores. Bars that reach beyond the shaded noise are
    filled: if any later feature were as good as the upper one, a gap that large would have a probability of at most
    1 - `confidence`. The gaps are already private, so the plot costs no further budget and may be published. The last
    feature has no gap: its distance to the features that were not chosen is not known.

    Parameters
    ----------
    gaps : array-like of shape (n_chosen - 1,)
        Gaps, such as `gaps_` of :class:`skdpmic.PrivateSelectKBest`.
    feature_names : sequence of str of length n_chosen, default=None
        Names in the order of the choice; None numbers the ranks.
    noise_margin : float, default=None
        Bound on the noise at this confidence, which is shaded; None shades nothing.
    confidence : float, default=0.95
        Confidence level of the margin, for each gap separately.
    title : str, default=""
        Title of the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        One bar per gap shown, from the best feature on.
    noise_ : matplotlib Patch or None
        The shaded range of the noise.

    See Also
    --------
    GapsDisplay.from_estimator : Plots a fitted estimator.
    ScoresDisplay : Plots scores, if these were released.

    Examples
    --------
    >>> from skdpmic.plotting import GapsDisplay
    >>> display = GapsDisplay([0.3, 0.02], feature_names=["pay", "age", "town"], noise_margin=0.1)
    >>> [float(bar.get_width()) for bar in display.plot().bars_]
    [0.3, 0.02]
    """

    gaps: ArrayLike
    _: KW_ONLY
    feature_names: Sequence[str] | None = None
    noise_margin: float | None = None
    confidence: float = 0.95
    title: str = ""

    @classmethod
    def from_estimator(
        cls, estimator, *, confidence: float = 0.95, max_features: int = 20, ax: Axes | None = None
    ) -> GapsDisplay:
        """Plot the gaps between the features chosen by a fitted selector.

        Parameters
        ----------
        estimator : PrivateSelectKBest
            A fitted selector with ``mechanism_="one-shot"``.
        confidence : float, default=0.95
            Confidence level of the shaded noise, for each gap separately; in (0, 1).
        max_features : int, default=20
            Maximum number of features shown, best first.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        GapsDisplay

        Raises
        ------
        AttributeError
            If the estimator has released no gaps.
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a parameter is invalid.

        Examples
        --------
        >>> import numpy as np
        >>> from skdpmic import PrivateSelectKBest
        >>> from skdpmic.plotting import GapsDisplay
        >>> X = np.random.default_rng(0).uniform(size=(5000, 5))
        >>> selector = PrivateSelectKBest(k=2, epsilon=0.3, bounds=(0, 1), target_bounds=(0, 1))
        >>> display = GapsDisplay.from_estimator(selector.fit(X, X[:, 1] ** 2))
        >>> display.ax_.get_yticklabels()[0].get_text()
        'feature 1'
        """
        check_published(estimator)
        if not hasattr(estimator, "gaps_"):
            raise AttributeError(
                f"{cls.__name__} requires released gaps, which PrivateSelectKBest publishes with "
                f"mechanism_='one-shot', got {type(estimator).__name__}."
            )
        check_confidence(confidence)
        check_whole(max_features, "max_features")
        names = names_of(estimator)
        noise = OneShotTopK(1, int(estimator.noise_scale_ / GRID))
        display = cls(
            estimator.gaps_,
            feature_names=[names[j] for j in best_first(estimator.ranking_)[: estimator.n_ranked_]],
            noise_margin=noise.half_width(confidence) or None,
            confidence=confidence,
            title=f"{estimator._entry.statistic}, {budget(*estimator.privacy_spent_)}",
        )
        return display.plot(ax, max_features=max_features)

    def plot(self, ax: Axes | None = None, *, max_features: int = 20) -> Self:
        """Plot the gaps.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
        max_features : int, default=20
            Maximum number of features shown, best first.

        Returns
        -------
        self : GapsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `max_features` is invalid.
        """
        check_whole(max_features, "max_features")
        gaps = np.asarray(self.gaps, dtype=np.float64)
        n_chosen, shown = len(gaps) + 1, gaps[: max_features - 1]
        n_rows = len(shown) + 1
        ax = self._begin(ax, (WIDTH, 1.8 + 0.34 * n_rows))
        self._shade_noise(ax)
        self._draw_bars(ax, shown)
        places = [f"place {j + 1}" for j in range(n_chosen)]
        labels = places if self.feature_names is None else feature_labels(self.feature_names, n_chosen)
        ax.set_yticks(range(n_rows), labels=labels[:n_rows])
        ax.set_ylim(n_rows - 0.5, -0.5)
        ax.set_xlabel("noisy gap to the next feature chosen")
        return self._end(self.title)

    def _shade_noise(self, ax):
        self.noise_ = None
        if self.noise_margin:
            reach = f"noise: at most {in_short(self.noise_margin)} with {100 * self.confidence:g}% confidence"
            self.noise_ = ax.axvspan(0, self.noise_margin, color=NOISE, alpha=0.25, linewidth=0, label=reach)

    def _draw_bars(self, ax, gaps):
        is_clear = gaps > (self.noise_margin or 0.0)
        fill = np.where(is_clear, CHOSEN, "none").tolist()
        edge = np.where(is_clear, CHOSEN, ink_of(ax)).tolist()
        self.bars_ = ax.barh(np.arange(len(gaps)) + 0.5, gaps, height=0.45, color=fill, edgecolor=edge)
        for clear, label in ((True, "clear"), (False, "may be noise")):
            if self.noise_margin and (is_clear == clear).any():
                self.bars_[int(np.flatnonzero(is_clear == clear)[0])].set_label(label)
        ax.set_xlim(0, 1.05 * max([*gaps.tolist(), self.noise_margin or 0.0]) or 1.0)
