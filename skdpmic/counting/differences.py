"""Which public parameters of two sketches differ, so that their counts do not add up."""

import numpy as np

from skdpmic.table.axes import Labels


def differences(here, there):
    """Names of the public parameters in which two sketches differ, as text."""
    here, there = _public(here), _public(there)
    return ", ".join(name for name in here if not _are_equal(here[name], there[name]))


def _public(sketch):
    axes = dict(enumerate(sketch.description.axes))
    nominal = {j: axis for j, axis in axes.items() if isinstance(axis, Labels)}
    return {
        "n_features": sketch.n_features_in_,
        "feature_names": sketch.description.names,
        "bounds": {j: axis for j, axis in axes.items() if j not in nominal},
        "categories": nominal,
        "target_bounds": sketch.description.target,
        "classes": sketch.classes,
        "statistic": sketch.statistic,
        "correction": sketch.correction,
        "B": sketch.B,
        "c": sketch.c,
        "n_parts": sketch.n_parts,
    }


def _are_equal(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    return type(a) is type(b) and a == b
