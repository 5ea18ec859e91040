"""Scores from added counts, compared with those from records."""

import numpy as np

from skdpmic.statistics.mic.mic_r import ClassTargetScorer, NumericTargetScorer
from skdpmic.statistics.mic.optimize_axis import entropy_table
from skdpmic.statistics.mic.statistic import ContinuousGrids, DiscreteGrids

UNIT = (0.0, 1.0)


def check_scores_from_counts(x, domain, y, B, c, correction):
    """Check that both are equal bit for bit, against numbers, five classes and three classes."""
    n, five, three = len(y), (y * 5).astype(int).clip(max=4), (y * 3).astype(int).clip(max=2)
    for grids, target, whole in [
        (ContinuousGrids(UNIT, B, c, correction), y, NumericTargetScorer(y, UNIT, B, c, correction=correction)),
        (DiscreteGrids(5, B, c, correction), five, ClassTargetScorer(five, 5, B, c, correction)),
        (DiscreteGrids(3, B, c, correction), three, ClassTargetScorer(three, 3, B, c, correction)),
    ]:
        pieces = np.array_split(np.random.default_rng(0).permutation(n), 3)
        counts = sum(grids.count(x[rows], domain, grids.place(target[rows])) for rows in pieces)
        assert counts.dtype == np.uint32
        assert counts.sum() == n * grids.n_tables(domain)
        assert grids.score(counts, domain, entropy_table(n)) == whole.score(x, domain)
