"""The two kinds of target: numbers, with public bounds where these are needed, and public classes."""

import numbers
from typing import NamedTuple

import numpy as np

from skdpmic.checks.arguments import check_column, check_interval
from skdpmic.table.bounds import with_range_of_data
from skdpmic.table.public import asks_for_data


class NumericTarget(NamedTuple):
    """A numeric target. As sensitive as the data."""

    values: np.ndarray  # (n_samples,)
    bounds: tuple | None  # None where a statistic needs none

    n_classes = None


class ClassTarget(NamedTuple):
    """A target of class numbers 0 ... n_classes - 1. As sensitive as the data."""

    values: np.ndarray  # (n_samples,)
    n_classes: int


def check_kind(target_bounds, classes, needs_ranges=True):
    """Whether the target is numeric: exactly one of its two public descriptions must be given.

    A numeric target needs none if a statistic needs no ranges.
    """
    if (target_bounds is None) == (classes is None) and (needs_ranges or classes is not None):
        given = "neither" if classes is None else "both"
        raise ValueError(
            f"exactly one of target_bounds (for a continuous target) and classes (for a discrete one) must be given, "
            f"got {given}."
        )
    return classes is None


def make_target(y, target_bounds, classes, needs_ranges=True):
    """The target `y`, as the public description that was given says."""
    if classes is not None:
        return _of_classes(y, classes)
    y = check_column(y, "y")
    if not needs_ranges:
        return NumericTarget(y, None)
    if asks_for_data(target_bounds):
        y, lo, hi = with_range_of_data(y)
        return NumericTarget(y, (float(lo), float(hi)))
    return NumericTarget(y, check_interval(target_bounds, "target_bounds"))


def check_classes(classes):
    """The different labels of a discrete target, in ascending order."""
    if np.ndim(classes) != 1:
        raise ValueError(f"classes must be a list or array of at least 2 different labels, got {classes!r}.")
    labels = _of_own_type(np.asarray(classes))
    if labels.dtype.kind not in "biufUS":
        raise ValueError(f"classes must be numbers, booleans or strings, all of one type, got {classes!r}.")
    labels = np.unique(labels)
    if len(labels) < 2:
        raise ValueError(f"classes must be a list or array of at least 2 different labels, got {classes!r}.")
    if _is_number(labels) and len(np.unique(labels.astype(np.float64))) < len(labels):
        # One float among the labels of y makes all of them floats, so a record would decide the classes of others.
        raise ValueError(f"classes must be different labels as float64 too, got {classes!r}.")
    return labels


def _of_classes(y, classes):
    if len(y) == 0:  # whose type says nothing
        return ClassTarget(np.empty(0, dtype=np.int64), len(check_classes(classes)))
    y = _of_own_type(y)
    if y.dtype.kind == "O":
        raise ValueError("y must hold numbers, booleans or strings, all of one type, and no missing values.")
    labels = np.unique(y) if asks_for_data(classes) else check_classes(classes)
    if _is_number(labels) != _is_number(y) or (labels.dtype.kind == "S") != (y.dtype.kind == "S"):
        raise ValueError(f"classes and y must hold labels of one type, got dtypes {labels.dtype} and {y.dtype}.")
    codes = np.minimum(np.searchsorted(labels, y), len(labels) - 1)
    if not np.array_equal(labels[codes], y):
        raise ValueError("y must hold only labels that are in classes, got at least one other label.")
    return ClassTarget(codes, max(len(labels), 2))


def _of_own_type(labels):
    """Labels that came as objects, in an array of the one type that they have; of objects still, if they have none."""
    if labels.dtype.kind not in "OT":
        return labels
    for one_type in (str, bytes, (numbers.Real, np.bool_)):
        if all(isinstance(label, one_type) for label in labels):
            return np.asarray(labels.tolist())
    return labels.astype(object)


def _is_number(array):
    return array.dtype.kind in "biuf"
