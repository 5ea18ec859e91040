"""Records of which only counts are left, as a release asks for them."""

import numpy as np

from skdpmic.table.columns import each_feature
from skdpmic.table.shape import Shape


class SketchedRecords:
    """What a release asks of `Records`, answered from the counts of a sketch."""

    def __init__(self, sketch):
        self._sketch = sketch
        self.n_samples, self.n_features, self.n_classes = sketch.n_samples, sketch.n_features_in_, sketch.n_classes
        self.shape = Shape(sketch.n_samples, sketch.scales)

    def drawn(self, source):
        """The records that count: all, as each is a person."""
        return self

    def each_feature(self, function, n_jobs):
        """``function(counts, scale)`` of each feature."""
        counts = [self._sketch._counts_of(j) for j in range(self.n_features)]
        return each_feature(function, counts, self.shape.scales, n_jobs)

    def scorer(self, measure, source):
        """What scores features from their counts."""
        return measure.scorer_of_counts(self._sketch._grids, self.n_samples)

    def counter(self, table):
        """What makes a feature's noisy table of its counts, without noise yet."""
        return _TableOfCounts(self._sketch._grids.shape)


class _TableOfCounts:
    """The table of a feature, from its counts; a class of its own so that worker processes can be sent it."""

    def __init__(self, shape):
        self._shape = shape

    def count(self, counts, bounds):
        """Of shape (n_parts, n_parts) or (n_parts, n_classes)."""
        return counts.reshape(self._shape).astype(np.int64)
