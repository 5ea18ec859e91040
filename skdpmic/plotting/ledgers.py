"""The plot of a budget and its charges."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.texts import budget, cost_rounded_up, in_short, quoted
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.budget.ledger_entry import per
from skdpmic.plotting.figures import CHOSEN, LIMIT, WIDTH, Axes, Display, label_of, write_beside, write_dates

_MOST_LETTERS = 44  # per line of a label


@dataclass(eq=False, repr=False)
class LedgerDisplay(Display):
    """Plot of the charges of a privacy budget, by entry or over time, with its limit as a line.

    Parameters
    ----------
    entries : sequence of LedgerEntry
        Result of :meth:`skdpmic.BudgetLedger.entries`, oldest first.
    spent : array-like of shape (n_entries, 2)
        Epsilon and delta spent up to and including each entry.
    epsilon : float
        Limit of the total.
    delta : float, default=0.0
        Limit of the total.
    unit : {"record", "person"} or None, default=None
        What the total and the limit are for; None if unknown.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer or None
        By entry: from the total before to the total after each entry.
    line_ : matplotlib Line2D or None
        Over time: the total spent.
    limit_ : matplotlib Line2D
        The limit of epsilon.

    See Also
    --------
    LedgerDisplay.from_ledger : Plots a ledger.
    skdpmic.BudgetLedger : The ledger.

    Examples
    --------
    >>> from skdpmic.plotting import LedgerDisplay
    >>> from skdpmic.budget.ledger_entry import LedgerEntry
    >>> entries = [LedgerEntry("means", epsilon=0.3, when="2026-03-01T12:00:00.000+00:00")]
    >>> display = LedgerDisplay(entries, [(0.3, 0.0)], epsilon=1.0).plot()
    >>> float(display.bars_[0].get_width()), display.limit_.get_xdata()[0]
    (0.3, 1.0)
    """

    entries: Sequence
    spent: ArrayLike
    _: KW_ONLY
    epsilon: float
    delta: float = 0.0
    unit: str | None = None

    @classmethod
    def from_ledger(
        cls, ledger: BudgetLedger, *, by: str = "entry", max_entries: int = 20, ax: Axes | None = None
    ) -> Self:
        """Plot the charges of a ledger. Its file is read once, and not changed.

        Parameters
        ----------
        ledger : BudgetLedger
        by : {"entry", "time"}, default="entry"
            One bar per entry, or a curve over time.
        max_entries : int, default=20
            Maximum number of entries with separate bars, newest first; older entries share one bar.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        LedgerDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError
            If `ledger` is not a :class:`skdpmic.BudgetLedger`.
        ValueError, OSError
            If a parameter is invalid, or the ledger cannot be read.

        Notes
        -----
        A bar goes from the total before an entry to the total after it. With ``composition="zcdp"``, where the total is
        less than the sum of the costs, it is shorter than the cost of its fit alone, which is written beside it.
        With `max_rows_per_person`, a cost per record is longer, because it counts for all records of a person. Refused
        charges cost nothing and are not recorded.

        Consider who may see the plot: it shows the analyses, their purposes and times, but nothing about the records.

        Examples
        --------
        >>> import tempfile
        >>> from skdpmic import BudgetLedger
        >>> from skdpmic.plotting import LedgerDisplay
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
        ...     ledger.charge("means by ward", 0.25)
        ...     ledger.charge("PrivateSelectKBest", 0.5)
        ...     display = LedgerDisplay.from_ledger(ledger)
        >>> [float(bar.get_width()) for bar in display.bars_]
        [0.25, 0.5]
        """
        if not isinstance(ledger, BudgetLedger):
            raise TypeError(f"ledger must be a BudgetLedger, got {type(ledger).__name__}.")
        entries, spent = ledger.history()
        unit = ledger.limits.unit_of(entries)
        display = cls(entries, spent, epsilon=ledger.epsilon, delta=ledger.delta, unit=unit)
        return display.plot(ax, by=by, max_entries=max_entries)

    def plot(self, ax: Axes | None = None, *, by: str = "entry", max_entries: int = 20) -> Self:
        """Plot the entries.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
        by : {"entry", "time"}, default="entry"
            One bar per entry, or a curve over time.
        max_entries : int, default=20
            Maximum number of entries with separate bars, newest first; older entries share one bar.

        Returns
        -------
        self : LedgerDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a parameter is invalid.
        """
        if by not in ("entry", "time"):
            raise ValueError(f"by must be 'entry' or 'time', got {quoted(by)}.")
        check_whole(max_entries, "max_entries")
        n_rows = min(len(self.entries), max_entries + 1)
        size = WIDTH, 1.6 + 0.42 * max(n_rows, 1) if by == "entry" else 3.6
        ax = self._begin(ax, size)
        spent = np.reshape(np.asarray(self.spent, dtype=np.float64), (-1, 2))
        self.bars_ = self.line_ = None
        if by == "entry":
            self._draw_bars(ax, spent, max_entries)
        else:
            self._draw_line(ax, spent)
        total = spent[-1] if len(spent) else np.zeros(2)
        deltas = f", δ = {cost_rounded_up(total[1]):g} of {self.delta:g}" if self.delta > 0 else ""
        return self._end(f"{budget(total[0])} of {in_short(self.epsilon)}{per(self.unit)} spent{deltas}")

    def _draw_bars(self, ax, spent, max_entries):
        n_older = max(len(self.entries) - max_entries, 0)
        ends = np.r_[0.0, spent[max(n_older - 1, 0) :, 0]]
        left, right, places = ends[:-1], ends[1:], np.arange(len(ends) - 1)
        self.bars_ = ax.barh(places, right - left, left=left, height=0.62, color=CHOSEN, label="spent")
        self.limit_ = ax.axvline(self.epsilon, color=LIMIT, linestyle="dashed", linewidth=2, label="limit")
        newest = self.entries[n_older:]
        labels = [_label(entry) for entry in newest]
        costs = [budget(entry.epsilon, entry.delta) + per(entry.unit) for entry in newest]
        if n_older:
            labels, costs = [f"{n_older:,} earlier", *labels], ["", *costs]
        ax.set_yticks(places, labels=labels, fontsize="small")
        for place, start, end, cost in zip(places, left, right, costs, strict=True):
            self._write_cost(ax, place, start, end, cost)
        ax.set_xlim(0, max(self.epsilon, ends[-1]) * 1.05)
        ax.set_ylim(max(len(places), 1) - 0.4, -0.6)
        ax.set_xlabel(f"ε spent{per(self.unit)}, oldest on top")

    def _write_cost(self, ax, place, start, end, cost):
        """Write the cost of one entry beside its bar if there is room, else on it."""
        if end < 0.6 * self.epsilon:
            write_beside(ax, cost, (end, place), (4, 0), ha="left", va="center")
        elif start > 0.4 * self.epsilon:
            write_beside(ax, cost, (start, place), (-4, 0), ha="right", va="center")
        else:
            write_beside(ax, cost, ((start + end) / 2, place), (0, 0), ha="center", va="center", color="white")

    def _draw_line(self, ax, spent):
        times = [datetime.fromisoformat(entry.when) for entry in self.entries]
        style = {"color": CHOSEN, "marker": "o", "markersize": 4}
        (self.line_,) = ax.step(times, spent[:, 0], where="post", label="ε spent", **style)
        self.limit_ = ax.axhline(self.epsilon, color=LIMIT, linestyle="dashed", linewidth=2, label="limit")
        ax.set_ylim(0, max([self.epsilon, *spent[:, 0]]) * 1.05)
        ax.set_ylabel(f"ε{per(self.unit)}")
        ax.set_xlabel("time (UTC)")
        write_dates(ax.xaxis)


def _label(entry):
    """What spent it, and below that the release."""
    return "\n".join(label_of(text, _MOST_LETTERS) for text in (entry.spender, entry.released) if text)
