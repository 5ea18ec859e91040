"""Counts add up: any chunking, order and merge tree gives the counts and the release of the whole table."""

import copy
import pickle
from functools import partial, reduce

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdpmic import BudgetError, BudgetLedger, DPMICScorer, DPMICSelector
from skdpmic.counting import RangeGridSketch
from skdpmic.statistics.sensitivity import mic_r_sensitivity
from tests.folding import each
from tests.select_names import SelectNames

seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")

N, D = 500, 4
LOWER, UPPER = np.array([0, -1, 0.1, 0]), np.array([1, 2, 0.7, 3])
FEATURES = {"bounds": (LOWER, UPPER)}
CONTINUOUS = FEATURES | {"target_bounds": (0.1, 0.9)}
DISCRETE = FEATURES | {"classes": ["low", "mid", "high"]}


def table(discrete=False):
    rng = np.random.default_rng(0)
    X = np.round(rng.random((N, D)), 2)  # many values on edges
    y = np.clip((2 * X[:, 2] - 1) ** 2 + 0.1 * rng.standard_normal(N), 0, 1)
    return X, np.array(["low", "mid", "high"])[np.digitize(y, [0.2, 0.5])] if discrete else y


def chunks(X, y, how, seed=0):
    """Chunks of the table in random row order, cut as `how` says."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))
    cuts = {"whole": [], "row by row": range(1, 40), "empty": [0, 0, 7, 7], "thirds": [100, 301], "last row": [N - 1]}
    return [(X[part], y[part]) for part in np.split(rows, cuts[how])]


CHUNKINGS = ["whole", "row by row", "empty", "thirds", "last row"]
KINDS = [CONTINUOUS | {"B": 33.7, "c": 3.3}, DISCRETE | {"B": 20}, CONTINUOUS | {"B": 16, "n_parts": 8}]
KINDS += [DISCRETE | {"B": 16, "n_parts": 5}, CONTINUOUS | {"B": 33.7, "correction": None}]
KINDS += [target | {"statistic": "mtv_r", "B": 16, "c": 3} for target in (CONTINUOUS, DISCRETE)]


def sketched(kind, how="whole", seed=0):
    return [RangeGridSketch(**kind).update(*chunk) for chunk in chunks(*table("classes" in kind), how, seed)]


# --- Counts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", CHUNKINGS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.combinations
def test_any_chunking_order_and_merge_tree_gives_the_same_counts(kind, how):
    [whole] = sketched(kind)
    pieces = sketched(kind, how, seed=1)
    assert reduce(RangeGridSketch.merge, pieces) == whole
    while len(pieces) > 1:  # a tree instead of a chain, right before left
        pieces = [reduce(lambda a, b: b.merge(a), pieces[i : i + 3]) for i in range(0, len(pieces), 3)]
    assert pieces[0] == whole
    assert pieces[0].n_samples == N
    sequential = RangeGridSketch(**kind)
    for chunk in chunks(*table("classes" in kind), how, seed=2):
        sequential.update(*chunk)
    assert sequential == whole
    assert whole.n_samples == N


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_the_number_of_jobs_does_not_change_the_counts(backend, monkeypatch):
    monkeypatch.setattr("skdpmic.counting.sketch._FEATURES_AT_ONCE", 3)
    monkeypatch.setattr("skdpmic.table.records._SHORT", 0)
    with parallel_config(backend=backend, n_jobs=2):
        assert RangeGridSketch(**KINDS[0]).update(*table()) == sketched(KINDS[0])[0]


# --- Releases -----------------------------------------------------------------------------------------------------

ESTIMATORS = {
    "laplace": partial(DPMICScorer, epsilon=3),
    "gaussian": partial(DPMICScorer, epsilon=3, delta=1e-5, mechanism="gaussian"),
    "k-norm": partial(DPMICScorer, epsilon=3, mechanism="k-norm"),
    "geometric": partial(DPMICScorer, epsilon=30, mechanism="geometric"),
    "selector": partial(DPMICSelector, k=2),
    "support": partial(SelectNames, k=2),
    "support, delta": partial(SelectNames, k=2, delta=0.4),
    "paper": partial(DPMICScorer, B=20, c=2.5, correction=None),
    "mtv_r": partial(DPMICScorer, statistic="mtv_r", epsilon=0.5),  # from 1.2 on, a sketch cuts y at an eighth
    "mtv_r, support": partial(SelectNames, k=2, statistic="mtv_r", epsilon=0.5, B=20, c=2.5),
}


def published(estimator):
    return {name: np.asarray(value).tolist() for name, value in vars(estimator).items() if name.endswith("_")}


@pytest.mark.few
@seeded
@pytest.mark.parametrize("target", [CONTINUOUS, DISCRETE], ids=["continuous", "discrete"])
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.combinations
def test_with_the_same_seed_all_ways_publish_the_same(name, target):
    X, y = table("classes" in target)
    make = partial(ESTIMATORS[name], random_state=0, **target)
    expected = published(make().fit(X, y))

    sketch = make().empty_sketch(N)
    for chunk in chunks(X, y, "thirds"):
        sketch = sketch.merge(sketch.empty().update(*chunk))
    assert published(make().fit_sketch(sketch)) == expected

    streamed = make()
    for chunk in chunks(X, y, "last row"):
        streamed.partial_fit(*chunk, n_expected=N)
    assert published(streamed.publish()) == expected
    assert published(streamed.fit(X, y)) == expected


@pytest.mark.parametrize(
    "kind, parameters",
    [
        (DPMICSelector, {}),
        (DPMICSelector, {"mechanism": "gaussian", "delta": 1e-6}),
        (SelectNames, {"k": 2}),
        (SelectNames, {"k": 2, "delta": 1e-6}),
    ],
)
def test_the_noise_is_for_the_records_counted_not_for_those_expected(kind, parameters):
    selector = kind(**CONTINUOUS | {"B": 20, "k": "all"} | parameters)
    whole = clone(selector).fit(*table())
    for expected in (4, N, 10**6):
        assert selector.partial_fit(*table(), n_expected=expected).publish().noise_scale_ == whole.noise_scale_
        sketch = selector.empty_sketch(expected).update(*table())
        assert selector.fit_sketch(sketch).noise_scale_ == whole.noise_scale_
    scorer = DPMICScorer(**CONTINUOUS).partial_fit(*table(), n_expected=600).publish()
    assert scorer.noise_scale_ >= D * mic_r_sensitivity(N)


# --- The budget ------------------------------------------------------------------------------------------------------


def test_the_ledger_is_charged_once_at_publish(tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger.db", 1.0)
    scorer = DPMICScorer(epsilon=0.7, ledger=ledger, **CONTINUOUS)
    for chunk in chunks(*table(), "thirds"):
        scorer.partial_fit(*chunk, n_expected=N)
    assert ledger.spent() == (0.0, 0.0)
    scorer.publish()
    assert ledger.spent() == (0.7, 0.0)
    with pytest.raises(NotFittedError, match="nothing to publish"):
        scorer.publish()
    scorer.partial_fit(*table(), n_expected=N)
    with pytest.raises(BudgetError):
        scorer.publish()
    assert ledger.spent() == (0.7, 0.0)
    assert scorer.set_params(epsilon=0.3).publish().privacy_spent_ == (0.3, 0.0)  # the counts were kept


# --- Between partial_fit and publish ---------------------------------------------------------------------------------


def test_an_estimator_with_counts_is_not_fitted_cannot_be_pickled_and_is_cloned_without_them():
    X, y = table()
    scorer = DPMICScorer(**CONTINUOUS).fit(X, y).partial_fit(X, y, n_expected=N)
    assert not hasattr(scorer, "scores_")  # an earlier release is discarded
    for use in (lambda: scorer.transform(X), scorer.scores_interval, scorer.p_values):
        with pytest.raises(NotFittedError):
            use()
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle or copy a DPMICScorer between partial_fit and publish"):
            duplicate(scorer)
    assert vars(clone(scorer)).keys() == vars(DPMICScorer()).keys()
    pickle.dumps(scorer.publish())


# --- What is refused -------------------------------------------------------------------------------------------------

SECRET = 0.8675309


def with_value(array, value, dtype=float):
    array = array.astype(dtype)
    array[(1,) * array.ndim] = value
    return array


X, Y = table()
BAD_CHUNKS = [
    (X, with_value(Y, np.nan), "Input y contains NaN"),
    (X, with_value(Y, np.inf), "Input y contains infinity"),
    (with_value(X, f"patient {SECRET}", object), Y, "could not convert"),
    (X[:, :3], Y, "X has 3 features, but"),
    (X, Y[:-1], "inconsistent numbers of samples"),
    (X[0], Y, "Expected 2D array"),
]


@each("X, y, message", BAD_CHUNKS)
def test_a_bad_chunk_is_refused_without_quoting_it_and_changes_nothing(X, y, message):
    [sketch] = sketched(KINDS[0])
    scorer = DPMICScorer(**CONTINUOUS).partial_fit(*table())
    pending = scorer._sketch
    before = copy.deepcopy(sketch), copy.deepcopy(pending)
    for update in (sketch.update, scorer.partial_fit):
        with pytest.raises(ValueError, match=message) as caught:
            update(X, y)
        assert "8675" not in str(caught.value)
    assert (sketch, pending) == before
    assert scorer._sketch is pending


@each(
    "change, names",
    [
        ({"B": 21}, "B"),
        ({"c": 4}, "c"),
        ({"bounds": (0, 1), "n_features": D}, "bounds or categories"),
        ({"target_bounds": (0, 1)}, "target_bounds"),
        ({"target_bounds": None, "classes": [0, 1]}, "target_bounds, classes"),
        ({"n_parts": 5}, "c, n_parts"),
        ({"feature_names": list("abcd")}, "feature_names"),
        ({"bounds": (0, 1), "n_features": 3, "B": 30}, "bounds or categories, B"),
    ],
)
def test_merging_names_the_public_parameters_that_differ(change, names):
    kind = CONTINUOUS | {"B": 20}
    here, there = RangeGridSketch(**kind), RangeGridSketch(**kind | change)
    assert here != there
    with pytest.raises(ValueError, match=f"got different {names}[.]$"):
        here.merge(there)
    with pytest.raises(TypeError, match="other must be a RangeGridSketch, got ndarray"):
        here.merge(X)


@pytest.mark.parametrize(
    "asked, message",
    [
        ({"bounds": (0, 1)}, "bounds and categories must be None or those of the sketch"),
        ({"target_bounds": (0, 1)}, "target_bounds must be that of the sketch"),
        ({"classes": [0, 1]}, "classes must be that of the sketch, None, got"),
        ({"B": 21}, "B must be that of the sketch, 33.7, got 21"),
        ({"c": 5}, "c must be that of the sketch, 3.3, got 5"),
        ({"mechanism": "geometric"}, "mechanism must be 'laplace', 'gaussian' or 'k-norm' with this sketch"),
        ({"statistic": "mtv_r"}, "statistic must be that of the sketch, 'mic_r', got 'mtv_r'"),
        ({"correction": None}, "correction must be that of the sketch, 'miller-madow', got None"),
    ],
)
def test_an_estimator_refuses_a_sketch_with_other_parameters_and_is_unchanged(asked, message, tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger.db", 1.0)
    scorer = DPMICScorer(**{"ledger": ledger} | asked)
    before = vars(scorer).copy()
    with pytest.raises(ValueError, match=message):
        scorer.fit_sketch(sketched(KINDS[0])[0])
    assert vars(scorer) == before
    assert ledger.spent() == (0.0, 0.0)


def test_more_records_than_counts_can_hold_are_refused():
    [sketch] = sketched(KINDS[0])
    sketch.n_samples = 2**32 - 5
    for use in (
        lambda: sketch.update(X, Y),
        lambda: sketch.merge(sketch.empty().update(X, Y)),
        lambda: sketch.merge(sketch),
    ):
        with pytest.raises(ValueError, match="can count at most 4,294,967,295 records"):
            use()
