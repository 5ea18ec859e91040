"""Counting records into a sketch, chunk by chunk, and checking that a merge counts no record twice."""

import heapq
import os

import numpy as np

from skdpmic._utils.readable import refuse_target_among
from skdpmic.table.columns import map_features
from skdpmic.table.domains import Labels
from skdpmic.table.frames import check_columns_seen
from skdpmic.table.reading import open_chunk, read_columns
from skdpmic.table.targets import check_weights_given, make_target, read_weights

# --- Identities ------------------------------------------------------------------------------------------------------
#
# Random identities of what sketches have counted, so that a merge notices counts that it already contains.
#
# A sketch gets an identity with its first record, not before: copies of an empty sketch, filled elsewhere, differ.
# Copies of a filled one, and everything they are merged into, share its identity. Identities come from the operating
# system, so they reveal nothing about records; two counts of the same rows have two identities.


_SIZE = 16  # bytes, so that no two are equal by chance
MOST = 4096  # in a sketch; of more, the smallest are kept, so that two large merges keep the same ones


def new_part():
    """The identity of a new count, in a set."""
    return frozenset([os.urandom(_SIZE)])


def united(here, there):
    """The identities in two sets, at most ``MOST``; a ValueError if some are in both."""
    if not here.isdisjoint(there):
        raise ValueError(
            "sketches must have no counts in common to be merged, or records would count twice, got the same sketch, a "
            "copy, or merged ones that contain the same sketch: merge each sketch once."
        )
    return frozenset(heapq.nsmallest(MOST, here | there))


def checked_parts(parts):
    """Identities from a file, in a set; a ValueError or TypeError if there are more than ``MOST``, or others."""
    parts = frozenset(parts)
    if len(parts) > MOST or any(len(part) != _SIZE for part in parts):
        raise ValueError
    return parts


# --- Public parameters -----------------------------------------------------------------------------------------------


def differences(here, there):
    """Names of the public parameters in which two sketches differ, as str; their counts can then not be summed."""
    here, there = _public(here), _public(there)
    return ", ".join(name for name in here if not are_equal(here[name], there[name]))


def _public(sketch):
    domains = dict(enumerate(sketch.description.domains))
    nominal = {j: domain for j, domain in domains.items() if isinstance(domain, Labels)}
    return {
        "n_features": sketch.n_features_in_,
        "feature_names": sketch.description.names,
        "bounds": {j: domain for j, domain in domains.items() if j not in nominal},
        "categories": nominal,
        "target_bounds": sketch.description.target,
        "classes": sketch.classes,
        "statistic": sketch.statistic,
        "correction": sketch.correction,
        "B": sketch.B,
        "c": sketch.c,
        "n_parts": sketch.n_parts,
        "max_weight": sketch.max_weight,
    }


def are_equal(a, b):
    """Whether two public values are equal and of one kind."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    return type(a) is type(b) and a == b


# --- Counting --------------------------------------------------------------------------------------------------------


_FEATURES_AT_ONCE = 256  # features counted before they are added, which limits the memory of an update


def count_into(sketch, owner, X, y, n_jobs, *, sample_weight=None, reader=None):
    """Count a chunk, with the columns of `owner` (an estimator or the sketch); `reader` is named in errors.

    Returns the columns and the target, as read.
    """
    check_weights_given(sample_weight, sketch.max_weight)
    description, name = sketch.description, reader or type(owner).__name__
    table = open_chunk(X, description.domains, name)
    check_columns_seen(owner, table)
    refuse_target_among(table.names, y)
    columns, _ = read_columns(table, description.domains)
    target = make_target(y, table.n_samples, description.target, description.classes, name)
    if sample_weight is not None:
        target = target._replace(weights=read_weights(sample_weight, sketch.max_weight, table.n_samples))
    with sketch._in_use(only_reads=False):
        _add(sketch, columns, target, n_jobs)
    return columns, target


def _add(sketch, columns, target, n_jobs):
    n_samples = columns.shape[1]
    sketch._check_addition(n_samples)
    target = sketch._place(target)

    def count(column, domain):
        return sketch._grids.count(column, domain, target)

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
