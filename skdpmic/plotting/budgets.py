"""The plots of a budget: the noise that it will buy, by the number of records, and what is spent of it."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from skdpmic._utils.arguments import check_whole, is_number
from skdpmic._utils.texts import budget, cost_rounded_up, in_short, require, require_type, shortened
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.budget.ledger_entry import per
from skdpmic.planning.plan import Request, checked, planned_releases
from skdpmic.plotting.figures import CHOSEN, CURVES, LIMIT, USABLE, WIDTH, Axes, Display, label_of

_SIZES = np.unique(np.geomspace(100, 1_000_000, 25).round().astype(int))
_USABLE = {"error": 0.1, "found": 0.8}
_LINES = ("solid", "dashed", "dashdot", "dotted")
_MARKERS = "osD^vP"
_LETTERS = 66  # in a line with the label of a charge and its cost


@dataclass(eq=False, repr=False)
class PlanDisplay(Display):
    """Plot of the noise of a release, or of the share of features it finds, against the number of records.

    There is a curve for each epsilon. The plot uses public numbers only, so it costs no budget and needs no data.

    Parameters
    ----------
    n_samples : array-like of int of shape (n_sizes,)
        Numbers of records, ascending.
    epsilons : array-like of shape (n_epsilons,)
    values : array-like of shape (n_epsilons, n_sizes)
        Errors or shares found, as in :func:`skdpmic.plan_release`; NaN if there is none.
    show : {"error", "found"}, default="error"
        Type of the values.
    usable : float, default=None
        Largest error, or smallest share, that is enough; None means 0.1 and 0.8.
    enough : sequence of int or None, of length n_epsilons, default=None
        For each epsilon, the number of records that is enough; None if there is none.
    title : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        Curve for each epsilon.
    enough_ : list of matplotlib Line2D
        Marker where each curve reaches what is enough; at NaN if it does not.
    usable_ : matplotlib Patch
        The range of what is enough.

    See Also
    --------
    PlanDisplay.from_plan : Plots a plan from public numbers.
    skdpmic.plan_release : Returns the same as a table, for one epsilon and one number of records.

    Examples
    --------
    >>> from skdpmic.plotting import PlanDisplay
    >>> display = PlanDisplay([100, 1000], [1.0], [[0.5, 0.05]], enough=[500]).plot()
    >>> display.lines_[0].get_ydata()
    array([0.5 , 0.05])
    """

    n_samples: ArrayLike
    epsilons: ArrayLike
    values: ArrayLike
    _: KW_ONLY
    show: str = "error"
    usable: float | None = None
    enough: Sequence[int | None] | None = None
    title: str = ""

    @classmethod
    def from_plan(
        cls,
        *,
        n_features: int,
        k: int | None = None,
        statistic: str = "mtv_r",
        epsilons: ArrayLike = (0.1, 0.3, 1, 3),
        n_samples: ArrayLike | None = None,
        release: str | None = None,
        show: str | None = None,
        usable: float | None = None,
        delta: float = 0.0,
        n_classes: int | None = None,
        max_rows_per_group: int | None = None,
        signal: Literal["strong", "typical", "weak"] = "weak",
        ax: Axes | None = None,
    ) -> Self:
        """Plan a release for several epsilons and numbers of records, and plot the result.

        Parameters
        ----------
        n_features : int
            Number of features, at least 1.
        k : int, default=None
            Number of features to choose; required for ``release="names"`` and ``show="found"``.
        statistic : str, default="mtv_r"
            As in :class:`skdpmic.PrivateSelectKBest`.
        epsilons : array-like of shape (n_epsilons,), default=(0.1, 0.3, 1, 3)
            Privacy budgets; above 0 and finite.
        n_samples : array-like of int of shape (n_sizes,), default=None
            Numbers of records, at least 4 each; numbers of people with `max_rows_per_group`. None uses 25 values from
            100 to a million.
        release : {"scores", "names"}, default=None
            What to publish, by the mechanism with the least error. None means "names" if `k` is given, which has less
            noise if k is below about a quarter of n_features, and "scores" otherwise.
        show : {"error", "found"}, default=None
            What to plot: "error", the error due to noise on the scale of the scores, 0 to 1; or "found", the share of
            the best k features that are chosen, under the assumption of `signal`. For definitions, see
            :func:`skdpmic.plan_release`. None means "found" for names, and "error" for scores.
        usable : float, default=None
            Largest error, or smallest share, that is enough; in [1e-6, 1], and a share below 1. None means 0.1 for
            errors, and 0.8 for shares.
        delta : float, default=0.0
            In [0, 1). If above 0, mechanisms that need it are also compared.
        n_classes : int, default=None
            Number of classes of a discrete target; None for a continuous one.
        max_rows_per_group : int, default=None
            If given, the guarantee covers people, each with this many rows.
        signal : {"strong", "typical", "weak"}, default="weak"
            Assumption about the size of the scores, and how fast they fall, for ``show="found"``.
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        PlanDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If a parameter is invalid, or there is nothing to plot: for "found", if there is no assumption about
            such scores.

        Notes
        -----
        The number of records that is enough is the `n_samples` that :func:`skdpmic.plan_release` states for that error
        or share.

        Examples
        --------
        How many records are needed to find the best 5 of 20 features?

        >>> from skdpmic.plotting import PlanDisplay
        >>> display = PlanDisplay.from_plan(n_features=20, k=5, epsilons=(0.1, 1))
        >>> display.enough
        [12300, 396]
        """
        require(release in (None, "scores", "names"), "release must be 'scores' or 'names'", release)
        show = show or ("found" if k is not None and release != "scores" else "error")
        require(show in _USABLE, "show must be 'error' or 'found'", show)
        if k is None and (release == "names" or show == "found"):
            raise ValueError("k must be given for release='names' and for show='found', got None.")
        usable = _USABLE[show] if usable is None else usable
        is_usable = is_number(usable) and 1e-6 <= usable <= 1 and (show == "error" or usable < 1)
        require(is_usable, "usable must be a number in [1e-06, 1], and a share below 1", usable)
        release = release or ("scores" if k is None else "names")
        sizes, of_epsilons = np.unique(_SIZES if n_samples is None else n_samples).tolist(), np.ravel(epsilons).tolist()

        def planned(sought, epsilon, n=None, **goal):
            """What is sought, of the release with the fewest records, or the smallest error; None if there is none."""
            public = {"delta": delta, "n_classes": n_classes, "max_rows_per_group": max_rows_per_group}
            request = Request(n, n_features, k, epsilon, goal.pop("error", None), **public, signal=signal, **goal)
            plans = planned_releases(statistic, checked(request), release)
            best = min(plans, key=lambda row: (row.n_samples, row.error), default=None)
            return None if best is None else getattr(best, sought)

        values = np.array([[planned(show, epsilon, n) for n in sizes] for epsilon in of_epsilons], dtype=np.float64)
        require(not np.isnan(values).all(), f"statistic must have a plan that shows {show} for such a table", statistic)
        enough = [planned("n_samples", epsilon, **{show: usable}) for epsilon in of_epsilons]
        what = f"scores of {n_features:,} features" if release == "scores" else f"best {k:,} of {n_features:,} features"
        curves, title = (np.array(sizes), np.array(of_epsilons), values), f"{statistic}, {what}"
        return cls(*curves, show=show, usable=usable, enough=enough, title=title).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Plot the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.

        Returns
        -------
        self : PlanDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = self._begin(ax, (WIDTH, 4.4))
        sizes, values = np.asarray(self.n_samples), np.asarray(self.values, dtype=np.float64)
        usable = _USABLE[self.show] if self.usable is None else self.usable
        enough = [None] * len(values) if self.enough is None else self.enough
        ax.set_xscale("log")
        ax.set_xlim(sizes.min() / 1.05, sizes.max() * 1.05)
        self._shade_usable(ax, values, usable)
        self.lines_, self.enough_ = [], []
        for i, (epsilon, curve, n_enough) in enumerate(zip(np.asarray(self.epsilons), values, enough, strict=True)):
            color, marker = CURVES[i % len(CURVES)], _MARKERS[i % len(_MARKERS)]
            label = f"ε = {in_short(epsilon)}" + ("" if n_enough is None else f": enough from n = {n_enough:,}")
            style: dict[str, Any] = {"label": label, "color": color, "linestyle": _LINES[i % len(_LINES)]}
            self.lines_ += ax.plot(sizes, curve, marker=marker, markevery=[-1], **style)
            mark = {"marker": marker, "color": color, "markeredgecolor": self._ink, "linestyle": "none"}
            self.enough_ += ax.plot(n_enough or np.nan, usable, **mark)
        ax.set_xlabel("number of records, n")
        return self._end(self.title)

    def _shade_usable(self, ax, values, usable):
        if self.show == "error":
            ax.set_yscale("log")
            least, most = np.nanmin(values), np.nanmax(values)
            ax.set_ylim(min(least, usable) / 1.5, min(max(most * 1.2, usable * 3), 1.0))  # scores are from 0 to 1
            ends, text = (ax.get_ylim()[0], usable), f"enough: error of at most {in_short(usable)}"
            ax.set_ylabel("95% half-width of the noise")
        else:
            ax.set_ylim(0, 1.02)
            ends, text = (usable, 1.02), f"enough: at least {usable:.0%} found"
            ax.set_ylabel("best features found, beyond chance")
        self.usable_ = ax.axhspan(*ends, color=USABLE, alpha=0.15, linewidth=0, label=text)
        ax.axhline(usable, color=USABLE, linewidth=1)


@dataclass(eq=False, repr=False)
class LedgerDisplay(Display):
    """Plot of the charges of a privacy budget, with its limit as a line.

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
    bars_ : matplotlib BarContainer
        From the total before to the total after each entry.
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
    def from_ledger(cls, ledger: BudgetLedger, *, max_entries: int = 20, ax: Axes | None = None) -> Self:
        """Plot the charges of a ledger. Its file is read once, and not changed.

        Parameters
        ----------
        ledger : BudgetLedger
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
        less than the sum of the costs, it is shorter than the cost of its fit alone, which is written above it.
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
        require_type(isinstance(ledger, BudgetLedger), "ledger must be a BudgetLedger", ledger)
        entries, spent = ledger.history()
        unit = ledger.limits.unit_of(entries)
        display = cls(entries, spent, epsilon=ledger.epsilon, delta=ledger.delta, unit=unit)
        return display.plot(ax, max_entries=max_entries)

    def plot(self, ax: Axes | None = None, *, max_entries: int = 20) -> Self:
        """Plot the entries.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a new figure.
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
        check_whole(max_entries, "max_entries")
        n_older = max(len(self.entries) - max_entries, 0)
        spent = np.reshape(np.asarray(self.spent, dtype=np.float64), (-1, 2))
        ends = np.r_[0.0, spent[max(n_older - 1, 0) :, 0]]
        n_rows = max(len(ends) - 1, 1)
        ax = self._begin(ax, (WIDTH, 1.6 + 0.55 * n_rows))
        places = np.arange(len(ends) - 1) + 0.15
        bar: dict[str, Any] = {"height": 0.2, "color": CHOSEN}
        ax.barh(places, ends[:-1], alpha=0.25, label="spent before", **bar)
        bar |= {"left": ends[:-1], "edgecolor": CHOSEN, "label": "spent"}  # the edge shows what is hardly anything
        self.bars_ = ax.barh(places, np.diff(ends), **bar)
        self.limit_ = ax.axvline(self.epsilon, color=LIMIT, linestyle="dashed", linewidth=2, label="limit", zorder=0)
        rows = [(f"{n_older:,} earlier", "")] if n_older else []
        rows += [(_label(of, cost := self._cost_of(of)), cost) for of in self.entries[n_older:]]
        text: dict[str, Any] = {"fontsize": "small", "va": "bottom"}
        ax.set_yticks(range(len(rows)), labels=[label for label, _ in rows], ha="left", **text)
        ax.tick_params(axis="y", length=0, pad=-4)  # above the bars, which get the whole width
        for place, (_, cost) in enumerate(rows):
            ax.text(self.epsilon, place, f"{cost}  ", ha="right", color=self._ink, **text)
        ax.set_xlim(0, max(self.epsilon, ends[-1]) * 1.05)
        ax.set_ylim(n_rows - 0.55, -0.75)
        ax.set_xlabel(f"ε spent{per(self.unit)}, oldest on top")
        total, delta = spent[-1] if len(spent) else (0.0, 0.0)
        deltas = f", δ = {cost_rounded_up(delta):g} of {self.delta:g}" if self.delta > 0 else ""
        return self._end(f"{budget(total)} of {in_short(self.epsilon)}{per(self.unit)} spent{deltas}")

    def _cost_of(self, entry):
        """The cost of an entry, with its unit if that is not the unit of the total."""
        return budget(entry.epsilon, entry.delta) + ("" if entry.unit == self.unit else per(entry.unit))


def _label(entry, cost):
    """What spent it, after the purpose, which is shortened first; and below that the release, beside the cost."""
    room = [_LETTERS - len(cost)] if not entry.released else [_LETTERS, _LETTERS - len(cost)]
    purpose = "" if entry.purpose is None else shortened(entry.purpose, max(room[0] - len(entry.what) - 2, 12)) + ": "
    return "\n".join(map(label_of, (purpose + entry.what, entry.released), room))
