"""Records as a release asks for them; `SketchedRecords` answers the same from counts."""

from typing import NamedTuple

import numpy as np

from skdpmic.dependence.mic_r import continuous_grids, discrete_plan
from skdpmic.table.columns import each_feature
from skdpmic.targets import ClassTarget, NumericTarget


class GridSizes(NamedTuple):
    """Which grids a fit looks at, from public numbers."""

    B: float
    c: float
    n_parts: int | None  # of a feature in its noisy table, with mechanism="geometric"

    def plan(self, n, n_classes):
        """The grids of a score of n records; made with all that scores share, which is kept. None for no classes."""
        if n_classes is None:
            return continuous_grids(self.B, self.c, n=n)[0]
        return discrete_plan(self.B, self.c, n_classes)


class Records(NamedTuple):
    """Records, where they are said to lie, and the grids to look at them through."""

    X: np.ndarray  # (n_samples, n_features)
    lower: np.ndarray  # (n_features,)
    upper: np.ndarray  # (n_features,)
    target: NumericTarget | ClassTarget
    sizes: GridSizes

    @property
    def n_samples(self):
        """Number of records."""
        return len(self.X)

    @property
    def n_classes(self):
        """Number of classes; None with a continuous target."""
        return self.target.n_classes

    def each_feature(self, function, n_jobs):
        """``function(column, bounds)`` of each feature."""
        return each_feature(function, self.X.T, self.lower, self.upper, n_jobs)

    def scorer(self):
        """What scores features."""
        return self.target.scorer(self.sizes.B, self.sizes.c)

    def counter(self):
        """What makes a feature's table of counts."""
        return self.target.counter(self.sizes.n_parts)
