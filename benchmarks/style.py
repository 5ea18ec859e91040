"""How pictures look: legible at 360 pixels wide, as on a phone, and distinguishable without red and green.

A picture is 5 inches wide, so that a point of text is one pixel on a phone.
"""

from matplotlib import rc_context

WIDTH, DPI = 5.0, 150
BLACK, GREY = "#000000", "#767676"
# From Okabe and Ito, whose colours can be distinguished with any colour vision.
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

_TEXT = {"font.size": 12, "axes.titlesize": 12, "axes.labelsize": 12, "legend.fontsize": 11, "figure.titlesize": 12}
_LINES = {"lines.linewidth": 1.8, "lines.markersize": 5, "axes.spines.top": False, "axes.spines.right": False}


def legible(**changes):
    """A context that draws pictures in this style, with these matplotlib parameters changed."""
    return rc_context(_TEXT | _LINES | {"savefig.dpi": DPI, "figure.constrained_layout.use": True} | changes)
