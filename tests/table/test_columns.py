"""Features are shared among workers where that gains time, and come back in order."""

import contextlib
import threading

import numpy as np
import pytest

from skdpmic.table.columns import map_features


def threads_of(n_samples, n_jobs):
    """Which threads work on 40 features, each of which waits for another one."""
    columns = np.arange(40.0)[:, np.newaxis] + np.zeros(n_samples)
    ranges = [(j, j + 1) for j in range(40)]
    meeting, threads = threading.Barrier(2), set()

    def function(column, interval):
        if len(threads) < 2 and n_jobs == 2:
            with contextlib.suppress(threading.BrokenBarrierError):
                meeting.wait(timeout=1)
        threads.add(threading.get_ident())
        return column[0], interval

    assert map_features(function, columns, ranges, n_jobs) == [(j, (j, j + 1)) for j in range(40)]
    return threads


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_worker_is_the_calling_thread(n_jobs):
    assert threads_of(10_000, n_jobs) == {threading.get_ident()}


def test_two_workers_share_long_columns_and_leave_short_ones_to_one():
    assert len(threads_of(10_000, 2)) == 2
    assert threads_of(1000, 2) == {threading.get_ident()}
