"""``redundancy=`` of the selector: what it finds, what it costs, what it refuses, wherever the records lie."""

import math
import pickle
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from skdpmic import BudgetLedger, search_cost
from skdpmic.counting import RangeGridSketch, chunks
from skdpmic.counting.sketched import SketchedRecords
from skdpmic.privacy.greedy import greedy_for_budget
from skdpmic.privacy.mechanisms import GRID, to_grid
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.selection.select_k_best import MOST_NOISE
from skdpmic.statistics.chance import chance_score
from skdpmic.statistics.mic.statistic import MicRGrids
from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.table.nominal import Nominal
from skdpmic.table.shape import Shape
from skdpmic.table.targets import NumericTarget, target_of_feature
from tests.folding import each
from tests.select_names import SelectNames

seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
N = 400
UNIT = {"bounds": (0, 1), "target_bounds": (0, 1)}


def public(name):
    return UNIT if STATISTICS[name].needs_ranges else {}


def greedy(k=3, redundancy=1.0, **parameters):
    return SelectNames(k, redundancy=redundancy, **UNIT | parameters)


def with_copies(n=N, seed=0):
    """Features 0, 1, 2 are near copies, as are 3 and 4; 5 stands alone; 6 and 7 tell nothing. The best come first."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.random((3, n))
    near = 0.02 * rng.random((5, n))
    X = np.column_stack([a, a + near[0], a + near[1], b, b + near[2], c, *rng.random((2, n))])
    return np.clip(X, 0, 1), (a + 0.7 * b + 0.5 * c) / 2.2


def published(estimator):
    return {name: np.asarray(value).tolist() for name, value in vars(estimator).items() if name.endswith("_")}


# --- What it finds ----------------------------------------------------------------------------------------------------


@each("name", STATISTICS)
def test_a_copy_of_what_was_chosen_is_not_chosen(name):
    X, y = with_copies()
    selector = SelectNames(3, statistic=name, epsilon=math.inf, **public(name))
    groups = np.array([0, 0, 0, 1, 1, 2, 3, 3])
    assert set(groups[selector.fit(X, y).get_support()]) == {0}
    selector.set_params(redundancy=1.0).fit(X, y)
    assert set(groups[selector.get_support()]) == {0, 1, 2}
    assert groups[np.argsort(selector.ranking_)[:3]].tolist() == [0, 1, 2]
    assert (selector.n_ranked_, sorted(selector.ranking_)) == (3, [1, 2, 3] + [4] * 5)


@pytest.mark.parametrize("k", [4, "all", 99])
@pytest.mark.parametrize("redundancy", [0.3, 1, 2.5])
@pytest.mark.parametrize("name", ["mic_r", "mtv_r", "kendall", "spearman"])
@pytest.mark.filterwarnings("ignore:k=99 is greater than n_features=8")
@pytest.mark.combinations
def test_without_noise_the_order_is_that_of_a_naive_twin(name, redundancy, k):
    X, y = with_copies(n=150)
    statistic = statistic_named(name, "miller-madow")
    n_kept = 4 if k == 4 else 8
    epsilon = 50.0  # with noise, B and c follow from what a score is worth; none is drawn below
    selector = SelectNames(k, statistic=name, epsilon=epsilon, redundancy=redundancy, **public(name))
    adjusted = selector._release_for(8).epsilon_per_feature
    measure = statistic.measure("auto", "auto", len(y), adjusted, None)
    columns = [*X.T, y]
    scorers = [measure.scorer(NumericTarget(column, (0.0, 1.0)), None) for column in columns]
    scores = np.array([[scorer.score(x, (0.0, 1.0)) for x in X.T] for scorer in scorers])
    chosen = []
    for _ in range(n_kept):
        mean = scores[chosen].mean(axis=0) if chosen else 0
        gain = scores[-1] - redundancy * mean
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "skdpmic.privacy.top_k.OneShotTopK.choose", lambda self, adjusted, source: int(np.argmax(adjusted))
        )
        selector.fit(X, y)
    assert np.argsort(selector.ranking_, kind="stable")[:n_kept].tolist() == chosen


def worth_without_noise(monkeypatch, fit):
    """What each choice of a fit is made by, which is never published: lists of integers."""
    seen = []
    monkeypatch.setattr(
        OneShotTopK, "choose", lambda self, adjusted, _: seen.append(adjusted.tolist()) or np.argmax(adjusted)
    )
    fit()
    return seen


@pytest.mark.parametrize("name", ["mic_r", "mtv_r"])
def test_every_choice_is_by_scores_less_what_kinds_of_features_score_by_chance(name, monkeypatch):
    """With the target and with what was chosen; here the first, a number, and labels that score otherwise by chance."""
    X, y = with_copies(n=200)
    X = np.column_stack([X[:, 0], np.floor(3 * X[:, 3]), X[:, 6:], np.floor(8 * X[:, 5])])
    labels = {1: [0, 1, 2], 4: list(range(8))}
    selector = SelectNames(
        2,
        statistic=name,
        epsilon=5.0,
        redundancy=1.0,
        categories=labels,
        **UNIT | {"bounds": (0, 1)},
    )
    first, second = worth_without_noise(monkeypatch, lambda: selector.fit(X, y))
    measure = statistic_named(name, "miller-madow").measure("auto", "auto", len(y), selector.epsilon_per_feature_, None)
    scales = [Nominal(len(labels[j])) if j in labels else (0.0, 1.0) for j in range(5)]
    columns = [X[:, j].astype(np.uint32 if j in labels else float) for j in range(5)]

    def naive(target, features):
        scorer = measure.scorer(NumericTarget(target, (0.0, 1.0)), None)
        scores = [scorer.score(columns[j], scales[j]) for j in features]
        return to_grid(np.array(scores)) - to_grid(
            np.array([chance_score(measure, scales[j], len(y)) for j in features])
        )

    assert first == naive(y, range(5)).tolist()
    assert np.argmax(first) == 0
    assert second == (naive(y, range(1, 5)) - naive(X[:, 0], range(1, 5))).tolist()


@seeded
@pytest.mark.parametrize("k", [1, 3, "all"])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_no_redundancy_is_the_k_best_to_the_last_number(k, delta):
    X, y = with_copies()
    given = {"epsilon": 1.0, "delta": delta, "random_state": 0}
    best = SelectNames(k, **UNIT, **given).fit(X, y)
    assert published(greedy(k, 0.0, **given).fit(X, y)) == published(best)
    assert best.mechanism_ in ("one-shot", "exponential")


@seeded
def test_the_first_feature_alone_has_nothing_to_be_redundant_with():
    X, y = with_copies()
    one = greedy(1, 5.0, epsilon=1.0, random_state=0).fit(X, y)
    assert published(one) == published(greedy(1, 0.0, epsilon=1.0, random_state=0).fit(X, y))


# --- Its noise and its price ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("redundancy", [0.1, 1.0])
@pytest.mark.parametrize("delta, k", [(0.0, 3), (0.002, 8)])
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.combinations
def test_the_noise_is_that_of_the_formula_and_of_the_plan(name, delta, k, redundancy):
    X, y = with_copies()
    selector = SelectNames(k, statistic=name, epsilon=2.0, delta=delta, redundancy=redundancy, **public(name)).fit(X, y)
    measure = statistic_named(name, "miller-madow").measure("auto", "auto", N, selector.epsilon_per_feature_, None)
    steps = measure.steps(Shape(N, [(0.0, 1.0)] * 8))
    mechanism = greedy_for_budget(2.0, delta, k, redundancy, steps)
    assert selector.noise_scale_ == mechanism.noise_scale
    assert selector.mechanism_ == mechanism.name == ("exponential" if delta else "permute-and-flip")
    assert selector.epsilon_per_feature_ == pytest.approx(steps * GRID / mechanism.law.std(), rel=1e-4)
    own, *others = selector.plan(N, 8)
    assert (own.noise_scale, own.mechanism) == (selector.noise_scale_, mechanism.name)
    assert (own.epsilon, own.delta) == selector.privacy_spent_ == (2.0, delta)
    assert math.isnan(own.found) or k == 8
    assert own.error > 0
    assert "one-shot" in {row.mechanism for row in others if row.statistic == name}


@pytest.mark.parametrize("delta, k", [(0.0, 3), (0.002, 8)])
def test_a_ledger_is_charged_once_and_search_cost_says_so(tmp_path, delta, k):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0, delta=0.01)
    selector = greedy(k, epsilon=2.0, delta=delta, ledger=ledger)
    cost = search_cost(make_pipeline(selector, LinearRegression()))
    selector.fit(*with_copies())
    assert len(ledger.entries()) == 1
    assert (cost.epsilon, cost.delta) == selector.privacy_spent_ == (2.0, delta)
    assert ledger.spent()[0] <= 2.0


def test_kinds_of_features_that_can_be_chosen_decide_on_the_noise(monkeypatch):
    """If scores with labels could move further than those with numbers, as by larger rounding errors: these count."""
    of_labels = 1e-6
    monkeypatch.setattr(MicRGrids, "rounding_error", lambda self, shape: of_labels if self.n_classes == 4 else 0)
    X, y = with_copies()
    X[:, 0] = X[:, 0] > 0.5
    noise = {}
    for kind, of_first in [("numbers", {"bounds": (0, 1)}), ("labels", {"bounds": (0, 1), "categories": {0: [0, 1]}})]:
        selector = SelectNames(3, redundancy=1.0, epsilon=2.0, target_bounds=(0, 1), **of_first)
        noise[kind] = selector.fit(X, y).noise_scale_
        assert selector.plan(N, 8)[0].noise_scale == noise[kind]
    assert noise["labels"] - noise["numbers"] == pytest.approx(2 * (1 + 2 * 2) / 2.0 * 2 * of_labels, rel=0.01)


# --- What is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("redundancy", [-0.1, 1e31, math.inf, math.nan, "1", None, True, 1j, [1.0]])
def test_redundancy_is_a_finite_number(redundancy, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0)
    with pytest.raises(ValueError, match=r"redundancy must be a number >= 0, and at most 1e\+30, got "):
        greedy(redundancy=redundancy, ledger=ledger).fit(*with_copies())
    assert ledger.entries() == []


@pytest.mark.filterwarnings("ignore:noise will exceed the signal", "ignore:redundancy=")
@pytest.mark.parametrize("delta, epsilon", [(0.0, 1e-100), (1e-6, 1e-3)])
@pytest.mark.parametrize("redundancy", [1e-100, np.float32(0.5), Fraction(1, 3), 1e30])
def test_the_smallest_and_the_largest_redundancy_have_a_noise(redundancy, delta, epsilon):
    X, y = with_copies(n=40)
    selector = greedy(3, redundancy, statistic="mtv_r", epsilon=epsilon, delta=delta).fit(X, y)
    assert 0 < selector.noise_scale_ < math.inf


@pytest.mark.parametrize("name", ["partial_fit", "publish", "fit_sketch", "empty_sketch"])
def test_counts_with_the_target_are_not_enough(name):
    assert hasattr(greedy(redundancy=0.0), name)
    assert not hasattr(greedy(), name)
    with pytest.raises(AttributeError) as caught:
        getattr(greedy(), name)
    said = str(caught.value.__cause__ or caught.value)
    assert "redundancy must be 0 where records are counted once, in chunks or sketches, got 1.0" in said
    assert "fit reads a LazyFrame or a dask collection as often as it takes" in said


@pytest.mark.parametrize(
    "mechanism",
    ["skdpmic.release.kinds.greedy_for_budget", "skdpmic.statistics.mtv.statistic.MtvRGrids.rounding_error"],
)
def test_what_cannot_be_made_is_not_paid_for(mechanism, monkeypatch, tmp_path):
    def out_of_memory(*_):
        raise MemoryError

    monkeypatch.setattr(mechanism, out_of_memory)
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0)
    with pytest.raises(MemoryError):
        greedy(statistic="mtv_r", ledger=ledger).fit(*with_copies())
    assert ledger.entries() == []


def test_an_estimator_keeps_nothing_but_what_is_published():
    X, y = with_copies()
    fitted, best = greedy(epsilon=50.0).fit(X, y), greedy(redundancy=0.0, epsilon=50.0).fit(X, y)
    assert vars(fitted).keys() == vars(best).keys() - {"gaps_"}  # each choice draws its own noise
    assert pickle.loads(pickle.dumps(fitted)).ranking_.tolist() == fitted.ranking_.tolist()
    assert not hasattr(fitted, "scores_")
    assert clone(fitted).get_params() == fitted.get_params()


# --- A feature in the target's place ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column, scale, expected",
    [
        ([0.2, np.nan, 7.0], (0.0, 1.0), [0.2, 0.0, 7.0]),
        ([np.nan, np.nan, -1.0], (-5.0, 1.0), [-5.0, -5.0, -1.0]),
        ([2, 0, 3], Nominal(2), [2, 0, 3]),
    ],
)
def test_each_value_is_placed_by_itself(column, scale, expected):
    kind = np.uint32 if isinstance(scale, Nominal) else np.float64
    target = target_of_feature(np.array(column, dtype=kind), scale)
    assert target.values.tolist() == expected
    assert target.n_classes == (4 if isinstance(scale, Nominal) else None)
    one_by_one = [target_of_feature(np.array([value], dtype=kind), scale).values[0] for value in column]
    assert target.values.tolist() == one_by_one


# --- Tables of every kind, wherever they lie --------------------------------------------------------------------------


def mixed(n=N):
    """A table with labels, holes and other labels, of which pairs of columns say the same."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    size, town, flag = rng.random(n), rng.integers(0, 3, n), rng.random(n) < 0.4
    frame = pandas.DataFrame({"size": 1000 * size, "town": np.array(["x", "y", "z"])[town], "area": size, "flag": flag})
    frame["region"] = np.array(["east", "east", "west"])[town]
    frame["sort"] = rng.choice(["p", "q"], n)
    y = size + 0.6 * (town == 2) + 0.5 * flag
    frame.loc[::9, "area"] = np.nan
    frame.loc[::11, "town"] = None
    frame.loc[::13, "town"] = "elsewhere"
    return frame, y / y.max()


MIXED = {
    "bounds": {"size": (0, 1000), "area": (0, 1, "log")},
    "categories": {"town": list("xyz"), "region": ["east", "west"], "sort": ["p", "q"], "flag": [False, True]},
}


def labelled(target):
    return {"target_bounds": (0, 1)} if target == "numbers" else {"classes": [0, 1]}


@pytest.mark.parametrize("target", ["numbers", "classes"])
@pytest.mark.parametrize("name", ["mic_r", "mtv_r", "kendall", "chatterjee"])
@pytest.mark.combinations
def test_columns_of_labels_and_holes_are_told_from_their_likes(name, target):
    X, y = mixed(2000)
    y = y if target == "numbers" else (y > np.median(y)).astype(int)
    given = dict(statistic=name, redundancy=1.5, epsilon=math.inf, **MIXED, **labelled(target))
    selector = SelectNames(3, **given).fit(X, y)
    chosen = set(selector.get_feature_names_out())
    assert len(chosen & {"size", "area"}) == len(chosen & {"town", "region"}) == 1
    assert "flag" in chosen


@seeded
@pytest.mark.parametrize("target", ["numbers", "classes"])
@pytest.mark.parametrize("name", ["mic_r", "mtv_r"])
@pytest.mark.combinations
def test_records_that_lie_elsewhere_give_what_the_table_in_memory_gives(name, target, monkeypatch):
    polars, frames = pytest.importorskip("polars"), pytest.importorskip("dask.dataframe")
    monkeypatch.setattr("skdpmic.counting.streams._ROWS", 100)
    X, y = mixed()
    y = y if target == "numbers" else (y > np.median(y)).astype(int)
    make = partial(
        SelectNames, 4, statistic=name, redundancy=0.7, epsilon=20.0, random_state=0,
        **MIXED, **labelled(target)
    )  # fmt: skip
    expected = published(make().fit(X, y))
    lazy = polars.from_pandas(X).lazy()
    assert published(make().fit(lazy, y)) == expected
    assert published(make(n_jobs=2).fit(lazy, y)) == expected
    there = frames.from_pandas(X.assign(y=y), npartitions=5)
    assert published(make().fit(there[list(X)], there["y"])) == expected


def test_rows_of_a_lazy_frame_are_counted_in_the_grids_of_each_pair(monkeypatch):
    """A column of labels in the target's place has other grids than the target: to the last digit of each choice."""
    polars = pytest.importorskip("polars")
    X, y = mixed()
    given = {"redundancy": 0.7, "epsilon": 20.0, **MIXED, **labelled("numbers")}
    make = partial(SelectNames, 4, **given)
    expected = worth_without_noise(monkeypatch, lambda: make().fit(X, y))
    lazy = polars.from_pandas(X).lazy()
    assert worth_without_noise(monkeypatch, lambda: make().fit(lazy, y)) == expected


@seeded
@pytest.mark.parametrize("chunks", [(70, 3), -1])
def test_an_array_of_dask_is_read_again(chunks):
    arrays = pytest.importorskip("dask.array")
    X, y = with_copies()
    make = partial(greedy, statistic="mtv_r", epsilon=20.0, random_state=0)
    fitted = make().fit(arrays.from_array(X, chunks=chunks), arrays.from_array(y, chunks=100))
    assert published(fitted) == published(make().fit(X, y))


def test_records_are_counted_once_more_for_each_choice_but_the_last(monkeypatch):
    polars = pytest.importorskip("polars")
    X, y = with_copies()
    counted, add = [], chunks._add
    monkeypatch.setattr(chunks, "_add", lambda *args: counted.append(1) or add(*args))
    greedy(4, statistic="mtv_r", epsilon=20.0).fit(polars.DataFrame(X).lazy(), y)
    assert len(counted) == 4


def test_other_records_at_the_next_reading_are_noticed(tmp_path):
    polars = pytest.importorskip("polars")
    X, y = with_copies()
    frame, readings, most = polars.DataFrame(X), [], math.inf

    def fewer(batch):
        readings.append(1)
        return batch if len(readings) <= most else batch.head(100)

    lazy = frame.lazy().map_batches(fewer, schema=frame.schema)
    selector = greedy(statistic="mtv_r", epsilon=20.0)
    clone(selector).set_params(redundancy=0.0).fit(lazy, y)
    most = len(readings)  # that one fit takes for the scores with y, which depends on the version of Polars
    readings.clear()
    before = vars(selector).copy()
    with pytest.raises(ValueError, match="X must give the same rows each time it is read, got other numbers of rows"):
        selector.fit(lazy, y)
    assert vars(selector) == before


@seeded
@pytest.mark.parametrize("name", STATISTICS)
def test_the_number_of_jobs_and_the_container_say_nothing(name):
    X, y = with_copies(n=1600)
    X[X < 0.3] = 0
    make = partial(
        SelectNames,
        5,
        statistic=name,
        redundancy=1.0,
        epsilon=20.0,
        random_state=0,
        **public(name),
    )
    expected = published(make().fit(X, y))
    assert published(make(n_jobs=2).fit(X, y)) == expected
    assert published(make(n_jobs=2).fit(sparse.csr_array(X), y)) == expected
    assert published(make().fit(X.tolist(), y.tolist())) == expected


@seeded
@pytest.mark.parametrize("name", ["mic_r", "mtv_r", "kendall", "chatterjee"])
@pytest.mark.filterwarnings("ignore:statistic='chatterjee' takes rows")
def test_one_row_of_a_person_or_several_copies_of_it(name):
    """Each of N persons with the same row three times: as a table of 3 N rows, with the noise of N persons."""
    X, y = with_copies()
    make = partial(SelectNames, 3, statistic=name, redundancy=1.0, epsilon=math.inf, **public(name))
    groups = np.repeat(np.arange(N), 3)
    three = make(max_rows_per_group=3).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3), groups=groups)
    assert three.n_groups_ == N
    if name == "chatterjee":  # for which copies are dependence
        return
    signals = np.array([0, 0, 0, 1, 1, 2, 3, 3])
    assert signals[np.argsort(three.ranking_)[:3]].tolist() == [0, 1, 2]
    one = make(max_rows_per_group=1, epsilon=2.0).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3), groups=groups)
    assert one.noise_scale_ == make(epsilon=2.0).fit(X, y).noise_scale_


def test_chosen_rows_of_people_are_the_same_for_all_pairs():
    """Rows that are drawn are drawn once: a feature that is its copy in each row scores 1 with it."""
    X, y = with_copies()
    rng = np.random.default_rng(0)
    persons = rng.integers(0, 150, N)
    X = np.column_stack([X[:, 0], X[:, 0], X[:, 3]])
    selector = SelectNames(2, statistic="kendall", redundancy=0.9, epsilon=math.inf, max_rows_per_group=1)
    assert selector.fit(X, y, groups=persons).get_support().tolist() == [True, False, True]


def test_grids_against_a_feature_are_those_for_the_number_of_people(monkeypatch):
    X, y = with_copies()
    X[:, 0] = np.floor(4 * X[:, 0])
    groups, rows = np.repeat(np.arange(N), 3), np.repeat(np.arange(N), 3)
    selector = SelectNames(
        2, epsilon=20.0, redundancy=1.0, max_rows_per_group=3,
        categories={0: [0, 1, 2, 3]}, **UNIT
    )  # fmt: skip
    for_people = statistic_named("mic_r", "miller-madow").measure(
        "auto", "auto", N, selector._release_for(8).epsilon_per_feature, 6
    )
    seen, kind = set(), type(for_people)
    scorer = kind.scorer
    monkeypatch.setattr(kind, "scorer", lambda self, *given: seen.add(self) or scorer(self, *given))
    monkeypatch.setattr(OneShotTopK, "choose", lambda self, adjusted, _: 0)  # the labels first
    selector.fit(X[rows], y[rows], groups=groups)
    (against_labels,) = [measure for measure in seen if measure.n_classes == 6]
    assert (against_labels.B, against_labels.c) == (for_people.B, for_people.c)


def test_a_sketch_of_pairs_is_that_of_the_columns():
    X, _ = with_copies()
    sketch = RangeGridSketch(n_features=8, statistic="mtv_r", B=32, c=38, **UNIT).update(X, X[:, 3])
    measure = statistic_named("mtv_r", None).measure("auto", "auto", N, 1.0, None)
    records = SketchedRecords(sketch)
    scores = np.array(records.map_features(records.scorer(measure, None).score, None))
    against = measure.scorer_against(X[:, 3], (0.0, 1.0), None)
    assert to_grid(scores).tolist() == to_grid(np.array([against.score(x, (0.0, 1.0)) for x in X.T])).tolist()


# --- The warning ------------------------------------------------------------------------------------------------------


def warnings_of(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [warning for warning in caught if "seldom pays" in str(warning.message)]


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.combinations
def test_noise_for_which_redundancy_does_not_pay_is_warned_of(name, delta):
    X, y = with_copies()
    given = {"statistic": name, "delta": delta} | public(name)
    epsilon = 1.0
    scale = SelectNames(3, redundancy=1.0, epsilon=epsilon, **given).fit(X, y).noise_scale_
    enough = epsilon * scale / MOST_NOISE  # noise falls as epsilon grows: without delta, by one over it
    for share, is_warned in [(0.98, True), (1.02, False)] if delta == 0 else [(0.1, True), (10.0, False)]:
        selector = SelectNames(3, redundancy=1.0, epsilon=share * enough, **given)
        caught = warnings_of(lambda selector=selector: selector.fit(X, y))
        assert len(caught) == is_warned
        assert (selector.noise_scale_ > MOST_NOISE) == is_warned
        assert all(warning.filename == __file__ for warning in caught)
    for quiet in (SelectNames(3, epsilon=0.1, **given), SelectNames(1, redundancy=1.0, epsilon=0.1, **given)):
        assert warnings_of(lambda quiet=quiet: quiet.fit(X, y)) == []


def test_the_warning_says_how_much_is_needed_before_the_charge(tmp_path):
    X, y = with_copies()
    ledger = BudgetLedger(tmp_path / "budget.db", epsilon=5.0)
    selector = greedy(k=5, statistic="mtv_r", epsilon=0.5, ledger=ledger)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="redundancy=")
        with pytest.raises(UserWarning, match=r"redundancy=1 seldom pays .*n_samples=400, epsilon=0.5 and k=5") as said:
            selector.fit(X, y)
    assert ledger.entries() == []
    # 2 (4 / n) (1 + 4 * 2) / epsilon is 0.125
    assert "noise_scale_ is 0.36, and which features say the same is known from about 0.125 downwards" in str(
        said.value
    )
    assert "where n_samples * epsilon is 575 or more" in str(said.value)


@pytest.mark.parametrize("way", ["lazy", "people"])
def test_the_warning_comes_whichever_way_the_records_come(way):
    X, y = with_copies()
    if way == "lazy":
        frame = pytest.importorskip("polars").DataFrame(X).lazy()
        caught = warnings_of(lambda: greedy(statistic="mtv_r", epsilon=0.5).fit(frame, y))
    else:
        groups = np.arange(N) // 2
        selector = greedy(statistic="mtv_r", epsilon=1.0, max_rows_per_group=2)
        caught = warnings_of(lambda: selector.fit(X, y, groups=groups))
        assert "n_samples=200" in str(caught[0].message)
    (warning,) = caught
    assert warning.filename == __file__
