"""All Kendall sums of a table: concordant less discordant pairs of records, for each two columns."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.progress import SILENT
from skdpmic.statistics.ranks.kernels import concordance

_SHORT = 1500  # records: a pair of columns takes less time than threads to hand the interpreter's lock over for it


def concordances(ranks, n_jobs=None, progress=SILENT):
    """Concordant less discordant pairs of records, for each two columns, and for each with itself.

    For a column with itself, that is the number of pairs that are not tied.

    Parameters
    ----------
    ranks : list of n_columns int64 ndarrays of shape (n_samples,)
        From :func:`skdpmic.statistics.ranks.kernels.mid_ranks`, of at most ``MAX_RECORDS`` records.
    n_jobs : int, default=None
    progress : Progress, default=SILENT

    Returns
    -------
    int64 ndarray of shape (n_columns (n_columns + 1) / 2,)
        In the order of ``np.triu_indices(n_columns)``, whatever `n_jobs` is.
    """
    places = range(len(ranks))
    if effective_n_jobs(n_jobs) == 1 or len(ranks[0]) < _SHORT:
        rows = (_of_row(ranks, i) for i in places)
    else:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)
        rows = parallel(delayed(_of_row)(ranks, i) for i in places)
    rows = progress.track(rows, len(ranks) * (len(ranks) + 1) // 2, "pairs of columns", size=len)
    return np.array([total for row in rows for total in row], dtype=np.int64)


def _of_row(ranks, i):
    return [concordance(ranks[i], other) for other in ranks[i:]]
