"""Bytes and files hold a whole sketch and nothing executable; damaged or forged ones are refused."""

import contextlib
import datetime
import hashlib
import itertools
import json
import pickle
import re

import numpy as np
import pytest

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


# --- Round trips ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("as_type", [bytes, bytearray, memoryview])
@pytest.mark.combinations
def test_a_sketch_survives_a_round_trip(kind, as_type):
    for sketch in (RangeGridSketch(**kind), counted(kind)):
        data = sketch.to_bytes()
        again = RangeGridSketch.from_bytes(as_type(data))
        assert again == sketch
        assert again.n_samples == sketch.n_samples
        assert again.to_bytes() == data
        assert again.merge(again.empty()) == sketch.merge(sketch.empty()) == sketch
        assert vars(again).keys() == vars(sketch).keys()


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


def test_the_format_is_as_documented(good):
    """Spelt out here, so that a change of the format is detected and other programs can read it."""
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
    """A change here means that the format or the grids have changed, which requires a new version of the format."""
    X, y = np.arange(20).reshape(10, 2) / 20, np.arange(10) / 10
    data = bytes_of(RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), B=8, c=2, n_features=2).update(X, y))
    assert hashlib.sha256(data).hexdigest() == "810e2dd7f70eac2d8b8789f433e4ca06ff20595d08866e9a1a47261a683dfdd4"


# --- What is refused --------------------------------------------------------------------------------------------------


def sealed(content):
    """Forged content with a valid checksum."""
    return content + hashlib.sha256(content).digest()


def forged(good, line=None, counts=None, **public):
    """Bytes with other values in the line, or with another line or other counts, and a valid checksum."""
    first, old_line, rest = good[:-32].split(b"\n", 2)
    if line is None:
        known = json.loads(old_line)
        parameters = known["parameters"] | {name: public.pop(name) for name in known["parameters"] if name in public}
        values = {"parameters": parameters} | public
        line = json.dumps(known | values, sort_keys=True, separators=(",", ":")).encode()
    return sealed(b"\n".join([first, line, rest if counts is None else counts]))


def assert_refused(data, tmp_path):
    (tmp_path / "file").write_bytes(data)
    for read in (RangeGridSketch.from_bytes, lambda data: RangeGridSketch.load(tmp_path / "file")):
        with pytest.raises(ValueError, match=REFUSAL) as caught:
            read(data)
        assert caught.value.__context__ is caught.value.__cause__ is None


REFUSAL = (
    r"^the (data must come from RangeGridSketch.to_bytes or save, got other or damaged data|sketch is damaged: its)"
)
NAME = b"skdpmic RangeGridSketch "


def test_foreign_or_damaged_bytes_are_refused(good, tmp_path):
    foreign = [
        b"",
        bytes(100),
        b"age,sex\n1,2\n",
        pickle.dumps(counted(NUMBERS)),
        NAME,
        sealed(NAME),
        sealed(NAME + b"7"),
    ]
    foreign += [sealed(NAME + b"7"), good[: len(good) // 2], good[:-1], good + b"\0", good + good]
    foreign += [
        sealed(good[:-32].replace(*change, 1)) for change in ((b"Range", b"Other"), (b'"parts":', b'"parts": '))
    ]
    foreign += [forged(good, line=line) for line in (b"", b"[1]", b"[" * 100_000, b"\xff")]
    counts = good.split(b"\n", 2)[2][:-32]
    wrong = (b"", counts[:-4], counts[:-2], counts + bytes(4), bytes(len(counts)))
    for data in foreign + [forged(good, counts=some) for some in wrong]:
        assert_refused(data, tmp_path)


ODD = [None, True, -1, 7, 3.5, float(N), 1e300, 10**40, "kendall", "abcd", "0" * 32]
ODD += [[], [7], ["mic_r"], [None] * D, ["a"] * D]
ODD += [["1" * 32, "0" * 32], ["0" * 32] * 2, ["A" * 32], ["0" * 30], [f"{i:032x}" for i in range(4097)]]
ODD += [["i", [0, 1]], ["os.system", "true"], ["Labels", ["a", "b"]], [["os.system", "true"]] * D]
ODD += [[domain] * D for domain in (["Labels", ["a", "a"]], ["Labels", ["a", 1.0]], ["Knots", [0.0, 1.0], "numbers"])]
ODD += [[["Range", *ends]] * D for ends in ((1.0, 0.0, "numbers"), (0.0, np.nan, "numbers"), (0, 1, "numbers"))]
ODD += [[["Range", *ends]] * D for ends in (("0", "1", "numbers"), (0.0, 1.0, "apples"))]
FIELDS = ["domains", "names", "target", "classes", "statistic", "correction", "B", "c", "n_parts", "n_samples", "parts"]


@each("field", [*FIELDS, "more"])
def test_a_field_with_an_impossible_value_is_refused(field, good, tmp_path):
    known = json.loads(good.split(b"\n", 2)[1])
    known |= known["parameters"] | {"more": ...}
    for value in ODD:
        if value is not known[field]:
            assert_refused(forged(good, **{field: value}), tmp_path)


def test_a_forged_size_is_refused_before_memory_is_allocated_for_it(monkeypatch):
    """At B = 10,000 without a correction, a file of 300 bytes would take 20 GB."""
    small = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), n_features=1, B=8).to_bytes()
    parameters = json.loads(small.split(b"\n", 2)[1])["parameters"]
    monkeypatch.setattr(RangeGridSketch, "described", lambda *description, **parameters: pytest.fail("built"))
    for change in ({"B": 10_000.0}, {"B": 100.0, "correction": None}):
        with pytest.raises(ValueError, match=REFUSAL):
            RangeGridSketch.from_bytes(forged(small, parameters=parameters | change))


@each("B", [4, 5, 8, 20, 60, 150])
def test_no_sketch_is_smaller_than_its_reader_expects(B):
    for c, correction in itertools.product([0.01, 0.5, 5], [None, "miller-madow"]):
        sketch = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), n_features=1, B=B, c=c, correction=correction)
        assert RangeGridSketch.from_bytes(sketch.to_bytes()) == sketch


def test_counts_that_differ_between_features_are_refused_even_if_their_total_is_right(good):
    """Each feature counts every record: an extra count in one does not make up for a missing one in another."""
    counts = np.frombuffer(good[:-32].split(b"\n", 2)[2], dtype="<u4").copy()
    filled = np.flatnonzero(counts)
    counts[filled[0]] -= 1
    counts[filled[-1]] += 1
    with pytest.raises(ValueError, match="sketch is damaged: its features have not counted the same records"):
        RangeGridSketch.from_bytes(forged(good, counts=counts.tobytes()))


def test_every_truncation_and_every_changed_byte_is_detected(good):
    rng = np.random.default_rng(0)
    for length in rng.integers(len(good), size=200):
        with pytest.raises(ValueError):
            RangeGridSketch.from_bytes(good[:length])
    for at, bits in zip(rng.integers(len(good), size=400), rng.integers(1, 256, size=400), strict=True):
        with pytest.raises(ValueError):
            RangeGridSketch.from_bytes(good[:at] + bytes([good[at] ^ int(bits)]) + good[at + 1 :])


@pytest.mark.parametrize("kind", [NUMBERS, MIXED])
def test_a_changed_public_line_is_refused_or_read_as_it_stands(kind):
    """A changed byte of the line, with a valid checksum, gives a ValueError or the sketch that the bytes describe."""
    good, rng, read = counted(kind).to_bytes(), np.random.default_rng(0), 0
    line = good.split(b"\n", 2)[1]
    for at, byte in zip(rng.integers(len(line), size=600), rng.integers(32, 127, size=600), strict=True):
        data = forged(good, line=line[:at] + bytes([byte]) + line[at + 1 :])
        with contextlib.suppress(ValueError):
            assert RangeGridSketch.from_bytes(data).to_bytes() == data
            read += 1
    assert 0 < read < 300  # some changes are valid, such as other bounds


# --- Files ------------------------------------------------------------------------------------------------------------


def test_a_file_holds_the_bytes_and_only_its_owner_can_read_it(good, tmp_path):
    sketch = RangeGridSketch.from_bytes(good)
    RangeGridSketch(**NUMBERS).save(tmp_path / "a.sketch")
    sketch.save(str(tmp_path / "a.sketch"))  # replaces the older one
    assert (tmp_path / "a.sketch").read_bytes() == good
    assert RangeGridSketch.load(tmp_path / "a.sketch") == sketch
    assert list(tmp_path.iterdir()) == [tmp_path / "a.sketch"]
    assert (tmp_path / "a.sketch").stat().st_mode & 0o077 == 0
