"""Counts of all features together with one of them, from another pass over the records."""

from skdpmic.counting.sketch import RangeGridSketch


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
