"""Columns of every library as numbers or codes, each value by itself."""

import datetime
import enum
import math
import sys
from decimal import Decimal
from fractions import Fraction
from itertools import product

import narwhals.stable.v2 as nw
import numpy as np
import pandas
import polars
import pytest

from skdpmic.table import values as reading
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, seconds
from skdpmic.table.normal_form.containers import open_column
from skdpmic.table.normal_form.form import BYTES, OBJECTS, OTHER, TEXT
from skdpmic.table.people import read_people
from skdpmic.table.values import ANY_ORDER
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow")
NAN = math.nan
LIBRARIES = {
    "pandas": lambda values, dtype: pandas.Series(values, dtype=dtype),
    "polars": lambda values, dtype: polars.Series(values, dtype=dtype),
    "pyarrow": lambda values, dtype: pyarrow.chunked_array([values[:2], values[2:]], type=dtype),
}


def as_numbers(column, of, name):
    return reading.as_numbers(open_column(column).read(name), of, name)


def as_codes(column, labels, name):
    return reading.as_codes(open_column(column).read(name), labels, name)


def series(library, values, dtype=None):
    return nw.from_native(LIBRARIES[library](values, dtype), series_only=True)


# --- Numbers ---------------------------------------------------------------------------------------------------------

NUMBER_COLUMNS = {
    "float": ("pandas", [1.5, None, 3.0], "float64", [1.5, NAN, 3.0]),
    "float of pyarrow": ("pyarrow", [1.5, None, 3.0], None, [1.5, NAN, 3.0]),
    "float of polars": ("polars", [1.5, None, NAN], None, [1.5, NAN, NAN]),
    "Int64": ("pandas", [1, None, 3], "Int64", [1, NAN, 3]),
    "int of polars": ("polars", [1, None, 3], None, [1, NAN, 3]),
    "int of pyarrow in pandas": ("pandas", [1, None, 3], "int64[pyarrow]", [1, NAN, 3]),
    "uint8": ("pandas", [1, 2, 255], "uint8", [1, 2, 255]),
    "bool": ("pandas", [True, False, True], bool, [1, 0, 1]),
    "boolean": ("pandas", [True, None, False], "boolean", [1, NAN, 0]),
    "bool of polars": ("polars", [True, None, False], None, [1, NAN, 0]),
    "bool of pyarrow": ("pyarrow", [True, None, False], None, [1, NAN, 0]),
    "decimal of polars": ("polars", [Decimal("1.5"), None, Decimal("3.0")], None, [1.5, NAN, 3]),
    "decimal of pyarrow": ("pyarrow", [Decimal("1.5"), None, Decimal(3)], pyarrow.decimal128(5, 2), [1.5, NAN, 3]),
    "objects": ("pandas", [1, None, 3.5], object, [1, NAN, 3.5]),
    "objects with NA": ("pandas", [1, pandas.NA, True], object, [1, NAN, 1]),
    "objects with numbers as text": ("pandas", [1, "2.5", None], object, [1, 2.5, NAN]),
    "decimal objects": ("pandas", [Decimal("1.5"), None, 2], object, [1.5, NAN, 2]),
    "categories of numbers": ("pandas", [3, None, 1], "category", [3, NAN, 1]),
    "ordered numbers": ("pandas", [3, None, 1], pandas.CategoricalDtype([1, 3], ordered=True), [3, NAN, 1]),
    "nothing": ("pandas", [None, None, None], object, [NAN] * 3),
    "nothing of polars": ("polars", [None, None, None], None, [NAN] * 3),
    "nothing of pyarrow": ("pyarrow", [None, None, None], pyarrow.null(), [NAN] * 3),
    "sparse": ("pandas", pandas.arrays.SparseArray([0.0, 1, 0]), None, [0, 1, 0]),
}


@each("name", NUMBER_COLUMNS)
def test_numbers_of_every_type_are_floats_with_nan_for_missing_ones(name):
    library, values, dtype, expected = NUMBER_COLUMNS[name]
    column = series(library, values, dtype)
    assert open_column(column).kind in (NUMBERS, OBJECTS) or open_column(column).read("x").missing.all()
    numbers = as_numbers(column, (NUMBERS, OBJECTS), "x")
    assert numbers.dtype.kind == "f"
    assert np.array_equal(numbers, expected, equal_nan=True)


def test_float32_stays_as_it_is():
    assert as_numbers(np.float32([1, 2]), (NUMBERS,), "x").dtype == np.float32
    assert as_numbers(series("pandas", [1.0, 2.0, 3.0], "float32"), (NUMBERS,), "x").dtype == np.float32


OBJECTS_OF_ARRAYS = [
    (np.array([1, None, 2.5], dtype=object), [1, NAN, 2.5]),
    (np.array(["1", "2.5"], dtype=object), [1, 2.5]),
    (np.array([True, NAN], dtype=object), [1, NAN]),
    (np.array([pandas.NA, pandas.NaT, 3], dtype=object), [NAN, NAN, 3]),
]


@pytest.mark.parametrize("values, expected", OBJECTS_OF_ARRAYS)
def test_arrays_of_objects_are_read_one_by_one(values, expected):
    assert np.array_equal(as_numbers(values, (NUMBERS, OBJECTS), "x"), expected, equal_nan=True)


@pytest.mark.parametrize("values, expected", OBJECTS_OF_ARRAYS[:3])
def test_missing_objects_are_found_without_pandas(values, expected, monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas")
    assert np.array_equal(as_numbers(values, (NUMBERS, OBJECTS), "x"), expected, equal_nan=True)


def test_arrays_of_no_dimension_say_for_themselves_what_they_hold():
    column = np.empty(3, dtype=object)
    column[:] = [np.array(0.5), np.array(2, dtype=np.uint8), True]
    assert as_numbers(column, (NUMBERS, OBJECTS), "x").tolist() == [0.5, 2, 1]
    for place in (0, 1):
        mixed = column.copy()
        mixed[place] = np.array(DAY, dtype="M8[ns]")
        with pytest.raises(ValueError, match="x must hold numbers, all of one kind"):
            as_numbers(mixed, (NUMBERS, OBJECTS), "x")


SECRET = "8675309"
DAY = datetime.date(2020, 1, 1)


@each(
    "values, message",
    [
        ([1, f"patient {SECRET}"], "could not convert string to float"),
        ([1, 1j], "Complex data not supported"),
        ([1, DAY], "x must hold numbers, all of one kind, got at least one other value"),
        ([DAY, DAY], "x must hold numbers, all of one kind"),
        ([1, math.inf], "Input x contains infinity"),
        ([1, [SECRET]], "must be a string or a real number|setting an array element with a sequence"),
        ([1, {SECRET: 1}], "must be a string or a real number"),
    ],
)
def test_objects_that_are_no_numbers_are_refused_without_quoting_them(values, message):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        as_numbers(column, (NUMBERS, OBJECTS), "x")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "values, of, expected",
    [
        ([DAY, None], DATES, [1_577_836_800, NAN]),
        ([datetime.timedelta(1), None], DURATIONS, [86_400, NAN]),
        ([np.datetime64("2020-01-01"), pandas.Timestamp("2020-01-01", tz="UTC")], DATES, [1_577_836_800] * 2),
    ],
)
def test_objects_may_be_dates(values, of, expected):
    column = np.array(values, dtype=object)
    for allowed in ((of, OBJECTS), ANY_ORDER):
        assert np.array_equal(as_numbers(column, allowed, "x"), expected, equal_nan=True)
    with pytest.raises(ValueError, match="x must hold numbers, all of one kind"):
        as_numbers(column, (NUMBERS, OBJECTS), "x")


@pytest.mark.parametrize(
    "column, kind",
    [
        (series("polars", ["a"]), TEXT),
        (series("polars", ["a"], polars.Categorical), TEXT),
        (series("polars", ["a"], polars.Enum(["a"])), TEXT),
        (series("polars", [[1]]), OTHER),
        (series("polars", [DAY]), DATES),
        (series("polars", [datetime.timedelta(1)]), DURATIONS),
        (series("polars", [datetime.time(1)]), OTHER),
        (series("pandas", [1j]), OTHER),
        (series("pandas", pandas.period_range("2020", periods=2, freq="M")), OTHER),
        (np.array([1j]), OTHER),
        (series("pandas", ["a"], object), OBJECTS),
        (np.array(["a"]), TEXT),
        (np.array([b"a"]), BYTES),
    ],
)
def test_a_type_tells_what_a_column_holds(column, kind):
    assert open_column(column).kind == kind


# --- Labels ----------------------------------------------------------------------------------------------------------

LABELS = ("b", "a", "c")
TEXT_COLUMN = ["a", None, "b", "zebra", "c", "a"]
CODES = [1, 4, 0, 3, 2, 1]
TEXT_TYPES = {
    "objects": ("pandas", object),
    "str": ("pandas", "str"),
    "string": ("pandas", "string"),
    "category": ("pandas", "category"),
    "ordered category": ("pandas", pandas.CategoricalDtype(["zebra", "b", "a", "c"], ordered=True)),
    "string of pyarrow in pandas": ("pandas", "string[pyarrow]"),
    "dictionary of pyarrow in pandas": (
        "pandas",
        pandas.ArrowDtype(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
    ),
    "polars": ("polars", None),
    "Categorical": ("polars", polars.Categorical),
    "Enum": ("polars", polars.Enum(["a", "b", "c", "zebra", "d"])),
    "pyarrow": ("pyarrow", None),
    "large text of pyarrow": ("pyarrow", pyarrow.large_string()),
}


@pytest.mark.parametrize("name", TEXT_TYPES)
def test_labels_of_every_type_are_codes(name):
    library, dtype = TEXT_TYPES[name]
    codes = as_codes(series(library, TEXT_COLUMN, dtype), LABELS, "x")
    assert codes.dtype == np.uint32
    assert codes.tolist() == CODES


def test_dictionaries_of_pyarrow_keep_their_missing_values():
    column = pyarrow.chunked_array([pyarrow.array(TEXT_COLUMN).dictionary_encode()])
    assert as_codes(nw.from_native(column, series_only=True), LABELS, "x").tolist() == CODES


def test_labels_in_arrays_are_codes():
    assert as_codes(np.array(TEXT_COLUMN, dtype=object), LABELS, "x").tolist() == CODES
    assert as_codes(np.array(["a", "zebra", "c"]), LABELS, "x").tolist() == [1, 3, 2]
    assert as_codes(np.array([pandas.NA, pandas.NaT, "zoo", NAN], dtype=object), LABELS, "x").tolist() == [4, 4, 3, 4]


@each(
    "column",
    [
        np.array([3, NAN, 1, 2.5, 2, 3]),
        np.array([3, None, 1, 2.5, 2, 3], dtype=object),
        np.float32([3, NAN, 1, 2.5, 2, 3]),
        series("pandas", [3, None, 1, 7, 2, 3], "Int64"),
        series("pandas", [3, None, 1, 7, 2, 3], "category"),
        series("polars", [3, None, 1, 7, 2, 3]),
        series("pyarrow", [3, None, 1, 7, 2, 3]),
    ],
)
def test_labels_may_be_numbers(column):
    assert as_codes(column, (2.0, 3.0, 1.0), "x").tolist() == [1, 4, 2, 3, 0, 1]


@pytest.mark.parametrize(
    "library, dtype", [("pandas", bool), ("pandas", "boolean"), ("polars", None), ("pyarrow", None)]
)
def test_labels_may_be_booleans(library, dtype):
    values = [True, False, True] if dtype is bool else [True, None, False]
    expected = [1, 0, 1] if dtype is bool else [1, 3, 0]
    assert as_codes(series(library, values, dtype), (0.0, 1.0), "x").tolist() == expected


class Colour(str, enum.Enum):  # noqa: UP042 - as people write it
    BLUE = "b"


class Count(enum.IntEnum):
    TWO = 2


class Named(str):
    __slots__ = ()


def test_a_label_is_found_by_what_it_holds_whatever_its_class():
    column = np.array([Colour.BLUE, Named("a"), np.str_("c")], dtype=object)
    assert as_codes(column, LABELS, "x").tolist() == [0, 1, 2]
    column = np.array([Count.TWO, Decimal(3), Fraction(1), np.float16(2), True, np.bool_(True)], dtype=object)
    assert as_codes(column, (2.0, 3.0, 1.0), "x").tolist() == [0, 1, 2, 0, 2, 2]


@pytest.mark.parametrize(
    "column",
    [
        np.array([3, "8675309"], dtype=object),
        np.array(["3", "8675309"]),
        np.array([b"3", b"8675309"]),
        np.array([3, 8675309j], dtype=object),
        np.array([3, datetime.date(8675, 3, 9)], dtype=object),
        series("pandas", ["3", "8675309"], "category"),
        series("polars", ["3", "8675309"], polars.Categorical),
    ],
)
def test_a_label_of_another_type_than_numbers_is_an_error_that_names_the_column(column):
    with pytest.raises(ValueError, match=r"^x must hold numbers, like categories, got at least one") as caught:
        as_codes(column, (3.0, 1.0), "x")
    assert "8675" not in str(caught.value)


@each(
    "column",
    [
        np.array(["a", 8675309], dtype=object),
        np.array(["a", b"8675309"], dtype=object),
        np.array([b"a", b"8675309"]),
        np.array([8675309.0, NAN]),
        series("pandas", [3, 8675309], "category"),
        series("pandas", ["a", 8675309], "category"),
        series("pyarrow", [3, 8675309, 4]),
    ],
)
def test_a_label_of_another_type_than_text_is_an_error_that_names_the_column(column):
    with pytest.raises(ValueError, match=r"^x must hold text, like categories, got at least one") as caught:
        as_codes(column, LABELS, "x")
    assert "8675" not in str(caught.value)


def test_categories_of_pandas_that_no_record_has_may_be_of_another_type():
    column = series("pandas", ["a", "b"], pandas.CategoricalDtype(["a", 3, "b"]))
    assert as_codes(column, LABELS, "x").tolist() == [1, 0]


def test_an_enum_need_not_declare_all_public_labels():
    column = series("polars", ["a", None, "zebra"], polars.Enum(["zebra", "a"]))
    assert as_codes(column, LABELS, "x").tolist() == [1, 4, 3]


@pytest.mark.parametrize(
    "column", [np.full(3, NAN), series("polars", [None] * 3), series("pandas", [None] * 3, "float64")]
)
def test_text_that_is_missing_throughout_is_missing(column):
    assert as_codes(column, LABELS, "x").tolist() == [4, 4, 4]


def test_a_label_does_not_depend_on_other_rows():
    rng = np.random.default_rng(0)
    values = rng.choice(["a", "b", "c", "d", None], 200)
    for library, dtype in TEXT_TYPES.values():
        if isinstance(dtype, polars.Enum | pandas.CategoricalDtype):  # which holds no other labels
            continue
        together = as_codes(series(library, values.tolist(), dtype), LABELS, "x")
        alone = [as_codes(series(library, [value, "d"], dtype), LABELS, "x")[0] for value in values[:20]]
        assert together[:20].tolist() == alone


def labels_of_type(column):
    return open_column(column).labels


def test_types_declare_labels_only_if_these_do_not_depend_on_the_rows():
    assert labels_of_type(series("polars", ["a"], polars.Enum(["b", "a"]))) == ("b", "a")
    for library, dtype in (("pandas", bool), ("pandas", "boolean"), ("polars", None), ("pyarrow", None)):
        assert labels_of_type(series(library, [True, True], dtype)) == (0.0, 1.0)
    ordered = pandas.CategoricalDtype(["b", "a"], ordered=True)
    found = [("pandas", "category"), ("pandas", ordered), ("polars", polars.Categorical)]
    for library, dtype in found:
        assert labels_of_type(series(library, ["a"], dtype)) is None
        assert as_codes(series(library, ["a"], dtype), LABELS, "x").tolist() == [1]
    assert labels_of_type(series("polars", ["a"])) is None


# --- Values of the same meaning that are stored in another way --------------------------------------------------------


@each("kind, unit", [*product("Mm", ("D", "us", "ns")), ("M", "M")])
def test_dates_of_another_byte_order_are_the_same(kind, unit):
    dates = np.array([0, 1, -3, np.iinfo(np.int64).min, 600], dtype=f"{kind}8[{unit}]")
    swapped = dates.astype(f">{kind}8[{unit}]")
    of = (DATES if kind == "M" else DURATIONS,)
    np.testing.assert_array_equal(as_numbers(swapped, of, "x"), as_numbers(dates, of, "x"))
    np.testing.assert_array_equal(seconds(swapped[:3]), seconds(dates[:3]))
    complete = [open_column(array[[0, 1, 2, 4]]).read("x") for array in (dates, swapped)]
    assert reading.exact_labels(complete[0]) == reading.exact_labels(complete[1])


TIMES = {
    "time64": lambda counts: pyarrow.array(counts, type=pyarrow.time64("ns")),
    "chunks": lambda counts: pyarrow.chunked_array([counts[:2], counts[2:]], type=pyarrow.time64("ns")),
    "dictionary": lambda counts: pyarrow.array(counts, type=pyarrow.time64("ns")).dictionary_encode(),
    "of pandas": lambda counts: pandas.Series(counts, dtype=pandas.ArrowDtype(pyarrow.time64("ns"))),
    "of polars": lambda counts: polars.Series(counts).cast(polars.Time),
}


@each("make", TIMES.values())
def test_people_with_times_as_labels_are_told_apart_by_nanoseconds(make):
    assert read_people(make([1, 2, 3, 4, 1]), 1, 5).n_groups == 4
    with pytest.raises(ValueError, match="groups must have a label for each row"):
        read_people(make([1, None, 3, 4, 1]), 1, 5)
