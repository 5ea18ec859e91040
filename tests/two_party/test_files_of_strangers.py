"""A file of reports states its sizes before anything is decompressed, and what it states is limited."""

import json
import os
import random

import numpy as np
import pytest

from skdpmic.two_party import TwoPartyScorer
from skdpmic.two_party.reports import open_reports
from tests.folding import each

pyarrow = pytest.importorskip("pyarrow", reason="reports are tables of Arrow")
parquet = pytest.importorskip("pyarrow.parquet")

DESCRIPTION = {
    "version": 1,
    "mechanism": "m-ary randomised response",
    "epsilon": 1.0,
    "columns_per_record": 1,
    "columns": [{"name": "x", "described": ["Range", 0.0, 1.0, "numbers"], "equal_parts": 4, "missing": True}],
}


def reports(values, kind=None):
    metadata = {b"skdpmic.reports": json.dumps(DESCRIPTION).encode()}
    return pyarrow.table({"x": pyarrow.array(values, type=kind)}).replace_schema_metadata(metadata)


def write(table, path, compression="zstd", rows=None):
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pyarrow.ipc.new_file(path, table.schema, options=options) as file:
        file.write_table(table, rows)
    return path


@each("compression", [None, "lz4", "zstd"])
@each("rows", [None, 7])
@each("kind", [pyarrow.uint8(), pyarrow.int64()])
def test_whole_files_are_read_however_they_are_compressed_and_cut(compression, rows, kind, tmp_path):
    values = [i % 5 for i in range(60)]
    with open_reports(write(reports(values, kind), tmp_path / "reports", compression, rows)) as opened:
        assert opened.n_samples == 60
        assert opened.read().parts[0].tolist() == values


def test_records_are_counted_without_memory_for_them(tmp_path):
    """In a file of a thousandth of their size."""
    usual, apart = pyarrow.default_memory_pool(), pyarrow.system_memory_pool()
    if usual.backend_name == apart.backend_name:
        pytest.skip("one allocator only")
    pyarrow.set_memory_pool(apart)
    try:
        path = write(reports(np.zeros(2**25, dtype=np.uint8)), tmp_path / "reports")
    finally:
        pyarrow.set_memory_pool(usual)
    assert os.path.getsize(path) < 2**15
    before = usual.max_memory()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TwoPartyScorer().fit(path, np.arange(4))
    assert usual.max_memory() - before < 2**22


@each("stated", [2**40, 2**31, 60_000, -2])
def test_more_memory_than_the_records_take_is_refused_before_it_is_taken(stated, tmp_path):
    path = write(reports([1] * 1009, pyarrow.int64()), tmp_path / "reports")
    true, false = ((n).to_bytes(8, "little", signed=True) for n in (8 * 1009, stated))
    path.write_bytes(path.read_bytes().replace(true, false))
    with pytest.raises(ValueError, match=r"records of 1 columns that would take|no buffer of negative size"):
        TwoPartyScorer().fit(path, np.arange(1009))


def test_a_dictionary_is_refused(tmp_path):
    table = reports([0, 1, 2, 3])
    coded = table.set_column(0, "x", table.column(0).dictionary_encode())
    with pytest.raises(ValueError, match="must be integers, got dictionary"):
        TwoPartyScorer().fit(write(coded, tmp_path / "reports"), np.arange(4))


def varint(number):
    """A number as Thrift writes it."""
    number, digits = 2 * number, b""
    while number > 127:
        number, digits = number >> 7, digits + bytes([number & 127 | 128])
    return digits + bytes([number])


@each("dictionary", [True, False])
@each("version", ["1.0", "2.0"])
@each("rows", [100, 20_000])
def test_whole_parquet_files_are_read_however_they_are_written(dictionary, version, rows, tmp_path):
    table = reports([i % 5 for i in range(20_000)], pyarrow.int64())
    how = {"use_dictionary": dictionary, "data_page_version": version, "row_group_size": rows, "compression": "gzip"}
    parquet.write_table(table, tmp_path / "reports", data_page_size=1000, **how)
    with open_reports(tmp_path / "reports") as opened:
        assert opened.n_samples == 20_000
        assert opened.read().parts[0].tolist() == table.column(0).to_pylist()


def test_a_page_of_parquet_that_states_more_than_its_records_take_is_refused(tmp_path):
    path = tmp_path / "reports"
    parquet.write_table(reports([i % 5 for i in range(20_000)], pyarrow.int64()), path, use_dictionary=False)
    column, content = parquet.ParquetFile(path).metadata.row_group(0).column(0), path.read_bytes()
    start, total = column.data_page_offset, column.total_uncompressed_size
    (size,) = [size for size in range(total - 99, total) if content.find(varint(size), start, start + 9) >= 0]
    path.write_bytes(content.replace(varint(size), varint(2**20 - 1), 1))  # of as many bytes
    with pytest.raises(ValueError, match="got 20000 records of 1 columns that would take 1048575 bytes"):
        TwoPartyScorer().fit(path, np.arange(20_000))


@pytest.mark.skipif(os.name == "nt", reason="of POSIX")
def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "reports")
    with pytest.raises(OSError, match="must be a regular file, got a pipe"):
        TwoPartyScorer().fit(tmp_path / "reports", np.arange(4))


def check_damaged(n, seed, tmp_path):
    rng, n_refused = random.Random(seed), 0
    table = reports([i % 5 for i in range(60)])
    parquet.write_table(table, tmp_path / "parquet", row_group_size=30)
    contents = [write(table, tmp_path / "arrow", rows=30).read_bytes(), (tmp_path / "parquet").read_bytes()]
    for _ in range(n):
        content = bytearray(rng.choice(contents))
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        (tmp_path / "damaged").write_bytes(content[: rng.choice([len(content), rng.randrange(len(content))])])
        try:
            with open_reports(tmp_path / "damaged") as opened:
                opened.read()
        except ValueError:
            n_refused += 1
    assert n / 3 < n_refused < n


def test_damaged_files_are_refused_in_words(tmp_path):
    check_damaged(60, 0, tmp_path)


@pytest.mark.slow
def test_many_damaged_files_are_refused_in_words(tmp_path):
    check_damaged(1000, 1, tmp_path)
