"""Counting records into a sketch, chunk by chunk."""

from functools import partial

from skdpmic.counting.parts import new_part
from skdpmic.table.columns import map_features
from skdpmic.table.frames import check_columns_seen
from skdpmic.table.reading import open_chunk, read_columns
from skdpmic.table.targets import check_weights_given, make_target, read_weights

_FEATURES_AT_ONCE = 256  # features counted before they are added, which limits the memory of an update


def count_into(sketch, owner, X, y, n_jobs, *, sample_weight=None, reader=None):
    """Count a chunk, with the columns of `owner` (an estimator or the sketch); `reader` is named in errors."""
    check_weights_given(sample_weight, sketch.max_weight)
    description, name = sketch.description, reader or type(owner).__name__
    table = open_chunk(X, description.domains, name)
    check_columns_seen(owner, table)
    columns, _ = read_columns(table, description.domains)
    target = make_target(y, table.n_samples, description.target, description.classes, name)
    if sample_weight is not None:
        target = target._replace(weights=read_weights(sample_weight, sketch.max_weight, table.n_samples))
    with sketch._in_use(only_reads=False):
        _add(sketch, columns, target, n_jobs)


def _add(sketch, columns, target, n_jobs):
    n_samples = columns.shape[1]
    sketch._check_addition(n_samples)
    count = partial(_count, sketch._grids, sketch._place(target, columns))
    sketch._is_torn = True
    for first in range(0, sketch.n_features_in_, _FEATURES_AT_ONCE):
        block = slice(first, first + _FEATURES_AT_ONCE)
        counts = map_features(count, columns[block], sketch.domains[block], n_jobs)
        for j, counts_j in enumerate(counts, first):
            sketch._counts_of(j)[:] += counts_j
    sketch.n_samples += n_samples
    if sketch.n_samples > 0 and not sketch._parts:
        sketch._parts = new_part()
    sketch._is_torn = False


def _count(grids, target, x, domain):
    return grids.count(x, domain, target)
