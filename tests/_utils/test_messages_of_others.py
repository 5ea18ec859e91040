"""The messages of other packages that are passed on still exist; rewordings are noticed here first."""

import re

import numpy as np
import pandas
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import check_array, column_or_1d

from skdpmic._utils.texts import is_invalid_parameter, public_messages, without_data
from tests.folding import each

N = 20
X = np.random.default_rng(0).random((N, 3))
Y = X[:, 0]
OBJECTS = np.array([[object()]] * N)


def frame(names):
    return pandas.DataFrame(X, columns=list(names))


def with_one(value):
    changed = X.copy()
    changed[0, 0] = value
    return changed


# A call that raises an error of scikit-learn, numpy, pandas or Python, and what is passed on of its message.
CALLS = {
    "no rows": (
        lambda: Ridge().fit(X[:0], Y[:0]),
        "Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required by Ridge",
    ),
    "no columns": (
        lambda: check_array(X[:, :0]),
        "Found array with 0 feature(s) (shape=(20, 0)) while a minimum of 1 is required",
    ),
    "three dimensions": (lambda: Ridge().fit(X[np.newaxis], Y[:1]), "Found array with dim 3"),
    "another length": (
        lambda: Ridge().fit(X, Y[1:]),
        "Found input variables with inconsistent numbers of samples: [20, 19]",
    ),
    "missing": (lambda: check_array(with_one(np.nan)), "Input contains NaN"),
    "missing in X": (lambda: Ridge().fit(with_one(np.nan), Y), "Input X contains NaN"),
    "infinity": (
        lambda: Ridge().fit(with_one(np.inf), Y),
        "Input X contains infinity or a value too large for dtype('float64')",
    ),
    "sparse": (
        lambda: check_array(sparse.csr_matrix(X)),
        "Sparse data was passed, but dense data is required. Use '.toarray()'",
    ),
    "sparse X": (
        lambda: GaussianNB().fit(sparse.csr_matrix(X), Y > 0.5),
        "Sparse data was passed for X, but dense data is required. Use '.toarray()'",
    ),
    "sparse y": (
        lambda: column_or_1d(sparse.csr_matrix(Y[:, np.newaxis])),
        "Sparse data was passed for y, but dense data is required. Use '.toarray()'",
    ),
    "other names": (
        lambda: Ridge().fit(frame("abc"), Y).predict(frame("abd")),
        "The feature names should match those that were passed during fit",
    ),
    "fewer columns": (
        lambda: Ridge().fit(X, Y).predict(X[:, 1:]),
        "X has 2 features, but Ridge is expecting 3 features as input",
    ),
    "a target of two columns": (
        lambda: LogisticRegression().fit(X, X > 0.5),
        "y should be a 1d array, got an array of shape (20, 3) instead",
    ),
    "no target": (lambda: Ridge().fit(X, None), "requires y to be passed, but the target y is None"),
    "classes of numbers": (lambda: LogisticRegression().fit(X, Y), "Unknown label type: continuous"),
    "complex": (lambda: check_array(X + 1j), "Complex data not supported"),
    "one column": (lambda: check_array(Y), "Expected 2D array, got 1D array instead"),
    "one number": (lambda: check_array(0.5), "Expected 2D array, got scalar array instead"),
    "mixed names": (
        lambda: Ridge().fit(frame(["a", 1, 2]), Y),
        "Feature names are only supported if all input features have string names",
    ),
    "pandas.NA": (lambda: bool(pandas.NA), "boolean value of NA is ambiguous"),
    "text": (lambda: Ridge().fit(np.array([["patient 7"]] * N), Y), "could not convert string to float"),
    "large": (
        lambda: check_array(np.array([[10**400]], dtype=object), dtype=float),
        "int too large to convert to float",
    ),
    "objects": (lambda: Ridge().fit(OBJECTS, Y), "float() argument must be a string or a real number"),
    "pandas.NA as a number": (
        lambda: float(pandas.NA),
        "float() argument must be a string or a real number, not 'NAType'",
    ),
    "ragged": (lambda: np.array([[1], [1, 2]], dtype=float), "setting an array element with a sequence"),
}
TO_DO = (
    "was reworded: read the new message; if no word of it can depend on values of the data, add its pattern to "
    "skdpmic/_utils/texts.py and its words to CALLS. Keep the old ones while their version is supported. Until "
    "then, users get a general message; no data is quoted."
)


def error_of(call):
    with pytest.raises((ValueError, TypeError, OverflowError)) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("name", CALLS)
def test_the_wordings_that_are_passed_on_still_exist(name):
    call, words = CALLS[name]
    error = error_of(call)
    assert public_messages(error) == [words], f"{str(error)!r} (scikit-learn {sklearn.__version__}) {TO_DO}"


# --- No value of the data ---------------------------------------------------------------------------------------------

CANARIES = ["patient 8675309", "'8675309 of (8, 675309)'", "[86753.09]", "array(['8675309'])", "\n8675309\n"]


@each("canary", CANARIES)
def test_no_interpolated_value_is_passed_on(canary):
    """For every message and every place in it where scikit-learn might quote data one day."""
    for name in CALLS.keys() - {"other names"}:  # whose names are passed on: they are compared before any value
        message = str(error_of(CALLS[name][0])).partition("\n")[0]
        assert "8675309" not in "".join(public_messages(ValueError(f"{message}.\n{canary}")))
        for place in re.finditer(r"[\w.']+|\[.*?\]|\(.*?\)", message):
            error = ValueError(message[: place.start()] + canary + message[place.end() :])
            assert "8675309" not in "".join(public_messages(error)).replace(".", ""), message
            with pytest.raises(ValueError) as caught:
                without_data(raised, error)
            assert "8675309" not in str(caught.value).replace(".", ""), message


def raised(error):
    raise error


def test_an_invalid_parameter_error_of_scikit_learn_is_recognised():
    error = error_of(lambda: Ridge(alpha="patient 7").fit(X, Y))
    assert is_invalid_parameter(error), (
        f"scikit-learn {sklearn.__version__} raises {type(error)} for a parameter of a wrong type: mend "
        "is_invalid_parameter, which tells this error by its name, as scikit-learn does not document its class"
    )
    assert not is_invalid_parameter(error_of(lambda: Ridge().fit(X[:0], Y[:0])))
