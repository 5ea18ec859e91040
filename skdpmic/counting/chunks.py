"""Counting records into a sketch, a chunk at a time."""

from skdpmic.table.columns import map_features
from skdpmic.table.frames import note_columns
from skdpmic.table.reading import open_chunk, read_columns
from skdpmic.table.targets import make_target
from skdpmic.table.weights import check_weights_given, read_weights

_FEATURES_AT_ONCE = 256  # counted before they are added: bounds the memory that an update takes besides the sketch


def count_into(sketch, owner, X, y, n_jobs, *, sample_weight=None, reset=False):
    """Count a chunk, whose column names `owner`, an estimator or the sketch, compares, or takes on if `reset`."""
    check_weights_given(sample_weight, sketch.max_weight)
    columns = _read(sketch, owner, X, reset)
    description = sketch.description
    target = make_target(y, columns.shape[1], description.target, description.classes, type(owner).__name__)
    if sample_weight is not None:
        target = target._replace(weights=read_weights(sample_weight, sketch.max_weight, columns.shape[1]))
    _add(sketch, columns, target, n_jobs)


def _read(sketch, owner, X, reset):
    axes = sketch.description.axes
    table = open_chunk(X, axes, type(owner).__name__)
    note_columns(owner, table, reset=reset)
    return read_columns(table, axes)[0]


def _add(sketch, columns, target, n_jobs):
    n_samples = columns.shape[1]
    sketch._check_addition(n_samples)
    counter = _Counter(sketch._grids, sketch._place(target, columns))
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
