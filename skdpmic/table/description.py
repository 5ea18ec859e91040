"""What is public about a table whose records come in pieces: ranges, classes and names."""

import numbers
from typing import NamedTuple

import numpy as np

from skdpmic.checks.arguments import check_interval
from skdpmic.checks.readable import refuse_repeated
from skdpmic.table.bounds import check_feature_bounds
from skdpmic.table.public import check_public
from skdpmic.table.targets import check_classes, check_kind


class Description(NamedTuple):
    """What is public about a table."""

    ranges: list  # of n_features pairs (lower, upper)
    names: np.ndarray | None  # (n_features,)
    target_bounds: tuple | None
    classes: np.ndarray | None  # (n_classes,)

    @property
    def n_features(self):
        """Number of features."""
        return len(self.ranges)

    @property
    def n_classes(self):
        """Number of classes; None with a numeric target."""
        return None if self.classes is None else len(self.classes)


def describe(bounds, target_bounds, classes, n_features, feature_names):
    """The description that these parameters of a sketch give; a ValueError if they give none."""
    for name, value in {"bounds": bounds, "target_bounds": target_bounds, "classes": classes}.items():
        check_public(name, value)
    check_kind(target_bounds, classes)
    names = _check_names(bounds, feature_names)
    ranges = check_feature_bounds(bounds, _check_n_features(bounds, n_features, names), names)
    if classes is not None:
        return Description(ranges, names, None, check_classes(classes))
    return Description(ranges, names, check_interval(target_bounds, "target_bounds"), None)


def _check_names(bounds, feature_names):
    if feature_names is None:
        return np.array(list(bounds), dtype=object) if isinstance(bounds, dict) else None
    names = np.asarray(feature_names, dtype=object)
    if names.ndim != 1 or not all(isinstance(name, str) for name in names):
        raise ValueError("feature_names must be None or an array-like of str, of shape (n_features,).")
    refuse_repeated(names, "feature_names must be different names")
    return names


def _check_n_features(bounds, n_features, names):
    if n_features is None:
        n_features = len(names) if names is not None else n_features_of(bounds)
    if not isinstance(n_features, numbers.Integral) or n_features < 1:
        raise ValueError(f"n_features must be an int >= 1 where bounds do not tell how many, got {n_features!r}.")
    if names is not None and len(names) != n_features:
        raise ValueError(f"feature_names must be {n_features} names, as many as features, got {len(names)}.")
    return int(n_features)


def n_features_of(bounds):
    """How many features bounds tell of; None if they are the same for any number."""
    if isinstance(bounds, dict):
        return len(bounds)
    if isinstance(bounds, list | tuple | np.ndarray) and len(bounds) != 2:
        return len(bounds)  # a pair for each feature, it seems; the check of bounds says how to write it
    try:
        return max((len(side) for side in bounds if np.ndim(side) == 1), default=None)
    except TypeError:
        return None
