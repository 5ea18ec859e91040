"""One function over many features, in blocks and on several cores."""

from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils import gen_even_slices


def each_feature(function, columns, lower, upper, n_jobs):
    """``function(column, (lower, upper))`` of each feature.

    Parameters
    ----------
    function : callable
    columns : sequence of length n_features
        What the function is given of each feature: its values, or its counts. Slices of it are sent to workers.
    lower, upper : ndarrays of shape (n_features,)
    n_jobs : int or None

    Returns
    -------
    list of length n_features
        In order, whatever `n_jobs` is.
    """
    n_features = len(columns)
    n_blocks = min(n_features, max(1, effective_n_jobs(n_jobs) * 4))
    blocks = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_each_of_block)(function, columns[block], lower[block], upper[block])
        for block in gen_even_slices(n_features, n_blocks)
    )
    return [result for block in blocks for result in block]


def _each_of_block(function, columns, lower, upper):
    bounds = zip(lower.tolist(), upper.tolist(), strict=True)
    return [function(*feature) for feature in zip(columns, bounds, strict=True)]
