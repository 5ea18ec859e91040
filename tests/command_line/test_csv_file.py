"""A CSV has no types: they come from the codebook. Each record is read independently; no error quotes a value."""

import csv
import datetime
import random
import struct

import pyarrow
import pytest

from skdpmic.codebook.codebook import entry_of
from skdpmic.command_line import reading
from skdpmic.command_line.data import CsvFile
from skdpmic.command_line.reading import FALSE, MISSING, TRUE
from tests._utils.test_canary import assert_says_nothing
from tests.folding import each

DAYS = [datetime.date(2000, 1, 1), datetime.date(2030, 1, 1)]
ENTRIES = {
    "number": entry_of((0, 100), ""),
    "date": entry_of({"type": "date", "range": DAYS}, ""),
    "duration": entry_of({"type": "duration", "range": [0, 9], "unit": "minutes"}, ""),
    "labels": entry_of(["a", "NA", "b c"], ""),
    "numbered": entry_of([1, 2, 3], ""),
    "boolean": entry_of("boolean", ""),
    "person": None,
}
TYPES = {
    "number": pyarrow.float64(),
    "date": pyarrow.timestamp("us"),
    "duration": pyarrow.duration("us"),
    "labels": pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    "numbered": pyarrow.float64(),
    "boolean": pyarrow.bool_(),
    "person": pyarrow.string(),
}
SPELLINGS = {
    "number": ["1", "007", " 2.5 ", "-1e3", "+4", "nan", "9" * 40],
    "date": ["2020-02-29", "9999-12-31", "2020-01-01 10:30", "2020-01-01T10:30:01.123456789", "2020-01-01 10:30:00+02"],
    "duration": ["1", "0.5", "-3", "1e6"],
    "labels": ["a", "NA", "b c", "other, with a comma", 'with "quotes"', "7", " a"],
    "numbered": ["1", "2.0", "9"],
    "boolean": [*TRUE, *FALSE, "Yes", "FALSE"],
    "person": ["001", "1", "x", "2020-01-01"],
}
WRONG = {
    "number": ["abc", "1,5", "1 000", "0x10", "12%", "2020-01-01"],
    "date": ["31.12.2020", "2020-13-01", "yesterday", "5", "2020-01-01 25:00"],
    "duration": ["1 h", "00:05:00", "inf", "1e300"],
    "numbered": ["one"],
    "boolean": ["maybe", "2", "si"],
}


def read(path, records, names=tuple(ENTRIES), **options):
    write(path, records, names)
    return CsvFile(str(path), **options).read({name: ENTRIES[name] for name in names})


def in_full(table):
    """A table whose texts are not codes, which depend on the order of the records."""
    columns = [
        column.cast(pyarrow.string()) if name == "labels" else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pyarrow.table(columns, table.column_names)


def write(path, records, names):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(names)
        csv.writer(file).writerows(records)


def random_record(rng, wrong=()):
    """A record of odd but valid spellings."""
    return [rng.choice([*SPELLINGS[name], *MISSING, "NULL", " Na "]) for name in ENTRIES]


def test_every_record_is_read_as_if_it_were_alone(tmp_path):
    rng = random.Random(0)
    records = [random_record(rng) for _ in range(60)]
    whole = read(tmp_path / "whole.csv", records)
    alone = pyarrow.concat_tables([read(tmp_path / "one.csv", [record]) for record in records])
    assert in_full(whole).equals(in_full(alone))
    assert dict(zip(whole.schema.names, whole.schema.types, strict=True)) == TYPES


NUMERALS = [
    *(
        "nan",
        " nan ",
        "-nan",
        "nan(1)",
        "inf",
        "-Infinity",
        "1_000",
        "0x1p3",
        "1e400",
        "1e-400",
        "-0",
        ".5",
        "5.",
        "+7",
    ),
    *("1d3", "1,5", "1.5", "1.2.3", "1e", "e5", "+-1", "--1", "9007199254740993", "4.9e-324", "1.7976931348623159e308"),
    *(
        "\t7",
        "7\u00a0",
        "\u20037",
        "\u0661",
        "\uff11",
        "\x007",
        "7\x0b",
        "\u200b5",
        "\ufeff6",
        "12%",
        "1 000",
        "true",
        "-",
    ),
    *(" NA ", "nA", "#n/A", "NULL", " . ", "..", "  ", "None", "1" * 400, "0" * 400 + "1", "0." + "0" * 400 + "1"),
]


def numeral(rng):
    """A random text that may be a number, or nearly."""
    if rng.random() < 0.5:
        return rng.choice(NUMERALS)
    number = struct.unpack("d", rng.randbytes(8))[0]
    text = rng.choice(
        [repr(number), f"{number:.{rng.randrange(9)}e}", "".join(rng.choices("0123456789.,eE+-naif \t", k=5))]
    )
    return rng.choice(["", " ", "+"]) + text + rng.choice(["", " ", "0"])


def outcome(path, decimal):
    """The floats of a column as integers, None if missing; or the error."""
    try:
        numbers = CsvFile(str(path), "|", decimal).read({"number": ENTRIES["number"]})["number"].to_pylist()
    except ValueError as error:
        return str(error)
    return [None if number is None or number != number else struct.pack("d", number) for number in numbers]


def test_numbers_are_read_as_if_each_were_first_read_as_text(tmp_path, monkeypatch):
    """pyarrow converts them faster by itself, and the same, or else they are read again as text."""
    rng, found = random.Random(0), []
    for _ in range(1500):
        texts = [numeral(rng) if rng.random() < 0.5 else rng.choice(["1", "2.5", ""]) for _ in range(rng.randint(1, 4))]
        with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter="|", quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])).writerows(
                [["number", "b"], *([text, "b"] for text in texts)]
            )
        decimal = rng.choice([".", ",", "5"])
        fast = outcome(tmp_path / "t.csv", decimal)
        with monkeypatch.context() as patched:
            patched.setattr(reading, "_NUMBER", pyarrow.string())
            assert outcome(tmp_path / "t.csv", decimal) == fast, texts
        found.append(isinstance(fast, str))
    assert 300 < sum(found) < 1200  # both kinds occur


def test_each_spelling_is_read_as_its_value(tmp_path):
    records = [
        ["2.5", "2020-01-01T10:30:00.5+02:00", "1.5", "NA", "2.0", "Yes", "001"],
        ["NaN", "n/a", "", " ", ".", "#N/A", "x"],
        ["-1e3", "2020-02-29", "0", "na", "9", "F", "NULL"],
    ]
    assert read(tmp_path / "t.csv", records).to_pydict() == {
        "number": [2.5, None, -1000.0],
        "date": [datetime.datetime(2020, 1, 1, 8, 30, 0, 500_000), None, datetime.datetime(2020, 2, 29)],
        "duration": [datetime.timedelta(seconds=90), None, datetime.timedelta(0)],
        "labels": ["NA", None, None],  # a label, although it is spelled like a missing value
        "numbered": [2.0, None, 9.0],
        "boolean": [True, None, False],
        "person": ["001", "x", None],
    }


def test_labels_that_floats_cannot_tell_apart_are_text(tmp_path):
    write(tmp_path / "t.csv", [["1"]], ["code"])
    for label in (2**53, 2**53 + 1):
        source, entries = CsvFile(str(tmp_path / "t.csv")), {"code": entry_of([1, label], "")}
        if label == 2**53:
            assert source.read(entries)["code"].to_pylist() == [1.0]
        else:
            with pytest.raises(ValueError, match=r"the labels of column 'code' of t.csv must be text above 2\*\*53"):
                source.read(entries)


@each("name, value", [(name, value) for name, values in WRONG.items() for value in values])
def test_a_value_that_cannot_be_read_is_an_error_that_names_only_the_column(name, value, tmp_path_factory):
    record = dict.fromkeys(ENTRIES, "") | {name: value}
    with pytest.raises(ValueError, match=f"^column '{name}' of t.csv must hold .*, got at least one other value"):
        read(tmp_path_factory.mktemp("t") / "t.csv", [[""] * len(ENTRIES), list(record.values())])


def assert_refused(folder, text, match, names=("number", "labels"), **options):
    (folder / "t.csv").write_bytes(text)
    with pytest.raises(ValueError, match=match) as caught:
        CsvFile(str(folder / "t.csv"), **options).read({name: ENTRIES[name] for name in names})
    assert_says_nothing(caught.value)


BROKEN = {
    b'number,labels\n1,a\n2,"8675309\n3,"a\n4,a\n': "one record per line",
    b'number,labels\n1,a\n2,"8675309\n3,a\n4,a\n': "one record per line",
    b'number,labels\n1,a\n2,"8675309\n3"\r4,a\n5,a\n': "must have 2 values|one record per line",
    b"number,labels\n1,a\n2,b,8675309\n": "Every line must have 2 values",
    b"number,labels\n1,a\n8675309\n": "Every line must have 2 values",
    b"number,labels\n1,8675309\xff\n": "t.csv could not be read",
    b"number,labels\n1,a\n2,b,8675309\xff\n": "Every line must have 2 values",
    b"number,number\n1,2\n": "distinct column names",
    b"number;labels\n1;a\n": "pass --delimiter ';'",
    b"number\tlabels\n1\ta\n": "pass --delimiter tab",
    b"": "column names in the first line",
    b'"number,labels\n1,a\n': "column names in the first line",
    b"number,l\xe4bels\n1,a\n": "in UTF-8",
}


@each("text", BROKEN)
def test_the_error_for_a_broken_file_quotes_no_values(text, tmp_path, capfd):
    assert_refused(tmp_path, text, BROKEN[text])
    assert capfd.readouterr() == ("", "")


@each("names", [("number", "labels"), ("number",)])
@each("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_wherever_blocks_of_bytes_end(end, names, tmp_path_factory, monkeypatch):
    path, rng = tmp_path_factory.mktemp("t") / "t.csv", random.Random(0)
    for _ in range(30):
        gaps = [end * rng.choice([1, 1, 2, 3]) for _ in range(rng.randint(5, 40))]
        path.write_bytes(
            ",".join(names).encode() + "".join(f"{gap}{'1,a' if names[1:] else 1}" for gap in gaps).encode()
        )
        with open(path, "a", newline="") as file:
            file.write(end * rng.randrange(4))
        monkeypatch.setattr(reading, "_BLOCK", rng.randint(60, 70))
        table = CsvFile(str(path)).read({name: ENTRIES[name] for name in names})
        lines = path.read_text().split("\n")  # with line breaks of all kinds
        n_empty = sum(not line for line in lines[:-1]) if names[1:] else 0
        assert table.num_rows == len(lines) - n_empty - 1 - (not lines[-1])


def test_line_breaks_in_quotes_are_read_if_allowed(tmp_path):
    text = b'number,labels,note\n1,a,"two\nlines"\n2,"b c",\n'
    assert_refused(tmp_path, text, "--line-breaks")
    entries = {name: ENTRIES[name] for name in ("number", "labels")}
    table = CsvFile(str(tmp_path / "t.csv"), has_line_breaks=True).read(entries)
    assert table.to_pydict() == {"number": [1.0, 2.0], "labels": ["a", "b c"]}


def test_blank_lines_are_not_records_except_in_a_table_of_one_column(tmp_path):
    (tmp_path / "t.csv").write_text("number,labels\n\n1,a\n\n")
    entries = {name: ENTRIES[name] for name in ("number", "labels")}
    assert CsvFile(str(tmp_path / "t.csv")).read(entries).num_rows == 1
    (tmp_path / "t.csv").write_text("number\n\n1\n\n")
    table = CsvFile(str(tmp_path / "t.csv")).read({"number": ENTRIES["number"]})
    assert table.to_pydict() == {"number": [None, 1.0, None]}


def test_a_file_with_semicolons_and_decimal_commas_is_read(tmp_path):
    (tmp_path / "t.csv").write_bytes("\ufeffnumber;labels\r\n1,5;b c\r\n-2;a\r\n".encode())
    entries = {name: ENTRIES[name] for name in ("number", "labels")}
    table = CsvFile(str(tmp_path / "t.csv"), ";", ",").read(entries)
    assert table.to_pydict() == {"number": [1.5, -2.0], "labels": ["b c", "a"]}
    assert_refused(tmp_path, b"number;labels\n1.000;a\n", "decimal point ','", delimiter=";", decimal=",")


def test_a_file_of_several_blocks_is_read_in_full(tmp_path):
    records = [[str(i), 'a, "b"' * (i % 50)] for i in range(30_000)]
    table = read(tmp_path / "t.csv", records, ("number", "labels"))
    assert (tmp_path / "t.csv").stat().st_size > 4 << 20
    assert table["number"].to_pylist() == [float(i) for i, _ in records]
    assert [text or "" for text in table["labels"].to_pylist()] == [text for _, text in records]


def test_only_columns_with_an_entry_are_read(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"number,free,labels\n1,\xff\xfe,a\n")
    entries = {name: ENTRIES[name] for name in ("number", "labels")}
    assert CsvFile(str(tmp_path / "t.csv")).read(entries).column_names == ["number", "labels"]
