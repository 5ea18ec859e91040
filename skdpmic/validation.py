"""What the estimators accept, and how they refuse it without quoting data or changing."""

import contextlib
import numbers
import re
import sys
import warnings

import numpy as np
from sklearn.utils.validation import validate_data

from skdpmic.exceptions import PrivacyLeakWarning
from skdpmic.mic.arguments import check_interval

# Messages of scikit-learn that hold shapes, counts and feature names only; of all others the part that may
# quote a value is cut off. "Found unknown categories" and the like quote values, so a first word does not do.
_SAFE_MESSAGES = re.compile(
    r"Found array with (?:dim \d|\d+ (?:sample|feature)\(s\))"
    r"|Found input variables with inconsistent numbers of samples"
    r"|Input (?:\w+ )?contains (?:NaN|infinity)|Sparse data was passed|The feature names should match"
    r"|X has \d+ features, but"
)
# Phrases without data inside messages of scikit-learn, and of this package.
_SAFE_PHRASES = re.compile(
    r"Unknown label type: (?:continuous|unknown)|Complex data not supported|y should be a 1d array"
    r"|bounds must be \(lower, upper\), each a number or an array of shape \(n_features,\) = \(\d+,\)"
    r"|bounds is a dict by feature name, but X has no feature names|bounds must have an entry for every feature"
    r"|y must hold only labels that are in classes|classes and y must hold labels of one type"
)


@contextlib.contextmanager
def unchanged_on_error(estimator):
    """Give `estimator` back the attributes that it had before, if the block raises."""
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


_NO_MISSING = "Replace missing values by a constant that is chosen without looking at the data."
_ADVICE = {
    "Reshape your data": "Reshape your data with .reshape(-1, 1) for one feature, .reshape(1, -1) for one sample.",
    "contains NaN": _NO_MISSING,
    "boolean value of NA": _NO_MISSING,
    "could not convert string": "X must hold numbers: encode categories by a list of them that is public. Where y "
    "holds labels, give classes instead of target_bounds.",
}


@contextlib.contextmanager
def errors_without_data():
    """Cut data values out of the messages of scikit-learn's and numpy's conversion errors, and add our own advice."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        message = str(error)
        advice = [text for phrase, text in _ADVICE.items() if phrase in message]
        if _SAFE_MESSAGES.match(message) and not advice:
            raise
        first_line = message.partition("\n")[0]
        public = first_line if _SAFE_MESSAGES.match(message) else first_line.partition(":")[0]
        public = " ".join([public.rstrip(".") + ".", *advice])
        raise (TypeError if isinstance(error, TypeError) else ValueError)(public) from None


def public_messages(error):
    """What the message of an error of any estimator says without data: known phrases of scikit-learn and of ours."""
    if _is_invalid_parameter(error.__cause__):  # which names the estimator, where the error names cross_validate
        return public_messages(error.__cause__)
    first_line = str(error).partition("\n")[0]
    if _is_invalid_parameter(error):
        return [first_line.partition(". Got ")[0]]  # a score function may have got labels
    return [first_line.rstrip(".")] if _SAFE_MESSAGES.match(first_line) else _SAFE_PHRASES.findall(first_line)


def _is_invalid_parameter(error):
    """Whether scikit-learn raised this for an argument that is not as it declares, in words that declare it."""
    return type(error).__name__ == "InvalidParameterError" and type(error).__module__.startswith("sklearn.")


def check_table(estimator, X, y, y_numeric, **options):
    """`X` as floats of shape (n_samples, n_features) and `y` of shape (n_samples,), as scikit-learn checks them."""
    options = {"dtype": [np.float64, np.float32], "ensure_min_samples": 4} | options
    with errors_without_data():
        return validate_data(estimator, X, y, y_numeric=y_numeric, **options)


def is_dask_collection(data):
    """Whether `data` is a dask array or dataframe; none exists before dask is imported."""
    dask = sys.modules.get("dask")
    return dask is not None and dask.is_dask_collection(data)


def refuse_dask(X):
    """Raise if X is a dask collection, all of whose rows would come into memory."""
    if is_dask_collection(X):
        raise TypeError(
            "X must be in memory to be counted in chunks, got a dask collection: give it to fit, or its partitions "
            "to skdpmic.distributed.count_rows."
        )


def check_n_jobs(n_jobs):
    """Raise unless `n_jobs` is None or an int that joblib knows."""
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an int other than 0, got {n_jobs!r}.")


def asks_for_data(value):
    """Whether a public argument is to be read from the data, which breaks the guarantee."""
    return isinstance(value, str) and value == "data"


def warn_of_data(name, value, stacklevel):
    """Warn if the public argument `name` is read from the data."""
    if asks_for_data(value):
        warnings.warn(
            f"{name}='data' reads {name} from the data, so the privacy guarantee does not hold. Pass values that are "
            "known without looking at the data.",
            PrivacyLeakWarning,
            stacklevel=stacklevel + 1,
        )


def feature_bounds(bounds, X, names):
    """The range of each feature: what `check_feature_bounds` makes of `bounds`, unless it is to be read from X."""
    return _range_of(X) if asks_for_data(bounds) else check_feature_bounds(bounds, X.shape[1], names)


def check_feature_bounds(bounds, n_features, names):
    """The public range of each feature.

    Returns
    -------
    lower, upper : float64 ndarrays of shape (n_features,)
    """
    if bounds is None:
        raise ValueError(
            "bounds is None, but the public range of the features is needed: pass (lower, upper), each a number or an "
            "array of shape (n_features,), or a dict {feature name: (lower, upper)}. bounds='data' reads it from X "
            "and gives up the privacy guarantee."
        )
    if isinstance(bounds, dict):
        lower, upper = _bounds_by_name(bounds, names)
    else:
        lower, upper = _bounds_by_position(bounds, n_features)
    wrong = np.flatnonzero(~(np.isfinite(upper - lower) & (lower < upper)))
    if len(wrong):
        j = wrong[0]
        label = f"feature {j}" if names is None else f"feature {names[j]!r}"
        raise ValueError(f"bounds must be finite with lower < upper, got ({lower[j]}, {upper[j]}) for {label}.")
    return lower, upper


def _bounds_by_name(bounds, names):
    if names is None:
        raise ValueError(
            "bounds is a dict by feature name, but X has no feature names: pass X as a dataframe whose column names "
            "are all strings, or bounds as arrays in the order of the columns. (SelectKBest passes its score_func an "
            "array, whatever it was given.)"
        )
    missing = [name for name in names if name not in bounds]
    if missing:
        raise ValueError(f"bounds must have an entry for every feature, got none for {missing[:5]}.")
    intervals = np.array([check_interval(bounds[name], f"bounds of feature {name!r}") for name in names])
    return intervals[:, 0], intervals[:, 1]


def _bounds_by_position(bounds, n_features):
    allowed = f"bounds must be (lower, upper), each a number or an array of shape (n_features,) = ({n_features},)"
    is_list = isinstance(bounds, list | np.ndarray) and n_features != 2
    if is_list and [np.shape(pair) for pair in bounds] == [(2,)] * n_features:
        raise ValueError(f"{allowed}, got a pair for each feature: pass np.transpose(bounds), or a dict by name.")
    try:
        lower, upper = (np.array(side, dtype=np.float64) for side in bounds)  # copies, which nobody else can change
    except (TypeError, ValueError):
        raise ValueError(f"{allowed}, got {bounds!r}.") from None
    for side in (lower, upper):
        if side.shape not in ((), (n_features,)):
            raise ValueError(f"{allowed}, got an array of shape {side.shape}.")
    return np.broadcast_to(lower, n_features), np.broadcast_to(upper, n_features)


def _range_of(X):
    lower = X.min(axis=0).astype(np.float64)
    upper = X.max(axis=0).astype(np.float64)
    return lower, np.where(upper > lower, upper, lower + np.maximum(1.0, np.abs(lower)))  # constant: any width serves
