"""Joint scores of records outside memory: LazyFrames and dask collections are read before the charge, and held."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from skdpmic import BudgetLedger, PrivateSelectKBest
from skdpmic.counting import RangeGridSketch
from skdpmic.counting import sketch as chunks
from skdpmic.counting.streams import added, hold, pair_counts
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


def unless_charged(ledger, readings, rows):
    """These rows, as long as nothing is charged."""
    readings.append(1)
    if ledger.spent() != (0, 0):
        raise ConnectionError
    return rows


@seeded
@each("statistic", ["mtv_r", "mic_r", "kendall"])
@each("where", ["lazy", "dask"])
def test_nothing_is_read_after_the_charge(where, statistic, tmp_path):
    """A later reading may be shorter, in another order, or fail."""
    X = np.random.default_rng(0).random((N, 8))
    ledger, readings = BudgetLedger(tmp_path / f"{where} {statistic}", epsilon=20), []
    read = partial(unless_charged, ledger, readings)
    if where == "lazy":
        frame = pytest.importorskip("polars").DataFrame(X)
        given = frame.lazy().map_batches(read, schema=frame.schema), X[:, 0]
    else:
        blocks = partial(pytest.importorskip("dask.array").from_array, chunks=(100, -1))
        given = blocks(X).map_blocks(read), blocks(X[:, :1]).map_blocks(read)[:, 0]
    way = {"statistic": statistic, "criterion": "joint" if statistic == "mtv_r" else "single"}
    selector = PrivateSelectKBest(4, epsilon=20.0, ledger=ledger, random_state=0, **way, **UNIT)
    if where == "dask" and statistic == "kendall":
        with pytest.raises(ValueError, match="statistic"):
            selector.fit(*given)
        return
    selector.fit(*given)
    assert readings
    assert ledger.spent() == (20, 0)
    assert selector.ranking_[0] == 1


@each("criterion", ["single", "joint"])
def test_a_collection_whose_number_of_rows_changes_is_refused_before_the_charge(criterion, tmp_path):
    """dask counts the rows of a dataframe first, in a reading of its own."""
    frames, dask = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask")
    table, readings = pd.DataFrame(np.random.default_rng(0).random((N, 3)), columns=list("aby")), []

    def shorter(number):
        readings.append(number)
        return table[100 * number : 100 * (number + 1) - readings.count(number)]

    there = frames.from_delayed([dask.delayed(shorter, pure=False)(number) for number in range(5)], meta=table)
    ledger = BudgetLedger(tmp_path / criterion, epsilon=20)
    selector = PrivateSelectKBest(1, keep=["b"], criterion=criterion, epsilon=20.0, ledger=ledger, **UNIT)
    said = "X must return the same rows each time it is read, got different numbers of"
    if dask.__version__ < "2024.3":  # which reads the target in a graph of its own
        said = "inconsistent numbers of samples"
    with pytest.raises(ValueError, match=said):
        selector.fit(there[["a", "b"]], there["y"])
    assert ledger.spent() == (0, 0)
    assert not hasattr(selector, "ranking_")


def test_counts_of_pairs_in_rows_that_are_held_are_those_of_the_records_and_add_up():
    X, y = table("numbers")
    X["many"] = np.array([f"{i:03}" for i in range(300)])[np.arange(N) % 300]
    kinds = KINDS | {"categories": KINDS["categories"] | {"many": [f"{i:03}" for i in range(300)]}}
    public = {"statistic": "mtv_r", "B": 32, "c": 38, "max_weight": 2.0, "feature_names": list(X)}
    sketch, weights = RangeGridSketch(**public, **kinds, target_bounds=(0, 1)), np.arange(N) / N

    def read(rows):
        return chunks.count_into(sketch, sketch, X.iloc[rows], y[rows], None, sample_weight=weights[rows])

    columns, target = read(slice(None))
    held = [hold(sketch, *read(rows)) for rows in np.array_split(np.arange(N), 3)]
    assert {rows.codes.dtype for rows in held} == {np.dtype(np.uint8)}
    columns = [column for j in range(6) for column in columns[j : j + 1]]
    for j in range(6):
        grids = sketch.measure.pair_counts(sketch.description.target.encoded, sketch.domains[j])
        placed = grids.place(target.values, target.weights, columns[j])
        expected = [grids.count(x, domain, placed) for x, domain in zip(columns, sketch.domains, strict=True)]
        counts = added([pair_counts(sketch, rows, j) for rows in held])
        assert all(map(np.array_equal, counts, expected))
