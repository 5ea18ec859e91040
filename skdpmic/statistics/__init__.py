"""The statistics that features are scored by, each with its grids or ranks, its score and its sensitivity.

A *statistic* is a choice of the user: a name, and what has to be public for it. With B, c, the number of records and
the kind of target it gives a *measure*: all grids are fixed then, and so is how far one record can move a score. A
measure gives what scores features, from records or from counts. All of them hold public numbers only.

To add a statistic, write its measure with the methods of :class:`skdpmic.statistics.measure.Measure`, and name it here.
"""

from skdpmic.statistics.mic_r import MicR
from skdpmic.statistics.mtv_r import MtvR
from skdpmic.statistics.ranks import Chatterjee, DistanceCorrelation, Kendall, Spearman

_KINDS = (MicR, MtvR, Kendall, Spearman, Chatterjee, DistanceCorrelation)
STATISTICS = {kind.name: kind for kind in _KINDS}


def statistic_named(name, correction):
    """The statistic of that name, with the correction for chance if it is MICr; a ValueError if there is none."""
    if not isinstance(name, str) or name not in STATISTICS:
        raise ValueError(f"statistic must be one of {', '.join(map(repr, STATISTICS))}, got {name!r}.")
    mic_r = MicR(correction)
    return mic_r if name == mic_r.name else STATISTICS[name]()


def check_adds_up(statistic):
    """Raise unless scores follow from counts that add up."""
    if not statistic.adds_up:
        able = " or ".join(repr(name) for name, kind in STATISTICS.items() if kind.adds_up)
        raise ValueError(
            f"statistic must be {able} where records come in pieces, got {statistic.name!r}: ranks in a piece of a "
            "table do not tell the ranks in all of it."
        )
