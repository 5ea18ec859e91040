"""The plots of released numbers: the shares of a summary, scores, and gaps between scores."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.private_estimator import best_first, check_publishes
from skdpmic._utils.texts import budget, in_short, names_of, require_type
from skdpmic.plotting.figures import CHOSEN, LIMIT, WIDTH, Axes, Display, feature_labels, labels_apart
from skdpmic.privacy.composition import check_confidence
from skdpmic.privacy.mechanisms import GRID
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.release.summary import ColumnShares, PrivateSummary
from skdpmic.release.summary_cells import ABOVE, BELOW
from skdpmic.table.domains import MISSING, OTHER, Integers, Knots, LogRange

# Horizontally, parts extend from 0 to 1, with flags to their right. Vertically, heights are shares, and a row is this
# many times as high as the tallest bar: room for the ends of the range below, and a little above.
_HEIGHT, _TALLEST_AT = 1.55, 1.1
_SLOTS = {MISSING: 1.16, BELOW: 1.48, ABOVE: 1.80, OTHER: 1.80}
_FLAG_WIDTH, _RIGHT = 0.07, 2.1  # room for the number beside the bar of a flag
_MOST_LETTERS = 20  # of a name
_LETTERS = 26  # that fit below the parts
_MOST_LABELS = 4  # written individually
_SCALES = {LogRange: "(log)", Knots: "(knots)", Integers: "(integers)"}
_ROUND_SHARES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


@dataclass(eq=False, repr=False)
class SummaryDisplay(Display):
    """Plot of a private summary: the distribution of each column, and its missing, clipped and unknown values.

    Each row is a column of the table. Its bars are the shares of records in the parts of its range, in order, or with
    each of its labels; with many labels, neighbours share a bar. To the right are the shares of values that are
    missing, below or above the range, or not among the labels, with numbers if they exceed the noise. Pale lines are
    simultaneous 95% intervals. Suspicious columns are at the top, with bold names after an exclamation mark and bars of
    another colour; see ``suspicious`` of the summary for the findings. All heights are on one scale.

    The shares are already private, so the plot costs no further budget and may be published.

    Parameters
    ----------
    columns : sequence of ColumnShares
        As in `columns` of a :class:`~skdpmic.release.summary.PrivateSummary`.
    title : str, default=""
        Title of the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    columns_ : list of ColumnShares
        Columns shown, from the top.
    bars_ : list of matplotlib BarContainer
        For each of these, the parts of its range, or its labels.
    flags_ : list of matplotlib BarContainer
        For each of these, the missing, below, above or other values.
    intervals_ : matplotlib LineCollection or None
        One line per flag of a column, followed by one per bar; None if there is no noise.

    See Also
    --------
    SummaryDisplay.from_summary : Plots the result of `private_summary`.
    skdpmic.private_summary : Releases the shares.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdpmic import Codebook, private_summary
    >>> from skdpmic.plotting import SummaryDisplay
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"age": rng.uniform(20, 90, 10_000), "sex": rng.choice(["F", "M"], 10_000)})
    >>> summary = private_summary(frame, Codebook({"age": (0, 110), "sex": ["f", "m"]}), epsilon=1)
    >>> display = SummaryDisplay.from_summary(summary)
    >>> [name.get_text() for name in display.ax_.get_yticklabels()]
    ['! sex', 'age']
    """

    columns: Sequence[ColumnShares]
    _: KW_ONLY
    title: str = ""

    @classmethod
    def from_summary(cls, summary: PrivateSummary, *, max_columns: int = 20, ax: Axes | None = None) -> Self:
        """Plot a private summary of a table.

        Parameters
        ----------
        summary : PrivateSummary
            Result of :func:`skdpmic.private_summary`.
        max_columns : int, default=20
            Maximum number of columns shown, suspicious ones first.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        SummaryDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError
            If `summary` is not a PrivateSummary.
        ValueError
            If `max_columns` is invalid.
        """
        require_type(isinstance(summary, PrivateSummary), "summary must be a PrivateSummary", summary)
        title = f"{summary.n_samples:,} records, {budget(*summary.privacy_spent)}"
        return cls(summary.columns, title=title).plot(ax, max_columns=max_columns)

    def plot(self, ax: Axes | None = None, *, max_columns: int = 20) -> Self:
        """Plot the shares.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
        max_columns : int, default=20
            Maximum number of columns shown, suspicious ones first.

        Returns
        -------
        self : SummaryDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `max_columns` is invalid.
        """
        check_whole(max_columns, "max_columns")
        self.columns_ = sorted(self.columns, key=lambda column: not column.suspicious)[:max_columns]
        tallest = max((upper for column in self.columns_ for *_, upper in column.rows()), default=0.0) or 1.0
        floors = [-tallest * (_HEIGHT * i + _TALLEST_AT) for i in range(len(self.columns_))]
        ax = self._begin(ax, (4.8, 1.5 + 0.6 * len(floors)))
        self.bars_: list[Any] = []
        self.flags_: list[Any] = []
        for column, floor in zip(self.columns_, floors, strict=True):
            self._draw_bars(ax, column, floor)
            self._write_parts(column.cells, floor)
        self._draw_intervals(ax, floors)
        share = next((share for share in _ROUND_SHARES if share <= tallest), tallest)
        heights, label = [floor + share for floor in floors], f"height of {share:.0%} of the records"
        ax.hlines(floors, 0, _RIGHT, color=self._ink, linewidth=0.8)
        ax.hlines(heights, 0, _RIGHT, color=self._ink, linewidth=0.7, linestyle="dotted", alpha=0.6, label=label)
        self._write_names(ax, [floor + 0.4 * tallest for floor in floors])
        ax.set_xlim(-0.02, _RIGHT)
        ax.set_ylim(-tallest * _HEIGHT * max(len(floors), 1), 0)
        n_drawn, n = len(self.columns_), len(self.columns)
        title = self.title if n_drawn == n else f"{self.title}\n{n_drawn} of {n:,} columns, suspicious first".strip()
        return self._end(title, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)

    def _draw_bars(self, ax, column, floor):
        """Draw the parts and the flags of a column, and write the shares of flags that exceed the noise."""
        places, slots = column.cells.part_places(), [_SLOTS[flag] for flag in column.cells.flags]
        color, label = (LIMIT, "check this column: bold, with !") if column.suspicious else (CHOSEN, "nothing to check")
        style = {"bottom": floor, "color": color, "label": label}
        apart = {"align": "edge", "edgecolor": ax.get_facecolor(), "linewidth": 0.5}
        self.bars_.append(ax.bar(places[:-1], column.parts, np.diff(places), **apart, **style))
        self.flags_.append(ax.bar(slots, column.flags, _FLAG_WIDTH, **style))
        for x, share in zip(slots, column.flags, strict=True):
            if share > column.flag_margin:
                self._write(f"{share:.1%}", (x + _FLAG_WIDTH / 2, floor), (2, 2), "left")

    def _draw_intervals(self, ax, floors):
        margin = min(max((max(of.flag_margin, of.part_margin) for of in self.columns_), default=0), 1)
        self.intervals_ = None
        if not margin:
            return
        lines = []
        for column, floor, *of_kinds in zip(self.columns_, floors, self.flags_, self.bars_, strict=True):
            places = [bar.get_x() + bar.get_width() / 2 for bars in of_kinds for bar in bars]
            rows = zip(places, column.rows(), strict=True)
            lines += [(place, floor + lower, floor + upper) for place, (*_, lower, upper) in rows]
        label = f"where bars may end without noise: ± {margin:.1%}\nor less, with 95% confidence for all"
        pale = {"colors": self._ink, "linewidth": 4, "alpha": 0.3}  # bars remain visible
        self.intervals_ = ax.vlines(*np.transpose(lines), label=label, **pale)

    def _write_parts(self, cells, floor):
        """Write the ends of the range below the bars, or the labels: all if few, else the first and the last."""
        if cells.has_names and cells.n_parts <= _MOST_LABELS:
            firsts, n = [labels[0] for labels in cells.part_ends()], cells.n_parts
            labels = labels_apart(firsts, _LETTERS // n)
            texts = [((2 * part + 1) / (2 * n), "center", label) for part, label in enumerate(labels)]
        else:
            first, last = cells.first_and_last()
            between = f"({cells.n_values} labels)" if cells.is_nominal else _SCALES.get(type(cells.domain), "")
            if not cells.has_names:
                last = last.removeprefix(f"{first[:10]}T")  # the same day is written once
            first, last = labels_apart([first, last], _LETTERS // 2 - 1)
            between = between if len(first + between + last) < _LETTERS - 2 else "…"
            texts = [(0, "left", first), (0.5, "center", between), (1, "right", last)]
        for x, side, text in texts:
            self._write(text, (x, floor), (0, -10), side)

    def _write(self, text, place, offset, side):
        """Write small text at this offset, in points, from a position."""
        style = {"fontsize": "small", "color": self._ink, "ha": side, "va": "baseline"}
        self.ax_.annotate(text, place, xytext=offset, textcoords="offset points", **style)

    def _write_names(self, ax, heights):
        names = labels_apart([column.name for column in self.columns_], _MOST_LETTERS)
        names = [("! " if of.suspicious else "") + name for name, of in zip(names, self.columns_, strict=True)]
        for tick, column in zip(ax.set_yticks(heights, labels=names, fontsize="small"), self.columns_, strict=True):
            tick.label1.set_fontweight("bold" if column.suspicious else "normal")
        headers = "missing", "below\nrange", "above\nrange\nor other"
        ax.set_xticks([_SLOTS[flag] for flag in (MISSING, BELOW, ABOVE)], labels=headers, fontsize="small")
        ax.tick_params(left=False, bottom=False, top=False, labelbottom=False, labeltop=True)
        ax.spines[:].set_visible(False)


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
    intervals_ : matplotlib LineCollection or None
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
        must = f"{cls.__name__} requires released scores, which DPMICScorer and DPMICSelector publish"
        check_publishes(estimator, "scores_", must)
        check_confidence(confidence)
        entry, scale, of_noise = estimator._entry, estimator.noise_scale_, {}
        noise = f"noise scale {in_short(scale, 2)}" if scale else "without noise"
        if hasattr(estimator, "noisy_counts_"):
            noise += " on counts"
        elif scale:
            n_together = len(estimator.scores_) if simultaneous else 1
            of_noise = {
                "intervals": estimator.scores_interval(confidence, simultaneous=simultaneous),
                "noise_margin": estimator._mechanism_of_scores(cls.__name__).half_width(confidence, n_together),
                "scores_at": estimator._learnt_of_target,
            }
        possible = getattr(estimator, "largest_possible_score_", None)
        of_possible = "" if possible is None else f", scores up to {in_short(possible)} possible"
        null_scores = getattr(estimator, "null_scores_", None)  # none with noise on counts
        what = "score minus null score" if np.any(null_scores) else "score"
        return cls(
            estimator.scores_,
            ranking=estimator.ranking_,
            chosen=estimator.get_support() if hasattr(estimator, "get_support") else None,
            null_scores=null_scores,
            feature_names=names_of(estimator),
            confidence=confidence,
            simultaneous=simultaneous,
            score_label=f"{what} ({noise})",
            title=f"{entry.statistic}, {budget(entry.epsilon, entry.delta)}{of_possible}",
            **of_noise,
        ).plot(ax, max_features=max_features)

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
        self._shade_noise("±", " (all)" if self.simultaneous else "")
        kinds = ("chosen", "not chosen") if chosen.any() else ("", "")
        self._draw_bars_across(range(len(shown)), scores[shown], 0.62, chosen[shown], kinds)
        ends = [0.0, *scores[shown], *self._draw_intervals(ax, shown)]
        largest = max(ends) or 1.0
        ax.set_xlim(1.05 * min(ends), min(1.05 * largest, max(largest, 1.0)))  # 1 is the largest score there is
        self._name_features(ax, shown, left_out, chosen)
        null_score = "null score: mean score of an\nunrelated column of this kind"  # two lines, for a phone's width
        label = null_score if np.any(self.null_scores) else None
        self.zero_ = ax.axvline(0, color=self._ink, linewidth=0.8, label=label)
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

    def _draw_intervals(self, ax, shown):
        """Draw the intervals of these features; return their ends."""
        self.intervals_ = None
        if self.intervals is None:
            return []
        lower, upper = (self._above_null_score(end)[shown] for end in self.intervals)
        held = "all noise-free scores" if self.simultaneous else "the noise-free score"
        label = f"{100 * self.confidence:g}% interval for {held}{self.scores_at}".replace(" at the ", "\nat the ")
        self.intervals_ = ax.hlines(range(len(shown)), lower, upper, color=self._ink, linewidth=1.2, label=label)
        return [*lower, *upper]

    def _name_features(self, ax, shown, left_out, chosen):
        names = feature_labels(self.feature_names, len(chosen))
        labels = [names[j] for j in shown]
        if len(left_out):
            n_chosen = chosen[left_out].sum()
            labels.append(f"and {len(left_out):,} more" + (f", {n_chosen:,} of them chosen" if n_chosen else ""))
        ax.set_ylim(len(labels) - 0.4, -0.6)
        for tick, j in zip(ax.set_yticks(range(len(labels)), labels=labels), shown, strict=False):
            tick.label1.set_fontweight("bold" if chosen[j] else "normal")


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
        >>> selector = PrivateSelectKBest(k=2, epsilon=0.2, bounds=(0, 1), target_bounds=(0, 1))
        >>> display = GapsDisplay.from_estimator(selector.fit(X, X[:, 1] ** 2))
        >>> display.ax_.get_yticklabels()[0].get_text()
        'feature 1'
        """
        publisher = "which PrivateSelectKBest(criterion='single') publishes with mechanism_='one-shot'"
        check_publishes(estimator, "gaps_", f"{cls.__name__} requires released gaps, {publisher}")
        check_confidence(confidence)
        names = names_of(estimator)
        noise = OneShotTopK(1, int(estimator.noise_scale_ / GRID))
        return cls(
            estimator.gaps_,
            feature_names=[names[j] for j in best_first(estimator.ranking_)[: estimator.n_ranked_]],
            noise_margin=noise.half_width(confidence) or None,
            confidence=confidence,
            title=f"{estimator._entry.statistic}, {budget(*estimator.privacy_spent_)}",
        ).plot(ax, max_features=max_features)

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
        kinds = ("clear", "may be noise") if margin else ("", "")
        self._draw_bars_across(np.arange(len(shown)) + 0.5, shown, 0.45, shown > margin, kinds)
        ax.set_xlim(0, 1.05 * max([*shown.tolist(), margin]) or 1.0)
        names = [f"place {j + 1}" for j in range(n_chosen)] if self.feature_names is None else self.feature_names
        ax.set_yticks(range(n_rows), labels=labels_apart(names)[:n_rows])
        ax.set_ylim(n_rows - 0.5, -0.5)
        ax.set_xlabel("noisy gap to the next feature chosen")
        return self._end(self.title)
