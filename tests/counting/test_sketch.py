"""Counts add up: any chunking, order and merge tree gives the counts and the release of the whole table."""

import copy
import datetime
import math
import pickle
import re
import warnings
from functools import partial, reduce

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdpmic import BudgetError, BudgetLedger, DPMICScorer, DPMICSelector, PrivacyLeakWarning
from skdpmic.counting import RangeGridSketch
from skdpmic.counting.streams import SketchedRecords
from skdpmic.statistics.mic.mic_r import ClassTargetScorer, NumericTargetScorer
from skdpmic.statistics.mic.noisy_tables import TableGrids
from skdpmic.statistics.mic.optimize_axis import entropy_table
from skdpmic.statistics.mic.statistic import ContinuousGrids, DiscreteGrids, default_B
from skdpmic.statistics.sensitivity import mic_r_sensitivity
from skdpmic.table.records import map_features
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
corrected_B = partial(default_B, correction="miller-madow")
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


@pytest.mark.parametrize(
    "n, B, c", [(5, 4, 5), (60, 8.5, 0.3), (3000, 12, 5), (3000, 60, 5), (300, 150, 2), (9000, 64, 3)]
)
@pytest.mark.parametrize("correction", [None, "miller-madow"])
def test_scores_from_counts_equal_those_from_records_bit_for_bit(n, B, c, correction):
    rng = np.random.default_rng(n)
    for spread in (0.2, 1, 3):  # values outside the bounds, and empty bins
        x = np.round(rng.random(n) * spread, 2)
        y = np.round(np.sin(5 * x) + 0.3 * rng.standard_normal(n), 2)
        codes, three = np.digitize(y, [-0.3, 0, 0.3]), np.digitize(y, [-0.3, 0.3])
        bounds, y_bounds = (-0.1, 0.7), (-1, 1.3)
        for grids, target, whole in [
            (
                ContinuousGrids(y_bounds, B, c, correction),
                y,
                NumericTargetScorer(y, y_bounds, B, c, correction=correction),
            ),
            (DiscreteGrids(5, B, c, correction), codes, ClassTargetScorer(codes, 5, B, c, correction)),
            (DiscreteGrids(3, B, c, correction), three, ClassTargetScorer(three, 3, B, c, correction)),
        ]:
            parts = np.array_split(np.arange(n), 3)
            counts = sum(grids.count(x[part], bounds, grids.place(target[part])) for part in parts)
            assert counts.sum() == n * grids.n_tables(bounds)
            assert grids.score(counts, bounds, entropy_table(n)) == whole.score(x, bounds)


def test_a_compressed_chunk_has_the_same_counts():
    """With this B, from about 8,000 records on, records are counted into common cells first."""
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 20_000))
    grids = ContinuousGrids((0, 1), 40, 5)
    whole = grids.count(x, (0, 1), grids.place(y))
    parts = np.array_split(np.arange(20_000), 10)
    np.testing.assert_array_equal(whole, sum(grids.count(x[part], (0, 1), grids.place(y[part])) for part in parts))
    assert whole.sum() == 20_000 * grids.n_tables((0, 1))


def test_a_table_of_the_geometric_mechanism_is_a_histogram():
    X, y = table()
    sketch = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), B=16, n_parts=4, n_features=D).update(X, y)
    for j, counts in enumerate(SketchedRecords(sketch).tables(sketch.measure, None)):
        expected = np.histogram2d(X[:, j], y, bins=4, range=((0, 1), (0, 1)))[0]
        np.testing.assert_array_equal(counts, expected)


def test_an_empty_sketch_is_pickled_without_its_zeros():
    sketch = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), B=150, n_features=50)
    assert len(pickle.dumps(sketch)) < sketch.nbytes / 10
    assert pickle.loads(pickle.dumps(sketch)) == sketch
    rows = np.random.default_rng(0).random((5, 51))
    assert pickle.loads(pickle.dumps(sketch)).update(rows[:, 1:], rows[:, 0]) == sketch.update(rows[:, 1:], rows[:, 0])


@pytest.mark.parametrize("dtype", [object, "U4", "category", "string"])
def test_a_chunk_without_records_adds_nothing_whatever_its_type(dtype):
    pandas = pytest.importorskip("pandas")
    X, y = table(discrete=True)
    labels = pandas.Series(y, dtype=dtype) if dtype != "U4" else y
    sketch = RangeGridSketch(**DISCRETE, B=20)
    assert sketch.update(X[:0], labels[:0]).n_samples == 0
    assert sketch.update(X, labels).update(X[:0], labels[:0]) == RangeGridSketch(**DISCRETE, B=20).update(X, y)
    scorer = DPMICScorer(**DISCRETE, B=20).partial_fit(X[:0], labels[:0]).partial_fit(X, labels)
    assert scorer.publish().noise_scale_ > 0


def test_c_follows_from_the_number_of_bins_of_a_table():
    sketch = RangeGridSketch(**CONTINUOUS, B=16, n_parts=8)
    assert sketch.c == 2
    assert sketch == RangeGridSketch(**CONTINUOUS, B=16, c=2, n_parts=8)
    assert RangeGridSketch(**DISCRETE, B=16, n_parts=5).c == 1
    assert DPMICScorer(mechanism="geometric", B=16, c=2).fit_sketch(sketch.update(*table())).c_ == 2
    with pytest.raises(ValueError, match=r"c must be None, or 2\.0 with n_parts=8 and this B, got 5"):
        RangeGridSketch(**CONTINUOUS, B=16, c=5, n_parts=8)


def test_a_sketch_of_mtv_r_takes_at_most_twenty_kilobytes_per_feature():
    for target in ({"target_bounds": (0, 1)}, {"classes": range(2)}, {"classes": range(10)}):
        scorer = DPMICScorer(statistic="mtv_r", bounds=(0, 1), **target)
        assert scorer.empty_sketch(10**6, n_features=3).nbytes <= 3 * 20_000


def test_counting_and_merging_leave_other_sketches_unchanged():
    first, second = sketched(KINDS[0], "last row")
    before = copy.deepcopy(first), copy.deepcopy(second)
    merged = first.merge(second)
    merged.update(*table())
    assert (first, second) == before
    assert first.empty() == RangeGridSketch(**KINDS[0])
    assert first.empty() != first


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
    "B, c": partial(DPMICScorer, B=20, c=2.5),
    "exponent": partial(DPMICScorer, B=0.5),
    "paper": partial(DPMICScorer, correction=None),
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


def test_automatic_B_is_chosen_for_the_expected_number_of_records():
    X, y = table()
    scorer = DPMICScorer(**CONTINUOUS).partial_fit(X, y, n_expected=750).publish()
    assert scorer.B_ == corrected_B(750, 1 / D) != corrected_B(N, 1 / D)
    sketch = scorer.empty_sketch(750).update(X, y)
    assert DPMICScorer().fit_sketch(sketch).B_ == scorer.B_
    assert DPMICScorer(B=0.6, **CONTINUOUS).empty_sketch(1000).B == 1000**0.6


def test_feature_names_come_from_the_sketch_or_the_first_chunk():
    pandas = pytest.importorskip("pandas")
    X, y = table()
    frame = pandas.DataFrame(X, columns=list("abcd"))
    by_name = dict(zip("abcd", zip(LOWER, UPPER, strict=True), strict=True))
    sketch = RangeGridSketch(bounds=by_name, target_bounds=(0.1, 0.9), B=20).update(frame, y)
    assert sketch == RangeGridSketch(**CONTINUOUS, B=20, feature_names=list("abcd")).update(frame, y)
    assert DPMICScorer().fit_sketch(sketch).feature_names_in_.tolist() == list("abcd")
    streamed = DPMICSelector(k=1, epsilon=math.inf, bounds=by_name, target_bounds=(0.1, 0.9))
    streamed.partial_fit(frame, y, n_expected=N)
    assert streamed.publish().get_feature_names_out().tolist() == ["c"]
    with pytest.raises(ValueError, match="feature names should match"):
        sketch.update(frame[list("dcba")], y)
    with pytest.raises(ValueError, match="feature names should match"):
        streamed.partial_fit(frame, y).partial_fit(frame[list("dcba")], y)


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


def test_an_unexpected_number_of_records_is_warned_about_where_it_matters():
    with pytest.warns(UserWarning, match=r"B=576 was chosen for the n_expected .*; 100 would suit the 500 records"):
        DPMICScorer(**CONTINUOUS).partial_fit(*table()).publish()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "noise will exceed the signal")
        DPMICScorer(**CONTINUOUS).partial_fit(*table(), n_expected=1000).publish()
        DPMICScorer(**CONTINUOUS, B=20).partial_fit(*table()).publish()


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


@pytest.mark.parametrize("method", ["publish", "fit_sketch"])
def test_every_release_with_a_seed_warns_at_the_line_of_the_call(method):
    X, y = table()
    scorer = DPMICSelector(random_state=0, **CONTINUOUS).partial_fit(X, y)
    with pytest.warns() as caught:
        scorer.publish() if method == "publish" else scorer.fit_sketch(scorer.empty_sketch(N).update(X, y))
    assert {warning.category for warning in caught} == {PrivacyLeakWarning, UserWarning}  # and k=10 of 4 features
    assert {warning.filename for warning in caught} == {__file__}


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


def test_fit_discards_earlier_counts():
    X, y = table()
    scorer = DPMICScorer(**CONTINUOUS).partial_fit(X, y).fit(X, y)
    assert "_sketch" not in vars(scorer)
    with pytest.raises(NotFittedError):
        scorer.publish()


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


def test_a_label_outside_the_classes_is_refused():
    X, y = table(discrete=True)
    [sketch] = sketched(KINDS[1])
    before = copy.deepcopy(sketch)
    message = re.escape(f"in classes, {sketch.classes.tolist()}, got at least one other label.")
    with pytest.raises(ValueError, match=message):
        sketch.update(X, with_value(y, "patient", "U8"))
    assert sketch == before


def test_an_interrupted_update_is_detected(monkeypatch):
    [sketch] = sketched(KINDS[0])
    monkeypatch.setattr("skdpmic.counting.sketch._FEATURES_AT_ONCE", 1)
    calls = []

    def interrupt(*args):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return map_features(*args)

    monkeypatch.setattr("skdpmic.counting.sketch.map_features", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sketch.update(*table())
    whole = sketched(KINDS[0])[0]
    uses = [DPMICScorer().fit_sketch, whole.merge, sketch.merge, lambda sketch: sketch.save("never")]
    uses += [lambda sketch: sketch.update(*table()), lambda sketch: DPMICScorer().fit_sketch(whole.merge(sketch))]
    for use in uses:
        with pytest.raises(ValueError, match="sketch is damaged"):
            use(sketch)
    assert sketch.empty().update(*table()) == whole


@each(
    "change, names",
    [
        ({"B": 21}, "B"),
        ({"c": 4}, "c"),
        ({"bounds": (0, 1), "n_features": D}, "bounds"),
        ({"target_bounds": (0, 1)}, "target_bounds"),
        ({"target_bounds": None, "classes": [0, 1]}, "target_bounds, classes"),
        ({"n_parts": 5}, "c, n_parts"),
        ({"feature_names": list("abcd")}, "feature_names"),
        ({"bounds": (0, 1), "n_features": 3, "B": 30}, "n_features, bounds, B"),
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


@each(
    "bad, message",
    [
        ({"B": 0.6}, "B must be a number >= 4 in a sketch"),
        ({"B": "auto"}, "B must be a number"),
        ({"c": 0}, "c must be a number > 0"),
        ({"n_parts": 1}, "n_parts must be None or an int >= 2"),
        ({"classes": [0, 1]}, "exactly one of target_bounds"),
        ({"bounds": (0, 1)}, "n_features must be an int >= 1 if"),
        ({"bounds": None, "n_features": 3}, "bounds must have an entry for every feature"),
        ({"bounds": (1, 0), "n_features": 3}, "lower < upper"),
        ({"n_features": 3}, "got an array of shape"),
        ({"feature_names": list("abc")}, "got an array of shape"),
        ({"feature_names": [1, 2, 3, 4]}, "feature_names must be None or an array-like of str"),
        ({"feature_names": list("abc"), "n_features": 4}, "feature_names must have n_features=4 names"),
    ],
)
def test_parameters_are_checked(bad, message):
    with pytest.raises(ValueError, match=message):
        RangeGridSketch(**CONTINUOUS | {"B": 20} | bad)


@pytest.mark.parametrize(
    "asked, message",
    [
        ({"bounds": (0, 1)}, "bounds and categories must be None or those of the sketch"),
        ({"target_bounds": (0, 1)}, "target_bounds must be that of the sketch"),
        ({"classes": [0, 1]}, "classes must be that of the sketch, None, got"),
        ({"B": 21}, "B must be that of the sketch, 33.7, got 21"),
        ({"B": 1}, "B must be a number >= 4"),
        ({"c": 5}, "c must be that of the sketch, 3.3, got 5"),
        ({"mechanism": "geometric"}, "mechanism must be 'laplace', 'gaussian' or 'k-norm' with this sketch"),
        ({"statistic": "mtv_r"}, "statistic must be that of the sketch, 'mic_r', got 'mtv_r'"),
        ({"correction": None}, "correction must be that of the sketch, 'miller-madow', got None"),
        ({"epsilon": 0}, "epsilon must"),
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


def test_too_few_records_and_other_types_are_refused():
    with pytest.raises(ValueError, match="must have counted at least 4 records, got 0"):
        DPMICScorer().fit_sketch(RangeGridSketch(**KINDS[0]))
    with pytest.raises(ValueError, match="must have counted at least 4 records, got 3"):
        DPMICScorer(**CONTINUOUS).partial_fit(X[:3], Y[:3]).publish()
    with pytest.raises(TypeError, match="sketch must be a RangeGridSketch, got ndarray"):
        DPMICScorer().fit_sketch(X)
    with pytest.raises(ValueError, match="mechanism must be 'geometric'"):
        DPMICScorer().fit_sketch(sketched(KINDS[2])[0])
    with pytest.raises(ValueError, match="n_expected must be an int >= 4, got 0"):
        DPMICScorer(**CONTINUOUS).partial_fit(X, Y, n_expected=0)
    with pytest.raises(ValueError, match=r"n_samples must be an int >= 4, got 3\.5"):
        DPMICScorer(**CONTINUOUS).empty_sketch(3.5)


def test_parameters_set_after_the_first_chunk_must_still_match_the_sketch():
    scorer = DPMICScorer(**CONTINUOUS).partial_fit(X, Y)
    scorer.set_params(target_bounds=(0, 2))
    for use in (scorer.publish, lambda: scorer.partial_fit(X, Y)):
        with pytest.raises(ValueError, match="target_bounds must be that of the sketch"):
            use()


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


def test_labels_of_another_type_are_different_classes():
    numbers, booleans = (
        RangeGridSketch(bounds=(0, 1), classes=classes, B=8, n_features=2).update(X[:, :2], np.resize(classes, len(X)))
        for classes in ([0, 1], [False, True])
    )
    assert numbers != booleans
    with pytest.raises(ValueError, match="got different classes"):
        numbers.merge(booleans)
    with pytest.raises(ValueError, match="classes must be that of the sketch"):
        DPMICScorer(bounds=(0, 1), classes=[False, True]).fit_sketch(numbers)


# --- What is shown ----------------------------------------------------------------------------------------------------


@each("kind", KINDS)
def test_the_repr_shows_no_counts_and_says_how_sensitive_a_sketch_is(kind):
    [sketch] = sketched(kind)
    assert repr(sketch) == str(sketch) == "<RangeGridSketch of 500 records and 4 features, as sensitive as the data>"
    with pytest.raises(TypeError, match="unhashable"):
        hash(sketch)


@pytest.mark.parametrize("label", [datetime.date(2026, 1, 1), 2**70, (1, 2)])
def test_labels_that_are_not_of_a_plain_type_are_refused(label):
    classes = np.array([label, None], dtype=object)
    classes[1] = 0
    with pytest.raises(ValueError, match="classes must be numbers, booleans or strings, all of one type"):
        RangeGridSketch(bounds=(0, 1), classes=classes, B=8, n_features=2)


def test_table_grids_count_classes_as_columns():
    grids = TableGrids(None, 3, 2)
    counts = grids.count(np.array([0.1, 0.9, 0.9]), (0, 1), grids.place(np.array([0, 2, 2])))
    assert counts.reshape(grids.shape).tolist() == [[1, 0, 0], [0, 0, 2]]
