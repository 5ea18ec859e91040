"""Counting a chunk of records into a sketch: with the target, or with a feature in its place."""

from skdpmic.table.columns import map_features
from skdpmic.table.reading import read_chunk
from skdpmic.table.targets import make_target, target_of_feature

_FEATURES_AT_ONCE = 256  # counted before they are added: bounds the memory that an update takes besides the sketch


def count_into(sketch, estimator, X, y, n_jobs, reset):
    """Count a chunk whose column names `estimator` takes on if `reset`, and otherwise compares."""
    columns = read_chunk(estimator, X, sketch.description.axes, reset)
    target = make_target(y, columns.shape[1], sketch.description.target, sketch.classes, estimator)
    _add(sketch, columns, target, n_jobs)


def count_against(sketch, estimator, X, j, n_jobs):
    """Count a chunk, whose column names `estimator` compares, with feature j, for which the sketch was made."""
    columns = read_chunk(estimator, X, sketch.description.axes, reset=False)
    (column,) = columns[j : j + 1]
    _add(sketch, columns, target_of_feature(column, sketch.scales[j]), n_jobs)


def _add(sketch, columns, target, n_jobs):
    n_samples = columns.shape[1]
    sketch._check_addition(n_samples)
    counter = _Counter(sketch._grids, sketch._grids.place(target.values))
    sketch._is_torn = True
    for first in range(0, sketch.n_features_in_, _FEATURES_AT_ONCE):
        block = slice(first, first + _FEATURES_AT_ONCE)
        counts = map_features(counter, columns[block], sketch.scales[block], n_jobs)
        for j, counts_j in enumerate(counts, first):
            sketch._counts_of(j)[:] += counts_j
    sketch.n_samples += n_samples
    sketch._is_torn = False


class _Counter:
    """Counts features with a target; a class of its own so that worker processes can be sent it."""

    def __init__(self, grids, target):
        self._grids, self._target = grids, target

    def __call__(self, x, scale):
        return self._grids.count(x, scale, self._target)
