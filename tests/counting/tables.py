"""A table of mixed columns as Parquet files, and the sketch of its rows: the reference for every engine."""

import datetime
import decimal

import numpy as np
import pytest

from skdpmic.counting import RangeGridSketch

N = 700
DAY = datetime.date(2020, 1, 1)
PUBLIC = {
    "bounds": {
        "age": (0, 100),
        "income": (0, 1e6, "log"),
        "size": (0, 0.2, 0.5, 1),
        "born": (DAY, datetime.date(2022, 1, 1)),
        "seen": (datetime.datetime(2020, 1, 1), datetime.datetime(2023, 1, 1)),
        "price": (0, 100),
        "ratio": (0, 1),
        "nothing": (0, 1),
    },
    "categories": {
        "town": ["Aachen", "Bonn", "K\u00f6ln"],
        "insured": [False, True],
        "well": [False, True],
        "grade": [1, 2, 3],
    },
    "B": 16,
}
NUMERIC = PUBLIC | {"target_bounds": (0, 1)}
TARGETS = {
    "cost": {"target_bounds": (0, 1)},
    "state": {"classes": ["ill", "well"]},
    "cured": {"classes": [False, True]},
    "stage": {"classes": [0, 1, 2]},
    "charge": {"target_bounds": (0, 100)},
    "died": {"target_bounds": (DAY, datetime.date(2022, 1, 1))},
}


def mixed_table():
    """A Polars dataframe of features of every kind, with missing values, and of all targets."""
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)

    def with_missing(values, every):
        return [None if i % every == 0 else value for i, value in enumerate(values)]

    days = [DAY + datetime.timedelta(days=int(i)) for i in rng.integers(0, 900, N)]
    moments = [datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=float(s)) for s in rng.random(N) * 1e8]
    prices = [decimal.Decimal(int(cents)).scaleb(-2) for cents in rng.integers(0, 10_000, N)]
    ratios = rng.random(N)
    columns = {
        "cost": np.round(rng.random(N), 3),  # a target first: columns are found by name
        "age": with_missing(rng.integers(0, 110, N).tolist(), 7),
        "income": with_missing(np.exp(rng.normal(10, 2, N)).tolist(), 11),
        "size": rng.random(N).astype(np.float32),
        "town": with_missing(rng.choice(["Aachen", "Bonn", "K\u00f6ln", "elsewhere"], N).tolist(), 5),
        "insured": with_missing((rng.random(N) < 0.5).tolist(), 6),
        "well": rng.random(N) < 0.5,
        "born": with_missing(days, 9),
        "seen": with_missing(moments, 8),
        "price": polars.Series(with_missing(prices, 10), dtype=polars.Decimal(10, 2)),
        "ratio": np.where(ratios < 0.1, np.nan, ratios),
        "grade": rng.integers(1, 5, N).astype(np.int8),
        "nothing": polars.Series([None] * N, dtype=polars.Float64),
        "state": rng.choice(["ill", "well"], N).tolist(),
        "cured": rng.random(N) < 0.5,
        "stage": rng.integers(0, 3, N),
        "charge": polars.Series(prices, dtype=polars.Decimal(10, 2)),
        "died": days,
    }
    return polars.DataFrame(columns)


def empty_sketch(target="cost"):
    return RangeGridSketch(**PUBLIC, **TARGETS[target])


def with_one_target(frame, target="cost"):
    """The features and one of the targets."""
    return frame.drop([name for name in TARGETS if name != target])


def counted(frame, target="cost"):
    """The bytes of the sketch of all rows, counted at once, which every engine must reproduce."""
    sketch = empty_sketch(target)
    return bytes_of(sketch.update(frame.select(sketch.feature_names_in_.tolist()), frame[target]))


def bytes_of(sketch):
    """The bytes of a sketch, with one fixed identity in place of those of its counts."""
    return sketch._with(sketch._counts, sketch.n_samples, frozenset([bytes(16)] if sketch.n_samples else [])).to_bytes()


def write_files(frame, folder):
    """Write the table to several Parquet files, the second with a single row."""
    for i, (first, last) in enumerate([(0, 300), (300, 301), (301, N)]):
        frame[first:last].write_parquet(folder / f"{i}.parquet")


_CONNECTIONS = []  # older versions of DuckDB close a connection that only a relation refers to


def relation(query, **tables):
    """The result of a query by DuckDB."""
    connection = pytest.importorskip("duckdb").connect()
    _CONNECTIONS.append(connection)
    for name, table in tables.items():
        connection.register(name, table)
    return connection.sql(query)
