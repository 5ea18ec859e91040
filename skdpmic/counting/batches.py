"""Counting a LazyFrame of Polars that `fit` was given, some rows at a time, with a target that is held apart."""

from skdpmic.counting.chunks import count_against, count_into
from skdpmic.counting.streams import frames_of


def count_batches(sketch, estimator, X, y, n_jobs):
    """Count all rows of a LazyFrame of Polars, whose names `estimator` compares, in one pass.

    Parameters
    ----------
    sketch : RangeGridSketch
        Without records; it gets all of them.
    estimator : estimator
    X : LazyFrame
    y : ndarray of shape (n_samples,)
    n_jobs : int or None

    Returns
    -------
    RangeGridSketch
    """
    for batch in frames_of(X):
        seen = sketch.n_samples
        count_into(sketch, estimator, batch.to_native(), y[seen : seen + len(batch)], n_jobs, reset=False)
    if sketch.n_samples != len(y):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{sketch.n_samples}, {len(y)}]")
    return sketch


def recount_batches(estimator, X, n_jobs, sketch, j):
    """Count all rows of a LazyFrame with feature j, for which the sketch was made, in one more pass.

    Parameters
    ----------
    estimator : estimator
    X : LazyFrame
    n_jobs : int or None
    sketch : RangeGridSketch
        Without records; it gets all of them.
    j : int

    Returns
    -------
    RangeGridSketch
    """
    for batch in frames_of(X):
        count_against(sketch, estimator, batch.to_native(), j, n_jobs)
    return sketch
