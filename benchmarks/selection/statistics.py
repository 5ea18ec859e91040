"""The private statistics that are compared: how each scores features, and what one record can change.

To compare another one, add it to ``STATISTICS``, and give it a colour in ``pictures.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.selection import rivals
from skdpmic.statistics.mic import mic_r
from skdpmic.statistics.mic.statistic import resolve_B, resolve_c
from skdpmic.statistics.mtv.counts import TargetCounts, TargetScorer, counts_scorer
from skdpmic.statistics.mtv.family import class_family, numeric_family, resolve_mtv
from skdpmic.statistics.ranks import kendall, mid_ranks
from skdpmic.statistics.registry import statistic_named
from skdpmic.statistics.sensitivity import kendall_sensitivity, mic_r_sensitivity, mtv_r_sensitivity
from skdpmic.table.values import ClassTarget, NumericTarget


@dataclass(frozen=True)
class Statistic:
    """A score of each feature with the target.

    Parameters
    ----------
    scores : callable
        Maps a Table, a grid, and tie-breaking keys of shape (2, n_samples), to scores: (n_features,).
    sensitivity : callable
        Maps the numbers of records and of classes (or None), and a grid, to how far replacing one record can move a
        score.
    grid : callable
        Maps the number of records, the epsilon of each score and the number of classes to the grid that the statistic
        uses.
    most_classes : int, default=None
        The most classes of a target that it can score; None for any number.
    """

    scores: Callable
    sensitivity: Callable
    grid: Callable = lambda n, epsilon, n_classes: None
    most_classes: int | None = None

    def can_score(self, n_classes):
        """Whether it can score a target with this many classes or, with None, a numeric one."""
        return n_classes is None or self.most_classes is None or n_classes <= self.most_classes


# --- Grids over public bounds -----------------------------------------------------------------------------------------


def measure_of_package(n, epsilon, n_classes):
    """PrivateSelectKBest's measure of features, which may first have something to learn about the target."""
    statistic = statistic_named("mtv_r", None)
    measure = statistic.measure("auto", "auto", n, epsilon, n_classes)
    return replace(measure, spends_on_target=True) if statistic.spends_on_target(n_classes) else measure


def scores_of_measure(table, measure, keys):
    return _of_each_feature(measure.scorer(target_of(table), None), table)


def target_of(table):
    """The target as the package sees it."""
    if table.n_classes is None:
        return NumericTarget(table.y, table.target_bounds)
    return ClassTarget(table.y, table.n_classes)


def mtv_r_family(n, epsilon, n_classes):
    """The grids of MTVr that B="auto" and c="auto" stand for."""
    B, c = resolve_mtv("auto", "auto", n, n_classes)
    return numeric_family(B, c) if n_classes is None else class_family(B, c, n_classes)


def mtv_r_scores(table, family, keys):
    counts = TargetCounts(family, table.target_bounds if table.n_classes is None else None)
    return _of_each_feature(TargetScorer(counts, counts_scorer(len(table.y), family), table.y), table)


def mic_r_with(correction):
    """MICr with a correction for chance, or with None; B and c are automatic."""

    def grid(n, epsilon, n_classes):
        B = resolve_B("auto", n, epsilon, n_classes, correction)
        return B, resolve_c("auto", n, epsilon, B, n_classes, correction)

    def scores(table, grid, keys):
        if table.n_classes is None:
            target = mic_r.NumericTargetScorer(table.y, table.target_bounds, *grid, correction=correction)
        else:
            target = mic_r.ClassTargetScorer(table.y, table.n_classes, *grid, correction=correction)
        return _of_each_feature(target, table)

    return Statistic(scores, lambda n, *_: mic_r_sensitivity(n), grid)


def _of_each_feature(target, table):
    bounds = zip(table.lower, table.upper, strict=True)
    return np.array([target.score(np.ascontiguousarray(x), pair) for x, pair in zip(table.X.T, bounds, strict=True)])


# --- Ranks ------------------------------------------------------------------------------------------------------------


def on_mid_ranks(score, sensitivity):
    """A rank statistic that treats equal values as equal. Two classes are two values."""

    def scores(table, grid, keys):
        y_ranks = mid_ranks(table.y)
        return np.array([score(mid_ranks(x), y_ranks) for x in table.X.T])

    return Statistic(scores, lambda n, *_: sensitivity(n), most_classes=2)


def spearman(x_ranks, y_ranks):
    """Spearman's |rho-a| of mid-ranks; their sensitivity is 6 / (n + 1)."""
    n = len(x_ranks)
    return 3 * abs(np.dot(x_ranks - n, y_ranks - n)) / (n * (n**2 - 1))


NOTHING_KNOWN = "MTVr, nothing learnt"  # about the target

# --- All --------------------------------------------------------------------------------------------------------------

STATISTICS = {
    "MTVr": Statistic(
        scores_of_measure,
        lambda n, n_classes, measure: mtv_r_sensitivity(n, knows_target_shares=measure.spends_on_target),
        measure_of_package,
    ),
    NOTHING_KNOWN: Statistic(mtv_r_scores, lambda n, *_: mtv_r_sensitivity(n), mtv_r_family),
    "MICr": mic_r_with(None),  # the paper's
    "MICr, corrected": mic_r_with("miller-madow"),  # the package's
    "Kendall": on_mid_ranks(kendall, kendall_sensitivity),
    "Spearman": on_mid_ranks(spearman, lambda n: 6 / (n + 1)),
    "covariance": Statistic(
        lambda table, *_: rivals.covariance(table), lambda n, *_: rivals.covariance_sensitivity(n), most_classes=2
    ),
    "binned MI": Statistic(
        lambda table, *_: rivals.binned_information(table),
        lambda n, n_classes, grid: rivals.binned_information_sensitivity(n, n_classes),
    ),
}
