"""Bytes of a sketch, and its file, hold all of it and nothing to execute; damaged or made-up ones are refused."""

import contextlib
import datetime
import hashlib
import itertools
import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

from skdpmic import DPMICScorer
from skdpmic.counting import RangeGridSketch
from tests.counting.tables import bytes_of
from tests.folding import each

N, D = 300, 4
NUMBERS = {"bounds": (0, 1), "n_features": D, "target_bounds": (0, 1), "B": 12, "c": 2}
CLASSES = {"bounds": (0, 1), "n_features": D, "classes": ["low", "high"], "B": 8}
DAYS = (datetime.date(2020, 1, 1), datetime.date(2021, 1, 1))
MIXED = {
    "bounds": {"age": (0, 99), "born": DAYS, "income": (0, 1e6, "log"), "size": (0, 1, 5, 9)},
    "categories": {"town": ["A", "\u00c9\u4e2d"], "insured": [False, True], "grade": [3, 1, 2]},
    "target_bounds": (-1, 1, "log"),
    "B": 8,
}
KINDS = {
    "numbers": NUMBERS,
    "numbers with names": NUMBERS | {"feature_names": list("abcd")},
    "classes": CLASSES,
    "no correction": NUMBERS | {"correction": None},
    "noisy tables": NUMBERS | {"n_parts": 5, "c": None},
    "mtv_r": NUMBERS | {"statistic": "mtv_r"},
    "weights": NUMBERS | {"statistic": "mtv_r", "max_weight": 3},
    "mixed": MIXED,
}


def rows(kind):
    rng = np.random.default_rng(0)
    X, y = rng.random((N, D)), rng.random(N)
    return X, np.where(y > 0.5, "high", "low") if "classes" in kind else y


def counted(kind):
    sketch = RangeGridSketch(**kind)
    names = getattr(sketch, "feature_names_in_", None)
    if names is None:
        weights = None if sketch.max_weight is None else np.random.default_rng(1).exponential(1, N)
        return sketch.update(*rows(kind), sample_weight=weights)
    pandas = pytest.importorskip("pandas")
    if kind is not MIXED:
        return sketch.update(pandas.DataFrame(rows(kind)[0], columns=names), rows(kind)[1])
    columns = {
        "age": [5.0, np.nan, 120.0],
        "born": np.array(["2020-05-05", "NaT", "1999-01-01"], dtype="M8[s]"),
        "income": [-1.0, 10.0, 1e9],
        "size": [0.5, 4.0, 5.0],
        "town": ["A", None, "elsewhere"],
        "insured": [True, False, True],
        "grade": [1.0, np.nan, 7.0],
    }
    return sketch.update(pandas.DataFrame(columns), [0.5, -0.5, 3.0])


@pytest.fixture(scope="module")
def good():
    return counted(NUMBERS).to_bytes()


# --- What comes back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("as_type", [bytes, bytearray, memoryview])
@pytest.mark.combinations
def test_a_sketch_comes_back_as_it_was(kind, as_type):
    for sketch in (RangeGridSketch(**kind), counted(kind)):
        data = sketch.to_bytes()
        again = RangeGridSketch.from_bytes(as_type(data))
        assert again == sketch
        assert again.n_samples == sketch.n_samples
        assert again.to_bytes() == data
        assert again.merge(again.empty()) == sketch.merge(sketch.empty()) == sketch
        assert vars(again).keys() == vars(sketch).keys()


def test_what_comes_back_can_be_counted_into():
    X, y = rows(NUMBERS)
    half = RangeGridSketch(**NUMBERS).update(X[:100], y[:100])
    assert RangeGridSketch.from_bytes(half.to_bytes()).update(X[100:], y[100:]) == counted(NUMBERS)
    assert half == RangeGridSketch(**NUMBERS).update(X[:100], y[:100])


def test_bytes_do_not_depend_on_the_order_of_records_or_merges():
    X, y = rows(NUMBERS)
    here, there = (RangeGridSketch(**NUMBERS).update(X[part], y[part]) for part in (slice(0, 70), slice(70, N)))
    order = np.random.default_rng(1).permutation(N)
    shuffled = RangeGridSketch(**NUMBERS).update(X[order], y[order])
    assert here.merge(there).to_bytes() == there.merge(here).to_bytes()
    assert bytes_of(here.merge(there)) == bytes_of(shuffled)
    assert here.to_bytes() != there.to_bytes()


EQUAL = [
    (NUMBERS, NUMBERS | {"bounds": (-0.0, 1), "target_bounds": (-0.0, np.float32(1)), "B": 12.0}),
    (NUMBERS | {"bounds": (-1, 0, 1)}, NUMBERS | {"bounds": (-1, -0.0, 1)}),
    (CLASSES, CLASSES | {"classes": np.array(["high", "low"], dtype="U99")}),
    (CLASSES | {"classes": [0, 1]}, CLASSES | {"classes": np.array([1, 0], dtype=np.int8)}),
    (CLASSES | {"classes": [0.0, 0.5]}, CLASSES | {"classes": np.array([-0.0, 0.5], dtype=np.float32)}),
    (CLASSES | {"classes": np.array([0, 1], np.uint8)}, CLASSES | {"classes": np.array([0, 1], np.uint64)}),
    (
        NUMBERS | {"bounds": None, "categories": {j: [0, 1] for j in range(D)}},
        NUMBERS | {"bounds": None, "categories": {j: [-0.0, True] for j in range(D)}},
    ),
]


@pytest.mark.parametrize("here, there", EQUAL)
def test_equal_sketches_have_equal_bytes(here, there):
    here, there = RangeGridSketch(**here), RangeGridSketch(**there)
    assert here == there
    assert here.to_bytes() == there.to_bytes()
    assert RangeGridSketch.from_bytes(there.to_bytes()).to_bytes() == here.to_bytes()


@each("classes", [[0, 1], [False, True], [0.5, 1.5], ["a", "b"], [b"a", b"\xff"], [2**63, 2**64 - 1]])
def test_labels_of_any_type_come_back(classes):
    sketch = RangeGridSketch(**CLASSES | {"classes": classes})
    again = RangeGridSketch.from_bytes(sketch.to_bytes())
    assert again == sketch
    assert again.classes.dtype.kind == sketch.classes.dtype.kind


def test_names_and_labels_of_any_text_come_back():
    text = ["\n", "\ud800", '"\\', "\u00c9\u4e2d"]
    sketch = RangeGridSketch(categories=dict.fromkeys(text, text), feature_names=text, classes=text, B=8)
    assert RangeGridSketch.from_bytes(sketch.to_bytes()) == sketch


def test_the_format_is_the_documented_one(good):
    """Written by hand, so that a change of the format is seen, and other programs can read it."""
    first, line, rest = good.split(b"\n", 2)
    counts, digest = rest[:-32], rest[-32:]
    assert first == b"skdpmic RangeGridSketch 7"
    domain = ["Range", 0.0, 1.0, "numbers"]
    assert re.fullmatch("[0-9a-f]{32}", *json.loads(line)["parts"])
    assert json.loads(line) | {"parts": []} == {
        "domains": [domain] * D,
        "names": None,
        "target": domain,
        "classes": None,
        "parameters": {"statistic": "mic_r", "correction": "miller-madow", "B": 12.0, "c": 2.0, "n_parts": None},
        "n_samples": N,
        "parts": [],
    }
    assert np.frombuffer(counts, dtype="<u4").tolist() == counted(NUMBERS)._counts.tolist()
    assert digest == hashlib.sha256(good[:-32]).digest()


def test_bytes_of_a_fixed_sketch_are_the_same_on_every_machine():
    """A change here is a change of the format or of the grids, which a new version has to tell."""
    X, y = np.arange(20).reshape(10, 2) / 20, np.arange(10) / 10
    data = bytes_of(RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), B=8, c=2, n_features=2).update(X, y))
    assert hashlib.sha256(data).hexdigest() == "810e2dd7f70eac2d8b8789f433e4ca06ff20595d08866e9a1a47261a683dfdd4"


@pytest.mark.slow
def test_another_process_with_another_hash_seed_makes_the_same_bytes(good):
    code = (
        "import sys; from tests.counting.test_sketch_bytes import *\n"
        "sys.stdout.buffer.write(bytes_of(counted(NUMBERS)))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert done.stdout == bytes_of(RangeGridSketch.from_bytes(good))


# --- What is refused --------------------------------------------------------------------------------------------------


def sealed(content):
    """Made-up content with the checksum that fits."""
    return content + hashlib.sha256(content).digest()


def made_up(good, line=None, counts=None, **public):
    """Bytes with other values in the line, or another line or counts, and the checksum that fits."""
    first, was, rest = good[:-32].split(b"\n", 2)
    if line is None:
        known = json.loads(was)
        parameters = known["parameters"] | {name: public.pop(name) for name in known["parameters"] if name in public}
        values = {"parameters": parameters} | public
        line = json.dumps(known | values, sort_keys=True, separators=(",", ":")).encode()
    return sealed(b"\n".join([first, line, rest if counts is None else counts]))


def identities(good):
    return json.loads(good.split(b"\n", 2)[1])["parts"]


def test_what_is_made_up_in_these_tests_is_read_where_nothing_is_wrong_with_it(good):
    assert made_up(good) == good


FOREIGN = {
    "nothing": lambda good: b"",
    "zeros": lambda good: bytes(100),
    "text": lambda good: b"age,sex\n1,2\n",
    "a pickle": lambda good: pickle.dumps(counted(NUMBERS)),
    "the name": lambda good: b"skdpmic RangeGridSketch ",
    "the name with its checksum": lambda good: sealed(b"skdpmic RangeGridSketch "),
    "the first line": lambda good: sealed(b"skdpmic RangeGridSketch 7"),
    "another name": lambda good: sealed(good[:-32].replace(b"RangeGrid", b"OtherGrid")),
    "first half": lambda good: good[: len(good) // 2],
    "all but a byte": lambda good: good[:-1],
    "a byte more": lambda good: good + b"\0",
    "twice": lambda good: good + good,
    "no line": lambda good: made_up(good, line=b""),
    "a list": lambda good: made_up(good, line=b"[1]"),
    "a deep list": lambda good: made_up(good, line=b"[" * 100_000),
    "not ASCII": lambda good: made_up(good, line=b"\xff"),
    "spaces": lambda good: sealed(good[:-32].replace(b'"domains":', b'"domains": ', 1)),
    "something more": lambda good: made_up(good, more=1),
    "a name of a class": lambda good: made_up(good, domains=[["os.system", "true"]] * D),
    "no domains": lambda good: made_up(good, domains=[]),
    "fewer domains": lambda good: made_up(good, domains=[["Range", 0.0, 1.0, "numbers"]]),
    "domains of nothing": lambda good: made_up(good, domains=[None] * D),
    "domains that end before they begin": lambda good: made_up(good, domains=[["Range", 1.0, 0.0, "numbers"]] * D),
    "domains of nobody knows what": lambda good: made_up(good, domains=[["Range", 0.0, 1.0, "apples"]] * D),
    "domains of text": lambda good: made_up(good, domains=[["Range", "0", "1", "numbers"]] * D),
    "domains of integers": lambda good: made_up(good, domains=[["Range", 0, 1, "numbers"]] * D),
    "domains of NaN": lambda good: made_up(good, domains=[["Range", 0.0, np.nan, "numbers"]] * D),
    "knots that are a range": lambda good: made_up(good, domains=[["Knots", [0.0, 1.0], "numbers"]] * D),
    "labels that are equal": lambda good: made_up(good, domains=[["Labels", ["a", "a"]]] * D),
    "labels of two kinds": lambda good: made_up(good, domains=[["Labels", ["a", 1.0]]] * D),
    "too few names": lambda good: made_up(good, names=["a"]),
    "names that are equal": lambda good: made_up(good, names=["a"] * D),
    "names of numbers": lambda good: made_up(good, names=[1, 2, 3, 4]),
    "names in a word": lambda good: made_up(good, names="abcd"),
    "no target": lambda good: made_up(good, target=None),
    "a target of labels": lambda good: made_up(good, target=["Labels", ["a", "b"]]),
    "two targets": lambda good: made_up(good, classes=["i", [0, 1]]),
    "one class": lambda good: made_up(good, target=None, classes=["i", [0]]),
    "classes of objects": lambda good: made_up(good, target=None, classes=["O", [0, 1]]),
    "classes of other kinds": lambda good: made_up(good, target=None, classes=["i", ["a", "b"]]),
    "classes in another order": lambda good: made_up(good, target=None, classes=["i", [1, 0]]),
    "another statistic": lambda good: made_up(good, statistic="chatterjee"),
    "a statistic of many": lambda good: made_up(good, statistic=["mic_r"]),
    "another correction": lambda good: made_up(good, correction="most"),
    "grids of another size": lambda good: made_up(good, B=20.0),
    "grids of all memory": lambda good: made_up(good, B=1e300),
    "grids of no float": lambda good: made_up(good, B=10**400),
    "grids of text": lambda good: made_up(good, B="12"),
    "grids of an integer": lambda good: made_up(good, B=12),
    "masters of all memory": lambda good: made_up(good, c=1e300),
    "tables of 3.5 parts": lambda good: made_up(good, n_parts=3.5),
    "more records": lambda good: made_up(good, n_samples=N + 1),
    "records below zero": lambda good: made_up(good, n_samples=-N),
    "records in half": lambda good: made_up(good, n_samples=float(N)),
    "records of a truth": lambda good: made_up(good, n_samples=True),
    "records without end": lambda good: made_up(good, n_samples=10**40),
    "records of nobody": lambda good: made_up(good, n_samples=None),
    "no identity": lambda good: made_up(good, parts=[]),
    "an identity of two": lambda good: made_up(good, parts=identities(good) * 2),
    "identities in another order": lambda good: made_up(good, parts=["1" * 32, "0" * 32]),
    "identities in capitals": lambda good: made_up(good, parts=["A" * 32]),
    "identities of other lengths": lambda good: made_up(good, parts=["0" * 30]),
    "identities in a word": lambda good: made_up(good, parts="0" * 32),
    "identities of numbers": lambda good: made_up(good, parts=[7]),
    "more identities than are kept": lambda good: made_up(good, parts=[f"{i:032x}" for i in range(4097)]),
    "an identity of nobody": lambda good: made_up(RangeGridSketch(**NUMBERS).to_bytes(), parts=identities(good)),
    "no counts": lambda good: made_up(good, counts=b""),
    "some counts": lambda good: made_up(good, counts=good.split(b"\n", 2)[2][:-36]),
    "counts and a half": lambda good: made_up(good, counts=good.split(b"\n", 2)[2][:-34]),
    "more counts": lambda good: made_up(good, counts=good.split(b"\n", 2)[2][:-32] + bytes(4)),
    "counts of zero": lambda good: made_up(good, counts=bytes(len(good.split(b"\n", 2)[2]) - 32)),
}
SAID = r"^the (data must come from RangeGridSketch.to_bytes or save, got other or damaged data|sketch is damaged: its)"


@pytest.mark.parametrize("what", FOREIGN)
def test_foreign_damaged_or_made_up_bytes_are_refused(what, good, tmp_path):
    data = FOREIGN[what](good)
    (tmp_path / "file").write_bytes(data)
    for read in (RangeGridSketch.from_bytes, lambda data: RangeGridSketch.load(tmp_path / "file")):
        with pytest.raises(ValueError, match=SAID) as caught:
            read(data)
        assert caught.value.__context__ is caught.value.__cause__ is None


def test_a_forged_size_is_refused_before_memory_is_taken_for_it(monkeypatch):
    """At B = 10,000 without a correction, 20 GB for a file of 300 bytes."""
    small = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), n_features=1, B=8).to_bytes()
    parameters = json.loads(small.split(b"\n", 2)[1])["parameters"]
    monkeypatch.setattr(RangeGridSketch, "described", lambda *description, **parameters: pytest.fail("built"))
    for change in ({"B": 10_000.0}, {"B": 100.0, "correction": None}):
        with pytest.raises(ValueError, match=SAID):
            RangeGridSketch.from_bytes(made_up(small, parameters=parameters | change))


@each("B", [4, 5, 8, 20, 60, 150])
def test_no_sketch_is_smaller_than_its_reader_expects(B):
    for c, correction in itertools.product([0.01, 0.5, 5], [None, "miller-madow"]):
        sketch = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), n_features=1, B=B, c=c, correction=correction)
        assert RangeGridSketch.from_bytes(sketch.to_bytes()) == sketch


def test_other_types_and_versions_are_refused(good):
    for data in ("text", None, np.zeros(3), [1]):
        with pytest.raises(TypeError, match=f"data must be bytes, got {type(data).__name__}"):
            RangeGridSketch.from_bytes(data)
    with pytest.raises(
        ValueError,
        match="the sketch has format version 6, but this version of skdpmic reads 7: count the records again",
    ):
        RangeGridSketch.from_bytes(sealed(good[:-32].replace(b"Sketch 7", b"Sketch 6")))


def test_a_sum_that_is_right_by_another_feature_is_refused(good):
    """Each feature has counted every record: one more here is not made good by one less there."""
    counts = np.frombuffer(good[:-32].split(b"\n", 2)[2], dtype="<u4").copy()
    filled = np.flatnonzero(counts)
    counts[filled[0]] -= 1
    counts[filled[-1]] += 1
    with pytest.raises(ValueError, match="sketch is damaged: its features have not counted the same records"):
        RangeGridSketch.from_bytes(made_up(good, counts=counts.tobytes()))


def test_every_truncation_and_every_changed_byte_is_noticed(good):
    rng = np.random.default_rng(0)
    for length in rng.integers(len(good), size=200):
        with pytest.raises(ValueError):
            RangeGridSketch.from_bytes(good[:length])
    for at, bits in zip(rng.integers(len(good), size=400), rng.integers(1, 256, size=400), strict=True):
        with pytest.raises(ValueError):
            RangeGridSketch.from_bytes(good[:at] + bytes([good[at] ^ int(bits)]) + good[at + 1 :])


@pytest.mark.parametrize("kind", [NUMBERS, MIXED])
def test_no_change_of_what_is_public_is_more_than_refused(kind):
    """A changed byte of the line with the checksum that fits: a ValueError, or a sketch that is what its bytes say."""
    good = counted(kind).to_bytes()
    line = good.split(b"\n", 2)[1]
    rng = np.random.default_rng(0)
    read = 0
    for at, byte in zip(rng.integers(len(line), size=600), rng.integers(32, 127, size=600), strict=True):
        data = made_up(good, line=line[:at] + bytes([byte]) + line[at + 1 :])
        with contextlib.suppress(ValueError):
            assert RangeGridSketch.from_bytes(data).to_bytes() == data
            read += 1
    assert 0 < read < 300  # such as other bounds


def test_nothing_in_bytes_is_executed_and_no_message_quotes_them(good, monkeypatch):
    for module in (pickle, np):
        monkeypatch.setattr(module, "load", None)
    assert RangeGridSketch.from_bytes(good).n_samples == N
    for data in (b"patient 8675309", made_up(good, statistic="patient 8675309"), made_up(good, B="patient 8675309")):
        with pytest.raises(ValueError, match=re.escape("must come from RangeGridSketch.to_bytes")) as caught:
            RangeGridSketch.from_bytes(data)
        assert "8675309" not in str(caught.value)


def test_counts_that_an_interrupted_update_left_are_not_written():
    sketch = counted(NUMBERS)
    sketch._is_torn = True
    with pytest.raises(ValueError, match="sketch is damaged"):
        sketch.to_bytes()


# --- Files ------------------------------------------------------------------------------------------------------------


def test_a_file_holds_the_bytes_and_is_for_its_owner_only(good, tmp_path):
    sketch = RangeGridSketch.from_bytes(good)
    RangeGridSketch(**NUMBERS).save(tmp_path / "a.sketch")
    sketch.save(str(tmp_path / "a.sketch"))  # in the place of the older one
    assert (tmp_path / "a.sketch").read_bytes() == good
    assert RangeGridSketch.load(tmp_path / "a.sketch") == sketch
    assert list(tmp_path.iterdir()) == [tmp_path / "a.sketch"]
    assert (tmp_path / "a.sketch").stat().st_mode & 0o077 == 0


def test_a_file_that_is_not_there_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        RangeGridSketch.load(tmp_path / "none")


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
def test_what_is_published_of_bytes_is_what_is_published_of_the_records():
    sketch = RangeGridSketch.from_bytes(counted(NUMBERS).to_bytes())
    published = DPMICScorer(random_state=0).fit_sketch(sketch)
    fitted = DPMICScorer(bounds=(0, 1), target_bounds=(0, 1), B=12, c=2, random_state=0).fit(*rows(NUMBERS))
    assert published.scores_.tolist() == fitted.scores_.tolist()
