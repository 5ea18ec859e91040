"""A file from others is refused in a time that grows no faster than its size: what repeats in it is drawn at random."""

import contextlib
import hashlib
import random
import time

import pyarrow
import pytest

from skdpmic import Codebook
from skdpmic.command_line.data import CsvFile
from skdpmic.command_line.reading import read_frame
from skdpmic.counting import RangeGridSketch
from skdpmic.counting.sketch import _NAME, _VERSION
from skdpmic.two_party.reports import open_reports

pytestmark = pytest.mark.filterwarnings("ignore:columns that the codebook does not describe:UserWarning")
N = 1000
GROWTH, NOISE = 10, 0.05  # for four times the size: time that grows with the square takes 16 times as long; seconds
TOML = [
    *"'\"#\n\\a.=[]{},1-_",
    *['"""', "'''", "a{i}", "1.5", "0x", "2020-01-01"],
    "\r\n",
    "[a{i}]\n",
    "[[a]]\n",
    "a{i}=1\n",
]
COLUMNS = ['"a{i}"={range=[0,1]}\n', '"a{i}*"={}\n', "a{i}.labels=['a']\n", "a={b{i}=1}\n", "[columns.a{i}]\n"]
CSV = [*',"a;\n\r\t\0 é\ufeff', "a{i}", "a{i},", "1,1\n", "x,1\n"]
JSON = [*"[]{},1", '"a":', '"a{i}":', '"a{i}",', "1,", "[1],", '["Range",0,1],', '"\\n', "\\u00e9", "null,", "1e9"]
VERSION = "version = 1\n"
BEGINS_OF_TOML = ["", "a = ", VERSION, f"{VERSION}[columns]\n", "[columns.x]\nlabels = [", "a = '''", "groups = ["]


def repeated(begin, piece, n):
    return begin + "".join(piece.replace("{i}", str(i)) for i in range(n))


def read_codebook(text, folder):
    Codebook.parse(text)


def read_csv(text, folder):
    (folder / "t.csv").write_bytes(text.encode())
    codebook = Codebook({"age": (0, 1), "y": [0, 1], "p*": (0, 1)})
    read_frame(CsvFile(str(folder / "t.csv")), codebook, ["age"], "y")


def read_sketch(text, folder):
    content = _NAME + _VERSION + b"\n" + text.encode() + b"\n"
    RangeGridSketch.from_bytes(content + hashlib.sha256(content).digest())


def read_reports(text, folder):
    open_reports(pyarrow.table({"a": [1]}).replace_schema_metadata({"skdpmic.reports": text}))


READERS = {
    read_codebook: (BEGINS_OF_TOML, TOML + COLUMNS),
    read_csv: (["", "age,y\n", "age,y\n1,1\n", '"'], CSV),
    read_sketch: (["", "[", '{"parts":[', '{"names":[', '{"domains":['], JSON),
    read_reports: (["", "[", '{"columns":[', '{"version":'], JSON),
}


def seconds(read, text, folder):
    begun = time.process_time()
    with contextlib.suppress(ValueError):
        read(text, folder)
    return time.process_time() - begun


def growth(read, begin, piece, folder):
    """The least time for a text and one four times as long, of three each unless it is clear at once."""
    for times in (1, 3):
        small, large = (min(seconds(read, repeated(begin, piece, n), folder) for _ in range(times)) for n in (N, 4 * N))
        if large <= GROWTH * small + NOISE:
            break
    return small, large


@pytest.mark.parametrize("n_drawn", [15, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("read", READERS)
def test_whatever_is_repeated_in_a_file_takes_time_in_proportion(read, n_drawn, tmp_path):
    rng, (begins, pieces) = random.Random(0), READERS[read]
    seconds(read, "", tmp_path)  # imports
    for _ in range(n_drawn):
        begin, piece = rng.choice(begins), "".join(rng.choices(pieces, k=rng.randint(1, 4)))
        small, large = growth(read, begin, piece, tmp_path)
        assert large <= GROWTH * small + NOISE, (begin, piece)


def test_no_more_of_the_first_line_is_read_than_names_may_take(tmp_path):
    for content in (repeated("age", ",a{i}", 700_000), "a" * 2**23):
        (tmp_path / "t.csv").write_text(content)
        with pytest.raises(ValueError, match=r"in the first line, at most 4 MiB of them, got another: "):
            CsvFile(str(tmp_path / "t.csv"))


def test_a_codebook_compares_names_with_a_limited_number_of_patterns_and_people_with_few_columns():
    with pytest.raises(ValueError, match="columns must have at most 1000 patterns, got 1001"):
        Codebook({f"a{i}*": (0, 1) for i in range(1001)})
    with pytest.raises(ValueError, match="groups must be a column name or a list of at most 16 distinct names"):
        Codebook({"age": (0, 1)}, groups=[f"a{i}" for i in range(17)])
