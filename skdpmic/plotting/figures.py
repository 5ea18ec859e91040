"""Where pictures are drawn, and what they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skdpmic._utils.texts import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# People who see colours differently can distinguish these (Okabe and Ito); nothing is shown by colour alone.
CHOSEN, NOISE, LIMIT, USABLE = "#0072B2", "#E69F00", "#D55E00", "#009E73"
CURVES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_MOST_LETTERS = 24  # of a name, so that a picture as wide as a phone has room for numbers


def axes_for(
    ax: Axes | None, name: str, size: tuple[float, float] | None = None
) -> tuple[Axes, Figure | SubFigure, bool]:
    """Where the display of this name is drawn: axes, their figure, and whether it is new (of `size`, in inches)."""
    if ax is not None:
        return ax, ax.figure, False
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{name} needs matplotlib: pip install matplotlib") from error
    figure = pyplot.figure(figsize=size, layout="constrained")
    return figure.add_subplot(), figure, True


def ink_of(ax):
    """The colour of text there, light on a dark page."""
    return ax.xaxis.label.get_color()


def explain(ax, is_new, n_columns=2):
    """A legend: below the axes in a new figure, in others where there is room."""
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return
    if is_new:
        ax.figure.legend(handles, labels, loc="outside lower center", ncols=n_columns, fontsize="small", frameon=False)
    else:
        ax.legend(handles, labels, loc="best", fontsize="small")


def label_of(text, most_letters=_MOST_LETTERS):
    """A user's text on one line, not too long, and with each $ escaped, which would otherwise begin a formula."""
    return shortened(" ".join(str(text).split()), most_letters).replace("$", r"\$")


def feature_labels(feature_names, n_features):
    """What is written at each feature; None numbers them."""
    if feature_names is None:
        return [f"feature {j}" for j in range(n_features)]
    return [label_of(name) for name in feature_names]
