"""Records as a release asks for them; `SketchedRecords` answers the same from counts."""

from typing import NamedTuple

import numpy as np

from skdpmic.table.columns import Columns, each_feature
from skdpmic.table.shape import Shape
from skdpmic.table.targets import ClassTarget, NumericTarget


class Records(NamedTuple):
    """Records, and where they are said to lie. As sensitive as the data, which they are."""

    columns: np.ndarray | Columns  # (n_features, n_samples)
    scales: list  # of n_features, as of `Shape`
    target: NumericTarget | ClassTarget

    @property
    def n_samples(self):
        """Number of records."""
        return self.columns.shape[1]

    @property
    def n_features(self):
        """Number of features."""
        return self.columns.shape[0]

    @property
    def shape(self):
        """The public numbers of the table."""
        return Shape(self.n_samples, self.scales)

    @property
    def n_classes(self):
        """Number of classes; None with a numeric target."""
        return self.target.n_classes

    def each_feature(self, function, n_jobs):
        """``function(column, scale)`` of each feature."""
        return each_feature(function, self.columns, self.scales, n_jobs)

    def scorer(self, measure, source):
        """What scores features by a measure; where it breaks ties at random, the source tells how."""
        return measure.scorer(self.target, source)

    def counter(self, table):
        """What makes a feature's noisy table, without noise yet."""
        return table.counter(self.target)
