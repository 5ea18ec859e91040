"""A record becomes the same numbers in every container, and no other record has a say in it.

Columns of every kind, in every type that a library has for them, are drawn at random, and go every way in. Then one
record is replaced. What comes out without noise must be, to the last bit, what comes out for the same values as plain
objects of Python: an oracle of this file turns each by itself into a float, or leaves it as a label.
"""

import datetime
import functools
import io
import itertools
import math
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas
import polars
import pytest
from scipy import sparse

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

if not hasattr(polars, "Int128"):
    pytest.skip("this version of Polars does not have all of its types yet", allow_module_level=True)

duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
feather, parquet = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow.parquet")

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


# --- The types that a library has for a kind --------------------------------------------------------------------------


class Form(NamedTuple):
    """One type of column."""

    kind: str
    make: Any
    """Of a list of values, None for missing ones; raises CannotHold if the type cannot hold these."""


class CannotHold(Exception):
    """A type has no missing values, or a library none of a kind."""


def unless_missing(make):
    def of_all(values):
        if None in values:
            raise CannotHold
        return make(values)

    return of_all


PLAIN = {kind: Form(kind, list) for kind in [*POOLS, "bytes"]} | {
    f"{kind} with {missing}": Form(kind, lambda values, missing=missing: [missing if v is None else v for v in values])
    for kind in POOLS
    for missing in (math.nan, pandas.NA, pandas.NaT, np.datetime64("NaT"))
    if missing is not pandas.NaT or kind not in LABELS
}


def dtype_form(kind, dtype, can_miss, module):
    make = lambda values: module(values, dtype=dtype)  # noqa: E731
    return Form(kind, make if can_miss else unless_missing(make))


OF_NUMPY = {
    f"{kind}: {dtype}": dtype_form(kind, dtype, can_miss, np.array)
    for kind, dtype, can_miss in [
        *[("float", "f8", True), ("int", "i8", False), ("bool", "?", False), ("date", "M8[D]", True)],
        *[("instant", "M8[us]", True), ("duration", "m8[us]", True), ("text", "U5", False), ("numbered", "i8", False)],
        *[("numbered", "u8", False), ("date", "M8[s]", True), ("bytes", "S5", False)],
    ]
}
ARROW_TYPES = {
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
    "bytes": [pyarrow.binary(), pyarrow.large_binary()],
}


def entries_of(array, *others):
    return list(dict.fromkeys([*others, *[value for value in array.to_pylist() if value is not None]]))


def with_entries(array, entries):
    """A dictionary column with these entries; one that is there twice is used where it is last."""
    last = {value: place for place, value in enumerate(entries)}
    codes = pyarrow.array([last.get(value) for value in array.to_pylist()], pyarrow.int8())
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(entries, array.type))


def in_chunks(layout, array):
    ends = [0, 1, 30, len(array)]
    return pyarrow.chunked_array([layout(array[first:last]) for first, last in zip(ends, ends[1:])], None)  # noqa: B905, RUF007


LAYOUTS = {
    "": lambda array: array,
    " in chunks": functools.partial(in_chunks, lambda array: array),
    " dictionary": lambda array: with_entries(array, entries_of(array)),
    " dictionary backwards": lambda array: with_entries(array, entries_of(array)[::-1]),
    " dictionary with null": lambda array: with_entries(array, entries_of(array, None)),
    " dictionary with null last": lambda array: with_entries(array, [*entries_of(array), None]),
    " dictionary with one twice": lambda array: with_entries(array, entries_of(array)[-1:] + entries_of(array)),
    " dictionaries in chunks": functools.partial(in_chunks, lambda array: with_entries(array, entries_of(array))),
    " dictionaries with null in chunks": functools.partial(
        in_chunks, lambda array: with_entries(array, entries_of(array, None))
    ),
}


def arrow_form(kind, arrow_type, layout):
    return Form(kind, lambda values: LAYOUTS[layout](pyarrow.array(values, arrow_type)))


OF_ARROW = {
    f"{kind}: {arrow_type}{layout}": arrow_form(kind, arrow_type, layout)
    for kind, types in ARROW_TYPES.items()
    for arrow_type in types
    for layout in LAYOUTS
    if not (layout and str(arrow_type) == "string_view")
}


def categorical(kind, values, **options):
    given = [value for value in dict.fromkeys(values) if value is not None]
    entries = dict.fromkeys([*POOLS[kind][::-1], *given]) if options.pop("declared", False) else given
    return pandas.Series(pandas.Categorical(values, list(entries), **options))


def pandas_forms():
    kinds = {
        "float": ["f8", "Float64", "Sparse[float64]"],
        "int": ["i8", "Int64", "Sparse[int64]"],
        "bool": ["?", "boolean", "Sparse[bool]"],
        "date": ["M8[s]"],
        "instant": ["M8[us]"],
        "zoned": ["datetime64[us, Asia/Tokyo]", "datetime64[us, UTC]"],
        "duration": ["m8[us]"],
        "text": ["string", "str"],
        "numbered": ["i8", "u8", "Int64"],
    }
    for kind in [*POOLS, "bytes"]:
        yield f"{kind}: objects", dtype_form(kind, object, True, pandas.Series)
        for dtype in kinds.get(kind, ()):
            can_miss = dtype not in ("i8", "u8", "?", "Sparse[int64]", "Sparse[bool]")
            yield f"{kind}: {dtype}", dtype_form(kind, dtype, can_miss, pandas.Series)
        for options in ({}, {"ordered": True}) if kind == "bytes" else ({}, {"ordered": True}, {"declared": True}):
            yield f"{kind}: category {options}", Form(kind, functools.partial(categorical, kind, **options))
    for name, form in OF_ARROW.items():
        yield f"Arrow {name}", Form(form.kind, lambda values, form=form: in_pandas(form.make(values)))


def in_pandas(array):
    return pandas.Series(pandas.arrays.ArrowExtensionArray(array))


OF_PANDAS = dict(pandas_forms())


def in_polars(form, values):
    series = polars.from_arrow(form.make(values))
    if series.dtype == polars.Categorical and form.kind != "text":
        raise CannotHold  # it has become text
    return series


def polars_form(kind, dtype):
    return Form(kind, lambda values: polars.Series(values, dtype=dtype))


OF_POLARS = {
    f"{kind}: {dtype}": polars_form(kind, dtype)
    for kind, dtypes in {
        "float": [polars.Float64],
        "int": [polars.Int64, polars.Int128],
        "bool": [polars.Boolean],
        "decimal": [polars.Decimal(20, 2)],
        "date": [polars.Date],
        "instant": [polars.Datetime("us")],
        "zoned": [polars.Datetime("us", "Asia/Tokyo")],
        "duration": [polars.Duration("us")],
        "text": [polars.String, polars.Categorical, polars.Enum(POOLS["text"])],
        "numbered": [polars.Int64, polars.UInt64],
        "bytes": [polars.Binary],
    }.items()
    for dtype in [*dtypes, polars.Object]
} | {
    f"from Arrow {name}": Form(form.kind, functools.partial(in_polars, form))
    for name, form in OF_ARROW.items()
    if "256" not in name  # Polars panics
}
SQL_TYPES = {
    "int": ["hugeint", "decimal(38, 3)"],
    "bool": ["boolean"],
    "decimal": ["decimal(38, 2)", "decimal(12, 2)", "double"],
    "date": ["date"],
    "zoned": ["timestamptz"],
    "text": ["enum('zebra', 'a', '', 'b', '0.5')"],
    "numbered": ["hugeint", "ubigint"],
    "bytes": ["blob"],
}
OF_DUCKDB = {
    f"as {name}": form
    for name, form in OF_ARROW.items()
    if form.kind != "duration"  # whose intervals have months
} | {
    f"{kind}: {sql_type}": Form(
        kind, lambda values, kind=kind, sql_type=sql_type: (values, ARROW_TYPES[kind][0], sql_type)
    )
    for kind, types in SQL_TYPES.items()
    for sql_type in types
}

# --- Tables of columns, by name -------------------------------------------------------------------------------------


def rows(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


def object_array(columns):
    array = np.empty((N, len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        array[:, j] = values
    return array


class Stream:
    """Nothing but the Arrow protocol."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self._data.__arrow_c_stream__(requested_schema)


def read_back(write, read):
    def through_file(table):
        file = io.BytesIO()
        write(table, file)
        file.seek(0)
        return read(file)

    return through_file


CONNECTION = duckdb.connect()


def relation(columns):
    arrow = {
        name: pyarrow.array(*column[:2]) if isinstance(column, tuple) else column for name, column in columns.items()
    }
    types = {name: f"::{column[2]}" if isinstance(column, tuple) else "" for name, column in columns.items()}
    cursor = CONNECTION.cursor()
    cursor.register("t", pyarrow.table(arrow))
    KEPT.append(cursor)
    wanted = ", ".join(f'"{name}"{of_column} as "{name}"' for name, of_column in types.items())
    return cursor.sql(f"select {wanted} from t")


KEPT = []  # connections of relations


def in_parts(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


SPARSE = {name: form for name, form in OF_NUMPY.items() if name == "float: f8"}


class Container(NamedTuple):
    """How a table is made of columns."""

    forms: dict
    make: Any  # of a dict of columns
    has_names: bool = True
    column: Any = lambda table: table
    """The column of a table of one."""
    is_mixed: bool = True


def named(table):
    return table[next(iter(table.columns if hasattr(table, "columns") else table))]


def first(table):
    return table[:, 0]


def sparse_matrix(form, columns):
    return getattr(sparse, form)(np.column_stack(list(columns.values())))


# Files of Parquet turn the durations of a dictionary into numbers.
OF_PARQUET = {name: form for name, form in OF_ARROW.items() if form.kind != "duration" or "dictionar" not in name}


def of_arrow(convert, forms=OF_ARROW, **options):
    return Container(forms, lambda columns: convert(pyarrow.table(columns)), **options)


NOT_IN_DASK = "dictionar", "view", "objects"  # it fails, fails, and turns objects into text

TABLES = {
    "list": Container(PLAIN, rows, False, lambda table: [row[0] for row in table]),
    "tuple": Container(PLAIN, lambda columns: tuple(map(tuple, rows(columns))), False, lambda t: [row[0] for row in t]),
    "object array": Container(PLAIN, object_array, False, first),
    "array": Container(OF_NUMPY, lambda columns: np.column_stack(list(columns.values())), False, first, is_mixed=False),
    "pandas": Container(OF_PANDAS, pandas.DataFrame, column=named),
    "pandas of arrays": Container(OF_NUMPY, pandas.DataFrame, column=named),
    "Polars": Container(OF_POLARS, polars.DataFrame, column=named),
    "Polars lazy": Container(OF_POLARS, lambda columns: polars.DataFrame(columns).lazy()),
    "stream of Polars": Container(
        {name: form for name, form in OF_POLARS.items() if not name.endswith(("Object", "Int128"))},
        lambda columns: Stream(polars.DataFrame(columns)),
    ),
    "Arrow": of_arrow(lambda table: table, column=lambda table: table.column(0)),
    "reader": of_arrow(lambda table: table.to_reader(max_chunksize=7)),
    "stream": of_arrow(Stream),
    "of Arrow to pandas": of_arrow(lambda table: table.to_pandas(), column=named),
    "Parquet": of_arrow(read_back(parquet.write_table, parquet.read_table), OF_PARQUET),
    "Parquet in pandas": of_arrow(read_back(parquet.write_table, pandas.read_parquet), OF_PARQUET, column=named),
    "Feather": of_arrow(read_back(feather.write_feather, feather.read_table), column=lambda table: table.column(0)),
    "DuckDB": Container(OF_DUCKDB, relation),
    "dask": Container(
        {name: form for name, form in OF_PANDAS.items() if not any(word in name for word in NOT_IN_DASK)},
        lambda columns: in_parts(pandas.DataFrame(columns)),
    ),
} | {
    f"{form}_{kind}": Container(
        SPARSE,
        functools.partial(sparse_matrix, f"{form}_{kind}"),
        False,
    )
    for form in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
    for kind in ("array", "matrix")
}

MAIN = [name for name, container in TABLES.items() if name != "dask" and container.forms is not SPARSE]
OF_MANY_TYPES = [name for name in MAIN if len(TABLES[name].forms) > 4 * len(POOLS)]

# --- Ways in ----------------------------------------------------------------------------------------------------------


X = np.random.default_rng(0).random((N, 3))
Y = np.random.default_rng(1).random(N)
SHARES = {"classes": [0, 1], "target_shares": [0.5, 0.5]}


def scorer(public, **target):
    return DPMICScorer(statistic="mtv_r", epsilon=math.inf, B=16, c=1, **public, **target)


def by_fit(table, names, public):
    y = CLASSES
    if type(table).__module__.startswith("dask"):
        y = pytest.importorskip("dask.array").from_array(np.array(CLASSES), chunks=N // 2)
    return scorer(public, **SHARES).fit(table, y).scores_


def by_ranks(table, names, public):
    return DPMICScorer(statistic="kendall", epsilon=math.inf).fit(table, Y).scores_


def by_chunk(table, names, public):
    return scorer(public, **SHARES).partial_fit(table, CLASSES, n_expected=N).publish().scores_


def empty_sketch(names, public):
    of_table = (
        {"n_features": len(names)} if 0 in public["bounds"] | public["categories"] else {"feature_names": [*names]}
    )
    return scorer(public, **SHARES).empty_sketch(N, **of_table)


def by_sketch(table, names, public):
    return scorer(public, **SHARES).fit_sketch(empty_sketch(names, public).update(table, CLASSES)).scores_


def by_stream(table, names, public):
    if isinstance(table, list):  # the oracle
        return by_sketch(table, names, public)
    return scorer(public, **SHARES).fit_sketch(count_stream(empty_sketch(names, public), table, target="y")).scores_


def by_matrix(table, names, public):
    matrix = np.asarray(PrivateCorrelation(epsilon=math.inf).fit(table).correlation_)
    first_of_kind = {kind: j for j, kind in reversed(list(enumerate(names.values())))}
    return matrix[:, [first_of_kind[kind] for kind in dict.fromkeys(names.values())]]


def by_reports(table, names, public):
    return RandomizedResponse(epsilon=math.inf, n_parts=200, **public).fit(table).transform(table).T


def by_encoder(table, names, public):
    encoder = PublicEncoder(encoding="ordinal", **public)
    frame = encoder.fit_transform(table)
    of_all = dict(zip(encoder.get_feature_names_out().tolist(), np.asarray(frame).T, strict=True))
    return [
        np.concatenate([of_all[out] for out in (name, name + "_missing", name + "_other") if out in of_all])
        for name in names
    ]


def by_summary(table, names, public):
    summary = private_summary(table, Codebook(public["bounds"] | public["categories"]), epsilon=math.inf)
    return [np.concatenate([column.flags, column.parts]) for column in summary.columns]


def by_graph(table, names, public):
    public = {"categories": public["categories"]} if public["categories"] else {}
    return np.asarray(PrivatePC(epsilon=math.inf, **public).fit(table).cpdag_)


OF_ORDER = [kind for kind in POOLS if kind in ENDS]
WAYS = {
    "fit": (by_fit, list(POOLS)),
    "ranks": (by_ranks, OF_ORDER),
    "partial_fit": (by_chunk, list(POOLS)),
    "sketch": (by_sketch, list(POOLS)),
    "stream": (by_stream, list(POOLS)),
    "matrix": (by_matrix, OF_ORDER),
    "graph of numbers": (by_graph, OF_ORDER),
    "graph of labels": (by_graph, list(LABELS)),
    "reports": (by_reports, list(POOLS)),
    "encoder": (by_encoder, list(POOLS)),
    "summary": (by_summary, list(POOLS)),
}
NEEDS_NAMES, READS_TWICE, OF_ALL = ("stream", "encoder", "summary"), ("reports", "encoder"), ("matrix", "graph")


def goes(way, name):
    """Whether a table may go this way at all."""
    if name == "dask":
        return way == "fit"
    if not TABLES[name].has_names and way in NEEDS_NAMES:
        return False
    return not (way in READS_TWICE and name == "reader")


PUBLIC_WARNINGS = (
    "the quantiles of ",
    "noise will exceed",
    "noise hides",
    "untied_fraction_ of",
    "the types of",
)  # which are documented


REFUSED = ValueError, TypeError


def outcome(call):
    """What a call gives; or its error of a kind that is documented; or the first warning, which must not be."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = call()
        except REFUSED as error:
            result = error
    unexpected = [warning.message for warning in said if warning.category is not PrivacyLeakWarning]
    unexpected = [message for message in unexpected if not str(message).startswith(PUBLIC_WARNINGS)]
    return unexpected[0] if unexpected else result


def are_equal(here, there):
    return np.shape(here) == np.shape(there) and np.array_equal(here, there, equal_nan=True)


def expected_of(way, values):
    """By kind, what the oracle gives for a column of it."""
    call, kinds = WAYS[way]
    names = {kind: kind for kind in kinds}
    columns = {kind: [plain(value) for value in values[kind]] for kind in kinds}
    if way in ("encoder", "summary"):
        table, keys = pandas.DataFrame({k: pandas.Series(c, dtype=object) for k, c in columns.items()}), names
    else:
        table, keys = rows(columns), {j: kind for j, kind in enumerate(kinds)}
    found = outcome(lambda: call(table, names, facts(keys, plain)))
    if isinstance(found, Exception):
        raise found
    return dict(zip(kinds, found, strict=True))


def integers(forms):
    """How the library makes a column of integers."""
    return next(form.make for name, form in forms.items() if name.endswith(("int: int64", "int: i8", "int: Int64")))


def held(container, forms, values):
    """Columns of those forms that can hold these values, and the kind of each."""
    columns, names = {}, {}
    for form in forms:
        kind, make = container.forms[form]
        try:
            columns[form] = make(values[kind])
        except Exception:  # of another library, some version of which cannot hold this
            continue
        names[form] = kind
    return columns, names


def wrong(way, name, forms, values, expected):
    """What is wrong with columns of these forms, each with what it gave."""
    call, container = WAYS[way][0], TABLES[name]
    columns, names = held(container, forms, values)
    if len(columns) < (2 if way.startswith(OF_ALL) else 1):
        return
    keys = names if container.has_names else dict(enumerate(names.values()))
    try:
        target = {"y": integers(container.forms)(CLASSES)} if way == "stream" else {}
        table = container.make(columns | target)
    except Exception as error:
        table = found = error
    else:
        found = outcome(lambda: call(table, names, facts(keys)))
    if isinstance(found, Exception):
        forms = list(columns)
        if len(forms) == 1 and table is not found:
            yield way, name, *forms, f"{type(found).__name__}: {found}"
        for some in (forms[: len(forms) // 2], forms[len(forms) // 2 :]) if len(forms) > 1 else ():
            yield from wrong(way, name, some, values, expected)
        return
    for form, of_column in zip(columns, found, strict=True):
        is_whole = not way.startswith(OF_ALL) or list(dict.fromkeys(names.values())) == list(expected)
        if is_whole and not are_equal(of_column, expected[names[form]]):
            yield way, name, form, f"{of_column} instead of {expected[names[form]]}"[:400]


def forms_of(way, name, rng, most):
    """Some of the types of columns, of all kinds that go this way."""
    forms = [form for form, (kind, _) in TABLES[name].forms.items() if kind in WAYS[way][1]]
    if way.startswith("graph"):
        return [
            next(form for form in rng.permutation(forms) if TABLES[name].forms[form].kind == kind)
            for kind in WAYS[way][1]
            if any(TABLES[name].forms[form].kind == kind for form in forms)
        ]
    if not TABLES[name].is_mixed:
        return [str(rng.choice(forms))]
    return [forms[j] for j in rng.permutation(len(forms))[:most]]


def drawn(rng, kinds, has_missing):
    """Values of a few kinds, and of the record at a place, three times others."""
    values = {}
    for kind in kinds:
        few = [*rng.permutation(len(POOLS[kind]))[: rng.integers(1, 5)]]
        pool = [POOLS[kind][j] for j in few] + [None] * has_missing
        values[kind] = [pool[j] for j in rng.integers(len(pool), size=N)]
    place = int(rng.choice([0, 29, N - 1]))
    for last in (*rng.integers(99, size=2), None) if has_missing else rng.integers(99, size=2):
        for kind in kinds:
            values[kind][place] = None if last is None else POOLS[kind][last % len(POOLS[kind])]
        yield values | {"place": place}


def all_wrong(way, names, seed, most, has_missing):
    rng = np.random.default_rng(seed)
    names = [name for name in rng.permutation(list(names)) if goes(way, name)]
    for values in drawn(rng, WAYS[way][1], has_missing):
        expected = expected_of(way, values)
        for name in names:
            yield from wrong(way, name, forms_of(way, name, rng, most), values, expected)


SEED_OF = {way: seed for seed, way in enumerate(WAYS)}


@pytest.mark.parametrize("way", WAYS)
def test_tables_of_a_few_containers_give_what_plain_values_give(way):
    few = np.random.default_rng(SEED_OF[way]).permutation([name for name in OF_MANY_TYPES if goes(way, name)])[:1]
    assert list(all_wrong(way, few, SEED_OF[way], 16, has_missing=True)) == []


@pytest.mark.slow
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_tables_of_all_containers_give_what_plain_values_give(way, has_missing):
    assert list(all_wrong(way, TABLES, 0, 12, has_missing)) == []


@pytest.mark.slow
def test_every_container_holds_every_kind():
    values = {kind: (pool * N)[:N] for kind, pool in POOLS.items()}
    for name in MAIN:
        forms = [form for form, (kind, _) in TABLES[name].forms.items() if kind in POOLS]
        kinds = set(held(TABLES[name], forms, values)[1].values())
        cannot = {"array": {"decimal", "zoned"}, "pandas of arrays": {"decimal", "zoned"}, "DuckDB": {"duration"}}
        assert POOLS.keys() - kinds == cannot.get(name, set()), name


@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if "dictionar" in layout])
def test_which_entry_of_a_dictionary_is_last_changes_no_score(layout):
    """As one record decides it: by its value, which comes first."""
    public = {"bounds": {"x": (0, 10)}, "classes": [0, 1], "target_shares": [0.5, 0.5]}
    estimator = DPMICScorer(statistic="mtv_r", epsilon=math.inf, **public)
    for first_value in (3.0, 9.0):
        x = [first_value] + [3.0 if i % 2 == 0 else None for i in range(1, N)]
        table = pyarrow.table({"x": LAYOUTS[layout](pyarrow.array(x, pyarrow.float64()))})
        assert estimator.fit(table, CLASSES).scores_ == [1]


@pytest.mark.parametrize("way", ["encoder", "reports"])
def test_what_other_records_become_stays_as_it_is_to_the_last_bit(way):
    rng = np.random.default_rng(0)
    for name in ("Arrow", "pandas"):
        forms = forms_of(way, name, rng, 8)
        tables = [others_of(way, name, forms, values) for values in drawn(rng, POOLS, has_missing=True)]
        assert all(table == tables[0] for table in tables[1:])


def others_of(way, name, forms, values):
    """What a table gives, less the record that is replaced; as bytes, so that nothing is rounded."""
    container = TABLES[name]
    columns, names = held(container, forms, values)
    found = WAYS[way][0](container.make(columns), names, facts(names))
    return [np.delete(column.reshape(-1, N), values["place"], axis=1).tobytes() for column in map(np.asarray, found)]


# --- Columns of their own: targets, people, weights, strata -----------------------------------------------------------


def of_target(y, kind):
    return scorer({"bounds": (0, 1)}, target_bounds=ENDS[kind]).fit(X, y).scores_


def of_ranked_target(y, kind):
    return DPMICScorer(statistic="kendall", epsilon=math.inf).fit(X, y).scores_


def of_classes(y, kind):
    return scorer({"bounds": (0, 1)}, classes=CLASSES_OF[kind], target_shares=[0.5, 0.5]).fit(X, y).scores_


def of_weights(weights, kind):
    estimator = DPMICScorer(statistic="mtv_r", epsilon=math.inf, bounds=(0, 1), max_weight=9, **SHARES)
    return estimator.fit(X, CLASSES, sample_weight=weights).scores_


def of_strata(strata, kind):
    options = {"statistic": "kendall", "epsilon": math.inf, "strata": strata, "categories": LABELS[kind]}
    return [private_score(X[:, 0], Y, **options)]


def of_bounds(column, kind):
    learnt = private_bounds(column, epsilon=math.inf, random_state=0)
    (knots,) = learnt.values() if isinstance(learnt, dict) else [learnt]
    return knots


def of_people(groups, kind):
    estimator = DPMICScorer(statistic="mtv_r", epsilon=math.inf, bounds=(0, 1), max_rows_per_group=1, **SHARES)
    assert estimator.fit(X, CLASSES, groups=groups).n_groups_ == read_people(groups, 1, N).n_groups
    return numbered(read_people(groups, 1, N).persons)


def numbered(labels):
    """The number of each label, in the order in which they come first."""
    number_of = {}
    return [number_of.setdefault(label, len(number_of)) for label in labels]


CLASSES_OF = {"bool": [False, True], "text": ["a", "b"], "numbered": [1, 9], "int": [0, 3]}
MOMENTS = [datetime.datetime(2020, 1, 1, microsecond=microsecond) for microsecond in range(6)]
PEOPLE = {
    "int": [2**53 + i for i in range(5)] + [-(2**63), 1],
    "numbered": [2**63 + i for i in range(5)] + [2**64 - 1, 1],
    "decimal": [Decimal(f"123456789012345678.{cents:02}") for cents in range(6)] + [Decimal("1.00")],
    "text": ["a", "A", "a ", "\u00e4", "1", ""],
    "date": POOLS["date"],
    "instant": MOMENTS,
    "zoned": [moment.replace(tzinfo=TOKYO) for moment in MOMENTS],
    "duration": [moment - MOMENTS[0] for moment in MOMENTS],
    "float": [0.1, 0.1 + 2**-56, 0.5, 1e300, -1.0],
    "bytes": [b"a", b"A", b"0", b"", b"\xff"],
}
ROLES = {
    "target": (of_target, {kind: POOLS[kind] for kind in OF_ORDER}),
    "ranked target": (of_ranked_target, {kind: POOLS[kind] for kind in OF_ORDER}),
    "classes": (of_classes, CLASSES_OF),
    "weights": (
        of_weights,
        {"float": [0.0, 0.5, 3.0, 9.0, 1e300], "int": [0, 1, 3, 2**52], "decimal": [*map(Decimal, "0139")]},
    ),
    "strata": (of_strata, LABELS),
    "bounds": (of_bounds, {kind: POOLS[kind] for kind in OF_ORDER}),
    "people": (of_people, PEOPLE),
}
LOSSY = ("double", "float", "f8", "date64")  # types that identifiers do not fit in


def expected_of_role(role, kind, values):
    call, _ = ROLES[role]
    plain_values = [plain(value) for value in values]
    if role == "people":
        return ValueError() if None in values else numbered(values)
    if role == "target":
        estimator = scorer({"bounds": (0, 1)}, target_bounds=tuple(map(plain, ENDS[kind])))
        return outcome(lambda: estimator.fit(X, plain_values).scores_)
    if role == "bounds":
        of_numpy = {"duration": "m8[us]"}.get(kind, "f8" if ENDS[kind] == (0, 9) else "M8[us]")
        array = np.array(plain_values, dtype=float)
        if of_numpy != "f8":
            array = np.array([None if np.isnan(v) else round(v * 1e6) for v in array], dtype=of_numpy)
        return outcome(lambda: call(array, kind))
    return outcome(lambda: call(plain_values, kind))


def columns_wrong(role, name, rng, most, has_missing):
    """What is wrong with some columns of a container in this role."""
    if role == "people" and name == "reader":  # which can be read once
        return
    call, pools = ROLES[role]
    container = TABLES[name]
    forms = [form for form, (kind, _) in container.forms.items() if kind in pools]
    if role == "people":
        forms = [form for form in forms if not any(lossy in form for lossy in LOSSY)]
    for form in [forms[j] for j in rng.permutation(len(forms))[:most]]:
        kind, make = container.forms[form]
        pool = pools[kind]
        values = [pool[j] for j in (rng.permutation(N) % len(pool))]
        place = int(rng.choice([0, 29, N - 1]))
        for last in (pool[0], pool[-1], None) if has_missing else (pool[0], pool[-1]):
            values[place] = last
            try:
                column = container.column(container.make({form: make(values)}))
            except Exception:
                continue
            expected, found = expected_of_role(role, kind, values), outcome(functools.partial(call, column, kind))
            if isinstance(expected, REFUSED) and isinstance(found, REFUSED):
                continue
            if role == "bounds" and "got dates or durations as objects" in str(found):
                continue  # which declare nothing
            if isinstance(expected, Exception) or isinstance(found, Exception) or not are_equal(found, expected):
                yield role, name, form, last, str(found)[:300], str(expected)[:300]


@pytest.mark.parametrize("role", ROLES)
def test_columns_of_a_few_containers_give_what_plain_values_give(role):
    rng = np.random.default_rng(0)
    few = rng.permutation(MAIN)[: 1 if role == "bounds" else 3]
    assert [one for name in few for one in columns_wrong(role, name, rng, 2, has_missing=True)] == []


EXACT = [
    ("Arrow", "decimal: decimal128(20, 2)"),
    ("Arrow", "decimal: decimal256(40, 2) dictionary"),
    ("pandas", "Arrow decimal: decimal128(20, 2)"),
    ("pandas", "Arrow int: int64 dictionary with null last"),
    ("Polars", "decimal: Decimal(precision=20, scale=2)"),
    ("Polars", "int: Int128"),
    ("DuckDB", "decimal: decimal(38, 2)"),
    ("DuckDB", "int: hugeint"),
]


@pytest.mark.parametrize("name, form", EXACT)
def test_people_whose_identifiers_are_close_are_not_taken_for_one(name, form):
    container, (kind, make) = TABLES[name], TABLES[name].forms[form]
    values = [PEOPLE[kind][i % len(PEOPLE[kind])] for i in range(N)]
    assert of_people(container.column(container.make({form: make(values)})), kind) == numbered(values)


@pytest.mark.slow
@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("role", ROLES)
def test_columns_of_all_containers_give_what_plain_values_give(role, has_missing):
    rng = np.random.default_rng(1)
    assert [one for name in MAIN for one in columns_wrong(role, name, rng, 3, has_missing)] == []


# --- Values at the ends of what there is ------------------------------------------------------------------------------

FARTHEST = datetime.timezone(datetime.timedelta(hours=14)), datetime.timezone(datetime.timedelta(hours=-12))
ODD = {
    "large": 1.7e308,
    "small": -1.7e308,
    "weight": 1e300,
    "large integer": 10**400,
    "small integer": -(10**400),
    "large fraction": Fraction(10**400),
    "signalling": Decimal("sNaN"),
    "quiet": Decimal("NaN"),
    "infinite decimal": Decimal("-Infinity"),
    "large decimal": Decimal("1e999"),
    "first instant": datetime.datetime.min.replace(tzinfo=FARTHEST[0]),
    "last instant": datetime.datetime.max.replace(tzinfo=FARTHEST[1]),
    "first day": datetime.date.min,
    "last day": datetime.date.max,
    "last date": np.datetime64(2**63 - 1, "D"),
    "last duration": np.timedelta64(2**63 - 1, "W"),
    "duration": datetime.timedelta.max,
    "infinite": math.inf,
    "complex": 2j,
    "object": object(),
    "dict": {},
    "text": "a",
    "surrogate": "\ud800",
    "year": np.datetime64("2000", "Y"),
    "generic": np.timedelta64(3),
    "period": pandas.Period("2000"),
    "time": datetime.time(1),
    "long double": np.longdouble("1e4000"),
}
DAYS = (datetime.date(1950, 1, 1), datetime.date(2050, 1, 1))
TAKES = {
    "X": lambda v: scorer({"bounds": {0: (0, 9)}}, **SHARES).fit(rows_of(v), CLASSES),
    "X of dates": lambda v: scorer({"bounds": {0: DAYS}}, **SHARES).fit(rows_of(v), CLASSES),
    "X of labels": lambda v: scorer({"categories": {0: [1, 3]}}, **SHARES).fit(rows_of(v), CLASSES),
    "X of text": lambda v: scorer({"categories": {0: ["a", "b"]}}, **SHARES).fit(rows_of(v), CLASSES),
    "X of ranks": lambda v: DPMICScorer(statistic="kendall").fit(rows_of(v), Y),
    "X from data": lambda v: scorer({"bounds": "data"}, **SHARES).fit(rows_of(v), CLASSES),
    "y": lambda v: of_target(v, "float"),
    "y of dates": lambda v: of_target(v, "date"),
    "y of ranks": lambda v: of_ranked_target(v, None),
    "y from data": lambda v: scorer({"bounds": (0, 1)}, target_bounds="data").fit(X, v),
    "y of classes": lambda v: of_classes(v, "int"),
    "y of classes of data": lambda v: scorer({"bounds": (0, 1)}, classes="data").fit(X, v),
    "weights": lambda v: of_weights(v, None),
    "strata": lambda v: of_strata(v, "numbered"),
    "strata of text": lambda v: of_strata(v, "text"),
    "people": lambda v: of_people(v, None),
    "bounds": lambda v: of_bounds(v, None),
    "encoder": lambda v: PublicEncoder(bounds=(0, 9)).fit(named_x(v)).transform(named_x(v)),
    "summary": lambda v: private_summary(named_x(v), Codebook({"x": (0, 9)}), epsilon=1),
    "reports": lambda v: RandomizedResponse(bounds=(0, 9)).fit(rows_of(v)).transform(rows_of(v)),
    "matrix": lambda v: PrivateCorrelation().fit(rows_of(v, 2)),
    "pair": lambda v: private_score(v, Y, epsilon=1, bounds=((0, 9), (0, 1))),
}


def rows_of(values, width=1):
    if isinstance(values, np.ndarray):
        return np.repeat(values[:, None], width, axis=1)
    return [[value] * width for value in values]


def named_x(values):
    return pandas.DataFrame({"x": pandas.Series(object_column(list(values)), dtype=object)})


USUAL = {"dates": datetime.date(2000, 1, 1), "text": "b"}


def typed_column(values):
    """As numpy sees values, with numbers as floats."""
    kinds = {type(value) for value in values}
    return np.array(values, dtype=float) if kinds <= {int, float} else np.array(values)


def odd_wrong(take, odd):
    usual = USUAL.get(take.rpartition(" ")[2], 3)
    for others in ([usual], [ODD[OPPOSITE.get(odd, odd)]]):
        values = list(itertools.islice(itertools.cycle([ODD[odd], *others]), N))
        for shape in (list, object_column, typed_column):
            try:
                column = shape(values)
            except Exception:
                continue
            try:
                found = outcome(lambda column=column: TAKES[take](column))
            except Exception as error:
                yield take, odd, f"{type(error).__name__}: {error}"
            else:
                if isinstance(found, Exception) and type(found) not in (ValueError, TypeError):
                    yield take, odd, f"{type(found).__name__}: {found}"


OPPOSITE = {"large": "small", "large integer": "small integer", "first instant": "last instant"}


def object_column(values):
    return object_array({0: values})[:, 0]


ODDEST = ["large", "weight", "large integer", "signalling", "last instant", "long double"]


@pytest.mark.parametrize("take", [take for take in TAKES if take not in ("bounds", "encoder", "summary")])
def test_no_odd_value_makes_a_warning_or_an_error_of_another_kind(take):
    assert [one for odd in ODDEST for one in odd_wrong(take, odd)] == []


@pytest.mark.slow
@pytest.mark.parametrize("take", TAKES)
def test_nor_does_any_other(take):
    assert [one for odd in ODD for one in odd_wrong(take, odd)] == []
