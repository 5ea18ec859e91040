"""An interrupt at any line leaves an object unchanged, complete, or reporting that it is damaged; never half done."""

import copy
import inspect
import sys
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from skdpmic import BudgetLedger, DPMICScorer, PrivateSelectKBest
from skdpmic._utils.private_estimator import PrivateEstimator
from skdpmic.counting import RangeGridSketch
from skdpmic.counting import sketch as chunks
from skdpmic.release import kinds as releases
from skdpmic.release.path import FitPlan, run, store
from skdpmic.selection.scoring import PrivateScores, PrivateScoring
from skdpmic.selection.scoring_plan import ScoringPlan
from tests.select_names import SelectNames

N, D = 40, 3
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "B": 4, "c": 1}
X, Y = np.random.default_rng(0).random((N, D)), np.linspace(0, 1, N)


@contextmanager
def interrupt_before(line_number, functions):
    """Raise KeyboardInterrupt before the line_number-th executed line of these functions, counted from 0."""
    codes = {function.__code__ for function in functions}
    lines_left = line_number

    def trace(frame, event, argument):
        nonlocal lines_left
        if event == "line":
            lines_left -= 1
            if lines_left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    tracer_before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: trace if frame.f_code in codes else None)
    try:
        yield
    finally:
        sys.settrace(tracer_before)


def interrupted_everywhere(prepare, act, functions):
    """Yield what `prepare` makes after `act` on it was interrupted one line later each time, until it completes."""
    for line_number in range(1000):
        prepared = prepare()
        try:
            with interrupt_before(line_number, functions):
                act(prepared)
        except KeyboardInterrupt:
            yield prepared
        else:
            yield prepared
            return


def functions_of(*classes):
    """All functions defined in these classes."""
    written = [inspect.unwrap(function) for kind in classes for function in vars(kind).values() if callable(function)]
    return [function for function in written if hasattr(function, "__code__")]


# --- Sketches -----------------------------------------------------------------------------------------------------


def is_refused(sketch, folder):
    """Whether every use of the counts is refused."""
    whole = RangeGridSketch(n_features=D, **PUBLIC).update(X, Y)
    uses = [DPMICScorer().fit_sketch, whole.merge, sketch.merge, lambda sketch: sketch.save(folder / "sketch")]
    uses += [lambda sketch: sketch.update(X, Y)]
    for use in uses:
        with pytest.raises(ValueError, match="sketch is damaged"):
            use(sketch)
    return list(folder.iterdir()) == []


def test_a_sketch_interrupted_at_any_line_is_unchanged_complete_or_refused(tmp_path):
    before = RangeGridSketch(n_features=D, **PUBLIC).update(X[:10], Y[:10])
    after = copy.deepcopy(before).update(X, Y)
    seen = []
    for torn in interrupted_everywhere(
        lambda: copy.deepcopy(before), lambda sketch: sketch.update(X, Y), [chunks.count_into, chunks._add]
    ):
        if torn._is_torn:
            seen.append("refused")
            assert is_refused(torn, tmp_path)
        else:
            seen.append("as it was" if torn == before else "complete")
            expected = before if torn == before else after
            assert torn == expected
            assert torn.n_samples == expected.n_samples
    assert seen == sorted(seen, key=["as it was", "refused", "complete"].index)
    assert min(seen.count("as it was"), seen.count("refused")) > 3
    assert seen[-1] == "complete"


# --- Estimators ---------------------------------------------------------------------------------------------------


class Prepared(NamedTuple):
    """An estimator and its earlier state."""

    estimator: object
    before: dict

    def is_as_before(self):
        now = vars(self.estimator)
        return now.keys() == self.before.keys() and all(now[name] is self.before[name] for name in now)


def prepared(estimator):
    return Prepared(estimator, dict(vars(estimator)))


CLASSES = (PrivateEstimator, PrivateScoring, PrivateScores, DPMICScorer, PrivateSelectKBest, ScoringPlan, FitPlan)
CLASSES += (releases.NoisyScores, releases.BestFeatures)
ESTIMATORS = {
    "laplace": partial(DPMICScorer, **PUBLIC),
    "gaussian": partial(DPMICScorer, mechanism="gaussian", delta=1e-3, **PUBLIC),
    "k-norm": partial(DPMICScorer, mechanism="k-norm", **PUBLIC),
    "names": partial(SelectNames, k=1, **PUBLIC),
}
WAYS = {  # the calls before, and the one that is interrupted
    "first fit": (lambda estimator: estimator, lambda estimator: estimator.fit(X, Y)),
    "another fit": (lambda estimator: estimator.fit(X[:20, :2], Y[:20]), lambda estimator: estimator.fit(X, Y)),
    "fit_sketch": (
        lambda estimator: estimator.fit(X, Y),
        lambda estimator: estimator.fit_sketch(RangeGridSketch(n_features=D, **PUBLIC).update(X, Y)),
    ),
    "publish": (lambda estimator: estimator.partial_fit(X, Y, n_expected=N), lambda estimator: estimator.publish()),
}


@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.slow] * (way != "first fit")) for way in WAYS])
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.combinations
def test_an_estimator_interrupted_at_any_line_is_unchanged_or_fitted(name, way):
    prepare, act = WAYS[way]
    fitted = act(prepare(ESTIMATORS[name]()))
    was_as_before = []
    for interrupted in interrupted_everywhere(
        lambda: prepared(prepare(ESTIMATORS[name]())),
        lambda interrupted: act(interrupted.estimator),
        [*functions_of(*CLASSES), run, store],
    ):
        was_as_before.append(interrupted.is_as_before())
        assert was_as_before[-1] or vars(interrupted.estimator).keys() == vars(fitted).keys()
    assert was_as_before == sorted(was_as_before, reverse=True)
    assert was_as_before.count(True) > 20
    assert not was_as_before[-1]


def test_an_interrupt_after_the_charge_loses_the_result_not_the_charge(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    ledger = BudgetLedger(tmp_path / "budget.db", 1.0)
    scorer = DPMICScorer(epsilon=0.3, ledger=ledger, **PUBLIC).partial_fit(X, Y, n_expected=N)
    counts = scorer._sketch
    monkeypatch.setattr("skdpmic.privacy.mechanisms.discrete_laplace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scorer.publish()
    assert ledger.spent() == (0.3, 0.0)
    assert scorer._sketch is counts
    monkeypatch.undo()
    assert scorer.publish().privacy_spent_ == (0.3, 0.0)
    assert ledger.spent() == (0.6, 0.0)
