"""The public description of a table whose records come in pieces: axes, classes and names."""

import numbers
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from skdpmic._utils.readable import refuse_repeated
from skdpmic.table.axes import Labels, Unread
from skdpmic.table.bounds import axis_of
from skdpmic.table.dates import DATES, DURATIONS, NUMBERS
from skdpmic.table.features import labels_of
from skdpmic.table.targets import check_kind


class Description(NamedTuple):
    """The public description of a table."""

    axes: list  # of n_features
    names: np.ndarray | None  # (n_features,)
    target: object  # the axis of a numeric target
    classes: np.ndarray | None  # (n_classes,)

    @property
    def n_features(self):
        """Number of features."""
        return len(self.axes)

    @property
    def scales(self):
        """The scale of each feature, for kernels."""
        return [axis.scale for axis in self.axes]

    @property
    def n_classes(self):
        """Number of classes; None with a numeric target."""
        return None if self.classes is None else len(self.classes)


def check_description(description):
    """The same description, if a user could have passed it; a ValueError or TypeError otherwise."""
    axes, names, target, classes = description
    check_kind(target, classes)
    check_n_features(len(axes), names)
    if names is not None:
        names = as_names(names)
    return Description(
        [checked_axis(axis) for axis in axes], names, None if target is None else _given_range(target), classes
    )


def checked_axis(axis):
    """The axis for the same description passed by a user; a ValueError or TypeError if it is invalid."""
    if isinstance(axis, Unread):
        return axis
    return labels_of(list(axis.labels), "labels") if isinstance(axis, Labels) else _given_range(axis)


def _given_range(axis):
    given = axis_of(axis.bounds, "bounds")
    if type(given) is not type(axis) or axis.of not in (NUMBERS, DATES, DURATIONS):
        raise ValueError(f"bounds must hold numbers, dates or durations, got {axis!r}.")
    return given if axis.of == NUMBERS else replace(given, of=axis.of)


def as_names(feature_names):
    """The names of features as an array; a ValueError unless they are distinct str."""
    names = np.asarray(feature_names, dtype=object)
    if names.ndim != 1 or not all(isinstance(name, str) for name in names):
        raise ValueError("feature_names must be None or an array-like of str, of shape (n_features,).")
    refuse_repeated(names, "feature_names must be distinct")
    return names


def check_n_features(n_features, names):
    """The number of features, from their names if known."""
    if n_features is None and names is not None:
        n_features = len(names)
    if not isinstance(n_features, numbers.Integral) or n_features < 1:
        raise ValueError(f"n_features must be an int >= 1 if bounds do not determine it, got {n_features!r}.")
    if names is not None and len(names) != n_features:
        raise ValueError(f"feature_names must have n_features={n_features} names, got {len(names)}.")
    return int(n_features)
