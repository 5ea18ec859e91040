"""The plot of released scores."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.private_estimator import best_first, check_has_scores, check_published
from skdpmic._utils.texts import budget, in_short, names_of
from skdpmic.plotting.figures import WIDTH, Axes, Display, draw_bars, feature_labels, ink_of
from skdpmic.privacy.composition import check_confidence
from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.top_k import OneShotTopK


@dataclass(eq=False, repr=False)
class ScoresDisplay(Display):
    """Plot of released scores as bars, the best at the top, with intervals for the noise-free scores.

    The scores are already private, so the plot costs no further budget and may be published. Bars of chosen features
    are filled and their names bold; those of others are hollow. If `null_scores` differ, as between numbers and labels,
    a bar shows the score minus the mean score of an unrelated column of the same kind, by which features are ranked.

    Parameters
    ----------
    scores : array-like of shape (n_features,)
        Noisy scores; scores below 0, which are possible if scores are not clamped, are drawn to the left.
    intervals : pair of array-likes of shape (n_features,), default=None
        Lower and upper ends, such as those of :meth:`skdpmic.DPMICScorer.scores_interval`; None draws none.
    ranking : array-like of shape (n_features,), default=None
        Rank of each feature, 1 for the best; None ranks by score.
    chosen : array-like of bool of shape (n_features,), default=None
        Features that are chosen; None means none.
    null_scores : array-like of shape (n_features,), default=None
        Mean score of a column of the same kind that is unrelated to the target. If any is not 0, bars and intervals
        show the score minus the null score, from 0 to the largest value that all kinds can reach.
    feature_names : sequence of str, default=None
        Names of the features; None numbers them.
    noise_margin : float, default=None
        Bound on the noise at this confidence, which is shaded around 0; None shades nothing.
    confidence : float, default=0.95
        Confidence level of the intervals and the margin.
    simultaneous : bool, default=False
        Whether the confidence holds for all features simultaneously, rather than for each separately.
    score_label, title : str, default="score", ""
        Label of the axis, and title.
    scores_at : str, default=""
        What the noise-free scores are for, such as "at the released shares", after a blank; added to the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        One bar per feature shown, best first.
    intervals_ : matplotlib ErrorbarContainer or None
    zero_ : matplotlib Line2D
        The base line of the bars, which represents the null scores if there are any.
    noise_ : matplotlib Patch or None
        The shaded range of the noise.

    See Also
    --------
    ScoresDisplay.from_estimator : Plots a fitted estimator.

    Examples
    --------
    >>> from skdpmic.plotting import ScoresDisplay
    >>> display = ScoresDisplay([0.1, 0.8, -0.05], feature_names=["age", "pay", "town"], noise_margin=0.1)
    >>> [float(bar.get_width()) for bar in display.plot().bars_]
    [0.8, 0.1, -0.05]
    """

    scores: ArrayLike
    _: KW_ONLY
    intervals: tuple[ArrayLike, ArrayLike] | None = None
    ranking: ArrayLike | None = None
    chosen: ArrayLike | None = None
    null_scores: ArrayLike | None = None
    feature_names: Sequence[str] | None = None
    noise_margin: float | None = None
    confidence: float = 0.95
    simultaneous: bool = False
    score_label: str = "score"
    title: str = ""
    scores_at: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator,
        *,
        confidence: float = 0.95,
        simultaneous: bool = False,
        max_features: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Plot the released scores of a fitted estimator.

        Parameters
        ----------
        estimator : DPMICScorer or DPMICSelector
            A fitted estimator.
        confidence : float, default=0.95
            Confidence level of the intervals and of the shaded noise; in (0, 1).
        simultaneous : bool, default=False
            Whether the confidence holds for all features simultaneously, rather than for each separately.
        max_features : int, default=20
            Maximum number of features shown, best first.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        ScoresDisplay

        Raises
        ------
        AttributeError
            If the estimator has released no scores.
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a parameter is invalid.

        Notes
        -----
        With ``mechanism="geometric"``, which adds noise to counts, the distribution of the scores is not known, so
        there are no intervals and nothing is shaded. If numbers and labels are compared, bars show the scores minus
        `null_scores_`, by which features are ranked.

        Examples
        --------
        >>> import numpy as np
        >>> from skdpmic import DPMICSelector
        >>> from skdpmic.plotting import ScoresDisplay
        >>> X = np.random.default_rng(0).uniform(size=(5000, 3))
        >>> selector = DPMICSelector(k=1, statistic="mtv_r", epsilon=5, bounds=(0, 1), target_bounds=(0, 1))
        >>> display = ScoresDisplay.from_estimator(selector.fit(X, X[:, 1] ** 2))
        >>> display.ax_.get_yticklabels()[0].get_text()
        'feature 1'
        """
        check_has_scores(estimator, cls.__name__)
        check_confidence(confidence)
        entry, intervals, margin = estimator._entry, None, None
        if hasattr(estimator, "noisy_counts_"):
            noise = f"from noisy counts, noise scale {in_short(estimator.noise_scale_)}"
        elif estimator.noise_scale_ == 0:
            noise = "without noise"
        else:
            noise = f"noise scale {in_short(estimator.noise_scale_, 2)}"
            intervals = estimator.scores_interval(confidence, simultaneous=simultaneous)
            n_together = len(estimator.scores_) if simultaneous else 1
            margin = estimator._mechanism_of_scores(cls.__name__).half_width(confidence, n_together)
        possible = getattr(estimator, "largest_possible_score_", None)
        of_possible = "" if possible is None else f", scores up to {in_short(possible)} possible"
        null_scores = getattr(estimator, "null_scores_", None)  # none with noise on counts
        what = "score minus null score" if np.any(null_scores) else "score"
        display = cls(
            estimator.scores_,
            intervals=intervals,
            ranking=estimator.ranking_,
            chosen=estimator.get_support() if hasattr(estimator, "get_support") else None,
            null_scores=null_scores,
            feature_names=names_of(estimator),
            noise_margin=margin,
            confidence=confidence,
            simultaneous=simultaneous,
            score_label=f"{what} ({noise})",
            title=f"{entry.statistic}, {budget(entry.epsilon, entry.delta)}{of_possible}",
            scores_at="" if intervals is None else estimator._scores_at,
        )
        return display.plot(ax, max_features=max_features)

    def plot(self, ax: Axes | None = None, *, max_features: int = 20) -> Self:
        """Plot the scores.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
        max_features : int, default=20
            Maximum number of features shown, best first.

        Returns
        -------
        self : ScoresDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `max_features` is invalid.
        """
        check_whole(max_features, "max_features")
        scores = self._above_null_score(self.scores)
        order = np.argsort(-scores if self.ranking is None else np.asarray(self.ranking), kind="stable")
        shown, left_out = order[:max_features], order[max_features:]
        chosen = np.zeros(len(scores), dtype=bool) if self.chosen is None else np.asarray(self.chosen, dtype=bool)
        ax = self._begin(ax, (WIDTH, 2.1 + 0.27 * (len(shown) + (len(left_out) > 0))))
        places = np.arange(len(shown))
        self._shade_noise("±", " (all)" if self.simultaneous else "")
        self._draw_bars(ax, places, scores[shown], chosen[shown])
        self._draw_intervals(ax, places, shown)
        self._name_features(ax, shown, left_out, chosen)
        null_score = "null score: mean score of an\nunrelated column of this kind"  # two lines, for a phone's width
        label = null_score if np.any(self.null_scores) else None
        self.zero_ = ax.axvline(0, color=ink_of(ax), linewidth=0.8, label=label)
        ax.set_xlabel(self.score_label)
        return self._end(self.title)

    def _above_null_score(self, scores):
        """Scores minus null scores, in the order of the ranking.

        Ranks are computed before scores are clamped to [0, 1], so clamped scores minus different amounts would be out
        of order: hence the same limits for all.
        """
        scores = np.asarray(scores, dtype=np.float64)
        if not np.any(self.null_scores):  # nor if there are none
            return scores
        null_scores = np.asarray(self.null_scores, dtype=np.float64)
        return np.clip(scores - null_scores, 0.0, 1.0 - null_scores.max())

    def _draw_bars(self, ax, places, scores, chosen):
        labels = ("chosen", "not chosen") if chosen.any() else ()
        self.bars_ = draw_bars(ax, places, scores, 0.62, chosen, labels)
        ends = [*scores.tolist(), 0.0]
        ax.set_xlim(min(ends) * 1.05, _right_of(max(ends)) or 1.0)
        ax.set_ylim(len(places) - 0.4, -0.6)

    def _draw_intervals(self, ax, places, shown):
        self.intervals_ = None
        if self.intervals is None:
            return
        lower, upper = (self._above_null_score(end)[shown] for end in self.intervals)
        held = "all noise-free scores" if self.simultaneous else "the noise-free score"
        self.intervals_ = ax.errorbar(
            (lower + upper) / 2,
            places,
            xerr=(upper - lower) / 2,
            fmt="none",
            ecolor=ink_of(ax),
            elinewidth=1.2,
            capsize=3,
            label=f"{100 * self.confidence:g}% interval for {held}{self.scores_at}".replace(" at the ", "\nat the "),
        )
        left, right = ax.get_xlim()
        ax.set_xlim(min(left, lower.min() * 1.05), max(right, _right_of(upper.max())))

    def _name_features(self, ax, shown, left_out, chosen):
        labels = feature_labels(self.feature_names, len(chosen))
        labels = [labels[j] for j in shown]
        if len(left_out):
            rest = f"and {len(left_out):,} more"
            labels.append(rest + (f", {chosen[left_out].sum():,} of them chosen" if chosen[left_out].any() else ""))
            ax.set_ylim(len(shown) + 0.6, -0.6)
        ticks = ax.set_yticks(range(len(labels)), labels=labels)
        for tick, j in zip(ticks, shown, strict=False):
            tick.label1.set_fontweight("bold" if chosen[j] else "normal")
        for tick in ticks[len(shown) :]:
            tick.label1.set_fontstyle("italic")
            tick.tick1line.set_visible(False)


def _right_of(end):
    """Where the axis ends: a little to the right, but not beyond 1, the largest score there is."""
    return min(1.05 * end, max(end, 1.0))


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
    ) -> Self:
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
        self._shade_noise()
        margin = self.noise_margin or 0.0
        kinds = ("clear", "may be noise") if margin else ()
        self.bars_ = draw_bars(ax, np.arange(len(shown)) + 0.5, shown, 0.45, shown > margin, kinds)
        ax.set_xlim(0, 1.05 * max([*shown.tolist(), margin]) or 1.0)
        places = [f"place {j + 1}" for j in range(n_chosen)]
        labels = places if self.feature_names is None else feature_labels(self.feature_names, n_chosen)
        ax.set_yticks(range(n_rows), labels=labels[:n_rows])
        ax.set_ylim(n_rows - 0.5, -0.5)
        ax.set_xlabel("noisy gap to the next feature chosen")
        return self._end(self.title)
