"""Where pictures are drawn, and what they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from skdpmic._utils.texts import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# People who see colours differently can distinguish these (Okabe and Ito); nothing is shown by colour alone.
CHOSEN, NOISE, LIMIT, USABLE = "#0072B2", "#E69F00", "#D55E00", "#009E73"
CURVES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_MOST_LETTERS = 24  # of a name, so that a picture as wide as a phone has room for numbers


class Display:
    """A picture, whose `plot` begins and ends as follows."""

    def _begin(self, ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
        """The axes that it is drawn on: these, or those of a new figure of this size, in inches."""
        self._is_new = ax is None
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise ImportError(f"{type(self).__name__} needs matplotlib: pip install matplotlib") from error
            ax = pyplot.figure(figsize=size, layout="constrained").add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _end(self, title: str | None = None, **place: Any) -> Self:
        """Write the title, and a legend: below the axes in a new figure, in others in a place, or where it fits."""
        if title is not None:
            self.ax_.set_title(title, fontsize="medium")
        legend = self.ax_.get_legend_handles_labels()
        if legend[1] and self._is_new:
            self.figure_.legend(*legend, loc="outside lower center", ncols=2, fontsize="small", frameon=False)
        elif legend[1]:
            self.ax_.legend(*legend, fontsize="small", **place or {"loc": "best"})
        return self


def ink_of(ax):
    """The colour of text there, light on a dark page."""
    return ax.xaxis.label.get_color()


def write_dates(axis, **options):
    """Write dates at an axis of matplotlib, each no longer than it takes to tell it from the next."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(**options)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))


def label_of(text, most_letters=_MOST_LETTERS):
    """A user's text on one line, not too long, and with each $ escaped, which would otherwise begin a formula."""
    return shortened(" ".join(str(text).split()), most_letters).replace("$", r"\$")


def feature_labels(feature_names, n_features):
    """What is written at each feature; None numbers them."""
    if feature_names is None:
        return [f"feature {j}" for j in range(n_features)]
    return [label_of(name) for name in feature_names]
