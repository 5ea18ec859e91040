"""The messages of other packages that are passed on still exist; rewordings are noticed here first."""

import re
from pathlib import Path

import numpy as np
import pandas
import pytest
import sklearn
from scipy import sparse
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from skdpmic import DPMICScorer
from skdpmic._utils.errors import is_invalid_parameter, public_messages, without_data
from skdpmic._utils.safe_words import SAFE_MESSAGES, SAFE_PHRASES
from tests._utils.messages_of_sklearn import collected
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


TO_DENSE = "Use '.toarray()' to convert to a dense numpy array"
# A call that raises an error of scikit-learn, numpy, pandas or Python, and what is passed on of its message. A list
# has the wordings of several versions, oldest first.
CALLS = {
    "no rows": (
        lambda: Ridge().fit(X[:0], Y[:0]),
        "Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required by Ridge",
    ),
    "no columns": (
        lambda: check_array(X[:, :0]),
        "Found array with 0 feature(s) (shape=(20, 0)) while a minimum of 1 is required",
    ),
    "three dimensions": (
        lambda: Ridge().fit(X[np.newaxis], Y[:1]),
        ["Found array with dim 3. Ridge expected <= 2", "Found array with dim 3, while dim <= 2 is required by Ridge"],
    ),
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
        f"Sparse data was passed, but dense data is required. {TO_DENSE}",
    ),
    "sparse X": (
        lambda: GaussianNB().fit(sparse.csr_matrix(X), Y > 0.5),
        f"Sparse data was passed for X, but dense data is required. {TO_DENSE}",
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
    "no target": (
        lambda: Ridge().fit(X, None),
        "This Ridge estimator requires y to be passed, but the target y is None",
    ),
    "no target of a selector": (
        lambda: SelectKBest(k=1).fit(X, None),
        "estimator requires y to be passed, but the target y is None",
    ),
    "classes of numbers": (
        lambda: LogisticRegression().fit(X, Y),
        "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes on a "
        "regression target with continuous values",
    ),
    "mixed classes": (
        lambda: check_classification_targets(np.array([1, "a", None], dtype=object)),
        "Unknown label type: unknown. Maybe you are trying to fit a classifier, which expects discrete classes on a "
        "regression target with continuous values",
    ),
    "complex": (lambda: check_array(X + 1j), "Complex data not supported"),
    "one column": (lambda: check_array(Y), "Expected 2D array, got 1D array instead"),
    "one number": (lambda: check_array(0.5), "Expected 2D array, got scalar array instead"),
    "mixed names": (
        lambda: Ridge().fit(frame(["a", 1, 2]), Y),
        "Feature names are only supported if all input features have string names, but your input has ['int', 'str'] "
        "as feature name / column name types. If you want feature names to be stored and validated, you must convert "
        "them all to strings, by using X.columns = X.columns.astype(str) for example. Otherwise you can remove feature "
        "/ column names from your input data, or convert them all to a non-string data type",
    ),
    "a sparse output as a frame": (
        lambda: SelectKBest(k=1).set_output(transform="pandas").fit_transform(sparse.csr_matrix(X), Y > 0.5),
        "The transformer outputs a scipy sparse matrix. Try to set the transformer output to a dense array or disable "
        "Pandas output with set_output(transform='default')",
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
    "skdpmic/_utils/safe_words.py and its words to CALLS. Keep the old ones while their version is supported. Until "
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
    words = [words] if isinstance(words, str) else words
    found = public_messages(error)
    assert [word for word in words if found == [word]], f"{str(error)!r} (scikit-learn {sklearn.__version__}) {TO_DO}"


def test_every_pattern_matches_a_call_or_a_message_in_the_source():
    words = [word for _, words in CALLS.values() for word in ([words] if isinstance(words, str) else words)]
    words += [filled(message.words, FILLED) for message in MESSAGES] + VERSION_MESSAGES
    unused = [pattern for pattern in SAFE_MESSAGES + SAFE_PHRASES if not any(re.match(pattern, w) for w in words)]
    assert not unused, f"add a call of another package to CALLS, or remove the pattern: {unused}"


# --- All messages in the source of scikit-learn -----------------------------------------------------------------------

MESSAGES = collected(Path(sklearn.__file__).parent)
VERSION_MESSAGES = [
    "Pandas DataFrame with mixed sparse extension arrays generated a sparse matrix with object dtype which can not be "
    "converted to a scipy sparse matrix.Sparse extension arrays should all have the same numeric type",
    "Support for labels represented as bytes is not supported. Convert the labels to a string or integer format",
]
# Functions that never see a user's table, and what they are about.
WITHOUT_TABLES = {
    "of the constructors and parameters of estimators": [
        *["__getstate__", "__init_subclass__", "_clone_parametrized", "_get_feature_importances", "_get_param_names"],
        *[
            "_repr_html_",
            "check",
            "check_is_fitted",
            "check_memory",
            "check_random_state",
            "check_scalar",
            "set_params",
        ],
        *["_check_response_method", "_get_output_config", "_safe_set_output", "_get_adapter_from_container"],
    ],
    "of arrays of other libraries, which are converted before": [
        *["_average", "_check_array_api_dispatch", "_check_device_cpu", "_fill_or_add_to_diagonal", "_isdtype_single"],
        *["_validate_diagonal_args", "check_same_namespace", "device", "move_to", "reshape"],
    ],
    "of single estimators": [
        *["_allclose_dense_sparse", "_check_categorical_features", "_check_monotonic_cst"],
        *["_check_partial_fit_first_call", "_check_pos_label_consistency", "_check_psd_eigenvalues"],
        *["_check_sample_weight", "check_symmetric", "resample"],
    ],
    "of indices": [
        *["_determine_key_type", "_get_column_indices", "_get_column_indices_for_bool_or_int"],
        *["_get_column_indices_interchange", "_safe_indexing", "indices_to_mask"],
    ],
}
# Messages that are not passed on whole, by their first words, with the reason.
IN_PART = {
    "Complex data not supported": "quotes the data",
    "Expected 2D array, got": "quotes the data",
    "Expected array-like (array or non-string sequence)": "quotes the data",
    "Input should have at least 1 dimension": "quotes the data",
    "Unknown label type for": "quotes the data",
    "Unknown label type: «repr(ys)»": "quotes the data",
    "Mix of label input types": "may quote the data",
    "Input «padded_input_name»contains «type_err».\n": "advises on models, where this package advises on targets",
    "Only sparse matrices with 32-bit": "sends the reader to the maintainers of scikit-learn",
    "np.matrix is not supported": "sends the reader to a page of numpy",
    "The feature names should match": "lists names, which the estimators of this package pass on",
    "Parameter 'accept_sparse'": "is about the call",
    "When providing 'accept_sparse'": "is about the call",
    "ensure_all_finite should be": "is about the call",
    "Validation should be done": "is about the call",
    "No argument has been passed": "is about the call",
}
# Harmless values for each interpolated expression in the source.
FILLED = {
    **dict.fromkeys(["array.shape", "shape", "X.shape"], "(20, 3)"),
    **dict.fromkeys(["n_features", "n_samples", "ensure_min_features", "ensure_min_samples", "array.ndim"], "3"),
    **dict.fromkeys(["n_features_in_", "len(input_features)", "estimator.n_features_in_"], "3"),
    **dict.fromkeys(["estimator.__class__.__name__", "_estimator.__class__.__name__", "estimator_name"], "Ridge"),
    **dict.fromkeys(["dense_config.capitalize()", "library", "whom"], "pandas"),
    **dict.fromkeys(["type(x)", "type_if_series"], "<class 'list'>"),
    **dict.fromkeys(["type_name", "type(first_sample).__qualname__", "indices_datatype"], "int64"),
    "[int(l) for l in lengths]": "[20, 19]",
    "context": " by Ridge",
    "padded_input": " for X",
    "padded_input_name": "X ",
    "type_err": "infinity or a value too large for dtype('float64')",
    "types": "['int', 'str']",
    "y_type": "continuous-multioutput",
    "ys_types": "{'binary', 'continuous'}",
}
CANARIES = ["patient 8675309", "'8675309 of (8, 675309)'", "[86753.09]", "array(['8675309'])", "\n8675309\n"]


def filled(words, values, other="..."):
    """A message with its expressions replaced by values."""
    return re.sub("«(.*?)»", lambda match: values.get(match[1], other), words)


def test_every_message_of_scikit_learn_is_passed_on_whole_or_listed_with_a_reason():
    without_tables = {function for functions in WITHOUT_TABLES.values() for function in functions}
    cut = []
    for function, words in MESSAGES:
        if function not in without_tables and not words.startswith(tuple(IN_PART)):
            message = filled(words, FILLED)
            if public_messages(ValueError(message)) != [message.removesuffix(".")]:
                cut.append(f"{function}: {words}")
    assert not cut, (
        f"scikit-learn {sklearn.__version__} has messages that are new here: if nothing that is filled in can be a "
        "value of the data, add them to skdpmic/_utils/safe_words.py, else to IN_PART, with the reason:\n"
        + "\n".join(cut)
    )


def test_every_listed_message_is_still_in_the_source():
    assert len(MESSAGES) > 100
    begun = {start for start in IN_PART if any(message.words.startswith(start) for message in MESSAGES)}
    assert len(begun) > len(IN_PART) - 3  # some exist in one version only


@each("canary", CANARIES)
def test_no_interpolated_value_is_passed_on(canary):
    """For every message and every place where scikit-learn might quote data one day."""
    for _, words in MESSAGES:
        for known in ({}, {name: value for i, (name, value) in enumerate(FILLED.items()) if i % 2}):
            error = ValueError(filled(words, known, canary))
            assert "8675309" not in "".join(public_messages(error)).replace(".", ""), words
            if not words.startswith("The feature names should match"):  # lists column names
                with pytest.raises(ValueError) as caught:
                    without_data(raised, error)
                assert "8675309" not in str(caught.value).replace(".", ""), words


def raised(error):
    raise error


def test_an_invalid_parameter_error_of_scikit_learn_is_recognised():
    error = error_of(lambda: Ridge(alpha="patient 7").fit(X, Y))
    assert is_invalid_parameter(error), (
        f"scikit-learn {sklearn.__version__} raises {type(error)} for a parameter of a wrong type: mend "
        "is_invalid_parameter, which tells this error by its name, as scikit-learn does not document its class"
    )
    assert public_messages(error)[0].startswith(
        "The 'alpha' parameter of Ridge must be a float in the range [0.0, inf) or"
    )
    assert not is_invalid_parameter(error_of(lambda: Ridge().fit(X[:0], Y[:0])))


def test_sparse_output_as_pandas_raises_the_error_of_scikit_learn():
    selector = DPMICScorer(bounds=(0, 1), target_bounds=(0, 1)).fit(X, Y).set_output(transform="pandas")
    with pytest.raises(ValueError, match=r"Try to set the transformer output to a dense array or disable Pandas"):
        selector.transform(sparse.csr_matrix(X))
