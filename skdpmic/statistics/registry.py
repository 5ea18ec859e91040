"""The registry of statistics for scoring features, each with its grids or ranks, score and sensitivity.

A *statistic* is a choice of the user: a name, and what must be public for it. With B, c, the number of records and the
kind of target, it returns a *measure*: all grids are then fixed, and so is the sensitivity of a score. A measure
provides the functions that score features, from records or from counts. All of these contain public numbers only.

To add a statistic, implement it and its measure, with the methods of `Statistic` and `Measure` in ``measure.py``, in a
new folder, and add it here. Everything else uses this registry.
"""

from collections import ChainMap
from typing import Any

from skdpmic._utils.arguments import is_number
from skdpmic._utils.texts import quoted, require
from skdpmic.statistics.mic.mic_r import check_correction
from skdpmic.statistics.mic.statistic import MicE, MicR
from skdpmic.statistics.mtv.statistic import MtvR
from skdpmic.statistics.ranks import Kendall

STATISTICS = {kind.name: kind for kind in (MicR, MtvR, Kendall)}
PAIR_STATISTICS: ChainMap[str, Any] = ChainMap({MicE.name: MicE}, STATISTICS)  # all that can score a single pair


def statistic_named(name, correction, among=STATISTICS):
    """The statistic with this name, with the bias correction if it is MICr; a ValueError if there is none."""
    require(isinstance(name, str) and name in among, f"statistic must be one of {', '.join(map(repr, among))}", name)
    check_correction(correction)
    return among[name](correction) if name == MicR.name else among[name]()


def check_of_target(statistic):
    """Raise unless the statistic uses shares of the target."""
    if not statistic.spends_on_target(None):
        able = " or ".join(repr(name) for name, kind in STATISTICS.items() if kind.spends_on_target(None))
        explained = " or ".join(repr(name) for name, kind in STATISTICS.items() if kind.is_explained_by_shares)
        raise ValueError(
            f"target_shares must be None with statistic={statistic.name!r}; it is used with {able}, and for released "
            f"scores of classes with {explained}."
        )


def check_takes_weights(statistic, max_weight):
    """Raise unless the statistic supports this `max_weight`; None means equal weights."""
    if max_weight is not None and not (is_number(max_weight) and 0 < max_weight < float("inf")):
        raise ValueError(f"max_weight must be None or a finite number > 0, got {quoted(max_weight)}.")
    if max_weight is not None and not statistic.takes_weights:
        able = " or ".join(repr(name) for name, kind in STATISTICS.items() if kind.takes_weights)
        raise ValueError(
            f"max_weight must be None with statistic={statistic.name!r}, which does not support weights: use "
            f"statistic={able}, or fit to a sample drawn by weight (docs/choose/survey_weights.md)."
        )


def check_mergeable(statistic):
    """Raise unless scores can be computed from mergeable counts."""
    if not statistic.is_mergeable:
        able = " or ".join(repr(name) for name, kind in STATISTICS.items() if kind.is_mergeable)
        raise ValueError(
            f"statistic must be {able} if records come in pieces, got {statistic.name!r}: ranks cannot be computed "
            "from pieces of a table."
        )
