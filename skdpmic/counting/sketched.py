"""Records represented by their counts, with the interface that a release needs."""

import numpy as np

from skdpmic._utils.progress import SILENT
from skdpmic.counting.sketch import RangeGridSketch
from skdpmic.table.columns import map_features
from skdpmic.table.reading import FEWEST
from skdpmic.table.shape import Shape


class SketchedRecords:
    """The interface of `Records`, computed from the counts of a sketch.

    Parameters
    ----------
    sketch : RangeGridSketch
    recount : callable, default=None
        ``recount(empty)`` counts the records again, into an empty sketch. None if they cannot be read again.
    progress : Progress, default=SILENT
        Progress of loops over all columns.
    kept : tuple of int, default=()
        Indices of the features kept in any case.
    """

    def __init__(self, sketch, recount=None, progress=SILENT, kept=()):
        if sketch.n_samples < FEWEST:
            raise ValueError(f"the sketch must have counted at least 4 records, got {sketch.n_samples}.")
        sketch._check_undamaged()
        self._sketch, self._recount, self.progress, self.kept = sketch, recount, progress, kept
        self.description = sketch.description
        self.n_samples, self.n_features, self.n_classes = sketch.n_samples, sketch.n_features_in_, sketch.n_classes
        self.shape, self.target_domain = Shape(sketch.n_samples, sketch.domains), sketch.description.target

    @property
    def can_be_read_again(self):
        """Whether features can be counted again, together with others."""
        return self._recount is not None

    def with_progress(self, progress):
        """The records, with this progress."""
        return SketchedRecords(self._sketch, self._recount, progress, self.kept)

    def with_sampled_rows(self, random_bytes):
        """The records to use: all of them, because each is a person."""
        return self

    def learnt(self, measure, epsilon, random_bytes):
        """A measure, after it has learnt about the target with epsilon, from the counts of the first feature."""
        counts = self._sketch._grids.of_target(self._sketch._counts_of(0), self.shape.domains[0])
        return measure.learnt(counts, self.n_samples, None, epsilon, random_bytes)

    def map_features(self, function, n_jobs, left_out=(), of_block=None):
        """``function(counts, domain)`` for each feature that is not left out."""
        counts = [self._sketch._counts_of(j) for j in range(self.n_features)]
        return map_features(function, counts, self.shape.domains, n_jobs, left_out, self.progress)

    def scorer(self, measure, random_bytes):
        """The function that scores features from their counts."""
        return measure.scorer_of_counts(self._sketch._grids, self.n_samples)

    def scores_beside(self, j, measure, left_out, n_jobs):
        """Scores of features together with feature j, in order, without those left out."""
        sketch = self._recount(PairSketch(self._sketch, j))
        if sketch.n_samples != self.n_samples:
            raise ValueError("X must return the same rows each time it is read, got different numbers of rows.")
        records = SketchedRecords(sketch, progress=self.progress)
        scorer = measure.scorer_of_pair_counts(sketch._grids, self.n_samples)
        return np.array(records.map_features(scorer.score, n_jobs, left_out))

    def counter(self, table):
        """The function that makes a feature's table from its counts, still without noise."""
        return _TableOfCounts(self._sketch._grids.shape)


class _TableOfCounts:
    """The table of a feature, from its counts; a class, so that it can be sent to worker processes."""

    def __init__(self, shape):
        self._shape = shape

    def count(self, counts, bounds):
        """The table, of shape (n_parts, n_parts) or (n_parts, n_classes)."""
        return counts.reshape(self._shape).astype(np.int64)


class PairSketch(RangeGridSketch):
    """Counts of each feature together with a given one and the target. Raw data; not private.

    Parameters
    ----------
    sketch : RangeGridSketch
        A sketch of the same table; its counts are not copied.
    given : int
        Number of the given feature.
    """

    def __init__(self, sketch, given):
        vars(self).update(vars(sketch))
        target = self.description.target
        self._grids = self.measure.pair_counts(None if target is None else target.encoded, self.domains[given])
        self._given, self._starts = given, self._place_features()
        self.n_samples, self._parts, self._counts, self._is_torn = 0, frozenset(), self._zeros(), False

    def _place(self, target, columns):
        (column,) = columns[self._given : self._given + 1]
        return self._grids.place(target.values, target.weights, column)
