"""The records that an estimator scores: a table in memory, a dask collection, a LazyFrame or the counts of a sketch."""

import math
import numbers
from functools import partial
from typing import TypeVar

from sklearn.utils.metaestimators import available_if

from skdpmic._utils.arguments import one_of
from skdpmic._utils.errors import warn
from skdpmic._utils.readable import column_names, is_dask_collection, refuse_masked, refuse_target_among
from skdpmic._utils.texts import quoted
from skdpmic.counting.sketch import RangeGridSketch, are_equal
from skdpmic.counting.streams import (
    SketchedRecords,
    added,
    check_features,
    count_batches,
    count_collection,
    feature_names,
    n_rows,
    pair_counts,
)
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.statistics.grids import check_B, check_c
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.statistics.registry import check_mergeable, statistic_named
from skdpmic.table.facts import kept_columns
from skdpmic.table.frames import column_of, is_lazy
from skdpmic.table.people import check_given_together
from skdpmic.table.records import check_enough
from skdpmic.table.tables import columns_seen, open_table
from skdpmic.table.targets import check_classes, check_weights_given, one_dimensional, read_weights, target_domain

_Method = TypeVar("_Method")


def read(plan, X, y, groups=None, sample_weight=None):
    """The records of a table, wherever it is, each converted to numbers separately.

    Parameters
    ----------
    plan : ScoringPlan
    X, y, groups, sample_weight : as in `fit`

    Returns
    -------
    Records
    """
    max_rows = plan.facts.max_rows_per_group
    check_given_together(groups, max_rows)
    check_weights_given(sample_weight, plan.max_weight)
    if is_dask_collection(X):
        return _count_on_workers(plan, X, y, sample_weight)
    if is_lazy(X) and groups is None and plan.statistic.is_mergeable:
        return _count_lazily(plan, X, y, sample_weight)
    records = plan.read_table(X, y)
    if sample_weight is not None:
        records = records.with_weights(read_weights(sample_weight, plan.max_weight, records.n_samples))
    return records.of_people(groups, max_rows)


def _check_pieces(statistic, max_rows_per_group):
    """Raise unless scores can be computed from counts of pieces."""
    check_mergeable(statistic)
    if max_rows_per_group is not None:
        raise ValueError(
            f"max_rows_per_group must be None if records come in pieces, got {quoted(max_rows_per_group)}: the rows of "
            "one person may be in several pieces."
        )


def if_counts_suffice(method: _Method) -> _Method:
    """A method of estimators whose scores can be computed from counts; otherwise its AttributeError gives the reason.

    This needs few parameters, so that other ones may be invalid.
    """
    return available_if(_counts_suffice)(method)


def _counts_suffice(estimator):
    given = estimator.get_params(deep=False)
    try:
        _check_pieces(statistic_named(estimator.statistic, given.get("correction")), estimator.max_rows_per_group)
        if given.get("criterion") == "joint":
            raise ValueError(
                "criterion must be 'single' or 'auto' if records are counted in chunks or sketches, got 'joint': "
                "it counts features together with those chosen. fit takes a LazyFrame or a dask collection."
            )
    except ValueError as error:
        raise AttributeError(str(error)) from None
    return True


def _count_lazily(plan, X, y, sample_weight):
    """The records of a LazyFrame, counted in batches."""
    if y is None:
        raise ValueError(f"{plan.reader} requires y to be passed, but the target y is None.")
    refuse_target_among(column_names(X), y)
    y = column_of(y, "y", one_dimensional)
    check_enough(y.n_samples)
    weights = None if sample_weight is None else column_of(sample_weight, "sample_weight")
    if weights is not None and weights.n_samples != y.n_samples:
        lengths = f"{weights.n_samples} and {y.n_samples}"
        raise ValueError(f"sample_weight must have one weight for each row of X and y, got {lengths}.")
    sketch, _ = sketch_for(plan, y.n_samples, X.head(0))
    holds = plan.counts_pairs(y.n_samples, sketch)
    held = count_batches(sketch, plan.reader, X, y, weights, plan.n_jobs, holds=holds)
    return read_sketch(plan, sketch, partial(_count_pairs, sketch, held, plan.n_jobs) if holds else None)


def _count_pairs(sketch, held, n_jobs, j):
    """The counts of each feature together with feature j, in all rows that are held."""
    return added([pair_counts(sketch, rows, j, n_jobs) for rows in held])


def _count_on_workers(plan, X, y, sample_weight):
    """The records of a dask collection, counted by its workers."""
    _check_pieces(plan.statistic, plan.facts.max_rows_per_group)
    n_dimensions = getattr(X, "ndim", "no")
    if n_dimensions != 2:
        raise ValueError(f"X must be 2-dimensional, got a dask collection of {n_dimensions} dimension(s).")
    refuse_masked(y, "y")
    refuse_masked(sample_weight, "sample_weight")
    n_samples = n_rows(X) if _depend_on_n(plan.asked) else math.inf  # counting rows takes a pass over them
    check_enough(n_samples)
    names = feature_names(X)
    refuse_target_among(names, y)
    plan.facts.domains(X.shape[1], names)  # raises if names in dicts are not columns
    empty = empty_sketch(plan, n_samples, X.shape[1], names)
    holds = plan.counts_pairs(n_samples, empty)
    sketch, count_pairs = count_collection(empty, X, y, sample_weight, holds=holds)
    if n_samples not in (sketch.n_samples, math.inf):
        raise ValueError("X must return the same rows each time it is read, got different numbers of rows.")
    plan.measure(sketch.n_samples, sketch.n_features_in_, sketch.n_classes)  # raises if it is too large for them
    return read_sketch(plan, sketch, count_pairs)


def sketch_for(plan, n_samples, X):
    """An empty sketch for a given table, whose columns must match the dicts; and the fitted attributes of these."""
    table = open_table(X, plan.reader, takes_text=plan.facts.takes_text)
    seen = columns_seen(table)
    columns = (table.n_features, table.names_as_text(), table.declared())
    plan.facts.domains(*columns)
    return empty_sketch(plan, n_samples, *columns), seen


def empty_sketch(plan, n_samples, n_features, feature_names, declared=None):
    """An empty sketch with the grids for about this many records."""
    description = plan.facts.describe_unseen(n_features, feature_names, declared)
    measure = plan.measure(n_samples, description.n_features, description.n_classes)
    return RangeGridSketch.described(
        description,
        statistic=plan.statistic.name,
        correction=plan.asked.correction,
        B=measure.B,
        c=measure.c,
        n_parts=measure.n_parts,
        max_weight=plan.max_weight,
    )


def read_sketch(plan, sketch, count_pairs=None):
    """The records of a sketch, if it suits the plan; `count_pairs` as in `SketchedRecords`."""
    check_agreement(plan, sketch)
    kept = kept_columns(plan.facts.keep, sketch.n_features_in_, sketch.description.names)
    return SketchedRecords(sketch, count_pairs, kept=kept)


def check_agreement(plan, sketch):
    """Raise unless a sketch matches the parameters.

    What is not given matches, and "auto", and an exponent B: the sketch was built for an expected number of records.
    """
    facts, description, (B, c, correction) = plan.facts, sketch.description, plan.asked
    check_features(description, facts)
    target, classes = description.target, facts.classes
    if B != "auto":
        check_B(B)
    if c != "auto":
        check_c(c)
    is_corrected = sketch.statistic == "mic_r" and sketch.n_parts is None
    parameters = {  # as given, of the sketch, and whether they agree
        "statistic": (plan.statistic.name, sketch.statistic, plan.statistic.name == sketch.statistic),
        "target_bounds": (
            facts.target_bounds,
            target and target.bounds,
            facts.target_bounds is None or target_domain(facts.target_bounds) == target,
        ),
        "classes": (
            classes,
            description.classes,
            classes is None or are_equal(check_classes(classes), description.classes),
        ),
        "max_weight": (plan.max_weight, sketch.max_weight, plan.max_weight == sketch.max_weight),
        "correction": (correction, sketch.correction, not is_corrected or correction == sketch.correction),
        "B": (B, sketch.B, B == "auto" or B < 1 or B == sketch.B),
        "c": (c, sketch.c, c in ("auto", sketch.c)),
    }
    for name, (given, own, are_alike) in parameters.items():
        if not are_alike:
            raise ValueError(f"{name} must be that of the sketch, {quoted(own)}, got {quoted(given)}.")
    mechanism = plan.mechanism
    if mechanism is None and sketch.n_parts is not None:
        raise ValueError(f"the sketch must have n_parts=None to choose features, got n_parts={sketch.n_parts}.")
    if (mechanism == GeometricMechanism.name) != (sketch.n_parts is not None):
        kind = one_of(MECHANISMS) if sketch.n_parts is None else "'geometric', because the sketch has n_parts,"
        raise ValueError(f"mechanism must be {kind} with this sketch, got {quoted(mechanism)}.")
    plan.with_shares(sketch.measure)  # raises if the number of target_shares does not suit the sketch


def _depend_on_n(asked):
    return "auto" in (asked.B, asked.c) or _is_exponent(asked.B)


def _is_exponent(B):
    """Whether B is an exponent of the number of records."""
    return isinstance(B, numbers.Real) and B < 1


def warn_about_expected(plan, public):
    """Warn if B was chosen for a very different number of records."""
    B, n = plan.asked.B, public.shape.n_samples
    if B != "auto" and not _is_exponent(B):
        return
    chosen, fitting = public.measure.B, plan.measure(n, public.shape.n_features, public.n_classes).B
    if not 0.5 <= chosen / fitting <= 2:
        warn(
            f"B={chosen:.4g} was chosen for the n_expected of the first partial_fit; {fitting:.4g} would suit the "
            f"{n:,} records received."
        )
