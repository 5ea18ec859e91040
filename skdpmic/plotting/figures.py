"""The common base of the plots."""

from collections import Counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skdpmic._utils.texts import escaped, imported, in_short, shortened, told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any

# Colours for colour-blind readers (Okabe and Ito); nothing is shown by colour only.
CHOSEN, NOISE, LIMIT, USABLE = "#0072B2", "#E69F00", "#D55E00", "#009E73"
CURVES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
WIDTH = 5.0  # inches: on a phone, a point of text is then about a pixel
_MOST_LETTERS = 24  # of a name, so that a figure of a phone's width has room for numbers


class Display:
    """A plot; `plot` begins and ends with these methods."""

    def _begin(self, ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
        """The given axes, or those of a new figure of this size, in inches."""
        self._is_new = ax is None
        if ax is None:
            required = f"{type(self).__name__} requires matplotlib: pip install matplotlib"
            pyplot = imported("matplotlib.pyplot", required)
            ax = pyplot.figure(figsize=size, layout="constrained").add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _end(self, title: str | None = None, **place: Any) -> Self:
        """Write the title and a legend: below the axes in a new figure, else at a given location or the best one."""
        if title is not None:
            self.ax_.set_title(title, fontsize="medium")
        handles = {label: handle for handle, label in zip(*self.ax_.get_legend_handles_labels(), strict=True)}
        legend = handles.values(), handles.keys()  # each label once
        if handles and self._is_new:
            self.figure_.legend(*legend, loc="outside lower center", fontsize=9, frameon=False)
        elif handles:
            self.ax_.legend(*legend, fontsize="small", **place or {"loc": "best"})
        return self

    @property
    def _ink(self):
        """The text colour of the axes, light on a dark background."""
        return self.ax_.xaxis.label.get_color()

    def _draw_bars_across(self, places, lengths, height, is_filled, labels):
        """Draw horizontal bars, filled or hollow, with a label for each of these kinds."""
        fill, edge = (np.where(is_filled, CHOSEN, colour).tolist() for colour in ("none", self._ink))
        labels = np.where(is_filled, *labels).tolist()
        self.bars_ = self.ax_.barh(places, lengths, height=height, color=fill, edgecolor=edge, label=labels)

    def _shade_noise(self, sides="", of_all=""):
        """Shade the noise up to its margin, if there is one; on both sides of 0 with "±"."""
        self.noise_ = None
        if margin := self.noise_margin:
            label = f"noise: at most {sides}{in_short(margin)} with {100 * self.confidence:g}% confidence{of_all}"
            lowest = -margin if sides else 0
            self.noise_ = self.ax_.axvspan(lowest, margin, color=NOISE, alpha=0.25, linewidth=0, label=label)


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


def feature_labels(names, n, what="feature"):
    """The label of each of n features, or other things; None numbers them."""
    return [f"{what} {j}" for j in range(n)] if names is None else labels_apart(names)
