"""Arguments of the public scores that are refused are named, and no data is quoted."""

import numpy as np
import pytest

from skdpmic import characteristic_matrix, dp_mic_classif, mic_cross, mic_e, mic_pairs, mic_r, mtv_r, private_score
from skdpmic.counting import RangeGridSketch
from tests.folding import each

SECRET = 4321.125
UNIT = ((0.0, 1.0), (0.0, 1.0))
X = [SECRET, 1, 2]
TWO = np.array([[SECRET, 1.0], [2.0, 3.0], [4.0, 0.0]])
PAIR = {"x": X, "y": [SECRET, 3, 5]}
CALLS = {  # the function, and arguments that are accepted
    "mic_r": (mic_r, PAIR | {"bounds": UNIT, "B": 4, "c": 1}),
    "mic_e": (mic_e, PAIR | {"B": 4, "c": 1}),
    "mtv_r": (mtv_r, PAIR | {"bounds": UNIT}),
    "matrix": (characteristic_matrix, PAIR),
    "pairs": (mic_pairs, {"X": TWO}),
    "cross": (mic_cross, {"X": TWO, "Y": TWO}),
    "sketch": (RangeGridSketch, {"bounds": (0, 1), "n_features": 1, "target_bounds": (0, 1)}),
}
MIC_R = {"statistic": "mic_r"}
REFUSED = [
    ("mic_r", {"x": [[1.0, 2.0]]}, "x must be 1-dimensional"),
    ("mic_r", {"y": [1j, 2j, 3j]}, "y must hold real numbers"),
    ("mic_r", {"y": [SECRET, np.inf, 0]}, "y must be finite"),
    ("mic_r", {"x": [SECRET], "y": [SECRET]}, "at least 2 samples, got n_samples=1"),
    ("mic_r", {"bounds": None}, "bounds must be"),
    ("mic_r", {"bounds": (0, 1)}, "bounds of x must be a pair"),
    ("mic_r", {"bounds": ((0, 1), (2, 2))}, "bounds of y must be finite with lower < upper"),
    ("mic_r", {"bounds": ((-1.5e308, 1.5e308), (0, 1))}, "bounds of x must be finite"),
    *[("mic_r", {"B": B}, "B must be a number >= 4 or an exponent") for B in (3.9, 1, np.nan, "auto")],
    *[(name, {"c": c}, "c must be a number > 0") for name, c in (("mic_r", 0), ("mic_r", np.inf), ("mic_e", 0))],
    ("mic_r", {"master": "half"}, "master must be 'reduced' or 'full'"),
    ("mic_r", {"c": 1e3, "B": 20, "master": "full"}, r"c must be at most 100 with B=20 .* at most 1,000 parts"),
    *[("mic_r", {"correction": no}, "correction must be None or 'miller-madow', got") for no in ("miller", True, [0])],
    ("mic_e", {"y": [SECRET, np.nan, 0]}, "y must be finite"),
    *[
        (name, {"y": [SECRET, 1.0]}, "x and y must have the same length, got 3 and 2")
        for name in ("mic_r", "mic_e", "mtv_r")
    ],
    *[(name, {"B": 3.9}, "B must be a number >= 4 or an exponent") for name in ("mic_e", "mtv_r")],
    ("mtv_r", {"bounds": ((1, 0), (0, 1))}, "bounds of x must be finite with lower < upper"),
    ("mtv_r", {"x": [SECRET, np.nan, 0]}, "x must be finite"),
    ("matrix", {"statistic": "mic"}, "statistic must be 'mic_e' or 'mic_r'"),
    ("matrix", {"bounds": UNIT}, "bounds must be None for mic_e"),
    ("matrix", MIC_R, "bounds must be given for mic_r"),
    ("matrix", {"master": "full"}, "master must be 'reduced' for mic_e"),
    ("pairs", {"X": TWO[:, 0]}, "X must be 2-dimensional"),
    ("pairs", {"X": TWO[:1]}, "X must hold at least 2 samples"),
    ("pairs", {"X": TWO[:, :0]}, "at least one column"),
    ("pairs", {"X": np.where(TWO == 1.0, np.nan, TWO)}, "column 1 of X must be finite"),
    ("pairs", {"X": TWO.astype(str)}, "column 0 of X must hold real numbers"),
    ("pairs", {"statistic": "pearson"}, "statistic must be"),
    ("pairs", {"bounds": (0, 1)}, "bounds must be None for mic_e"),
    ("pairs", {"correction": "miller-madow"}, "correction must be None for mic_e"),
    ("pairs", MIC_R, "bounds must be given"),
    ("pairs", MIC_R | {"bounds": 3}, r"bounds must be \(lower, upper\)"),
    ("pairs", MIC_R | {"bounds": ([0, 0, 0], 1)}, r"\(n_features,\) = \(2,\)"),
    ("pairs", MIC_R | {"bounds": ([0, 1], 1)}, "bounds of feature 1 must be finite"),
    ("cross", {"Y": TWO[:2]}, "same number of samples, got 3 and 2"),
    ("cross", {"Y": TWO[:, 0]}, "Y must be 2-dimensional"),
    ("cross", {"correction": "none"}, "correction must be None or 'miller-madow', got 'none'"),
    ("cross", MIC_R | {"bounds": 3}, "bounds must be"),
    ("cross", MIC_R | {"bounds": (0, 1)}, r"bounds of X must be \(lower, upper\)"),
    ("sketch", {"B": 10_001}, "B must be at most 10,000 cells, got 10001"),
    ("sketch", {"B": 1e300}, "B must be at most 10,000 cells, got"),
    ("sketch", {"B": 1e300, "target_bounds": None, "classes": [0, 1]}, "B must be at most 10,000 cells with 2 classes"),
    (
        "sketch",
        {"B": 100, "c": 1001},
        "c must be at most 1000 with B=100, because master partitions have at most",
    ),
    ("sketch", {"B": 100, "n_parts": 101}, "n_parts must be None or an int >= 2, and at most 100, got 101"),
    ("sketch", {"B": 100, "n_parts": 10, "c": 1e308}, "c must be None, or"),
]


@each("name, change, message", REFUSED)
def test_bad_arguments_are_named_and_no_data_is_quoted(name, change, message):
    function, arguments = CALLS[name]
    with pytest.raises(ValueError, match=message) as error:
        function(**arguments | change)
    assert "4321" not in str(error.value)


def pair(n):
    x = np.linspace(0, 1, n)
    return {"x": x, "y": x**2}


LARGE = {
    "mic_r": lambda x, y, **sizes: mic_r(x, y, bounds=UNIT, **sizes),
    "mic_e": mic_e,
    "matrix of mic_e": characteristic_matrix,
    "pairs of mic_e": lambda x, y, **sizes: mic_pairs(np.c_[x, y], **sizes),
    "cross mic_r": lambda x, y, **sizes: mic_cross(x[:, None], y[:, None], statistic="mic_r", bounds=UNIT, **sizes),
    "private mic_e": lambda x, y, **sizes: private_score(x, y, statistic="mic_e", epsilon=1, **sizes),
    "noisy table": lambda x, y, **sizes: private_score(x, y, mechanism="geometric", epsilon=1, bounds=UNIT, **sizes),
}


@each("name", LARGE)
@each("n, largest", [(20, 1000), (1500, 1500)])
def test_more_cells_than_records_are_refused_above_a_thousand(name, n, largest):
    for B in (largest + 0.5, 1e12, 1e300):
        with pytest.raises(ValueError, match=rf"B must be at most {largest:,} cells with n_samples={n}, got \d"):
            LARGE[name](**pair(n), B=B)
    if n == 20:
        LARGE[name](**pair(n), B=0.99)


@each("name", [name for name in LARGE if "mic_e" not in name])
def test_master_partitions_of_more_parts_than_records_are_refused_above_a_thousand(name):
    for c in (250.01, 1e12, 1e300):
        with pytest.raises(ValueError, match="c must be at most"):
            LARGE[name](**pair(20), B=20, c=c)
    if name != "noisy table":  # which has another limit
        assert LARGE[name](**pair(20), B=20, c=250) is not None


def test_each_class_may_have_a_hundred_cells():
    codes, x = np.arange(60) % 20, np.linspace(0, 1, 60)[:, None]
    public = {"epsilon": 1, "bounds": (0, 1), "classes": range(20)}
    assert 0 <= dp_mic_classif(x, codes, **public, B=2000)[0] <= 1
    with pytest.raises(ValueError, match="B must be at most 2,000 cells with n_samples=60 and 20 classes, got 2001"):
        dp_mic_classif(x, codes, **public, B=2001)
