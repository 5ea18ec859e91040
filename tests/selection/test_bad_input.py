"""Bad input is refused as in scikit-learn: the error names the parameter and quotes no data, and no state changes."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from sklearn import config_context

from skdpmic import DPMICScorer, DPMICSelector, dp_mic_classif
from tests.folding import each

SECRET = 0.8675309
N = 20


def good():
    rng = np.random.default_rng(0)
    X = rng.random((N, 3))
    X[0, 0] = SECRET
    return X, rng.random(N)


def with_value(array, value, dtype=float):
    array = array.astype(dtype)
    array[(1,) * array.ndim] = value
    return array


def assert_refused(estimator, X, y, message, error=ValueError):
    """Assert that `fit` is refused before and after a good fit, and changes no state."""
    public = {"bounds": (0, 1), "target_bounds": (0, 1), "classes": None, "epsilon": 1.0, "k": 2} | {
        "mechanism": "laplace", "delta": 0.0, "ledger": None, "B": "auto", "c": "auto", "threshold": None,
        "release": "scores", "n_jobs": None, "random_state": None,
    }  # fmt: skip
    public = {name: value for name, value in public.items() if name in estimator.get_params()}
    bad = estimator.get_params()
    for fitted in (False, True):
        if fitted:
            estimator.set_params(**public).fit(*good())
            estimator.set_params(**bad)
        before = vars(estimator).copy()
        with pytest.raises(error, match=message) as caught:
            estimator.fit(X, y)
        assert "8675" not in str(caught.value)
        assert vars(estimator).keys() == before.keys()
        assert all(vars(estimator)[name] is before[name] for name in before)


X, Y = good()
STRINGS = with_value(X, f"patient {SECRET}", dtype=object)
BAD_DATA = [
    (with_value(X, np.inf), Y, "Input X contains infinity", ValueError),
    (X, with_value(Y, np.nan), "Input y contains NaN", ValueError),
    (X, with_value(Y, np.inf), "Input y contains infinity", ValueError),
    (STRINGS, Y, "could not convert string to float", ValueError),
    (X.astype(str), np.array([f"{SECRET} mg"] * N), "y must hold real numbers", ValueError),
    (X, with_value(Y, f"{SECRET} mg", dtype=object), "could not convert string to float", ValueError),
    (X + 1j, Y, "Complex data not supported", ValueError),
    (X, Y + 1j, "Complex data not supported", ValueError),
    (with_value(X, {"secret": SECRET}, dtype=object), Y, "must be a string or a real number", TypeError),
    (X[:, 0], Y, "Expected 2D array, got 1D array.*Reshape your data", ValueError),
    (SECRET, Y, "Expected 2D array, got scalar array", ValueError),
    (X[:0], Y[:0], "Found array with 0 sample", ValueError),
    (X[:, :0], Y, "Found array with 0 feature", ValueError),
    (X[:3], Y[:3], "Found array with 3 sample.*minimum of 4", ValueError),
    (X, Y[:-1], "inconsistent numbers of samples", ValueError),
    (X, np.c_[Y, Y], "y should be a 1d array", ValueError),
    (X, None, "requires y to be passed", ValueError),
    (np.ones((N, 3, 2)) * SECRET, Y, "dim 3", ValueError),
]


@pytest.mark.parametrize("X, y, message, error", BAD_DATA)
@pytest.mark.parametrize("kind", [DPMICScorer, DPMICSelector])
@pytest.mark.combinations
def test_bad_data_is_refused(kind, X, y, message, error):
    assert_refused(kind(bounds=(0, 1), target_bounds=(0, 1)), X, y, message, error)


def test_bad_dataframes_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    estimator = DPMICScorer(bounds={"a": (0, 1), "b": (0, 1), "c": (0, 1)}, target_bounds=(0, 1))
    text = frame.assign(b=f"patient {SECRET}")
    refusal = r"got text in \['b'\], which must be numbers.*those that are public, such as categories"
    object_refusal = (
        r"could not convert string to float.*labels of features require categories.*Found in column 'b' of X"
    )
    assert_refused(estimator, text, Y, f"{refusal}|{object_refusal}")  # older versions of pandas store text as objects
    mixed = frame.assign(b=[0.5, "0.5", f"patient {SECRET}", *[0.5] * (N - 3)])
    assert_refused(estimator, mixed, Y, "could not convert string to float")
    assert_refused(estimator, frame.assign(b=frame.b + 1j), Y, r"got other values in \['b'\], which must be numbers")
    assert_refused(estimator, frame.rename(columns={"a": "z"}), Y, r"features of X only, got others, \['a'\]")
    assert_refused(estimator, frame.assign(z=1.0), Y, r"got none for \['z'\]")
    assert_refused(estimator, X, Y, "X has no feature names")
    for entry, message in ((3, "must be (lower, upper)"), ((0, 1, "ln"), "'log'"), ((1, 0), "lower < upper")):
        estimator.set_params(bounds={"a": (0, 1), "b": (0, 1), "c": entry})
        assert_refused(
            estimator, frame, Y, f"bounds of feature 'c' must be .*{re.escape(message.removeprefix('must be '))}"
        )


NEITHER = {"target_bounds": None}
BAD_PARAMETERS = [
    ({"epsilon": 0}, "epsilon must be a number > 0, and at least 1e-100, got 0"),
    ({"epsilon": math.nan}, "epsilon must be a number > 0, and at least 1e-100, got nan"),
    ({"epsilon": "1"}, "epsilon must be a number > 0, and at least 1e-100, got '1'"),
    ({"epsilon": 1e-310}, "epsilon must be a number > 0, and at least 1e-100, got 1e-310"),
    ({"epsilon": Fraction(1, 3)}, "epsilon must be a number that is exactly a float"),
    ({"n_jobs": 0}, "n_jobs must be None or an int other than 0, got 0"),
    ({"random_state": -1}, "random_state must be None, an int in .* got -1"),
    ({"random_state": np.random.default_rng(0)}, "random_state must be None, an int in .*, got Generator"),
    ({"delta": -0.1}, r"delta must be a number in \[0, 1\), got -0.1"),
    ({"delta": 1}, r"delta must be a number in \[0, 1\), got 1"),
    ({"delta": 1e-6}, "delta must be 0 with mechanism='laplace'.*got 1e-06; use mechanism='gaussian'"),
    ({"mechanism": "gaussian"}, "delta must be > 0 with mechanism='gaussian', got 0.0"),
    ({"delta": 1e-6, "mechanism": "k-norm"}, "delta must be 0 with mechanism='k-norm'.*got 1e-06; use mechanism='gau"),
    ({"mechanism": "exponential"}, "mechanism must be 'laplace'.*got 'exponential'"),
    ({"bounds": None}, "bounds must have an entry for .*. Write what is publicly known"),
    ({"bounds": (1, 0)}, r"bounds must be finite with lower < upper.*got \(1, 0\)"),
    ({"bounds": ([0, 0, 2], [1, 1, 2])}, r"bounds of feature 2 must be finite.*got \(2, 2\)"),
    ({"bounds": (0, math.nan)}, "bounds must be finite"),
    ({"bounds": ([0, 0], [1, 1])}, r"shape \(n_features,\) = \(3,\), got \(\[0, 0\], \[1, 1\]\)"),
    ({"bounds": ((0, 1), (0, 1), (0, 1))}, r"bounds must be \(lower, upper\)"),
    ({"bounds": [(0, 1)] * 3}, "for one pair per feature, pass a dict"),
    ({"bounds": 5}, r"bounds must be \(lower, upper\).*got 5"),
    ({"bounds": {"a": (0, 1)}}, "X has no feature names"),
    (NEITHER, "exactly one of target_bounds .* got neither"),
    ({"classes": [0, 1]}, "exactly one of target_bounds .* got both"),
    ({"target_bounds": (1, 1)}, "target_bounds must be finite with lower < upper"),
    ({"target_bounds": 3}, r"target_bounds must be \(lower, upper\), .* got 3"),
    (NEITHER | {"classes": [1]}, "classes must be a list or array of at least 2 distinct labels"),
    (NEITHER | {"classes": [[0, 1]]}, "classes must be a list or array"),
    (NEITHER | {"classes": [2**53, 2**53 + 1]}, "classes must also be distinct as float64"),
    (NEITHER | {"classes": [0, 1]}, "y must hold only labels that are in classes"),
    (NEITHER | {"classes": ["0", "1"]}, "classes and y must hold labels of one type"),
    ({"ledger": "budget.db"}, "ledger must be a BudgetLedger or None, got str: pass BudgetLedger"),
    ({"B": 3}, r"B must be a number >= 4 or an exponent in \(0, 1\), got 3"),
    ({"B": math.inf}, "B must be"),
    ({"c": 0}, "c must be a number > 0, got 0"),
    ({"c": math.nan}, "c must be"),
]
BAD_SELECTOR_PARAMETERS = [
    ({"k": 0}, "k must be an int >= 1 or 'all', got 0"),
    ({"k": 1.5}, "k must be"),
    ({"k": "some"}, "k must be"),
    ({"mechanism": "geometric"}, "mechanism must be 'laplace', 'gaussian' or 'k-norm', got 'geometric'"),
    ({"threshold": 1.5}, r"threshold must be None, a number in \[0, 1\], or a share of the largest .*, got 1.5"),
]


@pytest.mark.parametrize("change, message", BAD_PARAMETERS)
@pytest.mark.parametrize("kind", [DPMICScorer, DPMICSelector])
@pytest.mark.combinations
def test_bad_parameters_are_refused(kind, change, message):
    assert_refused(kind(**{"bounds": (0, 1), "target_bounds": (0, 1)} | change), X, Y, message)


@each("change, message", BAD_SELECTOR_PARAMETERS)
def test_bad_selector_parameters_are_refused(change, message):
    assert_refused(DPMICSelector(**{"bounds": (0, 1), "target_bounds": (0, 1)} | change), X, Y, message)


TWO = [0, 1], ["a", "b"]  # classes
BAD_LABELS = [
    (TWO[1], "patient 8675309", object, "y must hold only labels that are in classes"),
    (TWO[0], 8675309, object, "y must hold only labels that are in classes"),
    (TWO[0], 8675309.5, object, "y must hold only labels that are in classes"),
    (TWO[0], f"patient {SECRET}", object, "y must hold labels of the same type as classes"),
    (TWO[1], None, object, r"no missing values|contains NaN"),
    (TWO[1], math.nan, object, r"no missing values|contains NaN"),
    (TWO[0], "0", str, "classes and y must hold labels of one type"),
    (TWO[1], b"patient\xff", "S9", "classes and y must hold labels of one type"),
]


@each("classes, label, dtype, message", BAD_LABELS)
def test_bad_labels_are_refused_without_quoting_them(classes, label, dtype, message):
    y = np.array(classes * (N // 2)).astype(dtype)
    y[3] = label
    with pytest.raises(ValueError, match=message) as caught:
        dp_mic_classif(X, y, epsilon=1, bounds=(0, 1), classes=classes)
    assert "8675" not in str(caught.value)


def test_the_error_for_a_label_outside_classes_lists_the_classes_and_quotes_no_data():
    """Whatever the labels, however many there are, and whatever the type of y."""
    messages = set()
    for others in (["patient 8675309"], ["x"] * 9):
        labels = np.array(["b", "a", "c"] * (N // 3 + 1))[:N].astype(object)
        labels[: len(others)] = others
        for y in (labels, labels.astype(str), labels.tolist()):
            with pytest.raises(ValueError, match="y must hold only labels") as caught:
                DPMICSelector(1, bounds=(0, 1), classes=["c", "a", "b"]).fit(X, y)
            messages.add(str(caught.value))
    assert messages == {"y must hold only labels that are in classes, ['a', 'b', 'c'], got at least one other label."}


@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_values_that_scikit_learn_does_not_check_are_not_written_out_of_bounds(value, mechanism):
    X = np.random.default_rng(0).random((2000, 3))
    y = X[:, 1].copy()
    expected = with_value(X, 1.0 if value > 0 else 0.0)  # the last bin, or the first
    bounds = {"bounds": (0, 1), "target_bounds": (0, 1), "epsilon": math.inf, "mechanism": mechanism, "B": 60}
    with config_context(assume_finite=True):
        scores = DPMICScorer(**bounds).fit(with_value(X, value), y).scores_
    np.testing.assert_array_equal(scores, DPMICScorer(**bounds).fit(expected, y).scores_)


@each("target", [{"classes": [0, 1]}, {"target_bounds": (0, 1)}])
def test_an_error_about_a_text_target_does_not_reveal_the_length_of_the_longest(target):
    messages = []
    for longest in ("b", "a rare disease"):
        with pytest.raises(ValueError, match=r"got (numbers and )?text") as caught:
            DPMICScorer(epsilon=1, bounds=(0, 1), **target).fit(X, np.array(["a", longest] * (N // 2)))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@each("kind", [DPMICScorer, DPMICSelector])
@each("bad, message", [(X[:, 0], "Expected 2D array, got 1D array.*Reshape your data"), (X[:, :2], "X has 2 features")])
def test_transform_refuses_bad_data_without_quoting_it(kind, bad, message):
    fitted = kind(bounds=(0, 1), target_bounds=(0, 1)).set_params(B=10).fit(np.c_[X, X, X, X], Y)
    with pytest.raises(ValueError, match=message) as caught:
        fitted.transform(bad)
    assert "8675" not in str(caught.value)
