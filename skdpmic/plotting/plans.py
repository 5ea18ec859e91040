"""The plot of the noise of a planned release."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from skdpmic._utils.arguments import check_row, is_number
from skdpmic._utils.texts import in_short, quoted
from skdpmic.planning.plan import Request, checked, planned_releases
from skdpmic.plotting.figures import CURVES, USABLE, WIDTH, Axes, Display, ink_of
from skdpmic.statistics.registry import STATISTICS

_SIZES = (100, 1_000_000)
_N_SIZES = 25
_USABLE = {"error": 0.1, "found": 0.9}
_LINES = ("solid", "dashed", "dashdot", "dotted")
_MARKERS = "osD^vP"


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
        Largest error, or smallest share, of a usable release; None means 0.1 and 0.9.
    enough : sequence of int or None, of length n_epsilons, default=None
        For each epsilon, the number of records from which the release is usable; None if there is none.
    at_random : float, default=None
        Share found by choosing features at random.
    title : str, default=""

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot; set by :meth:`plot`.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        Curve for each epsilon.
    enough_ : list of matplotlib Line2D or None
        Marker on each curve where it becomes usable.
    usable_ : matplotlib Patch
        The usable range.

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
    at_random: float | None = None
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
        show: str = "error",
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
        show : {"error", "found"}, default="error"
            What to plot: "error", the error due to noise on the scale of the scores, 0 to 1; or "found", the share of
            the best k features that are chosen, under the assumption of `signal`. For definitions, see
            :func:`skdpmic.plan_release`.
        usable : float, default=None
            Largest error, or smallest share, of a usable release; in [1e-6, 1]. None means 0.1 for errors, and 0.9 for
            shares.
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
        The number of records from which an error is usable is that of :func:`skdpmic.plan_release`; for shares, it is
        the smallest of `n_samples` with a usable share.

        Examples
        --------
        How many records are needed to find the best 5 of 20 features?

        >>> from skdpmic.plotting import PlanDisplay
        >>> display = PlanDisplay.from_plan(n_features=20, k=5, epsilons=(0.1, 1))
        >>> display.enough
        [7050, 705]
        """
        release = _check(k, statistic, release, show, usable)
        usable = _USABLE[show] if usable is None else usable
        sizes = _sizes(n_samples)
        of_epsilons = check_row(epsilons, "iuf", "epsilons must be a sequence of numbers > 0").astype(float).tolist()

        def planned(epsilon, n=None, error=None):
            """The release with the fewest records, or the smallest error; None if there is none."""
            request = Request(n, n_features, k, epsilon, error, delta, n_classes, max_rows_per_group, signal=signal)
            plans = planned_releases(statistic, checked(request), release)
            return min(plans, key=lambda row: (row.n_samples, row.error), default=None)

        rows = [[planned(epsilon, n) for n in sizes] for epsilon in of_epsilons]
        values = [[math.nan if row is None else getattr(row, show) for row in of_epsilon] for of_epsilon in rows]
        if np.isnan(values).all():
            raise ValueError(
                f"show={quoted(show)} is not available for any release with statistic={quoted(statistic)}, "
                f"n_classes={quoted(n_classes)} and max_rows_per_group={quoted(max_rows_per_group)}."
            )
        if show == "error":
            asked = [planned(epsilon, error=usable) for epsilon in of_epsilons]
            enough = [None if row is None else row.n_samples for row in asked]
        else:
            enough = [next((n for n, v in zip(sizes, of, strict=True) if v >= usable), None) for of in values]
        what = f"scores of {n_features:,} features" if release == "scores" else f"best {k:,} of {n_features:,} features"
        display = cls(
            np.array(sizes),
            np.array(of_epsilons),
            np.array(values),
            show=show,
            usable=usable,
            enough=enough,
            at_random=None if k is None or show == "error" else k / n_features,
            title=f"{statistic}, {what}",
        )
        return display.plot(ax)

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
        self.lines_: list[Any] = []
        self.enough_: list[Any] = []
        for i, (epsilon, curve, n_enough) in enumerate(zip(np.asarray(self.epsilons), values, enough, strict=True)):
            style: dict[str, Any] = {"color": CURVES[i % len(CURVES)], "linestyle": _LINES[i % len(_LINES)]}
            from_n = "" if n_enough is None else f": usable from n = {n_enough:,}"
            label = f"ε = {in_short(epsilon)}{from_n}"
            marker = _MARKERS[i % len(_MARKERS)]
            self.lines_ += ax.plot(sizes, curve, label=label, marker=marker, markevery=[-1], **style)
            self.enough_.append(self._mark(ax, n_enough, usable, marker, style["color"]))
        ax.set_xlabel("number of records, n")
        return self._end(self.title)

    def _shade_usable(self, ax, values, usable):
        if self.show == "error":
            ax.set_yscale("log")
            least, most = np.nanmin(values), np.nanmax(values)
            ax.set_ylim(min(least, usable) / 1.5, min(max(most * 1.2, usable * 3), 1.0))  # scores are from 0 to 1
            ends, text = (ax.get_ylim()[0], usable), f"usable: error of at most {in_short(usable)}"
            ax.set_ylabel("95% half-width of the noise")
        else:
            ax.set_ylim(0, 1.02)
            ends, text = (usable, 1.02), f"usable: share of at least {in_short(usable)}"
            ax.set_ylabel("share of the best features found")
            if self.at_random is not None:
                style: dict[str, Any] = {"linewidth": 0.8, "linestyle": (0, (1, 4)), "color": ink_of(ax)}
                ax.axhline(self.at_random, label="found by a random choice", **style)
        self.usable_ = ax.axhspan(*ends, color=USABLE, alpha=0.15, linewidth=0, label=text)
        ax.axhline(usable, color=USABLE, linewidth=1)

    def _mark(self, ax, n_enough, usable, marker, color):
        left, right = ax.get_xlim()
        if n_enough is None or not left <= n_enough <= right:
            return None
        style = {"marker": marker, "color": color, "markeredgecolor": ink_of(ax), "linestyle": "none"}
        return ax.plot([n_enough], [usable], **style)[0]


def _check(k, statistic, release, show, usable):
    """Raise if an argument is invalid; return what is published."""
    if statistic not in STATISTICS:
        raise ValueError(f"statistic must be one of {', '.join(map(repr, STATISTICS))}, got {quoted(statistic)}.")
    if release not in (None, "scores", "names"):
        raise ValueError(f"release must be 'scores' or 'names', got {quoted(release)}.")
    if show not in _USABLE:
        raise ValueError(f"show must be 'error' or 'found', got {quoted(show)}.")
    if k is None and (release == "names" or show == "found"):
        raise ValueError("k must be given for release='names' and for show='found', got None.")
    if usable is not None and not (is_number(usable) and 1e-6 <= usable <= 1):
        raise ValueError(f"usable must be a number in [1e-06, 1], got {quoted(usable)}.")
    return release or ("scores" if k is None else "names")


def _sizes(n_samples):
    """`n_samples` as ascending ints; the plan checks each one."""
    if n_samples is None:
        return np.unique(np.geomspace(*_SIZES, _N_SIZES).round().astype(int)).tolist()
    return np.unique(check_row(n_samples, "iu", "n_samples must be a sequence of ints >= 4")).tolist()
