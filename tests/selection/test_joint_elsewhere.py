"""Joint scores of records outside memory: LazyFrames and dask collections are read once more for each choice."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest

from skdpmic import PrivateSelectKBest
from skdpmic.counting import RangeGridSketch, chunks
from skdpmic.counting.sketched import PairSketch, SketchedRecords
from tests.folding import each

seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
N = 500
UNIT = {"bounds": (0, 1), "target_bounds": (0, 1)}
KINDS = {
    "bounds": {"number": (0, 1), "log": (0, 9, "log"), "knots": (0, 0.2, 1), "noise": (0, 1)},
    "categories": {"town": list("abcdef")},
}
TARGETS = {
    "numbers": {"target_bounds": (0, 1), "target_shares": (0.5, 0.5)},
    "two classes": {"classes": [0, 1]},
    "five classes": {"classes": range(5)},
}


def table(target, seed=0):
    rng = np.random.default_rng(seed)
    number, town = rng.random(N), rng.integers(6, size=N)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(N) < 0.1, np.nan, number),
            "log": 9 * rng.random(N) ** 3,
            "town": np.array(list("abcdef"))[town],
            "knots": number**2,
            "noise": rng.random(N),
        }
    )
    y = (number + town / 6 + frame["log"].to_numpy() / 9) / 3
    return frame, y if target == "numbers" else np.minimum((y * 5).astype(int), len(TARGETS[target]["classes"]) - 1)


def published(estimator):
    return {name: np.asarray(value).tolist() for name, value in vars(estimator).items() if name.endswith("_")}


@pytest.mark.slow
@seeded
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.combinations
def test_records_outside_memory_give_the_same_results_as_a_table_in_memory(target, weighted, delta, monkeypatch):
    polars, frames = pytest.importorskip("polars"), pytest.importorskip("dask.dataframe")
    monkeypatch.setattr("skdpmic.counting.streams._ROWS", 100)
    X, y = table(target)
    weights = np.random.default_rng(1).random(N) * 2 if weighted else None
    public = KINDS | TARGETS[target] | ({"max_weight": 2.0} if weighted else {})
    make = partial(PrivateSelectKBest, 4, criterion="joint", epsilon=20.0, delta=delta, random_state=0, **public)
    expected = published(make().fit(X, y, sample_weight=weights))
    lazy = polars.from_pandas(X).lazy()
    assert published(make().fit(lazy, y, sample_weight=weights)) == expected
    assert published(make(n_jobs=2).fit(lazy, y, sample_weight=weights)) == expected
    there = frames.from_pandas(X.assign(y=y, w=1.0 if weights is None else weights), npartitions=5)
    given = {} if weights is None else {"sample_weight": there["w"]}
    assert published(make().fit(there[list(X)], there["y"], **given)) == expected


@seeded
@each("chunks", [(70, 3), -1])
def test_a_dask_array_is_read_again(chunks):
    arrays = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X = rng.random((N, 8))
    y = (X[:, 1] > 0.4).astype(int)
    public = {"bounds": (0, 1), "classes": [0, 1]}
    make = partial(PrivateSelectKBest, 3, criterion="joint", epsilon=20.0, random_state=0, **public)
    fitted = make().fit(arrays.from_array(X, chunks=chunks), arrays.from_array(y, chunks=100))
    assert published(fitted) == published(make().fit(X, y))


def test_records_are_counted_once_more_for_each_choice_but_the_last(monkeypatch):
    polars = pytest.importorskip("polars")
    X = np.random.default_rng(0).random((N, 8))
    counted, add = [], chunks._add
    monkeypatch.setattr(chunks, "_add", lambda *given: counted.append(1) or add(*given))
    PrivateSelectKBest(4, criterion="joint", epsilon=20.0, **UNIT).fit(polars.DataFrame(X).lazy(), X[:, 0])
    assert len(counted) == 4


def test_records_that_change_between_readings_are_detected():
    polars = pytest.importorskip("polars")
    X = np.random.default_rng(0).random((N, 4))
    frame, readings, most = polars.DataFrame(X), [], math.inf

    def fewer(batch):
        readings.append(1)
        return batch if len(readings) <= most else batch.head(100)

    lazy = frame.lazy().map_batches(fewer, schema=frame.schema)
    selector = PrivateSelectKBest(3, epsilon=20.0, **UNIT)
    selector.set_params(criterion="single").fit(lazy, X[:, 0])
    most = len(readings)  # in one fit, for the scores with y; depends on the version of Polars
    readings.clear()
    before = vars(selector.set_params(criterion="joint")).copy()
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples|X must give the same rows each time"):
        selector.fit(lazy, X[:, 0])
    assert vars(selector) == before


def test_a_change_in_the_number_of_rows_is_detected():
    X = np.random.default_rng(0).random((N, 3))
    sketch = RangeGridSketch(n_features=3, statistic="mtv_r", B=32, **UNIT).update(X, X[:, 0])
    records = SketchedRecords(sketch, recount=lambda empty: empty.update(X[1:], X[1:, 0]))
    with pytest.raises(
        ValueError, match="X must return the same rows each time it is read, got different numbers of rows"
    ):
        records.scores_beside(0, sketch.measure, [], None)


def test_sketches_of_pairs_add_up():
    X, y = table("numbers")
    public = {"statistic": "mtv_r", "B": 32, "c": 38, "feature_names": list(X)}
    sketch = RangeGridSketch(**public, **KINDS, target_bounds=(0, 1)).update(X, y)
    for given in range(5):
        whole = PairSketch(sketch, given).update(X, y)
        parts = [PairSketch(sketch, given).update(X.iloc[rows], y[rows]) for rows in np.array_split(np.arange(N), 3)]
        merged = parts[2].merge(parts[0]).merge(parts[1])
        assert np.array_equal(merged._counts, whole._counts)
        assert (merged.n_samples, sketch.n_samples) == (N, N)
