"""The plot of a private summary."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.texts import budget
from skdpmic.plotting.figures import CHOSEN, LIMIT, Axes, Display, ink_of, labels_apart, write_beside
from skdpmic.release.summary import FLAG, PART, ColumnShares, PrivateSummary
from skdpmic.release.summary_cells import ABOVE, BELOW
from skdpmic.table.domains import MISSING, OTHER, Knots, LogRange

# Horizontally, parts extend from 0 to 1, with flags to their right. Vertically, heights are shares, and a row is this
# many times as high as the tallest bar: room for the ends of the range below, and a little above.
_HEIGHT, _TALLEST_AT = 1.55, 1.1
_SLOTS = {MISSING: 1.16, BELOW: 1.48, ABOVE: 1.80, OTHER: 1.80}
_FLAG_WIDTH, _RIGHT = 0.07, 2.1  # room for the number beside the bar of a flag
_MOST_LETTERS = 20  # of a name
_LETTERS = 26  # that fit below the parts
_MOST_LABELS = 4  # written individually
_SCALES = {LogRange: "(log)", Knots: "(knots)"}
_FINE = 0.0095  # smaller shares get another digit
_WIDE = 0.1  # half-width of intervals that is written, as with few people
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
        One line per bar of a column, followed by one per flag; None if there is no noise.

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
        if not isinstance(summary, PrivateSummary):
            raise TypeError(f"summary must be a PrivateSummary, got {type(summary).__name__}.")
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
        self._draw_bars(ax, floors)
        self._draw_intervals(ax, floors)
        self._draw_scale(ax, floors, tallest)
        for column, floor in zip(self.columns_, floors, strict=True):
            _write_parts(ax, column.cells, floor)
            _write_flags(ax, column, floor)
        self._write_names(ax, [floor + 0.4 * tallest for floor in floors])
        ax.set_xlim(-0.02, _RIGHT)
        ax.set_ylim(-tallest * _HEIGHT * max(len(floors), 1), 0)
        return self._end(self._title(), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)

    def _title(self):
        n_drawn, n = len(self.columns_), len(self.columns)
        return self.title if n_drawn == n else f"{self.title}\n{n_drawn} of {n:,} columns, suspicious first".strip()

    def _draw_bars(self, ax, floors):
        self.bars_, self.flags_ = [], []
        labels = {True: "suspicious: bold, with !", False: "nothing suspicious"}
        for column, floor in zip(self.columns_, floors, strict=True):
            is_suspicious, places = bool(column.suspicious), column.cells.part_places()
            style = {"bottom": floor, "color": LIMIT if is_suspicious else CHOSEN}
            apart = {"align": "edge", "edgecolor": ax.get_facecolor(), "linewidth": 0.5}
            label = labels.pop(is_suspicious, None)
            self.bars_.append(ax.bar(places[:-1], column.parts, np.diff(places), label=label, **apart, **style))
            self.flags_.append(ax.bar(_centres(column)[1], column.flags, _FLAG_WIDTH, **style))

    def _draw_intervals(self, ax, floors):
        lines = []
        for column, floor in zip(self.columns_, floors, strict=True):
            for kind, centres in zip((PART, FLAG), _centres(column), strict=True):
                ends = [(floor + lower, floor + upper) for of, *_, lower, upper in column.rows() if of == kind]
                lines += [(x, *end) for x, end in zip(centres, ends, strict=True)]
        self.intervals_ = None
        margin = min(max((max(of.flag_margin, of.part_margin) for of in self.columns_), default=0), 1)
        if margin:
            label = f"simultaneous 95% intervals, ± {margin:.0%}" if margin > _WIDE else "simultaneous 95% intervals"
            pale = {"colors": ink_of(ax), "linewidth": 4, "alpha": 0.3}  # bars remain visible
            self.intervals_ = ax.vlines(*np.transpose(lines), label=label, **pale)

    def _draw_scale(self, ax, floors, tallest):
        """Draw the base line of each row, and the height of a round share."""
        share = next((share for share in _ROUND_SHARES if share <= tallest), tallest)
        heights = [floor + share for floor in floors]
        label = f"dotted: {share:.0%} of records"
        for start, stop in ((0, 1), (min(_SLOTS.values()) - _FLAG_WIDTH, _RIGHT)):
            ax.hlines(floors, start, stop, color=ink_of(ax), linewidth=0.8)
            ax.hlines(heights, start, stop, color=ink_of(ax), linewidth=0.7, linestyle="dotted", alpha=0.6, label=label)
            label = None

    def _write_names(self, ax, heights):
        names = labels_apart([column.name for column in self.columns_], _MOST_LETTERS)
        names = [("! " if of.suspicious else "") + name for name, of in zip(names, self.columns_, strict=True)]
        for tick, column in zip(ax.set_yticks(heights, labels=names, fontsize="small"), self.columns_, strict=True):
            tick.label1.set_fontweight("bold" if column.suspicious else "normal")
        headers = {}
        for flag in dict.fromkeys(flag for column in self.columns_ for flag in column.cells.flags):
            headers.setdefault(_SLOTS[flag], []).append(flag)
        texts = ["\nor ".join(flags) for flags in headers.values()]
        ax.set_xticks(list(headers), labels=texts, fontsize="small")
        ax.tick_params(left=False, bottom=False, top=False, labelbottom=False, labeltop=True)
        ax.spines[:].set_visible(False)


def _centres(column):
    """The horizontal centres of the bars of parts, and of flags."""
    places = column.cells.part_places()
    return (places[:-1] + places[1:]) / 2, np.array([_SLOTS[flag] for flag in column.cells.flags])


def _write_flags(ax, column, floor):
    """Write the numbers that exceed the noise."""
    for x, share in zip(_centres(column)[1], column.flags, strict=True):
        if share > column.flag_margin:
            text = f"{share:.0%}" if share >= _FINE else f"{share:.1%}"
            write_beside(ax, text, (x + _FLAG_WIDTH / 2, floor), (2, 2), ha="left", va="baseline")


def _write_parts(ax, cells, floor):
    """Write the ends of the range below the bars, or the labels: all if there are few, else the first and the last."""
    if cells.is_nominal and cells.n_parts <= _MOST_LABELS:
        labels, n = labels_apart([labels[0] for labels in cells.part_ends()], _LETTERS // cells.n_parts), cells.n_parts
        texts = [((2 * part + 1) / (2 * n), "center", label) for part, label in enumerate(labels)]
    else:
        first, between, last = _ends(cells)
        texts = [(0, "left", first), (0.5, "center", between), (1, "right", last)]
    for x, side, text in texts:
        write_beside(ax, text, (x, floor), (0, -10), ha=side, va="baseline")


def _ends(cells):
    """The texts below the first part, in between (if there is room) and below the last part."""
    ends = cells.part_ends()
    if cells.is_nominal:
        first, last = labels_apart([ends[0][0], ends[-1][-1]], _LETTERS // 3)
        between = f"({len(cells.domain.labels)} labels)"
    else:
        first, last = ends[0].replace("T", " "), ends[-1].removeprefix(f"{ends[0][:10]}T").replace("T", " ")
        between = _SCALES.get(type(cells.domain), "")  # the same day is written once
    has_room = not between or len(first + between + last) < _LETTERS - 2
    return first, between if has_room else "…", last
