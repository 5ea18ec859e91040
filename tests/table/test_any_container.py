"""A record becomes the same numbers in every container, and no other record has a say in it.

Columns of every kind, in every type that a library has for them, are drawn at random, and go every way in; one record
is replaced. What comes out without noise must be, to the last bit, what comes out for the same values as plain objects
of Python: an oracle of this file turns each by itself into a float, or leaves it as a label.
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
    private_score,
    private_summary,
)
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting import count_stream
from skdpmic.table.people import read_people
from skdpmic.two_party import RandomizedResponse
from tests.table.of_arrow import Stream, encoded
from tests.table.of_arrow import pa as pyarrow

if not hasattr(polars, "Int128"):
    pytest.skip("this version of Polars does not have all of its types yet", allow_module_level=True)

duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("pyarrow.parquet")

N = 80
CLASSES = [0, 1] * (N // 2)
DAY, TOKYO = datetime.timedelta(days=1), datetime.timezone(datetime.timedelta(hours=9))

# --- Kinds of values, and what the oracle makes of one ----------------------------------------------------------------


def instants(*years, zone=None):
    return [datetime.datetime(year, 6, 1, 1, 2, 3, 456, zone) for year in years]


POOLS = {
    "float": [0.0, 0.5, 0.7, 3.0, 9.0, -1.0, 1e300],
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
    "date": (datetime.date(1950, 1, 1), datetime.date(2050, 1, 1)),
    "instant": (datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1)),
    "zoned": (datetime.datetime(1950, 1, 1, tzinfo=TOKYO), datetime.datetime(2050, 1, 1, tzinfo=TOKYO)),
    "duration": (datetime.timedelta(0), 90 * DAY),
}
LABELS = {"bool": [False, True], "text": ["b", "a"], "numbered": [3, 1, 9]}


def plain(value):
    """A number, date or duration as a float, a label as it is, and None for what is missing."""
    if isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
        value -= datetime.datetime(1970, 1, 1)
    elif isinstance(value, datetime.date):
        value -= datetime.date(1970, 1, 1)
    if isinstance(value, datetime.timedelta):
        whole, rest = divmod(value, datetime.timedelta(seconds=1))
        return whole + rest.microseconds / 10**6
    return float(value) if isinstance(value, Decimal | int) else value


def facts(kinds, of=lambda value: value):
    """Public facts of columns of these kinds, by name; and the ends through a function."""
    bounds = {name: tuple(map(of, ENDS[kind])) for name, kind in kinds.items() if kind in ENDS}
    return {"bounds": bounds, "categories": {name: LABELS[kind] for name, kind in kinds.items() if kind in LABELS}}


# --- The types that a library has for a kind: by name, the kind and what makes a column of a list ---------------------

COMPLETE_ONLY = ("?", "U5", "Sparse[int64]", "Sparse[bool]")  # which make a value of None


def typed(make, types):
    def made(dtype, values):
        if None in values and dtype in COMPLETE_ONLY:
            raise ValueError("this type has no missing values")
        return make(values, dtype=dtype)

    return {f"{kind}: {dtype}": (kind, functools.partial(made, dtype)) for kind in types for dtype in types[kind]}


PLAIN = {kind: (kind, list) for kind in POOLS} | {
    f"{kind} with {missing}": (kind, lambda values, missing=missing: [missing if v is None else v for v in values])
    for kind in POOLS
    for missing in (math.nan, pandas.NA, pandas.NaT, np.datetime64("NaT"))
    if missing is not pandas.NaT or kind not in LABELS
}
OF_NUMPY = typed(
    np.array,
    {
        **{"float": ["f8"], "int": ["i8"], "bool": ["?"], "date": ["M8[D]", "M8[s]"], "instant": ["M8[us]"]},
        **{"duration": ["m8[us]"], "text": ["U5"], "numbered": ["i8", "u8"]},
    },
)
LAYOUTS = {
    "": pyarrow.array,
    " in chunks": lambda values, dtype: pyarrow.chunked_array([values[:1], [], values[1:30], values[30:]], dtype),
    " dictionary": encoded,
    " dictionary with null": functools.partial(encoded, inside=True),
}
OF_ARROW = {
    f"{kind}: {dtype}{layout}": (kind, functools.partial(lambda make, dtype, values: make(values, dtype), make, dtype))
    for kind, types in {
        "float": [pyarrow.float64()],
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
    kind, make = OF_ARROW[name]
    return kind, lambda values: convert(make(values))


def in_pandas(array):
    return pandas.Series(pandas.arrays.ArrowExtensionArray(array))


def categorical(values, dtype):
    entries = [value for value in dict.fromkeys(values[::-1]) if value is not None]
    return pandas.Series(pandas.Categorical(values, entries, ordered=dtype == "ordered"))


OF_PANDAS = {f"Arrow {name}": of_arrow(in_pandas, name) for name in OF_ARROW}
OF_PANDAS |= typed(categorical, {kind: ["category", "ordered"] for kind in POOLS})
OF_PANDAS |= typed(pandas.Series, {kind: [object] for kind in POOLS})
OF_PANDAS |= typed(
    pandas.Series,
    {
        **{"float": ["f8", "Float64", "Sparse[float64]"], "int": ["i8", "Int64", "Sparse[int64]"]},
        **{"bool": ["?", "boolean", "Sparse[bool]"], "date": ["M8[s]"], "instant": ["M8[us]"], "duration": ["m8[us]"]},
        **{"zoned": ["datetime64[us, Asia/Tokyo]"], "text": ["string", "str"], "numbered": ["i8", "u8", "Int64"]},
    },
)
OF_POLARS = {
    f"Arrow {name}": of_arrow(polars.from_arrow, name)
    for name, (kind, _) in OF_ARROW.items()
    if "256" not in name and ("dictionar" not in name or kind == "text")  # Polars panics, or makes text of numbers
}
OF_POLARS |= typed(polars.Series, {kind: [polars.Object] for kind in POOLS})
OF_POLARS |= typed(
    polars.Series,
    {
        **{"float": [polars.Float64], "int": [polars.Int64, polars.Int128], "bool": [polars.Boolean]},
        **{"decimal": [polars.Decimal(20, 2)], "date": [polars.Date], "instant": [polars.Datetime("us")]},
        **{"zoned": [polars.Datetime("us", "Asia/Tokyo")], "duration": [polars.Duration("us")]},
        **{"text": [polars.String, polars.Categorical, polars.Enum(POOLS["text"])], "numbered": [polars.UInt64]},
    },
)
OF_DUCKDB = {name: form for name, form in OF_ARROW.items() if form[0] != "duration"}  # whose intervals have months
OF_PARQUET = {name: form for name, form in OF_ARROW.items() if form[0] != "duration"}  # numbers, in a dictionary

# --- Tables of columns, by name -------------------------------------------------------------------------------------


def rows(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


def object_array(columns):
    array = np.empty((N, len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        array[:, j] = values
    return array


def relation(columns):
    return duckdb.connect().from_arrow(pyarrow.table(columns))


def through_file(columns):
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return parquet.read_table(file)


def only_one_type(columns):
    """None but the first of several columns would keep its type in an array."""
    return np.column_stack(list(columns.values()))


def first(table):
    return table[:, 0]


def named(table):
    return table[next(iter(table.columns))]


CONTAINERS = {  # the forms of columns, what makes a table, and what takes its only column
    "list": (PLAIN, rows, lambda table: [row[0] for row in table]),
    "object array": (PLAIN, object_array, first),
    "array": (OF_NUMPY, only_one_type, first),
    "pandas": (OF_PANDAS, pandas.DataFrame, named),
    "Polars": (OF_POLARS, polars.DataFrame, named),
    "Polars lazy": (OF_POLARS, lambda columns: polars.DataFrame(columns).lazy(), lambda table: table),
    "Arrow": (OF_ARROW, pyarrow.table, lambda table: table.column(0)),
    "reader": (OF_ARROW, lambda columns: pyarrow.table(columns).to_reader(max_chunksize=7), lambda table: table),
    "stream": (OF_ARROW, lambda columns: Stream(pyarrow.table(columns)), lambda table: table),
    "Parquet": (OF_PARQUET, through_file, lambda table: table.column(0)),
    "DuckDB": (OF_DUCKDB, relation, lambda table: table),
}
WITHOUT_NAMES = ("list", "object array", "array")

# --- Ways in ----------------------------------------------------------------------------------------------------------

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


OF_ORDER = [kind for kind in POOLS if kind in ENDS]
WAYS = {
    "fit": (lambda table, names, public: scorer(public, **SHARES).fit(table, CLASSES).scores_, POOLS),
    "ranks": (lambda table, *_: DPMICScorer(statistic="kendall", epsilon=math.inf).fit(table, Y).scores_, OF_ORDER),
    "partial_fit": (
        lambda table, names, public: (
            scorer(public, **SHARES).partial_fit(table, CLASSES, n_expected=N).publish().scores_
        ),
        POOLS,
    ),
    "sketch": (by_sketch, POOLS),
    "stream": (by_stream, POOLS),
    "matrix": (lambda table, *_: np.asarray(PrivateCorrelation(epsilon=math.inf).fit(table).correlation_), OF_ORDER),
    "graph of numbers": (by_graph, OF_ORDER),
    "graph of labels": (by_graph, LABELS),
    "reports": (
        lambda table, names, public: RandomizedResponse(math.inf, n_parts=200, **public).fit(table).transform(table),
        POOLS,
    ),
    "encoder": (by_encoder, POOLS),
    "summary": (by_summary, POOLS),
}


def goes(way, container):
    """Whether a table may go this way at all; a reader is read once."""
    twice = container == "reader" and way in ("reports", "encoder")
    return not (twice or (container in WITHOUT_NAMES and way in ("stream", "encoder", "summary")))


# Warnings that are documented to depend on public facts.
PUBLIC_WARNINGS = ("the quantiles of ", "noise will exceed", "noise hides", "untied_fraction_ of", "the types of")


def outcome(call):
    """What a call gives; or None if it refuses the data as is documented. No warning may come from data."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = call()
        except (ValueError, TypeError):
            result = None
    others = [str(warning.message) for warning in said if warning.category is not PrivacyLeakWarning]
    assert [message for message in others if not message.startswith(PUBLIC_WARNINGS)] == []
    return result


def held(container, names, values):
    """Columns of those forms that can hold these values in the container."""
    forms, make, _ = CONTAINERS[container]
    columns = {}
    for name in names:
        kind, make_column = forms[name]
        try:
            make({name: make_column(values[kind])})
        except Exception:  # of another library, some version of which cannot hold this
            continue
        columns[name] = make_column(values[kind])
    return columns


def drawn(rng, pools, has_missing):
    """Values of a few kinds, and of the record at a place, three times others."""
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
    """Tables of some of the types of columns give what the oracle gives; of a matrix or graph, one of each kind."""
    rng = np.random.default_rng(seed)
    (call, kinds), (forms, make, _) = WAYS[way], CONTAINERS[container]
    some = [name for name in rng.permutation(sorted(forms)).tolist() if forms[name][0] in kinds]
    if way == "matrix" or way.startswith("graph"):
        some = list({forms[name][0]: name for name in some}.values())
    for values in drawn(rng, {kind: POOLS[kind] for kind in kinds}, has_missing):
        columns = held(container, some[: 1 if container == "array" else most], values)
        kind_of = {name: forms[name][0] for name in columns}
        if len(columns) < (2 if way.startswith(("matrix", "graph")) else 1):
            continue
        keys = dict(enumerate(kind_of.values())) if container in WITHOUT_NAMES else kind_of
        target = {"y": pyarrow.array(CLASSES) if forms is OF_ARROW else CLASSES} if way == "stream" else {}
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
def test_a_table_of_some_container_gives_what_plain_values_give(way):
    seed = list(WAYS).index(way)
    containers = [container for container in CONTAINERS if goes(way, container) and container not in WITHOUT_NAMES]
    check_tables(way, containers[seed % len(containers)], seed, 12, has_missing=True)


@pytest.mark.slow
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_tables_of_all_containers_give_what_plain_values_give(way, has_missing):
    for container in CONTAINERS:
        if goes(way, container):
            check_tables(way, container, 0, 24, has_missing)


@pytest.mark.slow
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_holds_every_kind(container):
    forms = CONTAINERS[container][0]
    columns = held(container, forms, {kind: (pool * N)[:N] for kind, pool in POOLS.items()})
    cannot = {"array": {"decimal", "zoned"}, "DuckDB": {"duration"}, "Parquet": {"duration"}}
    assert POOLS.keys() - {forms[name][0] for name in columns} == cannot.get(container, set())


# --- Columns of their own: targets, people, weights, strata -----------------------------------------------------------


def of_target(y, ends):
    return scorer({"bounds": (0, 1)}, target_bounds=ends).fit(X, y).scores_


def of_weights(weights, _):
    estimator = DPMICScorer(statistic="mtv_r", epsilon=math.inf, bounds=(0, 1), max_weight=9, **SHARES)
    return estimator.fit(X, CLASSES, sample_weight=weights).scores_


def of_bounds(column, _):
    learnt = private_bounds(column, epsilon=math.inf, random_state=0)
    return next(iter(learnt.values())) if isinstance(learnt, dict) else learnt


def of_people(groups, _):
    persons = read_people(groups, 1, N).persons.tolist()
    return np.array([persons.index(person) for person in persons])


NUMERIC = {kind: POOLS[kind] for kind in ("float", "int", "decimal")}
CLASSES_OF = {"bool": [False, True], "text": ["a", "b"], "numbered": [1, 9], "int": [0, 3]}
ROLES = {  # what is read, of which values, beside which public fact
    "target": (of_target, {kind: POOLS[kind] for kind in OF_ORDER}, ENDS),
    "ranked target": (
        lambda y, _: DPMICScorer(statistic="kendall", epsilon=math.inf).fit(X, y).scores_,
        {kind: POOLS[kind] for kind in OF_ORDER},
        ENDS,
    ),
    "classes": (
        lambda y, labels: scorer({"bounds": (0, 1)}, classes=labels, target_shares=[0.5, 0.5]).fit(X, y).scores_,
        CLASSES_OF,
        CLASSES_OF,
    ),
    "weights": (of_weights, NUMERIC | {"float": [0.0, 0.5, 3.0, 9.0, 1e300]}, ENDS),
    "strata": (
        lambda strata, labels: private_score(
            X[:, 0], Y, statistic="kendall", epsilon=math.inf, strata=strata, categories=labels
        ),
        LABELS,
        LABELS,
    ),
    "bounds": (of_bounds, NUMERIC, ENDS),
    "people": (of_people, {kind: pool for kind, pool in POOLS.items() if len(pool) > 3}, ENDS | LABELS),
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
            for column in held(container, [name], {kind: values}).values():
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


def reads(role, container):
    """Whether a container may have the role; a reader is read once."""
    return not (role == "people" and container == "reader")


@pytest.mark.parametrize("role", ROLES)
def test_columns_of_some_containers_give_what_plain_values_give(role):
    few = np.random.default_rng(list(ROLES).index(role)).permutation([c for c in CONTAINERS if reads(role, c)])
    for container in few[:2]:
        check_columns(role, container, 2, has_missing=True)


@pytest.mark.slow
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("role", ROLES)
def test_columns_of_all_containers_give_what_plain_values_give(role, has_missing):
    for container in CONTAINERS:
        if reads(role, container):
            check_columns(role, container, 6, has_missing, seed=1)
