"""Whether a sketch was made for an estimator's parameters."""

import numpy as np

from skdpmic.counting.sketch import RangeGridSketch, check_whole
from skdpmic.statistics.grids.limits import check_B, check_c
from skdpmic.table.axes import Labels, Order
from skdpmic.table.features import feature_axes
from skdpmic.table.public import check_public
from skdpmic.table.targets import check_classes, target_axis


def check_agreement(sketch, estimator):
    """Raise unless `sketch` has what the parameters of an estimator ask for.

    None and "auto" ask for nothing. Nor does an exponent B: the sketch was built for an expected number of records.
    """
    if not isinstance(sketch, RangeGridSketch):
        raise TypeError(f"sketch must be a RangeGridSketch, got {type(sketch).__name__}.")
    if estimator.statistic != sketch.statistic:
        raise ValueError(f"statistic must be that of the sketch, {sketch.statistic!r}, got {estimator.statistic!r}.")
    if sketch.statistic == "mic_r" and sketch.n_parts is None and estimator.correction != sketch.correction:
        raise ValueError(f"correction must be that of the sketch, {sketch.correction!r}, got {estimator.correction!r}.")
    _check_description(sketch, estimator)
    _check_grids(sketch, estimator.B, estimator.c, estimator.mechanism)


def check_publishable(sketch, estimator):
    """Raise unless `sketch` agrees with an estimator, is whole and holds enough records."""
    check_agreement(sketch, estimator)
    if sketch.n_samples < 4:
        raise ValueError(f"the sketch has counted {sketch.n_samples} record(s), while a minimum of 4 is required.")
    check_whole(sketch)


def _check_description(sketch, estimator):
    bounds, target_bounds, classes = estimator.bounds, estimator.target_bounds, estimator.classes
    for name, value in {"bounds": bounds, "target_bounds": target_bounds, "classes": classes}.items():
        check_public(name, value)
    _check_features(sketch.description, bounds, estimator.categories)
    if target_bounds is not None and target_axis(target_bounds) != sketch.description.target:
        target = sketch.description.target
        allowed = "None with a sketch of classes" if target is None else f"None or those of the sketch, {target.bounds}"
        raise ValueError(f"target_bounds must be {allowed}, got {target_bounds!r}.")
    if classes is not None and not _same_labels(check_classes(classes), sketch.classes):
        target = sketch.classes
        allowed = "None with a sketch of numbers" if target is None else f"None or those of the sketch, {target}"
        raise ValueError(f"classes must be {allowed}, got {classes!r}.")


def _check_features(description, bounds, categories):
    """Raise if bounds or categories are given and differ; what the sketch's table declared needs no entry."""
    if bounds is None and categories is None:
        return
    axes = description.axes
    declared = {j: axis.labels for j, axis in enumerate(axes) if isinstance(axis, Labels)}
    given = feature_axes(bounds, categories, len(axes), description.names, declared, needs_ranges=bounds is not None)
    if bounds is None:
        axes = [axis if isinstance(axis, Labels) else Order() for axis in axes]
    if given != axes:
        raise ValueError("bounds and categories must be None or those of the sketch, got others.")


def _same_labels(labels, others):
    return others is not None and labels.dtype.kind == others.dtype.kind and np.array_equal(labels, others)


def _check_grids(sketch, B, c, mechanism):
    if B != "auto":
        check_B(B)
        if B >= 1 and B != sketch.B:
            raise ValueError(f"B must be 'auto', an exponent or that of the sketch, {sketch.B}, got {B!r}.")
    if c != "auto":
        check_c(c)
        if c != sketch.c:
            raise ValueError(f"c must be 'auto' or that of the sketch, {sketch.c}, got {c!r}.")
    if (mechanism == "geometric") != (sketch.n_parts is not None):
        kind = "'laplace' or 'gaussian'" if sketch.n_parts is None else "'geometric', as the sketch has n_parts"
        raise ValueError(f"mechanism must be {kind} with this sketch, got {mechanism!r}.")
