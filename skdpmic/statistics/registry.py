"""The statistics that features are scored by, each with its grids or ranks, its score and its sensitivity.

A *statistic* is a choice of the user: a name, and what has to be public for it. With B, c, the number of records and
the kind of target it gives a *measure*: all grids are fixed then, and so is how far one record can move a score. A
measure gives what scores features, from records or from counts. All of them hold public numbers only.

To add a statistic, write it and its measure, with the methods of `Statistic` and `Measure` in ``measure.py``, in a
folder of its own, and name it here. Everything else asks this registry.
One that scores single pairs only, as `MicE` and the `within_strata` of others do, needs no more than `steps` and
`scorer`.
"""

import warnings
from collections import ChainMap
from typing import Any

from skdpmic.statistics.mic.mic_r import check_correction
from skdpmic.statistics.mic.rank_grids import MicE
from skdpmic.statistics.mic.statistic import MicR
from skdpmic.statistics.mtv.statistic import MtvR
from skdpmic.statistics.ranks.statistic import Chatterjee, DistanceCorrelation, Kendall, Spearman
from skdpmic.table.weights import check_max_weight

_KINDS = (MicR, MtvR, Kendall, Spearman, Chatterjee, DistanceCorrelation)
STATISTICS = {kind.name: kind for kind in _KINDS}
OF_PAIRS: ChainMap[str, Any] = ChainMap({MicE.name: MicE}, STATISTICS)  # of those that can score a single pair


def statistic_named(name, correction, among=STATISTICS):
    """The statistic of that name, with the correction for chance if it is MICr; a ValueError if there is none."""
    if not isinstance(name, str) or name not in among:
        raise ValueError(f"statistic must be one of {', '.join(map(repr, among))}, got {name!r}.")
    check_correction(correction)
    return among[name].with_correction(correction)


def within_strata(name):
    """The statistic of that name within public strata; a ValueError if there is none."""
    able = [other for other, kind in OF_PAIRS.items() if hasattr(kind, "within_strata")]
    if name not in able:
        raise ValueError(f"strata must be None with statistic={name!r}: only {' and '.join(map(repr, able))} take any.")
    return OF_PAIRS[name].within_strata()


def check_of_target(statistic):
    """Raise unless something is to be known of the target."""
    if not statistic.learns_target(None):
        able = " or ".join(repr(name) for name, kind in STATISTICS.items() if kind.learns_target(None))
        raise ValueError(
            f"target_shares must be None with statistic={statistic.name!r}, whose scores need nothing of the kind, but "
            f"for {able}."
        )


def check_takes_weights(statistic, max_weight):
    """Raise unless records may weigh so much, and less than others; None says that all count alike."""
    check_max_weight(max_weight)
    if max_weight is not None and not statistic.takes_weights:
        able = " or ".join(repr(name) for name, kind in STATISTICS.items() if kind.takes_weights)
        raise ValueError(
            f"max_weight must be None with statistic={statistic.name!r}, to whose scores all records count alike: "
            f"statistic={able} takes weights. For others, fit to a sample that is drawn by weight: see "
            "docs/choose/survey_weights.md."
        )


def check_mergeable(statistic):
    """Raise unless scores follow from counts that add up."""
    if not statistic.is_mergeable:
        able = " or ".join(repr(name) for name, kind in STATISTICS.items() if kind.is_mergeable)
        raise ValueError(
            f"statistic must be {able} where records come in pieces, got {statistic.name!r}: ranks in a piece of a "
            "table do not tell the ranks in all of it."
        )


def warn_about_copies(statistic, rows_per_group, stacklevel):
    """Warn where equal rows of a person are taken for dependence."""
    if statistic.takes_copies_for_dependence and rows_per_group > 1:
        warnings.warn(
            f"statistic={statistic.name!r} takes rows that lie next to one another by both columns, as the rows of a "
            f"person do, for dependence: with max_rows_per_group={rows_per_group!r}, features that are independent of "
            f"y may score up to {1 - 1 / rows_per_group:.2g}. Use max_rows_per_group=1 or another statistic.",
            stacklevel=stacklevel + 1,
        )
