"""Public arguments have only one reading, or are refused; ranges of any width are scored."""

import math
from functools import partial

import numpy as np
import pandas
import pytest
from sklearn.linear_model import Ridge

from skdpmic import DPMICScorer, PrivateGridSearch, mic_cross, mic_pairs, private_score
from skdpmic.counting import RangeGridSketch
from tests.folding import each
from tests.tables import UNIT, refused

N = 60
RNG = np.random.default_rng(0)
X, Y = RNG.random((N, 2)), RNG.random(N)
FRAME = pandas.DataFrame(X, columns=["age", "pay"])


# --- Two pairs for two features -------------------------------------------------------------------------------------

# Everything that accepts bounds of features.
BOUNDS_READERS = {
    "fit": lambda bounds, ledger: DPMICScorer(bounds=bounds, target_bounds=(0, 1), ledger=ledger).fit(X, Y),
    "sketch": lambda bounds, ledger: RangeGridSketch(bounds=bounds, target_bounds=(0, 1), B=9),
    "fit_sketch": lambda bounds, ledger: DPMICScorer(bounds=bounds, ledger=ledger).fit_sketch(
        RangeGridSketch(bounds=(np.array([0, 1]), np.array([2, 5])), target_bounds=(0, 1), B=9).update(X, Y)
    ),
    "mic_pairs": lambda bounds, ledger: mic_pairs(X, statistic="mic_r", bounds=bounds),
    "mic_cross": lambda bounds, ledger: mic_cross(X, X, statistic="mic_r", bounds=(bounds, (0, 1))),
}
AMBIGUOUS = {
    "list of tuples": [(0, 1), (2, 5)],
    "tuple of tuples": ((0, 1), (2, 5)),
    "list of lists": [[0, 1], [2, 5]],
    "array": np.array([[0, 1], [2, 5]]),
    "list of arrays": [np.array([0, 1]), np.array([2, 5])],
    "tuple of a list and an array": ([0, 1], np.array([2, 5])),
}


@each("read", BOUNDS_READERS.values())
@each("bounds", AMBIGUOUS.values())
def test_two_pairs_for_two_features_are_refused_because_they_could_be_lower_and_upper_ends(bounds, read, ledger):
    phrase = r"(?s)bounds.*must be .lower, upper., each.*for one pair per feature, pass a dict"
    with refused(ValueError, phrase, ledger):
        read(bounds, ledger)


@each("read", BOUNDS_READERS.values())
def test_a_tuple_of_arrays_is_lower_and_upper(read, ledger):
    read((np.array([0, 1]), np.array([2, 5])), ledger)


def test_every_unambiguous_form_of_the_bounds_of_two_features_is_read_alike():
    lower, upper = np.array([0.0, 2.0]), np.array([1.0, 5.0])
    forms = [
        (lower, upper),
        (pandas.Series(lower), pandas.Series(upper)),
        tuple(np.transpose([(0, 1), (2, 5)])),
        {"age": (0, 1), "pay": (2, 5)},
        {"pay": [2, 5], "age": np.array([0, 1])},
    ]
    for bounds in forms:
        sketch = RangeGridSketch(bounds=bounds, feature_names=["age", "pay"], target_bounds=(0, 1), B=9)
        assert sketch.domains == [(0, 1), (2, 5)]
    for bounds in [(0, 5), [0, 5], np.array([0, 5]), (0, [5, 5]), ((0, 0), 5), pandas.Series([0, 5])]:
        sketch = RangeGridSketch(bounds=bounds, n_features=2, target_bounds=(0, 1), B=9)
        assert sketch.domains == [(0, 5), (0, 5)]


@each("n_features", [1, 3, 4])
@each("kind", [list, tuple, np.array])
def test_one_pair_per_feature_is_refused_with_what_to_write_if_features_are_not_two(n_features, kind):
    bounds = kind([(0, 1)] * n_features)
    for known in (None, n_features):
        with pytest.raises(ValueError, match="for one pair per feature, pass a dict by name or number"):
            RangeGridSketch(bounds=bounds, n_features=known, target_bounds=(0, 1), B=9)
    as_advised = tuple(np.transpose(bounds))
    sketch = RangeGridSketch(bounds=as_advised, target_bounds=(0, 1), B=9)
    assert sketch.domains == [(0, 1)] * n_features


# --- Unordered or non-numeric pairs -----------------------------------------------------------------------------------

UNORDERED = {
    "set": {0, 1},
    "frozenset": frozenset({0, 1}),
    "dict as a pair": {0: "a", 1: "b"},
    "keys": {0: "a", 1: "b"}.keys(),
    "values": {"a": 0, "b": 1}.values(),
    "iterator": iter([0, 1]),
    "generator": (bound for bound in (0, 1)),
    "text": "01",
    "bytes": b"01",
    "texts": ("0", "1"),
    "a number": np.float64(1),
    "an array without axes": np.array(1.0),
    "a large int": (0, 10**400),
    "large ints": (-(10**400), 10**400),
    "nothing": (),
    "complex numbers": (np.complex64(0), np.complex64(1)),
}


@each("pair", UNORDERED.values())
def test_pairs_that_are_unordered_or_not_numeric_are_refused(pair, ledger):
    names = ["bounds", "target_bounds"] if not isinstance(pair, dict) else ["target_bounds"]
    for name in names:
        message = f"{name} must be (a pair of numbers )?\\(lower, upper\\)"
        for fit in (DPMICScorer.fit, DPMICScorer.partial_fit):
            with pytest.raises(ValueError, match=message):
                fit(DPMICScorer(ledger=ledger, **UNIT | {name: pair}), X, Y)
        with pytest.raises(ValueError, match=message):
            RangeGridSketch(B=9, n_features=2, **UNIT | {name: pair})
    with pytest.raises(ValueError, match="bounds of feature 'pay' must be \\(lower, upper\\)"):
        DPMICScorer(ledger=ledger, bounds={"age": (0, 1), "pay": pair}, target_bounds=(0, 1)).fit(FRAME, Y)
    for bounds in (((0, 1), pair), (pair, (0, 1)), pair):
        with pytest.raises(ValueError, match=r"bounds (of . )?must be (a pair of numbers|.*x_lo, x_hi)"):
            private_score(X[:, 0], Y, epsilon=1, bounds=bounds, ledger=ledger)
    if not isinstance(pair, dict):
        with pytest.raises(ValueError, match=r"bounds must be \(lower, upper\)"):
            mic_pairs(X, statistic="mic_r", bounds=pair)
    search = PrivateGridSearch(Ridge(), {"alpha": [1.0, 2.0]}, score_bounds=pair, ledger=ledger)
    with pytest.raises(ValueError, match="score_bounds must be a pair of numbers"):
        search.fit(X, Y)
    assert ledger.spent() == (0.0, 0.0)


def test_the_order_of_classes_does_not_matter_but_a_set_is_refused():
    scores = [
        DPMICScorer(epsilon=math.inf, bounds=(0, 1), classes=classes, B=9).fit(X, Y > 0.5).scores_.tolist()
        for classes in ([False, True], [True, False], np.array([True, False]))
    ]
    assert scores[0] == scores[1] == scores[2]
    with pytest.raises(ValueError, match="classes must be a list or array"):
        DPMICScorer(bounds=(0, 1), classes={False, True}).fit(X, Y > 0.5)


@each("number", [10**400, -(10**400)])
@each("name", ["epsilon", "delta", "B", "c"])
def test_numbers_too_large_for_a_float_are_refused(name, number, ledger):
    for fit in (DPMICScorer.fit, DPMICScorer.partial_fit):
        with pytest.raises(ValueError, match=f"{name} must be"):
            fit(DPMICScorer(ledger=ledger, **UNIT, **{name: number}), X, Y)
    if name in ("B", "c"):
        with pytest.raises(ValueError, match=f"{name} must be"):
            RangeGridSketch(bounds=(0, 1), target_bounds=(0, 1), n_features=2, **{"B": 9} | {name: number})
    if name != "delta":
        for which in ({"statistic": "mic_r"}, {"statistic": "mic_e"}, {"mechanism": "geometric"}):
            arguments = {"epsilon": 1.0, "ledger": ledger, "bounds": ((0, 1), (0, 1)), **which} | {name: number}
            with pytest.raises(ValueError, match=f"{name} must be"):
                private_score(X[:, 0], Y, **arguments)
    assert ledger.spent() == (0.0, 0.0)


# --- Ranges whose width overflows a float -----------------------------------------------------------------------------

LARGE = 1.7e308


@pytest.mark.filterwarnings("error::RuntimeWarning")
@each("mechanism", ["laplace", "geometric"])
@each("scale", [LARGE, 2.0**1022, 5e-324 * 2**52])
def test_a_range_is_scored_whatever_its_width(scale, mechanism):
    scorer = partial(DPMICScorer, epsilon=math.inf, mechanism=mechanism, B=9, correction=None)
    table, y = np.c_[np.linspace(0, 1, N), RNG.random(N), np.ones(N)], np.linspace(0, 1, N)
    expected = scorer(bounds=(0, 1), target_bounds=(0, 1)).fit(table, y).scores_
    scores = scorer(bounds=(0, scale), target_bounds=(0, scale)).fit(table * scale, y * scale).scores_
    assert scores.tolist() == pytest.approx(expected.tolist(), abs=1e-12)
    assert expected[0] > 0.8
    assert expected[2] == 0.0 or mechanism == "geometric"


def test_bounds_whose_width_overflows_a_float_are_refused_as_such(ledger):
    wide, message = (-LARGE, LARGE), r"must be finite with lower < upper, as must upper - lower, got \(-1.7e\+308, 1.7e"
    for change in ({"bounds": wide}, {"target_bounds": wide}, {"bounds": {"age": (0, 1), "pay": wide}}):
        with pytest.raises(ValueError, match=message):
            DPMICScorer(ledger=ledger, **UNIT | change).fit(FRAME, Y)
    with pytest.raises(ValueError, match=message):
        private_score(X[:, 0], Y, epsilon=1, bounds=(wide, (0, 1)), ledger=ledger)
    assert ledger.spent() == (0.0, 0.0)


# --- Paths ------------------------------------------------------------------------------------------------------------
