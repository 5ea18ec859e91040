"""The ledger when processes and threads race, fork and are killed."""

import contextlib
import multiprocessing
import os
import random
import threading
import time

import pytest

from skdpmic import BudgetError, BudgetLedger, DPMICScorer
from skdpmic.budget import ledger_file
from skdpmic.budget.filters import BasicFilter, Cost
from tests.budget.test_ledger import PUBLIC, table


@pytest.fixture
def path(tmp_path):
    return tmp_path / "budget.db"


class TwoSteps(BudgetLedger):
    """Deliberately broken: reads the total in one transaction and writes the charge in another."""

    def charge_entry(self, entry):
        costs = [Cost(each.epsilon) for each in (*self.entries(), entry)]
        if not self.limits.filter.accepts(costs):
            raise BudgetError("full")
        self._transact(lambda book: book.append(entry), writes=True)


def race_for_the_last_of_the_budget(kind, path, monkeypatch, seconds, n_threads=4):
    """All threads decide before any writes, if the ledger lets them within some seconds.

    Return the ledger and each outcome.
    """
    together = threading.Barrier(n_threads)
    accepts = BasicFilter.accepts

    def slow_accepts(self, costs):
        verdict = accepts(self, costs)
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(timeout=seconds)
        return verdict

    # SQLite's locks alone must suffice, as between processes.
    monkeypatch.setattr(ledger_file, "_inside_sqlite", contextlib.nullcontext())
    monkeypatch.setattr(BasicFilter, "accepts", slow_accepts)
    ledger, outcomes = kind(path, 1.0), []

    def charge():
        try:
            ledger.charge("last", 0.6)
            outcomes.append("charged")
        except (BudgetError, OSError) as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=charge) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ledger, sorted(outcomes)


def test_only_one_of_many_racing_charges_gets_the_rest_of_the_budget(path, monkeypatch):
    ledger, outcomes = race_for_the_last_of_the_budget(BudgetLedger, path, monkeypatch, 0.3)
    assert outcomes == ["BudgetError"] * 3 + ["charged"]
    assert ledger.spent() == (0.6, 0.0)


def test_the_race_catches_a_ledger_that_reads_and_writes_in_two_steps(path, monkeypatch):
    ledger, outcomes = race_for_the_last_of_the_budget(TwoSteps, path, monkeypatch, 60)
    assert outcomes == ["charged"] * 4
    assert ledger.spent()[0] > 1


processes = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="processes start slowly here"
)


@pytest.fixture
def context():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.budget.test_ledger_races"])
    return context


def _make_and_charge(path, start):
    start.wait()
    ledger = BudgetLedger(path, 1.0)
    with contextlib.suppress(BudgetError):
        while True:
            ledger.charge("race", 0.1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_charges_the_same_ledger(path):
    ledger = BudgetLedger(path, 1.0)
    ledger.charge("parent", 0.1)
    child = multiprocessing.get_context("fork").Process(target=ledger.charge, args=("child", 0.2))
    child.start()
    child.join()
    assert [entry.what for entry in ledger.entries()] == ["parent", "child"]


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


def _fit_when_allowed(path, permits, results):
    """A result is published once its line is in the file."""
    ledger = BudgetLedger.open(path)
    X, y = table(n=300)
    with open(results, "ab", buffering=0) as out, contextlib.suppress(BudgetError):
        while True:
            permits.acquire()
            score = DPMICScorer(epsilon=0.1, ledger=ledger, **PUBLIC).fit(X, y).scores_[0]
            out.write(f"{score}\n".encode())


@pytest.mark.slow
@processes
def test_killed_fits_lose_results_but_never_charges(path, context, tmp_path):
    # 200 fits of 0.1 in a limit of 20, in four processes. Four fits a round are allowed; at a random moment of it a
    # process is killed and replaced. So there are 50 rounds or more, however fast the machine is.
    ledger, results, rng = BudgetLedger(path, 20.0), tmp_path / "results", random.Random(0)
    results.touch()
    permits = context.Semaphore(0)
    killed = 0

    def start():
        worker = context.Process(target=_fit_when_allowed, args=(path, permits, results))
        worker.start()
        return worker

    workers = [start() for _ in range(4)]
    while ledger.remaining()[0] > 0:
        next_kill = min(len(ledger.entries()) + rng.randrange(4), 200)
        for _ in range(4):
            permits.release()
        while len(ledger.entries()) < next_kill:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.02))  # at any point between a charge, its fit, its result and the next charge
        unlucky = rng.randrange(4)
        killed += workers[unlucky].is_alive()
        workers[unlucky].kill()
        workers[unlucky].join()
        came_out = len(results.read_bytes().splitlines())
        assert came_out <= len(ledger.entries()) <= 200
        workers[unlucky] = start()
    for _ in workers:
        permits.release()
    for worker in workers:
        worker.join()

    came_out = len(results.read_bytes().splitlines())
    assert BudgetLedger.open(path).spent() == (20.0, 0.0)
    assert len(ledger.entries()) == 200
    assert 0 < came_out <= 200
    assert killed >= 49  # except perhaps the last, when the limit is reached and processes end on their own
    with pytest.raises(BudgetError):
        ledger.charge("one more", 1e-9)
