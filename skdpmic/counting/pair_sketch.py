"""Counts of features together with one of them, from one more pass over the records."""

from skdpmic.counting.sketch import RangeGridSketch


class PairSketch(RangeGridSketch):
    """Counts of each feature together with one that is given, and the target. As sensitive as the data.

    Parameters
    ----------
    sketch : RangeGridSketch
        Of the same table; its counts are not taken on.
    given : int
        The feature.
    """

    def __init__(self, sketch, given):
        vars(self).update(vars(sketch))
        target = self.description.target
        self._grids = self.measure.pair_counts(None if target is None else target.scale, self.scales[given])
        self._given, self._starts = given, self._place_features()
        self.n_samples, self._counts, self._is_torn = 0, self._zeros(), False

    def _place(self, target, columns):
        (column,) = columns[self._given : self._given + 1]
        return self._grids.place(target.values, target.weights, column)
