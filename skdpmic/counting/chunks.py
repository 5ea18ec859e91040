"""Counting records into a sketch, chunk by chunk."""

from skdpmic.counting.threads import being_filled
from skdpmic.table.columns import map_features
from skdpmic.table.frames import check_columns
from skdpmic.table.reading import open_chunk, read_columns
from skdpmic.table.targets import make_target
from skdpmic.table.weights import check_weights_given, read_weights

_FEATURES_AT_ONCE = 256  # features counted before they are added, which limits the memory of an update


def count_into(sketch, owner, X, y, n_jobs, *, sample_weight=None, reader=None):
    """Count a chunk, with the columns of `owner` (an estimator or the sketch); `reader` is named in errors."""
    reader = reader or type(owner).__name__
    check_weights_given(sample_weight, sketch.max_weight)
    description = sketch.description
    table = open_chunk(X, description.domains, reader)
    check_columns(owner, table)
    columns, _ = read_columns(table, description.domains)
    target = make_target(y, table.n_samples, description.target, description.classes, reader)
    if sample_weight is not None:
        target = target._replace(weights=read_weights(sample_weight, sketch.max_weight, table.n_samples))
    with being_filled(sketch):
        _add(sketch, columns, target, n_jobs)


def _add(sketch, columns, target, n_jobs):
    n_samples = columns.shape[1]
    sketch._check_addition(n_samples)
    counter = _Counter(sketch._grids, sketch._place(target, columns))
    sketch._is_torn = True
    for first in range(0, sketch.n_features_in_, _FEATURES_AT_ONCE):
        block = slice(first, first + _FEATURES_AT_ONCE)
        counts = map_features(counter, columns[block], sketch.domains[block], n_jobs)
        for j, counts_j in enumerate(counts, first):
            sketch._counts_of(j)[:] += counts_j
    sketch._has_counted(n_samples)
    sketch._is_torn = False


class _Counter:
    """Counts features with a target; a class, so that it can be sent to worker processes."""

    def __init__(self, grids, target):
        self._grids, self._target = grids, target

    def __call__(self, x, domain):
        return self._grids.count(x, domain, self._target)
