"""Records represented by their counts, with the interface that a release needs."""

import numpy as np

from skdpmic._utils.progress import SILENT
from skdpmic.counting.sketch import RangeGridSketch
from skdpmic.table.columns import map_features
from skdpmic.table.reading import FEWEST
from skdpmic.table.records import PublicTable, Shape


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
        self._sketch, self._recount, self.progress, self._kept = sketch, recount, progress, kept
        self.n_samples, self.n_features = sketch.n_samples, sketch.n_features_in_

    @property
    def public(self):
        """What is public of the table."""
        sketch, description = self._sketch, self._sketch.description
        seen = {"n_features_in_": sketch.n_features_in_}
        if description.names is not None:
            seen["feature_names_in_"] = description.names
        return PublicTable(
            Shape(sketch.n_samples, sketch.domains),
            sketch.n_classes,
            description.target,
            description,
            seen,
            self._kept,
            sketch.measure,
            can_be_read_again=self._recount is not None,
        )

    def sampled(self, random_bytes, progress):
        """The records to use: all of them, because each is a person."""
        return SketchedRecords(self._sketch, self._recount, progress, self._kept)

    def release_target_shares(self, measure, epsilon, random_bytes):
        """A measure with shares of the target, released with epsilon, from the counts of the first feature."""
        counts = self._sketch._grids.of_target(self._sketch._counts_of(0))
        return measure.release_target_shares(counts, self.n_samples, None, epsilon, random_bytes)

    def map_features(self, function, n_jobs, left_out=(), of_block=None):
        """``function(counts, domain)`` for each feature that is not left out."""
        counts = [self._sketch._counts_of(j) for j in range(self.n_features)]
        return map_features(function, counts, self._sketch.domains, n_jobs, left_out, self.progress)

    def scores(self, measure, n_jobs, random_bytes, left_out=()):
        """Noise-free scores of shape (n_features,), without those left out."""
        scorer = measure.scorer_of_counts(self._sketch._grids, self.n_samples)
        return np.array(self.map_features(scorer.score, n_jobs, left_out))

    def scores_beside(self, j, measure, left_out, n_jobs):
        """Scores of features together with feature j, in order, without those left out."""
        sketch = self._recount(PairSketch(self._sketch, j))
        if sketch.n_samples != self.n_samples:
            raise ValueError("X must return the same rows each time it is read, got different numbers of rows.")
        records = SketchedRecords(sketch, progress=self.progress)
        scorer = measure.scorer_of_pair_counts(sketch._grids, self.n_samples)
        return np.array(records.map_features(scorer.score, n_jobs, left_out))

    def tables(self, measure, n_jobs):
        """The table of each feature, from its counts, still without noise."""
        shape = (self.n_features, *self._sketch._grids.shape)
        return np.array([self._sketch._counts_of(j) for j in range(self.n_features)], dtype=np.int64).reshape(shape)


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
