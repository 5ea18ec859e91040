"""What a fitted estimator holds depends only on its parameters, on public numbers and on what was released.

Two neighbouring tables with different raw scores are fitted, each with noise that makes the *released* values equal.
Everything else -- attributes, pickle, HTML, text, interval -- must then be equal too, byte for byte.
"""

import math
import pickle
import re

import numpy as np
import pytest

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest, mic_r
from skdpmic._utils import private_estimator as uncached
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.privacy import mechanisms, top_k
from skdpmic.statistics.mic import noisy_tables as geometric
from skdpmic.statistics.mtv import released_shares
from skdpmic.statistics.registry import STATISTICS
from skdpmic.table.records import TableRecords
from tests.folding import each
from tests.select_names import SelectNames

N, D = 60, 5
PUBLIC = {"bounds": (0, 1), "B": 12, "c": 2}


@pytest.fixture(autouse=True)
def fixed_nonce(monkeypatch):
    """Every pickle has the same nonce, so that pickles can be compared."""
    monkeypatch.setattr(uncached, "fresh_nonce", lambda: b"nonce")


def neighbours():
    rng = np.random.default_rng(0)
    X, y = rng.random((N, D)), rng.random(N)
    X_other, y_other = X.copy(), y.copy()
    X_other[7], y_other[7] = 1 - X[7], 1 - y[7]
    return (X, y), (X_other, y_other)


def raw_steps(X, y, statistic="mic_r"):
    of_a_pair = {"bounds": ((0, 1), (0, 1)), "B": 12, "c": 2}
    if statistic == "mic_r":
        scores = np.array([mic_r(x, y, correction="miller-madow", **of_a_pair) for x in X.T])
    else:
        known = {"target_shares": SHARES} if statistic == "mtv_r" else {}
        scorer = DPMICScorer(statistic=statistic, epsilon=math.inf, target_bounds=(0, 1), **known, **PUBLIC)
        scores = scorer.fit(X, y).scores_
    return mechanisms.to_grid(scores)


SHARES = (0.5, 0.5)  # which both fits will publish
RELEASED = np.array([0.5, 0.1, 0.9, 0.3, 0.7])  # which both fits will publish


def fit(estimator, X, y):
    return estimator.fit(X, y)


def fit_sketch(estimator, X, y):
    return estimator.fit_sketch(estimator.empty_sketch(N, n_features=D).update(X, y))


def fit_in_chunks(estimator, X, y):
    return estimator.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).publish()


WAYS = [fit, fit_sketch, fit_in_chunks]


def fit_with_released_values(estimator, X, y, monkeypatch, way=fit):
    def noise(scale, size, source):
        return mechanisms.to_grid(RELEASED) - raw_steps(X, y, estimator.statistic)

    monkeypatch.setattr(mechanisms, "discrete_laplace", noise)
    monkeypatch.setattr(mechanisms, "discrete_gaussian", noise)
    monkeypatch.setattr(mechanisms, "discrete_k_norm", noise)
    monkeypatch.setattr(top_k, "geometric", noise)
    monkeypatch.setattr(top_k, "exponential_choice", lambda scores, scale, source: len(scores) // 2)
    return way(estimator, X, y)


def fit_with_released_counts(estimator, X, y, monkeypatch, way=fit):
    """A fit that publishes a table with 2 in every cell."""

    def release(self, counts, n, source):
        return np.full_like(counts, 2)

    monkeypatch.setattr(geometric.GeometricMechanism, "release", release)
    return way(estimator, X, y)


def everything_visible(estimator):
    has_interval = hasattr(estimator, "scores_") and not hasattr(estimator, "noisy_counts_")
    html = re.sub(r"sk-(container-id|estimator-id)-[\w-]+", "", estimator._repr_html_())
    return {
        "attributes": {name: repr(value) for name, value in vars(estimator).items()},
        "pickle": pickle.dumps(estimator),
        "html": html,
        "text": repr(estimator),
        "interval": repr(estimator.scores_interval()) if has_interval else None,
        "p-values": repr(estimator.p_values()) if has_interval else None,
    }


SETTINGS = [
    lambda: DPMICScorer(target_bounds=(0, 1), **PUBLIC),
    lambda: DPMICScorer(target_bounds=(0, 1), n_jobs=2, **PUBLIC),
    lambda: DPMICSelector(k=2, target_bounds=(0, 1), **PUBLIC),
    lambda: DPMICSelector(threshold=0.5, target_bounds=(0, 1), **PUBLIC),
    lambda: SelectNames(k=2, target_bounds=(0, 1), **PUBLIC),
    lambda: DPMICScorer(target_bounds=(0, 1), mechanism="gaussian", delta=1e-6, **PUBLIC),
    lambda: DPMICScorer(target_bounds=(0, 1), mechanism="k-norm", **PUBLIC),
    lambda: SelectNames(k=2, target_bounds=(0, 1), delta=0.4, **PUBLIC),
]


@pytest.mark.few
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", SETTINGS)
@pytest.mark.combinations
def test_equal_releases_leave_equal_estimators(make, way, monkeypatch):
    here, there = neighbours()
    assert (raw_steps(*here) != raw_steps(*there)).all()
    fitted = [fit_with_released_values(make(), *table, monkeypatch, way) for table in (here, there)]
    assert everything_visible(fitted[0]) == everything_visible(fitted[1])


@pytest.mark.parametrize("kind", [DPMICSelector, SelectNames])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.combinations
def test_equal_releases_leave_equal_estimators_for_every_statistic(statistic, kind, monkeypatch):
    here, there = neighbours()
    assert (raw_steps(*here, statistic) != raw_steps(*there, statistic)).any()
    shares = {"target_shares": SHARES} if statistic == "mtv_r" else {}
    settings = {"statistic": statistic, "target_bounds": (0, 1)} | PUBLIC | shares
    if statistic != "mic_r":  # known shares and Kendall's tau have no p-values
        monkeypatch.setattr(DPMICSelector, "p_values", lambda self: None)
    fitted = [fit_with_released_values(kind(k=2, **settings), *table, monkeypatch) for table in (here, there)]
    assert everything_visible(fitted[0]) == everything_visible(fitted[1])


@pytest.mark.parametrize("kind", [DPMICSelector, SelectNames])
@pytest.mark.parametrize("target", [{"target_bounds": (0, 1)}, {"classes": [0, 1, 2]}], ids=["numbers", "classes"])
def test_what_is_learnt_about_the_target_leaves_only_what_was_released(kind, target, monkeypatch):
    monkeypatch.setattr(TableRecords, "scores", lambda *_: RELEASED)
    monkeypatch.setattr(released_shares, "with_noise", lambda *of: np.array([20, 30, 10])[: len(of[2])])
    monkeypatch.setattr(released_shares, "weighted_choice", lambda weights, losses, rate, source: 300)
    settings = {"statistic": "mtv_r", "epsilon": 10, "random_state": 0} | target | PUBLIC
    tables = [(X, y if "target_bounds" in target else (3 * y).astype(int)) for X, y in neighbours()]
    fitted = [kind(k=2, **settings).fit(*table) for table in tables]
    assert everything_visible(fitted[0]) == everything_visible(fitted[1])


@pytest.mark.parametrize("statistic", STATISTICS)
def test_equal_choices_leave_equal_estimators(statistic, monkeypatch):
    for mechanism in (top_k.OneShotTopK, top_k.CubeTopK):
        monkeypatch.setattr(mechanism, "release", lambda self, *_: (np.array([2, 1, 0]), np.zeros(2)))
    settings = {"statistic": statistic, "target_bounds": (0, 1)} | PUBLIC
    if statistic == "mtv_r":
        settings["target_shares"] = SHARES
    fitted = [SelectNames(k=3, **settings).fit(*table) for table in neighbours()]
    assert everything_visible(fitted[0]) == everything_visible(fitted[1])


def test_equal_joint_choices_leave_equal_estimators(monkeypatch):
    monkeypatch.setattr(top_k.OneShotTopK, "choose", lambda self, adjusted, source: len(adjusted) // 2)
    settings = {"criterion": "joint", "target_bounds": (0, 1), "target_shares": SHARES, "bounds": (0, 1)}
    fitted = [PrivateSelectKBest(k=3, **settings).fit(*table) for table in neighbours()]
    assert everything_visible(fitted[0]) == everything_visible(fitted[1])


@pytest.mark.parametrize("way", WAYS)
def test_equal_noisy_tables_leave_equal_estimators(way, monkeypatch):
    settings = {"mechanism": "geometric", "target_bounds": (0, 1)} | PUBLIC
    fitted = [fit_with_released_counts(DPMICScorer(**settings), *table, monkeypatch, way) for table in neighbours()]
    assert everything_visible(fitted[0]) == everything_visible(fitted[1])


def test_the_comparison_detects_a_raw_score_that_was_kept(monkeypatch):
    here, there = neighbours()
    make = SETTINGS[0]
    fitted = [fit_with_released_values(make(), *table, monkeypatch) for table in (here, there)]
    for estimator, table in zip(fitted, (here, there), strict=True):
        estimator._raw = raw_steps(*table)
    assert everything_visible(fitted[0]) != everything_visible(fitted[1])


@each("make", SETTINGS)
def test_labels_bounds_and_samples_of_the_data_are_not_kept(make):
    (X, y), _ = neighbours()
    fitted = make().fit(X, y)
    assert set(fitted._stored) < set(vars(fitted))  # names of attributes
    for name in vars(fitted).keys() - {"_stored"}:
        value = getattr(fitted, name)
        for part in value if isinstance(value, LedgerEntry) else [value]:
            assert np.size(part) <= D, name  # nothing as long as the data
    if hasattr(fitted, "scores_"):
        scores = {float(score) for score in raw_steps(X, y) * mechanisms.GRID}
        assert not scores & set(fitted.scores_.tolist())


@each("make", SETTINGS)
def test_counts_of_chunks_appear_in_no_output_of_the_estimator(make):
    pending = [make().partial_fit(X, y) for X, y in neighbours()]
    for show in (repr, lambda estimator: re.sub(r"sk-[\w-]+-id-[\w-]+", "", estimator._repr_html_())):
        assert show(pending[0]) == show(pending[1])
    with pytest.raises(TypeError, match="holds exact counts"):
        pickle.dumps(pending[0])
    sketches = [repr(make().empty_sketch(N, n_features=D).update(X, y)) for X, y in neighbours()]
    assert sketches[0] == sketches[1]
