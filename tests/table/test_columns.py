"""Features are shared among workers where that saves time, and results keep the order of the features."""

import threading

import numpy as np
import pytest

from skdpmic.table.records import map_features


def threads_of(n_samples, n_jobs, n_threads):
    """The threads that work on 40 features."""
    columns, threads = np.arange(40.0)[:, np.newaxis] + np.zeros(n_samples), set()
    both = threading.Barrier(2)

    def function(column, interval):
        if n_threads == 2 and threading.get_ident() not in threads:
            both.wait(timeout=60)  # until another thread has begun, however busy the machine is
        threads.add(threading.get_ident())
        return column[0], interval

    ranges = [(j, j + 1) for j in range(40)]
    assert map_features(function, columns, ranges, n_jobs) == [(j, (j, j + 1)) for j in range(40)]
    return threads


@pytest.mark.parametrize(
    "n_samples, n_jobs, n_threads", [(10_000, None, 1), (10_000, 1, 1), (1000, 2, 1), (10_000, 2, 2)]
)
def test_two_workers_share_long_columns_and_leave_short_ones_to_the_calling_thread(n_samples, n_jobs, n_threads):
    threads = threads_of(n_samples, n_jobs, n_threads)
    assert len(threads) == n_threads
    assert n_threads == 2 or threads == {threading.get_ident()}
