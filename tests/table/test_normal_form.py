"""The normal form of a column, from every library: the values of an oracle that looks at one value after the other."""

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpmic import DPMICScorer, PublicEncoder, private_score
from skdpmic.codebook.column import labels_of_people
from skdpmic.counting import count_stream
from skdpmic.statistics.mic.many_pairs import mic_pairs
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS
from skdpmic.table.normal_form.containers import as_frame, open_column
from skdpmic.table.normal_form.form import OBJECTS, OTHER, TEXT
from skdpmic.table.people import read_people
from skdpmic.table.targets import make_target
from skdpmic.table.values import as_codes, as_numbers
from tests.folding import each

if not hasattr(pl, "Int128"):
    pytest.skip("this version of Polars does not have all of its types yet", allow_module_level=True)

pa = pytest.importorskip("pyarrow")
DAY = datetime.date(2020, 1, 1)
SEEN = datetime.datetime(2020, 1, 1, 1, 2, 3, 4)
STAY = datetime.timedelta(days=2, microseconds=7)
VALUES = {
    NUMBERS: [3.0, None, 9.0, 3.0, None],
    TEXT: ["b", None, "a", "b", None],
    DATES: [DAY, None, datetime.date(1900, 1, 1), DAY, None],
    DURATIONS: [STAY, None, -STAY, STAY, None],
}


def rows_of(column):
    """The twin: one value after the other, as Python objects; None for those that are missing."""
    places = range(column.n_samples) if column.places is None else column.places
    values = column.values.tolist()
    return [None if missing else values[place] for place, missing in zip(places, column.missing, strict=True)]


def read(native):
    return open_column(native).read("x")


def encoded(values, dtype=None, index="int8", inside=False):
    """A dictionary, in chunks of different entries, in which missing values may be entries; one is never used."""
    chunks = []
    for part in (values[:2], values[2:]):
        entries = [*dict.fromkeys(value for value in part if value is not None), *([None] if inside else []), part[0]]
        codes = [entries.index(value) if inside or value is not None else None for value in part]
        entries = pa.array(entries if part[0] is not None or inside else entries[:-1], dtype)
        chunks.append(pa.DictionaryArray.from_arrays(pa.array(codes, pa.type_for_alias(index)), entries))
    return pa.chunked_array(chunks)


def run_ends(values):
    return pa.chunked_array([pa.RunEndEncodedArray.from_arrays([1, 2, 3, 4, 5], pa.array(values))])


def in_pandas(array):
    return pd.Series(array, dtype=pd.ArrowDtype(array.type))


def sparse(values):
    return pd.Series(pd.arrays.SparseArray([math.nan if value is None else value for value in values]))


BOXES = np.array([3.0, pa.scalar(None), pa.scalar(9.0), None, None], dtype=object)
BOXES[3] = np.array(3.0)
ZERO_BY_ZERO = pd.Series(pd.array([3, 0, 9, 3, None], dtype="Float64")) / pd.Series([1, 0, 1, 1, 1], dtype="Float64")
LAST_MISSING = pa.array(VALUES[TEXT][:4]), pa.array([None], pa.string())
EVERY = {
    **{f"dictionary of {kind}": (kind, encoded(values)) for kind, values in VALUES.items()},
    **{f"dictionary of {kind} and null": (kind, encoded(values, inside=True)) for kind, values in VALUES.items()},
    **{f"{kind} in pandas": (kind, in_pandas(encoded(values))) for kind, values in VALUES.items()},
    **{f"Categorical of {kind}": (kind, in_pandas(pa.array(v)).astype("category")) for kind, v in VALUES.items()},
    **{f"run ends of {kind}": (kind, run_ends(values)) for kind, values in VALUES.items()},
    **{f"{kind} of Polars": (kind, pl.Series(values)) for kind, values in VALUES.items()},
    "a chunk without values": (TEXT, pa.chunked_array([part.dictionary_encode() for part in LAST_MISSING])),
    "index of 64 bits": (NUMBERS, encoded(VALUES[NUMBERS], index="uint64")),
    "Categorical of nullable numbers": (NUMBERS, pd.Series(pd.Categorical(pd.array(VALUES[NUMBERS], dtype="Float64")))),
    "Categorical of objects": (OBJECTS, pd.Series(pd.Categorical(VALUES[TEXT], ["a", 3, "b"]))),
    "NaN beside NA": (NUMBERS, ZERO_BY_ZERO),
    "sparse with NaN": (NUMBERS, sparse(VALUES[NUMBERS])),
    "half": (NUMBERS, pa.chunked_array([pa.array(VALUES[NUMBERS], pa.float16())])),
    "views": (TEXT, pa.chunked_array([pa.array(VALUES[TEXT], pa.string_view())])),
    "Categorical of Polars": (TEXT, pl.Series(VALUES[TEXT], dtype=pl.Categorical)),
    "text of numpy": (TEXT, pd.Series(VALUES[TEXT], dtype=pd.StringDtype("python"))),
    "scalars in boxes": (OBJECTS, BOXES),
}  # fmt: skip


@each("name", EVERY)
def test_every_library_gives_the_values_one_by_one_and_which_are_missing(name):
    kind, native = EVERY[name]
    column = read(native)
    assert open_column(native).kind == column.kind == kind
    expected = VALUES[kind] if kind in VALUES else VALUES[NUMBERS if name == "scalars in boxes" else TEXT]
    found = [value.date() if isinstance(value, datetime.datetime) else value for value in rows_of(column)]
    assert found == expected
    ones = column.each(lambda values: np.ones(len(values)), 0)
    assert ones.tolist() == [value is not None for value in expected]
    if column.places is not None and column.values.dtype == object:
        assert set(column.places[~column.missing].tolist()) == set(range(len(column.values)))


@each("dtype", [pl.Time, pl.List(pl.Int8), pl.Struct({"a": pl.Int8}), pl.Null, pl.Binary])
def test_other_types_have_no_kind_and_are_refused_unless_they_are_empty(dtype):
    assert open_column(pl.Series([None, None], dtype=dtype)).kind in (OTHER, "bytes")
    assert as_codes(read(pl.Series([None] * 3, dtype=dtype)), ("a", "b"), "x").tolist() == [3] * 3
    for native in (pd.Series(pd.period_range("2020", periods=4, freq="M")), pd.Series(pd.interval_range(0, 4))):
        with pytest.raises(ValueError, match="must hold numbers, all of one kind"):
            as_numbers(read(native), (NUMBERS, OBJECTS), "x")


@each("sentinel", [None, math.nan, pd.NA])
def test_text_of_variable_width_says_for_itself_what_is_missing(sentinel):
    array = np.array(["a", sentinel, "b"], dtype=np.dtypes.StringDType(na_object=sentinel))
    assert rows_of(read(array)) == ["a", None, "b"]


def test_the_least_integer_is_a_date_where_a_mask_tells_what_is_missing():
    least = [-(2**63), None, 5, 6]
    for native in (
        pa.chunked_array([pa.array(least).cast(pa.timestamp("us"))]),
        pl.Series(least).cast(pl.Datetime("us")),
    ):
        seconds = as_numbers(read(native), (DATES,), "x")
        assert np.isnan(seconds).tolist() == [False, True, False, False]
        assert seconds[0] == -(2.0**63) / 1e6
    days = pa.chunked_array([pa.array([2**31 - 1, None], pa.int32()).cast(pa.date32())])
    assert as_numbers(read(days), (DATES,), "x")[0] == (2**31 - 1) * 86_400


# --- One record of a dictionary changes no other ---------------------------------------------------------------------


def table_of(value, layout="dictionary", n=200):
    x = [value] + [3.0 if i % 2 == 0 else None for i in range(1, n)]
    if layout == "dictionary":
        return pa.table({"x": pa.array(x).dictionary_encode()})
    return pd.DataFrame({"x": pd.Series(x, dtype=pd.ArrowDtype(pa.float64())).astype("category")})


Y = [i % 2 for i in range(200)]
EXACT = {"statistic": "mtv_r", "epsilon": math.inf, "classes": [0, 1], "target_shares": [0.5, 0.5]}


@each("layout", ["dictionary", "pandas"])
@pytest.mark.parametrize(
    "public", [{"bounds": {"x": (0, 10)}}, {"categories": {"x": [3, 7]}}], ids=["bounds", "labels"]
)
def test_missing_values_of_a_dictionary_are_no_entry_of_it(public, layout):
    for value in (3.0, 9.0):
        table = table_of(value, layout)
        scorer = DPMICScorer(**EXACT, **public)
        assert scorer.fit(table, Y).scores_[0] == pytest.approx(1, abs=0.03)
        empty = scorer.empty_sketch(200, feature_names=["x"])
        named = table.append_column("y", [Y]) if layout == "dictionary" else table.assign(y=Y)
        assert scorer.fit_sketch(count_stream(empty, named, target="y")).scores_[0] == pytest.approx(1, abs=0.03)
        missing = PublicEncoder(encoding="ordinal", **public).fit(table).transform(table)["x_missing"]
        assert np.asarray(missing).tolist() == [0, *(i % 2 for i in range(1, 200))]


def test_functions_of_pairs_refuse_missing_values_of_a_dictionary():
    x = table_of(9.0)["x"]
    with pytest.raises(ValueError, match="x must be finite, got NaN or infinity"):
        private_score(x, np.arange(200.0), epsilon=1, bounds=((0, 9), (0, 200)))
    with pytest.raises(ValueError, match="column 0 of X must be finite"):
        mic_pairs(pa.table({"x": x, "y": pa.array(range(200))}))


def test_batches_of_other_dictionaries_are_counted_apart():
    frames = [pd.DataFrame({"x": pd.Categorical(x), "y": [0, 1] * 2}) for x in ([2**53 + 1, None] * 2, [0.5, None] * 2)]
    sketch = DPMICScorer(classes=[0, 1], bounds={"x": (0, 1)}, B=8).empty_sketch(8, feature_names=["x"])
    assert count_stream(sketch, frames, target="y").n_samples == 8
    tables = [pa.table({"x": pa.array(x).dictionary_encode(), "y": [0, 1]}) for x in ([1, None], [0.5, None])]
    assert count_stream(sketch, tables, target="y").n_samples == 4


# --- Labels are compared exactly --------------------------------------------------------------------------------------

LARGE = [10**20, 10**20 + 1, 10**20 + 2, 10**20 + 3, 10**20]
DECIMALS = [Decimal(value) / 100 for value in LARGE]
PEOPLE = {
    "decimals of Arrow": lambda: pa.array(DECIMALS, pa.decimal128(30, 2)),
    "large decimals of Arrow": lambda: pa.chunked_array([pa.array(DECIMALS, pa.decimal256(60, 2))]),
    "a dictionary of decimals": lambda: pa.array(DECIMALS, pa.decimal128(30, 2)).dictionary_encode(),
    "decimals of Polars": lambda: pl.Series(DECIMALS, dtype=pl.Decimal(30, 2)),
    "wide integers of Polars": lambda: pl.Series(LARGE, dtype=pl.Int128),
    "decimals of Arrow in pandas": lambda: pd.Series(DECIMALS, dtype=pd.ArrowDtype(pa.decimal128(30, 2))),
    "a Categorical of decimals": lambda: pd.Series(DECIMALS).astype("category"),
    "objects": lambda: pd.Series(LARGE, dtype=object),
    "a list": lambda: LARGE,
    "nullable integers": lambda: pd.Series([2**53 + value % 10 for value in LARGE], dtype="Int64"),
    "integers of Arrow": lambda: pa.array([2**63 + value % 10 for value in LARGE], pa.uint64()),
    "dates of one week": lambda: pa.array([2**60 + value % 10 for value in LARGE]).cast(pa.timestamp("ns")),
}


@each("name", PEOPLE)
def test_no_two_people_become_one_in_any_container(name):
    people = read_people(PEOPLE[name](), 1, 5)
    assert people.n_groups == 4
    assert people.persons[0] == people.persons[4]
    assert len(set(people.persons[:4].tolist())) == 4


def test_no_person_becomes_two():
    groups = [1, Decimal("1.0"), True, np.float32(1), np.array(1), pa.scalar(1), 2, 3, "1", -0.0, 0]
    persons = read_people(groups, 1, len(groups)).persons
    assert persons.tolist() == [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 4]


def test_people_of_several_columns_are_compared_exactly():
    table = pa.table({"a": pa.array(DECIMALS, pa.decimal128(30, 2)), "b": encoded(["x", "x", "x", "x", "x"])})
    assert read_people(labels_of_people(as_frame(table), ["a", "b"]), 1, 5).persons.tolist() == [0, 1, 2, 3, 0]
    with pytest.raises(ValueError, match=r"missing values in \['b'\]"):
        labels_of_people(as_frame(table.set_column(1, "b", encoded(["x", None, "x", "x", "x"]))), ["a", "b"])


def test_a_hugeint_of_duckdb_is_exact():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select (unnest([1, 2, 3, 4, 1])::hugeint + 100000000000000000000) as person")
    assert read_people(relation, 1, 5).n_groups == 4


CLASSES = [2**53, 2**53 + 2]


@each(
    "y",
    [
        [2**53, 2**53 + 1],
        np.array([2**53, 2**53 + 1]),
        pa.array([2**53, 2**53 + 1]),
        pl.Series([2**53, 2**53 + 1], dtype=pl.Int128),
        pa.array([Decimal(2**53), Decimal(2**53 + 1)], pa.decimal128(30, 2)),
        pd.Series([2**53, 2**53 + 1], dtype="UInt64"),
        pd.Series([2**53, 2**53 + 1]).astype("category"),
        np.array([2.0**53, math.inf]),
        np.array([True, False]),
        [Decimal(2**53), Decimal(2**53) + Decimal("0.001")],
    ],
)
def test_a_class_is_compared_exactly_in_every_container(y):
    with pytest.raises(ValueError, match="y must hold only labels that are in classes"):
        make_target(y, 2, None, CLASSES, "reader")


@each(
    "y", [[0, 1.0], np.array([0, 1], dtype=np.uint8), np.float16([0, 1]), pa.array([False, True]), [Decimal("0.0"), 1]]
)
def test_equal_numbers_are_one_class(y):
    assert make_target(y, 2, None, [1, 0, 3], "reader").values.tolist() == [0, 1]


def test_a_class_that_the_type_of_the_target_cannot_hold_is_not_in_it():
    assert make_target(np.uint8([44, 7]), 2, None, [300, 7, 44, -212, 0.5], "reader").values.tolist() == [3, 2]
