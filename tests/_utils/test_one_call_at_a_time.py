"""While a thread counts into a sketch or draws reports, no other one changes or reads what it uses."""

import os
import threading
from collections import Counter

import numpy as np
import pytest

from skdpmic import BudgetError, BudgetLedger, DPMICScorer
from skdpmic._utils import private_estimator
from skdpmic.counting import RangeGridSketch
from skdpmic.counting import sketch as chunks
from skdpmic.selection import scoring
from skdpmic.two_party import RandomizedResponse

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = np.random.default_rng(0).random((40, 2)), np.linspace(0, 1, 40)
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
SKETCH_IN_USE = "is in use by another call: count into a sketch of its own in each thread"


def empty():
    return RangeGridSketch(n_features=2, B=4, c=1, **PUBLIC)


def in_another_thread(call):
    """The result of a call, or its error."""
    results = []

    def run():
        try:
            results.append(call())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


def test_of_twelve_threads_exactly_those_that_were_charged_get_a_result(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget", epsilon=5.0)
    scorer, barrier = DPMICScorer(epsilon=1.0, ledger=ledger, **PUBLIC), threading.Barrier(12)
    outcomes = []

    def fit():
        barrier.wait()
        try:
            outcomes.append(type(scorer.fit(X, Y)))
        except BudgetError as error:
            outcomes.append(type(error))

    threads = [threading.Thread(target=fit) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(outcomes) == {DPMICScorer: 5, BudgetError: 7}
    assert ledger.spent()[0] == 5.0
    assert scorer.scores_.shape == (2,)


def test_reports_are_drawn_by_one_call_at_a_time_with_the_parameters_it_described(tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget", epsilon=100.0)
    reporter, errors = RandomizedResponse(epsilon=1.0, bounds=(0, 1), ledger=ledger).fit(X), []
    draw = RandomizedResponse._draw

    def draw_and_be_disturbed(self, parts, random_bytes):
        monkeypatch.setattr(RandomizedResponse, "_draw", draw)
        self.set_params(epsilon=50.0)
        errors.extend(in_another_thread(call) for call in (lambda: self.fit(X), lambda: self.transform(X)))
        return draw(self, parts, random_bytes)

    monkeypatch.setattr(RandomizedResponse, "_draw", draw_and_be_disturbed)
    assert reporter.transform(X).shape == X.shape
    assert [type(error) for error in errors] == [RuntimeError] * 2
    assert ledger.spent() == (1.0, 0.0)
    assert reporter._description.epsilon == 1.0


def test_no_chunk_is_counted_during_publish(monkeypatch):
    scorer, errors = DPMICScorer(**PUBLIC).partial_fit(X, Y), []
    run = scoring.run

    def run_and_be_disturbed(*arguments, **options):
        monkeypatch.setattr(scoring, "run", run)
        errors.append(in_another_thread(lambda: scorer.partial_fit(X, Y)))
        return run(*arguments, **options)

    monkeypatch.setattr(scoring, "run", run_and_be_disturbed)
    assert scorer.publish().scores_.shape == (2,)
    assert [type(error) for error in errors] == [RuntimeError]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_can_use_its_own_copy():
    with empty()._in_use():
        child = os.fork()
        if child == 0:
            os._exit(0 if not private_estimator._calls else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert private_estimator._calls
    assert not private_estimator._calls


# --- Sketches ---------------------------------------------------------------------------------------------------------

USES = {
    "update": lambda sketch: sketch.update(X, Y),
    "merge": lambda sketch: sketch.merge(empty().update(X, Y)),
    "merged": lambda sketch: empty().update(X, Y).merge(sketch),
    "to_bytes": lambda sketch: sketch.to_bytes(),
    "fit_sketch": lambda sketch: DPMICScorer().fit_sketch(sketch),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_sketch_refuses_other_calls_while_it_counts_a_chunk(use, monkeypatch):
    sketch, count, errors = empty().update(X[:20], Y[:20]), chunks.map_features, []

    def count_and_be_disturbed(*arguments):
        monkeypatch.setattr(chunks, "map_features", count)
        errors.append(in_another_thread(lambda: use(sketch)))
        return count(*arguments)

    monkeypatch.setattr(chunks, "map_features", count_and_be_disturbed)
    assert sketch.update(X[20:], Y[20:]) == empty().update(X, Y)
    assert [type(error) for error in errors] == [RuntimeError]
    assert f"this RangeGridSketch {SKETCH_IN_USE}" in str(errors[0])


def test_a_sketch_can_be_read_but_not_counted_into_during_publish(monkeypatch):
    sketch, run, results = empty().update(X, Y), scoring.run, []

    def run_and_be_disturbed(*arguments, **options):
        monkeypatch.setattr(scoring, "run", run)
        results.extend(in_another_thread(lambda use=use: use(sketch)) for use in USES.values())
        return run(*arguments, **options)

    monkeypatch.setattr(scoring, "run", run_and_be_disturbed)
    assert DPMICScorer().fit_sketch(sketch).scores_.shape == (2,)
    assert isinstance(results[0], RuntimeError)
    assert [type(result) for result in results[1:]] == [RangeGridSketch, RangeGridSketch, bytes, DPMICScorer]
    assert sketch == empty().update(X, Y)
