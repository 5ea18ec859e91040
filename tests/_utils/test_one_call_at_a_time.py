"""While a call changes an estimator or a sketch, every other call is refused before anything is charged."""

import copy
import os
import pickle
import threading
from collections import Counter
from functools import partial

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from skdpmic import BudgetLedger, DPMICScorer, DPMICSelector, PrivateGridSearch, PrivateSelectKBest, PublicEncoder
from skdpmic._utils import private_estimator as rollback
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import RangeGridSketch
from skdpmic.counting import sketch as chunks
from skdpmic.release import path
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = np.random.default_rng(0).random((40, 2)), np.linspace(0, 1, 40)
FRAME = pandas.DataFrame(X, columns=["a", "b"])
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
IN_USE = "is in use by another call: give each thread an estimator of its own, by sklearn.base.clone"
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


REPORTS = RandomizedResponse(epsilon=4.0, bounds=(0, 1)).fit(X)
SENT = REPORTS.to_arrow(REPORTS.transform(X))
SCORES = {
    "fit": lambda estimator: estimator.fit(X, Y),
    "partial_fit": lambda estimator: estimator.partial_fit(X, Y),
    "fit_sketch": lambda estimator: estimator.fit_sketch(empty().update(X, Y)),
}
CALLS = [  # an estimator, the running call, and the call of another thread
    *[(partial(DPMICScorer, **PUBLIC), first, second) for first in SCORES.values() for second in SCORES.values()],
    *[(partial(kind, k=1, statistic="mic_r", **PUBLIC), SCORES["fit"], SCORES["fit"]) for kind in
      (DPMICSelector, PrivateSelectKBest)],
    *[(kind, lambda estimator: estimator.fit(FRAME), lambda estimator: estimator.fit(FRAME)) for kind in
      (partial(PrivateCorrelation, epsilon=9), partial(PrivatePC, epsilon=9), partial(PublicEncoder, bounds=(0, 1)),
       partial(RandomizedResponse, bounds=(0, 1)))],
    (TwoPartyScorer, lambda estimator: estimator.fit(SENT, Y), lambda estimator: estimator.fit(SENT, Y)),
    (partial(PrivateGridSearch, Ridge(), {"alpha": [1.0, 1.0]}), SCORES["fit"], SCORES["fit"]),
]  # fmt: skip


@pytest.mark.parametrize("make, first, second", CALLS)
@pytest.mark.combinations
def test_a_second_thread_is_refused_during_a_fit_and_the_first_result_is_kept(make, first, second, monkeypatch):
    estimator, errors = make(), []
    kind = type(estimator)
    names = ("_plan", "_two_party_plan", "_check_parameters")
    checks = next(name for name in names if getattr(kind, name, None))
    check = getattr(kind, checks)

    def check_and_be_disturbed(self):
        checked = check(self)
        monkeypatch.setattr(kind, checks, check)
        errors.append(in_another_thread(lambda: second(self)))
        assert pickle.loads(pickle.dumps(self)).get_params().keys() == clone(self).get_params().keys()
        return checked

    monkeypatch.setattr(kind, checks, check_and_be_disturbed)
    first(estimator)
    assert [type(error) for error in errors] == [RuntimeError]
    assert f"this {kind.__name__} {IN_USE}" in str(errors[0])
    assert vars(estimator).keys() == vars(first(make())).keys()  # no other attribute is left
    assert not rollback._calls


def test_of_twelve_threads_exactly_those_that_were_charged_get_a_result(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget", epsilon=5.0)
    scorer, barrier = DPMICScorer(epsilon=1.0, ledger=ledger, **PUBLIC), threading.Barrier(12)
    outcomes = []

    def fit():
        barrier.wait()
        try:
            outcomes.append(type(scorer.fit(X, Y)))
        except RuntimeError as error:
            outcomes.append(type(error))

    threads = [threading.Thread(target=fit) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    n_fitted = Counter(outcomes)[DPMICScorer]
    assert len(outcomes) == 12
    assert n_fitted >= 1
    assert ledger.spent()[0] == n_fitted
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


def test_no_other_call_interferes_with_publish(monkeypatch):
    scorer, errors = DPMICScorer(**PUBLIC).partial_fit(X, Y), []
    run = path.run

    def run_and_be_disturbed(*arguments, **options):
        monkeypatch.setattr(path, "run", run)
        calls = (scorer.publish, lambda: scorer.partial_fit(X, Y), lambda: scorer.fit(X, Y))
        errors.extend(in_another_thread(call) for call in calls)
        return run(*arguments, **options)

    monkeypatch.setattr(path, "run", run_and_be_disturbed)
    assert scorer.publish().scores_.shape == (2,)
    assert [type(error) for error in errors] == [RuntimeError] * 3


def test_no_other_call_interferes_with_the_refit_of_a_search():
    errors = []

    class Disturbing(Ridge):
        def fit(self, X, y):
            if len(X) == len(Y):
                errors.append(in_another_thread(lambda: search.fit(X, y)))
            return super().fit(X, y)

    search = PrivateGridSearch(Disturbing(), {"alpha": [1.0, 2.0]}, n_subsets=4)
    assert search.fit(X, Y).best_estimator_.coef_.shape == (2,)
    assert [type(error) for error in errors] == [RuntimeError]


def test_errors_and_copies_release_the_lock():
    scorer = DPMICScorer(**PUBLIC)
    for _ in range(2):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            scorer.fit(X, Y[:-1])
    with rollback.rollback_on_error(scorer):
        for other in (clone(scorer), copy.copy(scorer), pickle.loads(pickle.dumps(scorer))):
            assert other.fit(X, Y).scores_.shape == (2,)
        with pytest.raises(RuntimeError, match=IN_USE):
            scorer.fit(X, Y)
    assert scorer.fit(X, Y).scores_.shape == (2,)
    assert not rollback._calls


def test_attributes_are_restored_if_a_later_step_fails():
    scorer = DPMICScorer()

    def change():
        with rollback.rollback_on_error(scorer) as keep:
            scorer.first_ = 1
            keep()
            scorer.second_ = 2
            raise KeyError

    with pytest.raises(KeyError):
        change()
    assert (hasattr(scorer, "first_"), hasattr(scorer, "second_")) == (True, False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_can_use_its_own_copy():
    scorer = DPMICScorer(**PUBLIC)
    with rollback.rollback_on_error(scorer):
        child = os.fork()
        if child == 0:
            os._exit(0 if not rollback._calls else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert rollback._calls


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
    sketch, run, results = empty().update(X, Y), path.run, []

    def run_and_be_disturbed(*arguments, **options):
        monkeypatch.setattr(path, "run", run)
        results.extend(in_another_thread(lambda use=use: use(sketch)) for use in USES.values())
        return run(*arguments, **options)

    monkeypatch.setattr(path, "run", run_and_be_disturbed)
    assert DPMICScorer().fit_sketch(sketch).scores_.shape == (2,)
    assert isinstance(results[0], RuntimeError)
    assert [type(result) for result in results[1:]] == [RangeGridSketch, RangeGridSketch, bytes, DPMICScorer]
    assert sketch == empty().update(X, Y)
