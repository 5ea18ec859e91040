"""Parts of a record besides its features: target (numbers or classes), weight. Errors quote no values."""

import numbers
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.utils import column_or_1d

from skdpmic._utils.arguments import check_n_shares, check_shares, is_number
from skdpmic._utils.errors import NO_MISSING, ONLY_COMPLETE, TO_NUMBERS
from skdpmic._utils.readable import abbreviated
from skdpmic._utils.texts import quoted
from skdpmic.table.domains import NUMBERS, Order, domain_of
from skdpmic.table.frames import column_of
from skdpmic.table.normal_form import OBJECTS, TEXT, array_of, kind_of_dtype
from skdpmic.table.people import check_given_together
from skdpmic.table.values import ANY_ORDER, are_labels, are_numerals, as_numbers, exact_codes, refuse_missing

WEIGHT_UNITS = 256  # weights are rounded to this many equal parts of `max_weight`, so that sums are exact
USUAL_MEAN = 0.25  # assumed mean of survey weights, as a share of the largest, if unknown


class NumericTarget(NamedTuple):
    """A numeric target. Raw data; not private."""

    values: np.ndarray  # (n_samples,)
    bounds: tuple | None  # the range of these values; None if the statistic needs none
    weights: np.ndarray | None = None  # uint32 (n_samples,), in units; None for equal weights

    n_classes = None  # type: ignore[misc]  # a plain attribute of the class


class ClassTarget(NamedTuple):
    """A target of class numbers 0 ... n_classes - 1. Raw data; not private."""

    values: np.ndarray  # (n_samples,)
    n_classes: int
    weights: np.ndarray | None = None


def check_kind(target_bounds, classes, needs_ranges=True):
    """Whether the target is numeric; raises unless exactly one of its two public descriptions is given.

    A numeric target needs none if the statistic needs no ranges.
    """
    if (target_bounds is None) == (classes is None) and (needs_ranges or classes is not None):
        given = "neither" if classes is None else "both"
        raise ValueError(
            f"exactly one of target_bounds (for a continuous target) and classes (for a discrete one) must be given, "
            f"got {given}: pass what is publicly known, such as target_bounds=(0, 100) or classes=['no', 'yes']."
        )
    return classes is None


def target_domain(target_bounds, needs_ranges=True):
    """The domain of a numeric target."""
    return domain_of(target_bounds, "target_bounds") if needs_ranges else Order()


def check_target_shares(target_shares, target_bounds, classes):
    """Public shares of the records in each class, in ascending order, or in equal parts of a numeric target.

    Parameters
    ----------
    target_shares : array-like of shape (n_classes,), in the order of `classes`, or of shape (2,), (4,) or (8,)
    target_bounds : tuple, array-like or None
    classes : array-like or None
        If both are None, a sketch describes the target. Its measure checks the number of shares.

    Returns
    -------
    list of float
        All above 0, with a sum of about 1.
    """
    if classes is None:
        return check_shares(target_shares) if target_bounds is None else check_n_shares(target_shares, None)
    labels = check_classes(classes)
    shares = check_n_shares(target_shares, len(labels))
    given = _with_common_type(array_of(classes, "classes"))
    if len(given) != len(labels):
        raise ValueError("classes must be distinct labels with target_shares, got duplicates.")
    return [shares[i] for i in np.argsort(given, kind="stable")]


def make_target(y, n_samples, domain, classes, reader, named="classes"):
    """The target of this many records.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    n_samples : int
    domain : Range, LogRange, Knots or Order
        Axis of a numeric target, from :func:`target_domain`.
    classes : array-like or None
        Labels of a discrete target; None for a numeric one.
    reader : str
        The estimator that errors name.
    named : str, default="classes"
        What errors call `classes`.
    """
    if y is None:
        raise ValueError(f"{reader} requires y to be passed, but the target y is None.")
    y = column_of(y, "y", one_dimensional)
    if y.n_samples != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_samples}, {y.n_samples}]")
    if classes is not None:
        return _class_target(y, classes, named)
    y = _as_numbers(y, domain)
    return NumericTarget(domain.encode(y), domain.encoded)


def _as_numbers(y, domain):
    allowed = ANY_ORDER if domain.of == Order.of else (domain.of, OBJECTS)
    if y.kind not in allowed and not (y.missing.all() or (NUMBERS in allowed and are_numerals(y))):
        remedy = f" {TO_NUMBERS}" if y.kind == TEXT else ""
        raise ValueError(f"y must hold real numbers, or dates with target_bounds of dates, got {y.kind}.{remedy}")
    values = as_numbers(y, allowed, "y").astype(np.float64, copy=False)
    if np.isnan(values).any():
        raise ValueError(f"Input y contains NaN. A target must be complete: {ONLY_COMPLETE}")
    return values


def check_classes(classes):
    """The distinct labels of a discrete target, in ascending order."""
    labels = array_of(classes, "classes") if np.ndim(classes) == 1 else np.empty(0)
    if labels.dtype.kind in "Of":
        refuse_missing(labels, "classes")
    labels = _with_common_type(labels)
    if labels.dtype.kind not in "biufUS":
        raise ValueError(f"classes must be numbers, booleans or strings, all of one type, got {quoted(classes)}.")
    labels = np.unique(labels)
    if len(labels) < 2:
        raise ValueError(f"classes must be a list or array of at least 2 distinct labels, got {quoted(classes)}.")
    if kind_of_dtype(labels.dtype) == NUMBERS and len(np.unique(labels.astype(np.float64))) < len(labels):
        # One float in y would turn all labels into floats, so that one record could change the classes of others.
        raise ValueError(
            f"classes must also be distinct as float64, got {quoted(classes)}: write them as text, and y as "
            "y.astype(str)."
        )
    return labels


def _class_target(y, classes, named):
    labels = check_classes(classes)
    if y.n_samples == 0:  # an empty column has an arbitrary type
        return ClassTarget(np.empty(0, dtype=np.int64), len(labels))
    if y.missing.any():
        remedy = NO_MISSING if named == "classes" else f"A target must be complete: {ONLY_COMPLETE}"
        raise ValueError(f"Input y contains NaN. {remedy}")
    kind = kind_of_dtype(labels.dtype)
    if y.kind not in (kind, OBJECTS):
        numbered = (kind, y.kind) == (TEXT, NUMBERS)
        remedy = " VotingClassifier and other wrappers number labels: fit the estimator by itself." if numbered else ""
        raise ValueError(f"{named} and y must hold labels of one type, got {kind} and {y.kind}.{remedy}")
    if not are_labels(y, kind):
        raise ValueError("y must hold labels of the same type as classes, got at least one other value.")
    codes = exact_codes(y, labels.tolist())
    if (codes < 0).any():
        known = abbreviated(labels.tolist())
        raise ValueError(f"y must hold only labels that are in {named}, {known}, got at least one other label.")
    return ClassTarget(codes, len(labels))


def one_dimensional(array):
    """A target as scikit-learn takes it: one column of two dimensions is taken, with a warning."""
    with config_context(array_api_dispatch=False):
        return column_or_1d(array, warn=True)


def _with_common_type(labels):
    """Labels given as objects, in an array of their common type; unchanged if none holds each of them exactly."""
    if labels.dtype.kind not in "OT":
        return labels
    for one_type in (str, bytes, (numbers.Real, np.bool_)):
        if all(isinstance(label, one_type) for label in labels):
            typed = np.asarray(labels.tolist())
            return typed if typed.tolist() == labels.tolist() else labels.astype(object)
    return labels.astype(object)


# --- Weights -----------------------------------------------------------------------------------------------


def check_max_weight(max_weight):
    """Raise unless `max_weight` is valid."""
    if max_weight is not None and not (is_number(max_weight) and 0 < max_weight < float("inf")):
        raise ValueError(f"max_weight must be None or a finite number > 0, got {quoted(max_weight)}.")


check_weights_given = partial(
    check_given_together, name="sample_weight", limit_name="max_weight", are_to="hold the weight of each row"
)


def read_weights(sample_weight, max_weight, n_samples):
    """The weight of each record in units: uint32 (n_samples,). Raw data; not private.

    Each weight is clipped to `max_weight` and rounded to an integer number of units, separately.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,)
    max_weight : float
    n_samples : int
    """
    weights = np.minimum(check_weights(sample_weight, n_samples), max_weight)  # first, as quotients could overflow
    return np.rint(weights / max_weight * WEIGHT_UNITS).astype(np.uint32)


def check_weights(sample_weight, n_samples):
    """Weights as floats; raises unless there is one per record, none missing or below 0."""
    column = column_of(sample_weight, "sample_weight")
    if column.n_samples != n_samples:
        raise ValueError(f"sample_weight must have one weight per row of X, {n_samples}, got {column.n_samples}.")
    try:
        weights = as_numbers(column, (NUMBERS, OBJECTS), "sample_weight").astype(np.float64, copy=False)
    except (TypeError, ValueError):
        weights = np.array([np.nan])
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("sample_weight must hold finite numbers >= 0, got at least one other value.")
    return weights
