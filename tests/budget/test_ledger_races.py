"""The ledger when processes and threads race, fork and are killed."""

import contextlib
import os
import threading

import pytest

from skdpmic import BudgetError, BudgetLedger
from skdpmic.budget import ledger_file
from skdpmic.privacy.composition import BasicFilter


def race_for_the_last_of_the_budget(ledger, monkeypatch):
    """The outcomes of four charges of which one fits, in threads that all decide before any writes, if they can."""
    accepts, outcomes, together = BasicFilter.accepts, [], threading.Barrier(4)

    def slow_accepts(self, costs):
        verdict = accepts(self, costs)
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(timeout=0.3)
        return verdict

    def charge():
        try:
            ledger.charge("last", 0.6)
            outcomes.append("charged")
        except BudgetError:
            outcomes.append("refused")

    monkeypatch.setattr(BasicFilter, "accepts", slow_accepts)
    threads = [threading.Thread(target=charge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(outcomes)


def test_only_one_of_many_racing_charges_gets_the_rest_of_the_budget(path, monkeypatch):
    monkeypatch.setattr(ledger_file, "_inside_sqlite", contextlib.nullcontext())  # SQLite's locks alone must suffice
    ledger = BudgetLedger(path, 1.0)
    assert race_for_the_last_of_the_budget(ledger, monkeypatch) == ["charged"] + ["refused"] * 3
    assert ledger.spent() == (0.6, 0.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_waits_until_no_other_thread_is_inside_sqlite(path):
    # SQLite may hold its own locks at that moment, which nothing would release in the child.
    ledger = BudgetLedger(path, 1.0)
    inside, forked, left = threading.Event(), threading.Event(), []

    def stay_inside(book):
        inside.set()
        forked.wait(timeout=0.5)  # until the fork is done if it does not wait
        left.append("the thread")

    thread = threading.Thread(target=ledger._transact, args=(stay_inside,), kwargs={"writes": True})
    thread.start()
    inside.wait()
    if (child := os.fork()) == 0:
        try:
            if left:
                ledger.charge("child", 0.1)
        finally:
            os._exit(0)
    forked.set()
    thread.join()
    os.waitpid(child, 0)
    ledger.charge("parent", 0.1)
    assert [entry.what for entry in ledger.entries()] == ["child", "parent"]
