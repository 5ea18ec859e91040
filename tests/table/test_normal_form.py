"""A column from any library: its values one by one, as numbers, as label codes and as labels of people."""

import datetime
import enum
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpmic import DPMICScorer, private_score
from skdpmic.counting import count_stream
from skdpmic.statistics.mic.many_pairs import mic_pairs
from skdpmic.table import values as reading
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS
from skdpmic.table.facts import labels_of
from skdpmic.table.normal_form import BYTES, OBJECTS, OTHER, TEXT, open_column
from skdpmic.table.values import check_classes, read_people
from tests.folding import each
from tests.table.arrow_columns import encoded, pa

if not hasattr(pl, "Int128"):
    pytest.skip("this version of Polars lacks some types", allow_module_level=True)


NAN = math.nan
DAY = datetime.date(2020, 1, 1)
STAY = datetime.timedelta(days=2, microseconds=7)
VALUES = {
    NUMBERS: [3.0, None, 9.0, 7.0, 3.0, None],
    TEXT: ["b", None, "a", "zebra", "b", None],
    DATES: [DAY, None, datetime.date(1900, 1, 1), DAY, DAY, None],
    DURATIONS: [STAY, None, -STAY, STAY, STAY, None],
}
FLOATS, TEXTS = VALUES[NUMBERS], VALUES[TEXT]
TRUTHS = [True, None, False, False, True, None]


def source(native):
    return open_column(pa.chunked_array([native]) if isinstance(native, pa.Array) else native)


def read(native):
    return source(native).read("x")


def as_numbers(native, *of):
    return reading.as_numbers(read(native), of or (NUMBERS, OBJECTS), "x")


def as_codes(native, labels):
    return reading.as_codes(read(native), labels, "x").tolist()


def objects(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def rows_of(column):
    """The twin: the values in order, as Python objects; None if missing."""
    places = range(column.n_samples) if column.places is None else column.places
    values = column.values.tolist()
    return [None if missing else values[place] for place, missing in zip(places, column.missing, strict=True)]


def in_pandas(array):
    return pd.Series(array, dtype=pd.ArrowDtype(array.type))


def of_dtypes(make, values, *dtypes):
    return {f"{values} as {dtype} of {make.__module__}": make(values, dtype=dtype) for dtype in dtypes}


BOXES = objects([3.0, pa.scalar(None), pa.scalar(9.0), 7.0, None, None])
BOXES[4] = np.array(3.0)
ZERO_BY_ZERO = pd.array([3, 0, 9, 7, 3, None], dtype="Float64") / pd.array([1, 0, 1, 1, 1, 1], dtype="Float64")
LAST_MISSING = pa.array(TEXTS[:5]), pa.array([None], pa.string())
SPARSE = pd.arrays.SparseArray(np.array(FLOATS, dtype=float))
EXACT = [None if value is None else Decimal(value) for value in FLOATS]
ORDERED = pd.CategoricalDtype(["zebra", "b", "a", "c"], ordered=True)
EVERY = {
    **{f"dictionary of {kind}": (kind, encoded(values)) for kind, values in VALUES.items()},
    **{f"dictionary of {kind} and null": (kind, encoded(values, inside=True)) for kind, values in VALUES.items()},
    **{f"{kind} in pandas": (kind, in_pandas(encoded(values))) for kind, values in VALUES.items()},
    **{f"Categorical of {kind}": (kind, in_pandas(pa.array(v)).astype("category")) for kind, v in VALUES.items()},
    **{f"{kind} of Polars": (kind, pl.Series(values)) for kind, values in VALUES.items()},
    **{name: (NUMBERS, column) for name, column in (
        of_dtypes(pd.Series, FLOATS, "f8", "Int64", "int64[pyarrow]", "category", pd.CategoricalDtype([7, 9, 3], True))
        | of_dtypes(pd.Series, TRUTHS, "boolean", "bool[pyarrow]") | of_dtypes(pl.Series, TRUTHS, pl.Boolean)
    ).items()},
    **{name: (TEXT, column) for name, column in (
        of_dtypes(pd.Series, TEXTS, "string", "string[pyarrow]", pd.StringDtype("python"), "category", ORDERED)
        | of_dtypes(pl.Series, TEXTS, pl.Categorical, pl.Enum(["a", "b", "c", "zebra", "d"]))
    ).items()},
    "integers of Polars": (NUMBERS, pl.Series([3, None, 9, 7, 3, None])),
    "a chunk without values": (TEXT, pa.chunked_array([part.dictionary_encode() for part in LAST_MISSING])),
    "index of 64 bits": (NUMBERS, encoded(FLOATS, index="uint64")),
    "Categorical of nullable numbers": (NUMBERS, pd.Series(pd.Categorical(pd.array(FLOATS, dtype="Float64")))),
    "Categorical of objects": (OBJECTS, pd.Series(pd.Categorical(TEXTS, ["a", 3, "b", "zebra"]))),
    "Categorical of another order": (OBJECTS, pd.Series(pd.Categorical(FLOATS, [9, "b", 7, 3]))),
    "NaN beside NA": (NUMBERS, pd.Series(ZERO_BY_ZERO)),
    "NaN beside null": (NUMBERS, pl.Series([*FLOATS[:5], NAN])),
    "sparse with NaN": (NUMBERS, pd.Series(SPARSE)),
    "sparse integers with NaN": (NUMBERS, pd.Series(SPARSE.astype(pd.SparseDtype("i8", NAN)))),
    "half": (NUMBERS, pa.array(FLOATS, pa.float16())),
    "single": (NUMBERS, np.array(FLOATS, dtype=np.float32)),
    "views": (TEXT, pa.array(TEXTS, pa.string_view())),
    "large text": (TEXT, pa.array(TEXTS, pa.large_string())),
    "decimals of Arrow": (NUMBERS, pa.array(EXACT, pa.decimal128(5, 2))),
    "decimals of Polars": (NUMBERS, pl.Series(EXACT)),
    "decimals": (OBJECTS, pd.Series(EXACT, dtype=object)),
    "text as objects": (OBJECTS, np.array(TEXTS, dtype=object)),
    "numbers as objects": (OBJECTS, objects([3, pd.NA, np.float16(9), np.uint8(7), Fraction(3), pd.NaT])),
    "scalars in boxes": (OBJECTS, BOXES),
}  # fmt: skip


@each("name", EVERY)
def test_every_library_gives_its_values_one_by_one_and_marks_the_missing_ones(name):
    kind, native = EVERY[name]
    column = read(native)
    assert source(native).kind == column.kind == kind
    found = [value.date() if isinstance(value, datetime.datetime) else value for value in rows_of(column)]
    expected = next(values for values in (*VALUES.values(), TRUTHS) if values == found)
    ones = column.each(lambda values: np.ones(len(values)), 0)
    assert ones.tolist() == [value is not None for value in expected]
    if column.places is not None and column.values.dtype == object:
        assert set(column.places[~column.missing].tolist()) == set(range(len(column.values)))
    if expected in (FLOATS, TRUTHS):
        assert np.array_equal(as_numbers(native), np.array(expected, dtype=float), equal_nan=True)
    if expected in (FLOATS, TEXTS):
        assert as_codes(native, ("b", "a") if expected is TEXTS else (3.0, 9.0)) == [0, 3, 1, 2, 0, 3]
    if expected is TRUTHS:
        assert as_codes(native, (0.0, 1.0)) == [1, 3, 0, 0, 1, 3]
        assert source(native).labels == (0.0, 1.0)


@each(
    "native, kind",
    [
        *[(pl.Series([None, None], dtype=dtype), OTHER) for dtype in (pl.Time, pl.Struct({"a": pl.Int8}), pl.Null)],
        *[(pl.Series([[1]]), OTHER), (pl.Series([b"a"]), BYTES), (np.array([b"a"]), BYTES)],
        *[(pd.Series([1j]), OTHER), (np.array([1j]), OTHER), (pa.array([None], pa.null()), OTHER)],
    ],
)  # fmt: skip
def test_other_types_have_no_kind_and_are_refused_unless_they_are_empty(native, kind):
    column = read(native)
    assert source(native).kind == kind
    if column.missing.all():
        assert as_codes(native, ("a", "b")) == [3] * column.n_samples
        assert np.isnan(as_numbers(native)).all()
    else:
        with pytest.raises(ValueError, match="must hold numbers, all of one kind"):
            as_numbers(native)


def test_pandas_intervals_are_read_independently_as_labels_of_their_text():
    cut = pd.Series(pd.cut([10, 70, 30, NAN], [0, 30, 90]))
    assert source(pd.Series(pd.interval_range(0, 4))).kind == OTHER  # a missing interval changes the text of others
    for native in (cut, cut.cat.reorder_categories(cut.cat.categories[::-1])):
        column = read(native)
        assert (column.kind, source(native).kind) == (TEXT, TEXT)
        assert as_codes(native, ("(0, 30]", "(30, 90]")) == [0, 1, 0, 3]
        assert as_codes(native, ("(0, 18]", "(18, 90]")) == [2, 2, 2, 3]  # other labels than those declared
        assert labels_of(native.cat.categories.sort_values(), "categories").labels == ("(0, 30]", "(30, 90]")


@each("native", [np.full(3, NAN), pl.Series([None] * 3), pd.Series([None] * 3, dtype="f8"), objects([None] * 3)])
def test_a_column_of_labels_may_be_missing_throughout(native):
    assert as_codes(native, ("b", "a", "c")) == [4, 4, 4]


# --- Objects, each read on its own ------------------------------------------------------------------------------------


def test_zero_dimensional_arrays_are_read_by_their_own_type():
    column = objects([np.array(0.5), np.array(2, dtype=np.uint8), True])
    column[:2] = np.array(0.5), np.array(2, dtype=np.uint8)
    assert as_numbers(column).tolist() == [0.5, 2, 1]
    for place in (0, 1):
        mixed = column.copy()
        mixed[place] = np.array(DAY, dtype="M8[ns]")
        with pytest.raises(ValueError, match="x must hold numbers, all of one kind"):
            as_numbers(mixed)


class Colour(str, enum.Enum):  # noqa: UP042 - as people write it
    BLUE = "b"


class Count(enum.IntEnum):
    TWO = 2


OF_ANOTHER_TYPE = {
    (3.0, 1.0): [
        *[objects([3, value]) for value in ("8675309", 8675309j, datetime.date(8675, 3, 9))],
        *[np.array(["3", "8675309"]), np.array([b"3", b"8675309"])],
        *[pd.Series(["3", "8675309"], dtype="category"), pl.Series(["3", "8675309"], dtype=pl.Categorical)],
    ],
    ("a", "b"): [
        *[objects(["a", value]) for value in (8675309, b"8675309")],
        *[np.array([8675309.0, NAN]), np.array([b"a", b"8675309"]), pa.chunked_array([[3, 8675309]])],
        *[pd.Series(values, dtype="category") for values in ([3, 8675309], ["a", 8675309])],
    ],
}


@each("labels", OF_ANOTHER_TYPE)
def test_a_label_of_another_type_is_an_error_that_names_the_column(labels):
    of = "text" if isinstance(labels[0], str) else "numbers"
    for native in OF_ANOTHER_TYPE[labels]:
        with pytest.raises(ValueError, match=rf"^x must hold {of}, like categories, got at least one") as caught:
            as_codes(native, labels)
        assert "8675" not in str(caught.value)


def test_labels_declared_by_a_type_may_differ_from_the_public_ones():
    assert as_codes(pd.Series(["a", "b"], dtype=pd.CategoricalDtype(["a", 3, "b"])), ("b", "a")) == [1, 0]
    assert as_codes(pl.Series(["a", None, "zebra"], dtype=pl.Enum(["zebra", "a"])), ("b", "a", "c")) == [1, 4, 3]


# --- One record of a dictionary changes no other ---------------------------------------------------------------------


def table_of(value, layout="dictionary", n=200):
    x = [value] + [3.0 if i % 2 == 0 else None for i in range(1, n)]
    if layout == "dictionary":
        return pa.table({"x": pa.array(x).dictionary_encode()})
    return pd.DataFrame({"x": pd.Series(x, dtype=pd.ArrowDtype(pa.float64())).astype("category")})


def test_functions_of_pairs_refuse_missing_values_of_a_dictionary():
    x = table_of(9.0)["x"]
    with pytest.raises(ValueError, match="x must be finite, got NaN or infinity"):
        private_score(x, np.arange(200.0), epsilon=1, bounds=((0, 9), (0, 200)))
    with pytest.raises(ValueError, match="column 'x' of X must be finite"):
        mic_pairs(pa.table({"x": x, "y": pa.array(range(200))}))


def test_batches_with_different_dictionaries_are_counted_separately():
    frames = [pd.DataFrame({"x": pd.Categorical(x), "y": [0, 1] * 2}) for x in ([2**53 + 1, None] * 2, [0.5, None] * 2)]
    sketch = DPMICScorer(classes=[0, 1], bounds={"x": (0, 1)}, B=8).empty_sketch(8, feature_names=["x"])
    assert count_stream(sketch, frames, target="y").n_samples == 8
    tables = [pa.table({"x": pa.array(x).dictionary_encode(), "y": [0, 1]}) for x in ([1, None], [0.5, None])]
    assert count_stream(sketch, tables, target="y").n_samples == 4


# --- Labels are compared exactly --------------------------------------------------------------------------------------

LARGE = [10**20, 10**20 + 1, 10**20 + 2, 10**20 + 3, 10**20]
DECIMALS = [Decimal(value) / 100 for value in LARGE]
PEOPLE = {
    "decimals of Arrow": pa.array(DECIMALS, pa.decimal128(30, 2)),
    "large decimals of Arrow": pa.chunked_array([pa.array(DECIMALS, pa.decimal256(60, 2))]),
    "a dictionary of decimals": pa.array(DECIMALS, pa.decimal128(30, 2)).dictionary_encode(),
    "decimals of Polars": pl.Series(DECIMALS, dtype=pl.Decimal(30, 2)),
    "wide integers of Polars": pl.Series(LARGE, dtype=pl.Int128),
    "decimals of Arrow in pandas": pd.Series(DECIMALS, dtype=pd.ArrowDtype(pa.decimal128(30, 2))),
    "a Categorical of decimals": pd.Series(DECIMALS).astype("category"),
    "objects": pd.Series(LARGE, dtype=object),
    "a list": LARGE,
    "nullable integers": pd.Series([2**53 + value % 10 for value in LARGE], dtype="Int64"),
    "integers of Arrow": pa.array([2**63 + value % 10 for value in LARGE], pa.uint64()),
    "dates of one week": pa.array([2**60 + value % 10 for value in LARGE]).cast(pa.timestamp("ns")),
    "a dictionary of times": pa.array([1, 2, 3, 4, 1], pa.time64("ns")).dictionary_encode(),
    "times in a list": list(pa.array([1, 2, 3, 4, 1], pa.time64("ns"))),
    "times of Polars": pl.Series([1, 2, 3, 4, 1]).cast(pl.Time),
}


@each("name", PEOPLE)
def test_no_two_people_become_one_in_any_container(name):
    people = read_people(PEOPLE[name], 1, 5)
    assert people.n_groups == 4
    assert people.persons[0] == people.persons[4]
    assert len(set(people.persons[:4].tolist())) == 4


@each("classes", [[2**53 + 1, 0.5], [2**63 + 1, -1], ["a\0", "b"], ["a\0", "a", "b"], [b"a\0", b"b"]])
def test_classes_that_an_array_would_change_are_refused(classes):
    with pytest.raises(ValueError, match="classes must be numbers, booleans or strings, all of one type"):
        check_classes(classes)


def test_a_label_that_the_type_of_a_column_cannot_hold_is_not_in_it():
    assert as_codes(np.uint8([0, 44, 7]), (300.0, 7.0, 44.0, -212.0, 0.5)) == [5, 2, 1]
