"""A Parquet file declares its types; only the requested columns are read."""

import datetime

import pyarrow
import pyarrow.parquet
import pytest

from skdpmic.codebook.codebook import entry_of
from skdpmic.command_line.data import ParquetFile
from tests._utils.test_canary import SECRET, assert_says_nothing

WEEKS = entry_of({"type": "duration", "range": [0, 9], "unit": "weeks"}, "")


def read(path, **entries):
    return ParquetFile(str(path)).read(entries)


def test_only_the_columns_with_an_entry_are_read_in_the_order_of_the_file(tmp_path):
    table = pyarrow.table({"a.b": [1, 2], "a": ["x", None], "c": [[1], [2]]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert ParquetFile(str(tmp_path / "t.parquet")).outline.equals(table.schema)
    assert read(tmp_path / "t.parquet", a=None).equals(table.select(["a"]))
    assert read(tmp_path / "t.parquet", **{"a": None, "a.b": entry_of((0, 9), "")}).equals(table.select(["a.b", "a"]))


def test_labels_are_read_as_codes_of_the_same_texts(tmp_path):
    texts = ["b", None, "a", "NA", "", "b", "ä"] * 100
    pyarrow.parquet.write_table(pyarrow.table({"label": texts, "id": texts}), tmp_path / "t.parquet", row_group_size=60)
    found = read(tmp_path / "t.parquet", label=entry_of(["a", "b"], ""), id=None)
    assert pyarrow.types.is_dictionary(found["label"].type)
    assert found["label"].to_pylist() == found["id"].to_pylist() == texts


def test_numbers_with_a_unit_become_durations_and_durations_are_unchanged(tmp_path):
    lasts = [datetime.timedelta(days=7), None]
    table = pyarrow.table({"whole": [1, None], "part": [0.5, float("nan")], "lasts": pyarrow.array(lasts)})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet", whole=WEEKS, part=WEEKS, lasts=WEEKS).to_pydict()
    assert found == {"whole": lasts, "part": [datetime.timedelta(days=3.5), None], "lasts": lasts}


def test_a_duration_out_of_range_is_an_error_that_names_the_column(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"whole": [float(f"{SECRET}e20")]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'whole' of t.parquet must hold numbers of weeks") as caught:
        read(tmp_path / "t.parquet", whole=WEEKS)
    assert_says_nothing(caught.value)


def test_a_file_that_is_not_parquet_is_an_error(tmp_path):
    (tmp_path / "t.parquet").write_text(SECRET)
    with pytest.raises(ValueError, match=r"t.parquet could not be read") as caught:
        ParquetFile(str(tmp_path / "t.parquet"))
    assert_says_nothing(caught.value)
    with pytest.raises(FileNotFoundError):
        ParquetFile(str(tmp_path / "none.parquet"))
