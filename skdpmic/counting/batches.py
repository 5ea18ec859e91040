"""Counting a table that is never in memory as a whole: some rows of a LazyFrame at a time."""

from skdpmic.counting.chunks import count_against, count_into

_ROWS = 2**17  # of a batch, about


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
    for batch in _batches(X):
        seen = sketch.n_samples
        count_into(sketch, estimator, batch, y[seen : seen + len(batch)], n_jobs, reset=False)
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
    for batch in _batches(X):
        count_against(sketch, estimator, batch, j, n_jobs)
    return sketch


def _batches(X):
    if hasattr(X, "collect_batches"):
        yield from X.collect_batches(chunk_size=_ROWS)
    else:  # of older versions
        yield X.collect()
