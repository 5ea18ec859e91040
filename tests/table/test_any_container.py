"""A record is read as the same numbers in every container, whatever the other records hold.

Columns of every kind, in every type that a library offers, are drawn at random and passed to every entry point; then
one record is replaced. The noise-free result must equal, to the last bit, the result for the same values as plain
Python objects. A reference implementation in this file converts each value on its own: to a float, or to a label.
"""

import datetime
import functools
import io
import math
import warnings
from decimal import Decimal

import numpy as np
import pandas
import polars
import pytest

from skdpmic import (
    Codebook,
    DPMICScorer,
    PrivacyLeakWarning,
    PublicEncoder,
    private_bounds,
    private_summary,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import count_stream
from skdpmic.table.values import read_people
from skdpmic.two_party import RandomizedResponse
from tests.table.arrow_columns import Stream, encoded
from tests.table.arrow_columns import pa as pyarrow

if not hasattr(polars, "Int128"):
    pytest.skip("this version of Polars lacks some types", allow_module_level=True)
duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("pyarrow.parquet")

N = 80
CLASSES = [0, 1] * (N // 2)
DAY, TOKYO = datetime.timedelta(days=1), datetime.timezone(datetime.timedelta(hours=9))

# --- Kinds of values, and the reference reading of one ---------------------------------------------------------------


def instants(*years, zone=None):
    return [datetime.datetime(year, 6, 1, 1, 2, 3, 456, zone) for year in years]


POOLS = {
    "float": [0.0, 0.5, 0.7, 3.0, 9.0, -1.0, 1e300],
    "single": [float(np.float32(value)) for value in (0.0, 0.7, 0.9, 1.1, 3e38, 1e-40)],  # the ends, rounded
    "int": [0, 1, 3, 9, -7, 2**52],
    "bool": [False, True],
    "decimal": [Decimal(text) for text in ("0.00", "0.70", "3.00", "9.00", "-1.50", "123456789.25")],
    "date": [datetime.date(year, 6, 1) for year in (1900, 1969, 2000, 2010, 2100)],
    "instant": instants(1900, 1969, 2000, 2010, 2100),
    "zoned": instants(1900, 1969, 2000, 2010, 2100, zone=TOKYO),
    "duration": [datetime.timedelta(0), 3 * DAY, 90 * DAY, -DAY, datetime.timedelta(microseconds=7)],
    "text": ["a", "b", "zebra", "0.5", ""],
    "numbered": [3, 1, 9, 4, 2**52],
}
ENDS = dict.fromkeys(["float", "int", "decimal"], (0, 9)) | {
    "single": (0.7, 1.1),
    "date": (datetime.date(1950, 1, 1), datetime.date(2050, 1, 1)),
    "instant": (datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1)),
    "zoned": (datetime.datetime(1950, 1, 1, tzinfo=TOKYO), datetime.datetime(2050, 1, 1, tzinfo=TOKYO)),
    "duration": (datetime.timedelta(0), 90 * DAY),
}
LABELS = {"bool": [False, True], "text": ["b", "a"], "numbered": [3, 1, 9]}


def plain(value):
    """The reference reading: a number, date or duration as a float, a label unchanged, a missing value as None."""
    if isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
        value -= datetime.datetime(1970, 1, 1)
    elif isinstance(value, datetime.date):
        value -= datetime.date(1970, 1, 1)
    if isinstance(value, datetime.timedelta):
        whole, rest = divmod(value, datetime.timedelta(seconds=1))
        return whole + rest.microseconds / 10**6
    return float(value) if isinstance(value, Decimal | int) else value


def facts(kinds, convert=lambda value: value):
    """Public facts about columns of these kinds, by name; `convert` is applied to the ends of ranges."""
    bounds = {name: tuple(map(convert, ENDS[kind])) for name, kind in kinds.items() if kind in ENDS}
    return {"bounds": bounds, "categories": {name: LABELS[kind] for name, kind in kinds.items() if kind in LABELS}}


# --- The types that a library has for each kind: name -> (kind, function from a list to a column) ---------------------

WITHOUT_MISSING = ("?", "U5", "Sparse[int64]", "Sparse[bool]")  # these turn None into a value


def typed(make, types):
    def made(dtype, values):
        if None in values and dtype in WITHOUT_MISSING:
            raise ValueError("this type has no missing values")
        return make(values, dtype=dtype)

    return {f"{kind}: {dtype}": (kind, functools.partial(made, dtype)) for kind in types for dtype in types[kind]}


PLAIN = {kind: (kind, list) for kind in POOLS} | {
    f"{kind} with {missing}": (kind, lambda values, missing=missing: [missing if v is None else v for v in values])
    for kind in POOLS
    for missing in (math.nan, pandas.NA, pandas.NaT, np.datetime64("NaT"))
    if missing is not pandas.NaT or kind not in LABELS
}
NUMPY_TYPES = typed(
    np.array,
    {
        **{"float": ["f8"], "single": ["f4"], "int": ["i8"], "bool": ["?"], "date": ["M8[D]", "M8[s]"]},
        **{"instant": ["M8[us]"]},
        **{"duration": ["m8[us]"], "text": ["U5"], "numbered": ["i8", "u8"]},
    },
)
LAYOUTS = {
    "": pyarrow.array,
    " in chunks": lambda values, dtype: pyarrow.chunked_array([values[:1], [], values[1:30], values[30:]], dtype),
    " dictionary": encoded,
    " dictionary with null": functools.partial(encoded, inside=True),
}
ARROW_TYPES = {
    f"{kind}: {dtype}{layout}": (kind, functools.partial(lambda make, dtype, values: make(values, dtype), make, dtype))
    for kind, types in {
        "float": [pyarrow.float64()],
        "single": [pyarrow.float32(), pyarrow.float64()],
        "int": [pyarrow.int64(), pyarrow.float64(), pyarrow.decimal128(20, 0)],
        "bool": [pyarrow.bool_()],
        "decimal": [pyarrow.decimal128(20, 2), pyarrow.decimal256(40, 2)],
        "date": [pyarrow.date32(), pyarrow.date64()],
        "instant": [pyarrow.timestamp("us")],
        "zoned": [pyarrow.timestamp("us", "Asia/Tokyo"), pyarrow.timestamp("us", "UTC")],
        "duration": [pyarrow.duration("us")],
        "text": [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()],
        "numbered": [pyarrow.uint64(), pyarrow.int64()],
    }.items()
    for dtype in types
    for layout, make in LAYOUTS.items()
    if not (layout and str(dtype) == "string_view")
}


def of_arrow(convert, name):
    kind, make = ARROW_TYPES[name]
    return kind, lambda values: convert(make(values))


def in_pandas(array):
    return pandas.Series(pandas.arrays.ArrowExtensionArray(array))


def categorical(values, dtype):
    entries = [value for value in dict.fromkeys(values[::-1]) if value is not None]
    return pandas.Series(pandas.Categorical(values, entries, ordered=dtype == "ordered"))


PANDAS_TYPES = {f"Arrow {name}": of_arrow(in_pandas, name) for name in ARROW_TYPES}
PANDAS_TYPES |= typed(categorical, {kind: ["category", "ordered"] for kind in POOLS})
PANDAS_TYPES |= typed(pandas.Series, {kind: [object] for kind in POOLS})
PANDAS_TYPES |= typed(
    pandas.Series,
    {
        **{"single": ["f4", "Float32", "Sparse[float32]"]},
        **{"float": ["f8", "Float64", "Sparse[float64]"], "int": ["i8", "Int64", "Sparse[int64]"]},
        **{"bool": ["?", "boolean", "Sparse[bool]"], "date": ["M8[s]"], "instant": ["M8[us]"], "duration": ["m8[us]"]},
        **{"zoned": ["datetime64[us, Asia/Tokyo]"], "text": ["string", "str"], "numbered": ["i8", "u8", "Int64"]},
    },
)
POLARS_TYPES = {
    f"Arrow {name}": of_arrow(polars.from_arrow, name)
    for name, (kind, _) in ARROW_TYPES.items()
    if "256" not in name and ("dictionar" not in name or kind == "text")  # Polars panics, or turns numbers into text
}
POLARS_TYPES |= typed(polars.Series, {kind: [polars.Object] for kind in POOLS})
POLARS_TYPES |= typed(
    polars.Series,
    {
        **{"float": [polars.Float64], "single": [polars.Float32], "int": [polars.Int64, polars.Int128]},
        "bool": [polars.Boolean],
        **{"decimal": [polars.Decimal(20, 2)], "date": [polars.Date], "instant": [polars.Datetime("us")]},
        **{"zoned": [polars.Datetime("us", "Asia/Tokyo")], "duration": [polars.Duration("us")]},
        **{"text": [polars.String, polars.Categorical, polars.Enum(POOLS["text"])], "numbered": [polars.UInt64]},
    },
)
WITHOUT_DURATIONS = {name: form for name, form in ARROW_TYPES.items() if form[0] != "duration"}  # read back as others

# --- Tables of columns, by name -------------------------------------------------------------------------------------


def rows(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


def object_array(columns):
    array = np.empty((N, len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        array[:, j] = values
    return array


def through_file(columns):
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return parquet.read_table(file)


def one_column_array(columns):
    """An array has one type: of several columns, only the first would keep its own."""
    return np.column_stack(list(columns.values()))


def first(table):
    return table[:, 0]


def named(table):
    return table[next(iter(table.columns))]


CONTAINERS = {  # name -> (column types, function that makes a table, function that takes its only column)
    "list": (PLAIN, rows, lambda table: [row[0] for row in table]),
    "object array": (PLAIN, object_array, first),
    "array": (NUMPY_TYPES, one_column_array, first),
    "pandas": (PANDAS_TYPES, pandas.DataFrame, named),
    "Polars": (POLARS_TYPES, polars.DataFrame, named),
    "Polars lazy": (POLARS_TYPES, lambda columns: polars.DataFrame(columns).lazy(), lambda table: table),
    "Arrow": (ARROW_TYPES, pyarrow.table, lambda table: table.column(0)),
    "reader": (ARROW_TYPES, lambda columns: pyarrow.table(columns).to_reader(max_chunksize=7), lambda table: table),
    "stream": (ARROW_TYPES, lambda columns: Stream(pyarrow.table(columns)), lambda table: table),
    "Parquet": (WITHOUT_DURATIONS, through_file, lambda table: table.column(0)),
    "DuckDB": (WITHOUT_DURATIONS, lambda columns: duckdb.from_arrow(pyarrow.table(columns)), lambda table: table),
}
WITHOUT_NAMES = ("list", "object array", "array")

# --- Entry points -----------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).random((N, 3))
Y = np.random.default_rng(1).random(N)
SHARES = {"classes": [0, 1], "target_shares": [0.5, 0.5]}


def scorer(public, **target):
    return DPMICScorer(statistic="mtv_r", epsilon=math.inf, B=16, c=1, **public, **target)


def empty_sketch(names, public):
    keys = [*public["bounds"], *public["categories"]]
    of_table = {"feature_names": names} if isinstance(keys[0], str) else {"n_features": len(names)}
    return scorer(public, **SHARES).empty_sketch(N, **of_table)


def by_sketch(table, names, public):
    return scorer(public, **SHARES).fit_sketch(empty_sketch(names, public).update(table, CLASSES)).scores_


def by_stream(table, names, public):
    sketch = count_stream(empty_sketch(names, public), table, target="y")
    return scorer(public, **SHARES).fit_sketch(sketch).scores_


def by_encoder(table, names, public):
    encoder = PublicEncoder(encoding="ordinal", **public)
    frame = encoder.fit_transform(table)
    return dict(zip(encoder.get_feature_names_out().tolist(), np.asarray(frame).T.tolist(), strict=True))


def by_summary(table, names, public):
    summary = private_summary(table, Codebook(public["bounds"] | public["categories"]), epsilon=math.inf)
    return [np.concatenate([column.flags, column.parts]) for column in summary.columns]


def by_graph(table, names, public):
    public = {"categories": public["categories"]} if public["categories"] else {}
    return np.asarray(PrivatePC(epsilon=math.inf, **public).fit(table).cpdag_)


ORDERED = [kind for kind in POOLS if kind in ENDS]
WAYS = {
    "fit": (lambda table, names, public: scorer(public, **SHARES).fit(table, CLASSES).scores_, POOLS),
    "ranks": (lambda table, *_: DPMICScorer(statistic="kendall", epsilon=math.inf).fit(table, Y).scores_, ORDERED),
    "partial_fit": (
        lambda table, names, public: (
            scorer(public, **SHARES).partial_fit(table, CLASSES, n_expected=N).publish().scores_
        ),
        POOLS,
    ),
    "sketch": (by_sketch, POOLS),
    "stream": (by_stream, POOLS),
    "matrix": (lambda table, *_: np.asarray(PrivateCorrelation(epsilon=math.inf).fit(table).correlation_), ORDERED),
    "graph of numbers": (by_graph, ORDERED),
    "graph of labels": (by_graph, LABELS),
    "reports": (
        lambda table, names, public: RandomizedResponse(math.inf, n_parts=200, **public).fit(table).transform(table),
        POOLS,
    ),
    "encoder": (by_encoder, POOLS),
    "summary": (by_summary, POOLS),
}


def takes_tables(way, container):
    """Whether an entry point takes tables in this container; a reader can be read only once."""
    twice = container == "reader" and way in ("reports", "encoder")
    return not (twice or (container in WITHOUT_NAMES and way in ("stream", "encoder", "summary")))


# Warnings that are documented to depend on public facts.
PUBLIC_WARNINGS = ("the quantiles of ", "noise will exceed", "noise hides", "untied_fraction_ of", "the types of")


def outcome(call):
    """The result of a call, or None after a documented error; no warning may depend on the data."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = call()
        except (ValueError, TypeError):
            result = None
    others = [str(warning.message) for warning in said if warning.category is not PrivacyLeakWarning]
    assert [message for message in others if not message.startswith(PUBLIC_WARNINGS)] == []
    return result


def columns_that_hold(container, names, values):
    """Columns of the named types, where the container can hold these values in them."""
    forms, make, _ = CONTAINERS[container]
    columns = {}
    for name in names:
        kind, make_column = forms[name]
        try:
            make({name: make_column(values[kind])})
        except Exception:  # from another library: some versions cannot hold this
            continue
        columns[name] = make_column(values[kind])
    return columns


def random_values(rng, pools, has_missing):
    """Random columns of each kind, two or three times: only one record differs."""
    values = {}
    for kind, pool in pools.items():
        few = [pool[j] for j in rng.permutation(len(pool))[: rng.integers(1, 5)]] + [None] * has_missing
        values[kind] = [few[j] for j in rng.integers(len(few), size=N)]
    place = int(rng.choice([0, 29, N - 1]))
    for last in (*rng.integers(99, size=2), None) if has_missing else rng.integers(99, size=2):
        for kind, pool in pools.items():
            values[kind][place] = None if last is None else pool[last % len(pool)]
        yield values


def check_tables(way, container, seed, most, has_missing):
    """Compare tables with the reference reading; for a matrix or graph, with one column of each kind."""
    rng = np.random.default_rng(seed)
    (call, kinds), (forms, make, _) = WAYS[way], CONTAINERS[container]
    some = [name for name in rng.permutation(sorted(forms)).tolist() if forms[name][0] in kinds]
    if way == "matrix" or way.startswith("graph"):
        some = list({forms[name][0]: name for name in some}.values())
    for values in random_values(rng, {kind: POOLS[kind] for kind in kinds}, has_missing):
        columns = columns_that_hold(container, some[: 1 if container == "array" else most], values)
        kind_of = {name: forms[name][0] for name in columns}
        if len(columns) < (2 if way.startswith(("matrix", "graph")) else 1):
            continue
        keys = dict(enumerate(kind_of.values())) if container in WITHOUT_NAMES else kind_of
        target = (
            {"y": pyarrow.array(CLASSES) if forms in (ARROW_TYPES, WITHOUT_DURATIONS) else CLASSES}
            if way == "stream"
            else {}
        )
        plain_values = {name: [plain(value) for value in values[kind]] for name, kind in kind_of.items()}
        oracle = pandas.DataFrame({name: pandas.Series(some, dtype=object) for name, some in plain_values.items()})
        found = outcome(lambda: call(make(columns | target), list(columns), facts(keys)))  # noqa: B023
        expected = outcome(lambda: call(oracle.assign(**target), list(columns), facts(kind_of, plain)))  # noqa: B023
        assert expected is not None
        try:
            np.testing.assert_equal(found, expected)
        except BaseException as error:
            error.add_note(f"with {way}, {container}, {list(columns)}")
            raise


@pytest.mark.parametrize("way", WAYS)
def test_a_table_in_one_container_gives_the_result_of_plain_values(way):
    seed = list(WAYS).index(way)
    containers = [
        container for container in CONTAINERS if takes_tables(way, container) and container not in WITHOUT_NAMES
    ]
    check_tables(way, containers[seed % len(containers)], seed, 12, has_missing=True)


@pytest.mark.slow
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_tables_in_all_containers_give_the_result_of_plain_values(way, has_missing):
    for container in CONTAINERS:
        if takes_tables(way, container):
            check_tables(way, container, 0, 24, has_missing)


@pytest.mark.slow
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_holds_every_kind(container):
    forms = CONTAINERS[container][0]
    columns = columns_that_hold(container, forms, {kind: (pool * N)[:N] for kind, pool in POOLS.items()})
    cannot = {"array": {"decimal", "zoned"}, "DuckDB": {"duration"}, "Parquet": {"duration"}}
    assert POOLS.keys() - {forms[name][0] for name in columns} == cannot.get(container, set())


# --- Single columns: targets, people, weights -----------------------------------------------------------------


def scores_by_target(y, ends):
    return scorer({"bounds": (0, 1)}, target_bounds=ends).fit(X, y).scores_


def scores_by_weights(weights, _):
    estimator = DPMICScorer(statistic="mtv_r", epsilon=math.inf, bounds=(0, 1), max_weight=9, **SHARES)
    return estimator.fit(X, CLASSES, sample_weight=weights).scores_


def learn_bounds(column, _):
    learnt = private_bounds(column, epsilon=math.inf, random_state=0)
    return next(iter(learnt.values())) if isinstance(learnt, dict) else learnt


def number_people(groups, _):
    persons = read_people(groups, 1, N).persons.tolist()
    return np.array([persons.index(person) for person in persons])


NUMERIC = {kind: POOLS[kind] for kind in ("float", "int", "decimal")}
CLASSES_OF = {"bool": [False, True], "text": ["a", "b"], "numbered": [1, 9], "int": [0, 3]}
ROLES = {  # name -> (function that reads the column, values by kind, public facts by kind)
    "target": (scores_by_target, {kind: POOLS[kind] for kind in ORDERED}, ENDS),
    "ranked target": (
        lambda y, _: DPMICScorer(statistic="kendall", epsilon=math.inf).fit(X, y).scores_,
        {kind: POOLS[kind] for kind in ORDERED},
        ENDS,
    ),
    "classes": (
        lambda y, labels: scorer({"bounds": (0, 1)}, classes=labels, target_shares=[0.5, 0.5]).fit(X, y).scores_,
        CLASSES_OF,
        CLASSES_OF,
    ),
    "weights": (scores_by_weights, NUMERIC | {"float": [0.0, 0.5, 3.0, 9.0, 1e300]}, ENDS),
    "bounds": (learn_bounds, NUMERIC, ENDS),
    "people": (number_people, {kind: pool for kind, pool in POOLS.items() if len(pool) > 3}, ENDS | LABELS),
}


def check_columns(role, container, most, has_missing, seed=0):
    rng = np.random.default_rng(seed)
    (call, pools, public), (forms, make, column_of) = ROLES[role], CONTAINERS[container]
    some = [name for name in rng.permutation(sorted(forms)).tolist() if forms[name][0] in pools]
    for name in some[:most]:
        kind = forms[name][0]
        values = [pools[kind][j % len(pools[kind])] for j in rng.permutation(N)]
        for last in (*pools[kind][::4], None) if has_missing else pools[kind][::4]:
            values[29] = last
            for column in columns_that_hold(container, [name], {kind: values}).values():
                ends = public[kind]
                plain_ends = tuple(map(plain, ends)) if kind in ENDS else ends
                given = column_of(make({name: column}))
                found = outcome(lambda: call(given, ends))  # noqa: B023
                expected = outcome(lambda: call([plain(value) for value in values], plain_ends))  # noqa: B023
                try:
                    np.testing.assert_equal(found, expected)
                except BaseException as error:
                    error.add_note(f"with {role}, {container}, {name}, {last}")
                    raise


def takes_columns(role, container):
    """Whether a column for this role may come in this container; a reader can be read only once."""
    return not (role == "people" and container == "reader")


@pytest.mark.parametrize("role", ROLES)
def test_columns_in_some_containers_give_the_result_of_plain_values(role):
    few = np.random.default_rng(list(ROLES).index(role)).permutation([c for c in CONTAINERS if takes_columns(role, c)])
    for container in few[:2]:
        check_columns(role, container, 2, has_missing=True)


@pytest.mark.slow
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("role", ROLES)
def test_columns_in_all_containers_give_the_result_of_plain_values(role, has_missing):
    for container in CONTAINERS:
        if takes_columns(role, container):
            check_columns(role, container, 6, has_missing, seed=1)
