"""The common base of the plots."""

from collections import Counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skdpmic._utils.texts import escaped, in_short, shortened, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any

# Colours for colour-blind readers (Okabe and Ito); nothing is shown by colour only.
CHOSEN, NOISE, LIMIT, USABLE = "#0072B2", "#E69F00", "#D55E00", "#009E73"
CURVES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
WIDTH = 5.0  # inches: on a phone, a point of text is then about a pixel
_MOST_LETTERS = 24  # of a name, so that a figure of a phone's width has room for numbers
_LETTERS_OF_TWO_COLUMNS = 27  # in each, for a legend of this width


class Display:
    """A plot; `plot` begins and ends with these methods."""

    def _begin(self, ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
        """The given axes, or those of a new figure of this size, in inches."""
        self._is_new = ax is None
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise ImportError(f"{type(self).__name__} requires matplotlib: pip install matplotlib") from error
            ax = pyplot.figure(figsize=size, layout="constrained").add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _end(self, title: str | None = None, **place: Any) -> Self:
        """Write the title and a legend: below the axes in a new figure, else at a given location or the best one."""
        if title is not None:
            self.ax_.set_title(title, fontsize="medium")
        legend = self.ax_.get_legend_handles_labels()
        if legend[1] and self._is_new:
            longest = max(len(line) for label in legend[1] for line in label.split("\n"))
            n_columns = 2 if longest <= _LETTERS_OF_TWO_COLUMNS else 1
            self.figure_.legend(*legend, loc="outside lower center", ncols=n_columns, fontsize=9, frameon=False)
        elif legend[1]:
            self.ax_.legend(*legend, fontsize="small", **place or {"loc": "best"})
        return self

    def _shade_noise(self, sides="", of_all=""):
        """Shade the noise up to its margin, if there is one; on both sides of 0 with "±"."""
        self.noise_ = None
        if margin := self.noise_margin:
            label = f"noise: at most {sides}{in_short(margin)} with {100 * self.confidence:g}% confidence{of_all}"
            lowest = -margin if sides else 0
            self.noise_ = self.ax_.axvspan(lowest, margin, color=NOISE, alpha=0.25, linewidth=0, label=label)


def draw_bars(ax, places, lengths, height, is_filled, labels):
    """Horizontal bars, filled or hollow; the first of each kind is in the legend, if there are labels for both."""
    fill, edge = (np.where(is_filled, CHOSEN, colour).tolist() for colour in ("none", ink_of(ax)))
    bars = ax.barh(places, lengths, height=height, color=fill, edgecolor=edge)
    for kind, label in zip((True, False), labels, strict=False):
        if (is_filled == kind).any():
            bars[int(np.argmax(is_filled == kind))].set_label(label)
    return bars


def write_beside(ax, text, place, offset, **style):
    """Write small text at this offset, in points, from a position."""
    style = {"fontsize": "small", "color": ink_of(ax)} | style
    ax.annotate(text, place, xytext=offset, textcoords="offset points", **style)


def ink_of(ax):
    """The text colour of the axes, light on a dark background."""
    return ax.xaxis.label.get_color()


def write_dates(axis, **options):
    """Write dates at a matplotlib axis, each just long enough to distinguish it from the next."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(**options)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))


def label_of(text, most_letters=_MOST_LETTERS):
    """A user's text on one line, shortened, with $ escaped, which would otherwise start a formula."""
    return labels_apart([text], most_letters)[0]


def labels_apart(texts, most_letters=_MOST_LETTERS):
    """Labels of users' texts, each as by `label_of`; those that begin alike show their ends, and none is repeated."""
    lines = [escaped(" ".join(str(text).split())) for text in texts]
    begin = Counter(shortened(line, most_letters) for line in lines)
    half = most_letters // 2
    whole = [
        line[: half - 1] + "…" + line[half - most_letters :]
        if begin[short := shortened(line, most_letters)] > 1 and short != line
        else short
        for line in lines
    ]
    return [text.replace("$", r"\$") for text in told_apart(whole)]


def feature_labels(feature_names, n_features):
    """The label of each feature; None numbers them."""
    if feature_names is None:
        return [f"feature {j}" for j in range(n_features)]
    return labels_apart(feature_names)
