"""The predictions of a model, each from its own record; and whether the model is known to be private."""

import warnings
from collections.abc import Mapping

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.errors import public_messages, warn
from skdpmic._utils.numbered_labels import about_numbered_labels
from skdpmic._utils.progress import SILENT
from skdpmic._utils.readable import refuse_collection, refuse_masked
from skdpmic._utils.summaries import broken_by
from skdpmic._utils.texts import quoted
from skdpmic.table.normal_form.containers import in_memory, is_frame

_OWN_MODELS = "skdpmic.models."
_OWN_STEPS = (_OWN_MODELS, "skdpmic.selection.", "skdpmic.preprocessing.")


def check_model(model, model_is_public):
    """Raise unless a model is fitted, predicts numbers or probabilities, and is private or declared public."""
    if not isinstance(model_is_public, bool | np.bool_):
        raise ValueError(f"model_is_public must be a bool, got {quoted(model_is_public)}.")
    if isinstance(model, type) or not (is_classifier(model) or is_regressor(model)):
        raise TypeError(f"model must be a fitted classifier or regressor, got {_kind(model)}.")
    check_is_fitted(model)
    if about := about_numbered_labels(model):
        if model_is_public:
            warn(about)
        else:
            raise ValueError(f"model must be fitted to the labels of the table: {about}")
    if is_classifier(model) and not hasattr(model, "predict_proba"):
        raise TypeError(f"model must have predict_proba, or be a regressor, got {_kind(model)}.")
    if is_classifier(model) and (np.ndim(model.classes_) != 1 or len(model.classes_) < 2):
        raise ValueError("model.classes_ must be the labels of one target, at least two.")
    if not model_is_public and (reason := why_not_private(model)):
        raise ValueError(
            f"model must be known to be private, got {reason}. The test score of a model that has seen people without "
            "noise publishes more than its cost says. If the model itself is published with a privacy guarantee, or "
            "never saw people of this table, pass model_is_public=True."
        )


def check_unit(model, groups):
    """Raise if a model was fitted to people, and people are not identified."""
    parameters = model.get_params()
    rows = [value for name, value in parameters.items() if name.endswith("max_rows_per_group") and value]
    entries = [getattr(step, "_entry", None) for step in (model, *parameters.values())]
    rows += [entry.rows_per_person for entry in entries if entry is not None and entry.rows_per_person]  # as fitted
    if rows and groups is None:
        raise ValueError(
            f"groups must identify the person behind each row of X, as model has max_rows_per_group={rows[0]}: pass "
            f"groups=... and max_rows_per_group={rows[0]}. If every row is another person, pass groups=range(len(X)) "
            "and max_rows_per_group=1."
        )


def why_not_private(model):
    """Why a model is not known to be private; empty if it is one of this package, or a pipeline of such steps."""
    if isinstance(model, Pipeline):
        *steps, last = [step for _, step in model.steps]
        return next(filter(None, [*(_reason(step, _OWN_STEPS) for step in steps), _reason(last, _OWN_MODELS)]), "")
    return _reason(model, _OWN_MODELS)


def _reason(step, rooms):
    """Why a step is not known to be private. A subclass may do anything, so its module is not one of ours."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return ""
    if not type(step).__module__.startswith(rooms):
        return _kind(step)
    entry = getattr(step, "_entry", None)
    broken = broken_by(entry) if entry is not None else []
    return f"a {_kind(step)} without privacy because of {' and '.join(broken)}" if broken else ""


def _kind(model):
    return model.__name__ if isinstance(model, type) else type(model).__name__


def with_rows(X):
    """Test records in a container whose rows can be picked one by one, each as it is."""
    refuse_masked(X, "X")
    refuse_collection(X, "X")
    X = in_memory(X) if is_frame(X) and not nw.dependencies.is_into_dataframe(X) else X  # a LazyFrame or a stream
    X = X.tocsr() if sparse.issparse(X) else X  # whose rows can be picked
    is_sequence = hasattr(X, "shape") or (hasattr(X, "__len__") and hasattr(X, "__getitem__"))
    if not is_sequence or isinstance(X, str | bytes | Mapping) or getattr(X, "shape", None) == ():
        raise TypeError(
            f"X must be array-like of shape (n_samples, n_features), got {type(X).__name__}: pass the rows of an "
            "iterator as list(X)."
        )
    return X


def n_rows_of(X):
    """The number of rows of an array, a dataframe, a sparse matrix or a list of rows."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def predicted_by(model, X, progress=SILENT):
    """What a model predicts for each record, which no other record can influence.

    The models of this package predict all records at once, each from its own parts. What others do with several
    records is unknown (some standardize them, some compute in another order), so they get one record at a time.

    Returns
    -------
    tuple of ndarrays
        Numbers, of shape (n_samples,). Or for classes, the probabilities of shape (n_samples, n_classes), and the
        position of the predicted class in ``model.classes_``, -1 for any other label.
    """
    ask = _classes if is_classifier(model) else _numbers
    if not has_foreign_steps(model):
        return ask(model, X)
    n_samples = n_rows_of(X)
    rows, all_axes = getattr(X, "iloc", X), hasattr(X, "__array_namespace__")  # whose standard wants one index per axis
    each = (ask(model, rows[i : i + 1, ...] if all_axes else rows[i : i + 1]) for i in range(n_samples))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning may be about a record, such as one of an unknown label
        return tuple(map(np.concatenate, zip(*progress.track(each, n_samples, "records"), strict=True)))


def _numbers(model, rows):
    return (_checked(_answer(model, "predict", rows), rows, ()),)


def _classes(model, rows):
    position = {label: k for k, label in enumerate(np.asarray(model.classes_).tolist())}
    probabilities = _checked(_answer(model, "predict_proba", rows), rows, (len(position),))
    labels = np.asarray(_answer(model, "predict", rows))
    if labels.shape != (n_rows_of(rows),):
        raise ValueError("model.predict must return one label per record.")
    return probabilities, np.array([position.get(label, -1) for label in labels.tolist()], dtype=np.int64)


def _answer(model, method, rows):
    """What a model answers; its errors are its own, and quote no value of the data, as none of this package does."""
    try:
        return getattr(model, method)(rows)
    except MemoryError:
        raise
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        what = ". ".join(public_messages(error)) if has_foreign_steps(model) else str(error).rstrip(".")
        what = what or f"{type(error).__name__}, whose message may quote values"
    raise kind(
        f"model must predict the records of X, but its {method} failed: {what}. Pass X as in its fit; if the "
        "model takes no missing values or labels, pass the fitted pipeline that prepares them, and ends in the model."
    )


def _checked(predictions, rows, shape):
    """Predictions as numbers: one of this shape for each row."""
    try:
        numbers = np.asarray(predictions, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(None)
    if numbers.shape != (n_rows_of(rows), *shape):
        each = "one number per class of model.classes_" if shape else "one number"
        raise ValueError(f"model must predict {each} for every record.")
    if np.isnan(numbers).any():
        raise ValueError("model must predict a number for every record, got NaN for at least one.")
    return numbers


def has_foreign_steps(model):
    """Whether a model has steps that are not of this package, private or not."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return any(not type(step).__module__.startswith(_OWN_STEPS) for step in steps if step not in (None, "passthrough"))
