"""A file of reports states its sizes before anything is decompressed, and these sizes are limited."""

import os
import random

import numpy as np
import pytest

from skdpmic.two_party import TwoPartyScorer
from skdpmic.two_party.reports import open_reports
from tests.folding import each
from tests.two_party.test_reports import reports_table

pyarrow = pytest.importorskip("pyarrow", reason="reports are tables of Arrow")


def write(table, path, compression="zstd", rows=None):
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pyarrow.ipc.new_file(path, table.schema, options=options) as file:
        file.write_table(table, rows)
    return path


@each("compression", [None, "lz4", "zstd"])
@each("rows", [None, 7])
@each("kind", [pyarrow.uint8(), pyarrow.int64()])
def test_intact_files_are_read_whatever_their_compression_and_batches(compression, rows, kind, tmp_path):
    values = [i % 5 for i in range(60)]
    with open_reports(write(reports_table(values, kind), tmp_path / "reports", compression, rows)) as opened:
        assert opened.n_samples == 60
        assert opened.read().parts[0].tolist() == values


def test_records_are_counted_without_memory_for_them(tmp_path):
    """The file has a thousandth of their size."""
    usual, apart = pyarrow.default_memory_pool(), pyarrow.system_memory_pool()
    if usual.backend_name == apart.backend_name:
        pytest.skip("one allocator only")
    pyarrow.set_memory_pool(apart)
    try:
        path = write(reports_table(np.zeros(2**25, dtype=np.uint8)), tmp_path / "reports")
    finally:
        pyarrow.set_memory_pool(usual)
    assert os.path.getsize(path) < 2**15
    before = usual.max_memory()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TwoPartyScorer().fit(path, np.arange(4))
    assert usual.max_memory() - before < 2**22


@each("stated", [2**40, 2**31, 60_000, -2])
def test_a_file_that_states_more_memory_than_its_records_take_is_refused_before_allocation(stated, tmp_path):
    path = write(reports_table([1] * 1009, pyarrow.int64()), tmp_path / "reports")
    true, false = ((n).to_bytes(8, "little", signed=True) for n in (8 * 1009, stated))
    path.write_bytes(path.read_bytes().replace(true, false))
    with pytest.raises(ValueError, match=r"records of 1 columns that would take|no buffer of negative size"):
        TwoPartyScorer().fit(path, np.arange(1009))


def test_a_dictionary_is_refused(tmp_path):
    table = reports_table([0, 1, 2, 3])
    coded = table.set_column(0, "x", table.column(0).dictionary_encode())
    with pytest.raises(ValueError, match="must be integers, got dictionary"):
        TwoPartyScorer().fit(write(coded, tmp_path / "reports"), np.arange(4))


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX")
def test_anything_but_a_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "reports")
    with pytest.raises(OSError, match="must be a regular file, got a pipe"):
        TwoPartyScorer().fit(tmp_path / "reports", np.arange(4))


@pytest.mark.parametrize("n, seed", [(60, 0), pytest.param(600, 1, marks=pytest.mark.slow)])
def test_damaged_files_are_refused_with_a_value_error(n, seed, tmp_path):
    rng, n_refused = random.Random(seed), 0
    table = reports_table([i % 5 for i in range(60)])
    whole = write(table, tmp_path / "whole", rows=30).read_bytes()
    for _ in range(n):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        (tmp_path / "damaged").write_bytes(content[: rng.choice([len(content), rng.randrange(len(content))])])
        try:
            with open_reports(tmp_path / "damaged") as opened:
                opened.read()
        except ValueError:
            n_refused += 1
    assert n / 3 < n_refused < n
