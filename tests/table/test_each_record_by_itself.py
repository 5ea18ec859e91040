"""A record becomes numbers by itself: replacing one moves no other, whatever odd objects a table holds.

Tables of units, widths, numerals, subclasses and enumerations are drawn at random, and one record is replaced. The
numbers of all the others must stay as they are, to the last bit, on every way in.
"""

import datetime
import enum
import functools
import importlib.util
import itertools
import math
from collections import UserList
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import polars
import pytest

from skdpmic import DPMICScorer
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import RangeGridSketch
from skdpmic.release.bounds import learnt_bounds
from skdpmic.selection.sources import read
from skdpmic.table.people import read_people
from skdpmic.table.targets import read_strata
from skdpmic.table.values import check_pair
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.folding import each

N, DRAWS = 8, 5


class Numeral(str, enum.Enum):  # noqa: UP042 - as people write it
    HALF = "0.5"


class Colour(str, enum.Enum):  # noqa: UP042
    BLUE = "b"


class Count(enum.IntEnum):
    TWO = 2


class OwnFloat(float):
    pass


class OwnText(str):
    __slots__ = ()


MISSING = [None, math.nan, pandas.NA, np.float32("nan")]
ZONE = datetime.timezone(datetime.timedelta(hours=5))
NUMBERS = [
    *[
        kind(value)
        for kind in (float, np.float16, np.float32, np.longdouble, OwnFloat, str, np.str_)
        for value in (0.5, 0.7)
    ],
    *[Decimal("0.7"), Fraction(1, 3), True, np.bool_(False), 1, np.uint8(1), np.int64(-3), 2**70, -(2.0**1000)],
    *[Numeral.HALF, Count.TWO, b"0.7", np.bytes_(b"0.5"), OwnText("0.7"), np.array(0.7, dtype=np.float32)],
]
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps")
DATES = [
    *[np.datetime64("2010-06-01", unit) for unit in UNITS],
    *[np.datetime64("9999-12-31", unit) for unit in ("D", "s", "us")],
    *[np.datetime64("2010-06-01", (unit, 7)) for unit in ("D", "ns")],
    *[datetime.date(2010, 6, 1), datetime.datetime(2010, 6, 1, 12), datetime.datetime(2010, 6, 1, tzinfo=ZONE)],
    *[pandas.Timestamp("2010-06-01"), pandas.Timestamp("2010-06-01 01:02:03.000000009", tz="Asia/Tokyo")],
]
DURATIONS = [
    *[np.timedelta64(3, unit) for unit in UNITS[2:]],
    *[datetime.timedelta(days=2), pandas.Timedelta("3D"), np.timedelta64(10**6, "W")],
]
TEXTS = ["a", "b", "zebra", "0.5", np.str_("a"), Colour.BLUE, OwnText("a")]
NUMBERED = [1, 2, 7, 1.0, True, Decimal(1), Fraction(2), np.float16(1), np.float32(2), Count.TWO, 2**70]
DAYS = (np.datetime64("2000-01-01"), np.datetime64("2100-01-01"))

POOLS = [NUMBERS, NUMBERS, DATES, DURATIONS, TEXTS, NUMBERED]
NAMES = ["share", "size", "born", "stay", "sex", "site"]
BOUNDS = {
    "share": (0, 1.4),
    "size": (0, 9, "log"),
    "born": DAYS,
    "stay": (np.timedelta64(0, "D"), np.timedelta64(90, "D")),
}
CATEGORIES = {"sex": ["a", "b"], "site": [1, 2]}
TARGETS = {
    "numbers": ([value for value in NUMBERS if not isinstance(value, np.ndarray)], {"target_bounds": (0, 1.4)}),
    "dates": (DATES, {"target_bounds": DAYS}),
    "durations": (DURATIONS, {"target_bounds": BOUNDS["stay"]}),
    "text": (["a", "b", np.str_("a"), Colour.BLUE, OwnText("a")], {"classes": ["a", "b"]}),
    "numbered": ([1, 2, 1.0, True, Decimal(1), Fraction(2), np.float16(1), Count.TWO], {"classes": [1, 2]}),
    "large": ([2**53, 2**53 + 2, float(2**53), np.int64(2**53)], {"classes": [2**53, 2**53 + 2]}),
}


def by_number(entries):
    return {NAMES.index(name): entry for name, entry in entries.items()}


def object_array(rows):
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        for j, value in enumerate(row):
            array[place, j] = value
    return array


def object_column(values):
    return object_array([[value] for value in values])[:, 0]


CONTAINERS = {
    "list": lambda rows: [list(row) for row in rows],
    "tuple": lambda rows: tuple(map(tuple, rows)),
    "UserList": lambda rows: UserList(map(list, rows)),
    "list of arrays": lambda rows: [object_column(row) for row in rows],
    "object array": object_array,
    "pandas": lambda rows: pandas.DataFrame(object_array(rows), columns=NAMES, dtype=object),
    "polars": lambda rows: polars.DataFrame(
        {
            name: polars.Series(list(column), dtype=polars.Object)
            for name, column in zip(NAMES, zip(*rows, strict=True), strict=True)
        }
    ),
}
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "UserList": UserList,
    "object array": object_column,
    "pandas": lambda values: pandas.Series(object_column(values), dtype=object),
    "polars": lambda values: polars.Series(values, dtype=polars.Object),
}


def described(container):
    """Public facts, by name where a table has names."""
    if container in ("pandas", "polars"):
        return {"bounds": BOUNDS, "categories": CATEGORIES}
    return {"bounds": by_number(BOUNDS), "categories": by_number(CATEGORIES)}


def drawn(rng, pools, n):
    return [[pool[rng.integers(len(pool))] for pool in pools] for _ in range(n)]


def are_the_same(here, there):
    return all(
        np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f") for a, b in zip(here, there, strict=True)
    )


def few_of(rng, pools):
    """Pools of one or two values each, so that tables are drawn whose columns are all of one type but for one value."""
    return [[pool[j] for j in rng.integers(len(pool), size=rng.integers(1, 3))] for pool in pools]


def check_others(read, pools, container, seed=0):
    """What `read` gives of a table, less its last record, whatever this is."""
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        others = drawn(rng, few_of(rng, pools), N)
        tables = [read(container([*others, last])) for last in drawn(rng, pools, 3)]
        first = [column[:N] for column in tables[0]]
        assert all(are_the_same(first, [column[:N] for column in table]) for table in tables)


def codes(records):
    return [np.asarray(column) for column in records.columns]


READERS = {
    "fit": lambda X, **public: codes(DPMICScorer(classes=[0, 1], **public)._plan().read_table(X, [0, 1] * 4 + [0])),
    "reports": lambda X, **public: RandomizedResponse(math.inf, **public).fit(X).transform(X).T,
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.combinations
def test_no_record_of_a_table_moves_another(reader, container):
    read = functools.partial(READERS[reader], **described(container))
    check_others(read, [pool + MISSING for pool in POOLS], CONTAINERS[container])


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("pool", [NUMBERS, DATES, DURATIONS], ids=["numbers", "dates", "durations"])
@pytest.mark.combinations
def test_no_record_of_a_matrix_moves_another(pool, container):
    pools = [pool + MISSING] * len(NAMES)
    check_others(lambda X: codes(PrivateCorrelation()._plan().read_table(X)), pools, CONTAINERS[container])
    check_others(lambda X: codes(PrivatePC()._plan().read_table(X)), pools, CONTAINERS[container])


@pytest.mark.parametrize("container", CONTAINERS)
def test_no_record_of_a_table_of_labels_moves_another(container):
    categories = {name if container in ("pandas", "polars") else j: ["a", "b"] for j, name in enumerate(NAMES)}
    read = lambda X: codes(PrivatePC(categories=categories)._plan().read_table(X))  # noqa: E731
    check_others(read, [TEXTS + MISSING] * len(NAMES), CONTAINERS[container])


@pytest.mark.parametrize("container", CONTAINERS)
def test_no_record_of_columns_whose_bounds_are_learnt_moves_another(container):
    def read(X):
        columns, _ = learnt_bounds._read_columns(X, None)
        return [column.values for column in columns.values()]

    check_others(read, [NUMBERS + MISSING] * len(NAMES), CONTAINERS[container])


@each("container", COLUMNS)
def test_no_record_of_a_column_whose_bounds_are_learnt_moves_another(container):
    def read(column):
        return [learnt_bounds._read_columns(column, None)[0][0].values]

    check_others(read, [NUMBERS + MISSING], lambda rows: COLUMNS[container]([row[0] for row in rows]))


@pytest.mark.parametrize("container", COLUMNS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.combinations
def test_no_record_of_a_target_moves_another(target, container):
    pool, public = TARGETS[target]
    X = np.zeros((N + 1, 1))
    readers = [lambda y: [DPMICScorer(bounds=(0, 1), **public)._plan().read_table(X, y).target.values]]
    readers.append(lambda y: [TwoPartyScorer(**public)._two_party_plan().read_target(y, N + 1).values])
    for reader in readers:
        check_others(reader, [pool], lambda rows: COLUMNS[container]([row[0] for row in rows]))


@pytest.mark.parametrize("container", COLUMNS)
def test_no_record_moves_another_to_another_stratum(container):
    def column_of(rows):
        return COLUMNS[container]([row[0] for row in rows])

    check_others(lambda strata: [read_strata(strata, ["a", "b"], N + 1)], [TEXTS + MISSING], column_of)
    check_others(lambda strata: [read_strata(strata, [1, 2], N + 1)], [NUMBERED + MISSING], column_of)


@pytest.mark.parametrize("container", COLUMNS)
@pytest.mark.parametrize(
    "pool",
    [TEXTS, NUMBERED, [value for value in DATES if isinstance(value, np.datetime64)]],
    ids=["text", "numbers", "dates"],
)
@pytest.mark.combinations
def test_no_record_gives_another_to_another_person(pool, container):
    def together(groups):
        persons = read_people(groups, 2, len(groups)).persons[:N]
        return [persons[:, np.newaxis] == persons]

    four = [["one"], ["two"], ["three"], ["four"]]  # the fewest people
    check_others(together, [pool], lambda rows: COLUMNS[container]([row[0] for row in rows + four]))


PLAIN = [0.7, np.float16(0.7), np.float32(0.7), np.longdouble(0.7), OwnFloat(0.7), True, 1, np.uint8(3), 2**53 + 1]


def test_no_record_of_a_pair_moves_another():
    check_others(lambda x: check_pair(x, x), [PLAIN], lambda rows: [row[0] for row in rows])


# What a type declares holds for the whole column; the labels that a Categorical finds are no declaration.
TYPED = {
    "size": ([0.5, 0.7, 3.0, None], polars.Float32, "float32", "Float32"),
    "born": (
        [datetime.datetime(2010, 6, 1), datetime.datetime(2262, 1, 1), datetime.datetime(1999, 1, 1, 0, 0, 1), None],
        polars.Datetime("ns"),
        "timestamp[ns]",
        "datetime64[ns]",
    ),
    "stay": ([datetime.timedelta(1), datetime.timedelta(90), None], polars.Duration("ms"), "duration[ms]", "m8[ms]"),
    "sex": (["a", "b", "zebra", None], polars.Categorical, "dictionary", "category"),
    "site": ([1, 2, 7, 2**60, None], polars.Int64, "int64", "Int64"),
    "share": ([0.5, 1.0, -(2.0**1000), None], polars.Float64, "float64", "float64"),
}
TYPED_POOLS = [TYPED[name][0] for name in NAMES]


def column_of(rows, j):
    return [row[j] for row in rows]


def table_of_polars(rows):
    return polars.DataFrame([polars.Series(n, column_of(rows, j), TYPED[n][1]) for j, n in enumerate(NAMES)])


def table_of_arrow(rows):
    pyarrow = pytest.importorskip("pyarrow")

    def column(j, alias):
        if alias == "dictionary":
            return pyarrow.array(column_of(rows, j)).dictionary_encode()
        return pyarrow.array(column_of(rows, j), type=pyarrow.type_for_alias(alias))

    return pyarrow.table({name: column(j, TYPED[name][2]) for j, name in enumerate(NAMES)})


def table_of_pandas(rows):
    return pandas.DataFrame({n: pandas.Series(column_of(rows, j), dtype=TYPED[n][3]) for j, n in enumerate(NAMES)})


TYPED_CONTAINERS = {
    "polars": table_of_polars,
    "lazy": lambda rows: table_of_polars(rows).lazy(),
    "arrow": table_of_arrow,
    "stream": lambda rows: table_of_arrow(rows).to_reader(max_chunksize=3),
    "pandas": table_of_pandas,
    "pandas of arrow": lambda rows: table_of_arrow(rows).to_pandas(types_mapper=pandas.ArrowDtype),
}


@pytest.mark.parametrize(
    "reader, container",
    # A stream can be read once only, and reports are of the table of the fit.
    [pair for pair in itertools.product(READERS, TYPED_CONTAINERS) if pair != ("reports", "stream")],
)
def test_no_record_of_a_table_with_types_moves_another(reader, container):
    read = functools.partial(READERS[reader], bounds=BOUNDS, categories=CATEGORIES)
    check_others(read, TYPED_POOLS, TYPED_CONTAINERS[container])


FAR, NEAR = np.datetime64("9999-12-31"), np.datetime64("2010-06-01")
HALVES = [[0.0]] * 50 + [[1.0]] * 50
LAZY = polars.DataFrame({"a": np.array(HALVES)[:, 0]}).lazy()


@pytest.mark.parametrize("X", [HALVES, LAZY], ids=["list", "lazy"])
def test_the_unit_of_one_date_changes_no_score(X):
    scorer = DPMICScorer(epsilon=math.inf, bounds=(0, 1), target_bounds=DAYS, B=4, c=1, correction=None)
    for unit in UNITS[3:-1]:
        (score,) = scorer.fit(X, [FAR] * 50 + [NEAR] * 49 + [NEAR.astype(f"M8[{unit}]")]).scores_
        assert score == 1


def test_the_unit_of_one_date_of_a_feature_changes_no_score():
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, bounds=DAYS, classes=[0, 1], B=4, c=1)
    for unit in UNITS[3:-1]:
        X = [[FAR]] * 50 + [[NEAR]] * 49 + [[NEAR.astype(f"M8[{unit}]")]]
        assert scorer.fit(X, [0] * 50 + [1] * 50).scores_ == [1]


def test_one_numeral_changes_no_score():
    public = {"bounds": {0: (0, 1.4)}, "categories": {1: ["a", "b"]}, "classes": [0, 1], "B": 4, "c": 1}
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, **public)
    for high, low in ((np.float32(0.7), np.float32(0.5)), (np.float16(0.7), np.float16(0.5))):
        scores = [
            scorer.fit([[high, "a"]] * 50 + [[low, "a"]] * 49 + [[last, "a"]], [0] * 50 + [1] * 50).scores_[0]
            for last in (low, "0.5", 0.5)
        ]
        assert scores == [scores[0]] * 3


def test_rows_may_be_arrays_of_dates():
    rows = [np.array([NEAR, NEAR], dtype="M8[ns]"), *[np.array([NEAR, NEAR], dtype="M8[D]")] * N]
    scorer = DPMICScorer(bounds=DAYS, target_bounds=(0, 1))
    for column in codes(scorer._plan().read_table(rows, np.zeros(N + 1))):
        assert set(column.tolist()) == {NEAR.astype("M8[s]").astype(float)}


@each("y", [[1, "2"], [1, b"2"], [1, 2j], ["1", "2"], [1, NEAR]])
def test_a_label_of_the_target_is_of_the_type_of_the_classes(y):
    with pytest.raises(ValueError, match="y must hold labels of the same type as classes, and no missing values"):
        DPMICScorer(bounds=(0, 1), classes=[1, 2])._plan().read_table(np.zeros((4, 1)), y * 2)


def test_a_label_of_the_target_is_compared_exactly():
    scorer = DPMICScorer(bounds=(0, 1), classes=[2**53, 2**53 + 2])
    with pytest.raises(ValueError, match="y must hold only labels that are in classes"):
        scorer._plan().read_table(np.zeros((4, 1)), [2**53, 2**53, 2**53 + 2, 2**53 + 1])


# --- Counted in pieces ------------------------------------------------------------------------------------------------


GRID = {"B": 9, "c": 2, "bounds": (0, 1)}


def counts_of(sketch):
    return [sketch._counts_of(j).copy() for j in range(sketch.n_features_in_)]


def check_counts(count, pool, public, seed=0):
    """The counts of a target with a table, less those of its last record alone, whatever this is."""
    rng = np.random.default_rng(seed)
    X = [[0.1 * i] for i in range(N)] + [[0.35]]
    empty = RangeGridSketch(**GRID, n_features=1, **public)
    for _ in range(DRAWS):
        others = drawn(rng, few_of(rng, [pool]), N)
        rest = []
        for last in drawn(rng, [pool], 4):
            y = [row[0] for row in [*others, last]]
            whole, alone = counts_of(count(X, y, public)), counts_of(empty.empty().update(X[-1:], y[-1:]))
            rest.append([a.astype(np.int64) - b for a, b in zip(whole, alone, strict=True)])
        assert all(are_the_same(rest[0], others) for others in rest)


def counted_lazily(X, y, public):
    frame = polars.DataFrame({"x": [row[0] for row in X]}).lazy()
    return read(DPMICScorer(**GRID, **public)._plan(), frame, y)._sketch


def counted_in_chunks(X, y, public):
    scorer = DPMICScorer(**GRID, **public)
    for chunk in (slice(0, 3), slice(3, None)):
        scorer.partial_fit(X[chunk], y[chunk])
    return scorer._sketch


def counted_by_dask(X, y, public):
    import dask.array

    X, y = np.array(X), object_column(y)
    X, y = dask.array.from_array(X, chunks=(4, 1)), dask.array.from_array(y, chunks=4)
    return read(DPMICScorer(**GRID, **public)._plan(), X, y)._sketch


WITH_DASK = [counted_by_dask] if importlib.util.find_spec("dask") else []


@pytest.mark.parametrize("count", [counted_lazily, counted_in_chunks, *WITH_DASK])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.combinations
def test_no_record_of_a_target_moves_the_count_of_another(target, count):
    check_counts(count, *TARGETS[target])
