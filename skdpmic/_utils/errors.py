"""Errors and warnings of this package; their messages describe the problem, and never quote a value."""

import inspect
import re
import warnings

ONLY_COMPLETE = "keep only rows with a target, such as X[y.notna()] and y[y.notna()]; their number is then public."
NO_MISSING = (
    "A target must be complete: make 'unknown' a separate class (beside numbers or booleans, a further number in "
    f"classes), or {ONLY_COMPLETE}"
)
TO_NUMBERS = (
    "Numbers with ',' between thousands or '%' are converted by pd.to_numeric(column.str.replace('[,%]', '', "
    "regex=True), errors='coerce'), which makes other text missing; labels of features require categories, those of a "
    "target require classes instead of target_bounds."
)
_ADVICE = {
    "Expected 2D array": "Reshape your data with .reshape(-1, 1) for one feature, .reshape(1, -1) for one sample.",
    "contains NaN": NO_MISSING,
    "boolean value of NA": NO_MISSING,
    "NAType": NO_MISSING,
    "could not convert string": TO_NUMBERS,
}


def without_data(function, *arguments, **options):
    """``function(*arguments, **options)``, with errors replaced by ones that quote no value of the data.

    The new error is raised after the first one has been handled, so that neither its `__context__` nor its `__cause__`
    keeps the values in the first one, nor its traceback the frames that contain them.
    """
    try:
        return function(*arguments, **options)
    except MemoryError:
        raise
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        message = _public_message(error)
    raise kind(message)


def without_data_of(name, function, *arguments):
    """``function(*arguments)``, with errors replaced by ones that name the column and quote no value of it."""
    try:
        return without_data(function, *arguments)
    except (TypeError, ValueError) as error:
        kind, message = type(error), f"{error} Found in {name}."
    raise kind(message)


def read_by_engine(name, read, *arguments, **options):
    """``read(*arguments, **options)`` by a library that reads `name`; only the type of its errors is passed on.

    The message of a failed query, cast or file may quote a value, in unpredictable form.
    """
    try:
        return read(*arguments, **options)
    except (MemoryError, ImportError):
        raise
    except BaseException as error:
        kind = type(error).__name__
        if not isinstance(error, Exception) and kind != "PanicException":  # of Polars, which is none either
            raise
    raise ValueError(
        f"{name} could not be read: the library that holds it failed with {kind}. Its message is not shown, because it "
        f"may quote values: read {name} without this package to see it."
    )


def _public_message(error):
    text = str(error)
    if text.startswith("The feature names should match"):
        return text  # lists names, which are compared before any value is read
    known = public_messages(error)
    if not known:
        return f"the data must be numbers, or labels in y, got other values ({type(error).__name__})."
    advice = [words for phrase, words in _ADVICE.items() if phrase in known[0]]
    return " ".join([f"{known[0]}.", *advice])


def public_messages(error):
    """The known phrases in an error message, which contain no data."""
    text = str(error).partition("\n")[0]
    begins = re.match("|".join(MESSAGES), text)  # elsewhere, what varies in them could be a value that is quoted
    return [begins.group()] if begins else re.findall("|".join(PHRASES), text)


def is_invalid_parameter(error):
    """Whether scikit-learn raised this for an invalid parameter; the message describes the allowed values."""
    return type(error).__name__ == "InvalidParameterError" and type(error).__module__.startswith("sklearn.")


_INTERNAL_CALLERS = {"skdpmic", "sklearn", "joblib", "contextlib"}


class PrivacyLeakWarning(UserWarning):
    """Warns that a parameter breaks the privacy guarantee, such as a seed.

    Examples
    --------
    >>> import warnings
    >>> from skdpmic import PrivacyLeakWarning, PrivateSelectKBest
    >>> selector = PrivateSelectKBest(k=1, epsilon=1, bounds=(0, 1), target_bounds=(0, 1), random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PrivacyLeakWarning)
    ...     try:
    ...         selector.fit([[0.1, 0], [0.2, 1], [0.3, 0], [0.4, 1]], [0, 0, 1, 1])
    ...     except PrivacyLeakWarning:
    ...         print("refused")
    refused
    """


class BudgetError(RuntimeError):
    """Raised if a privacy cost is refused because the total would exceed the limit of the :class:`BudgetLedger`.

    Examples
    --------
    >>> import tempfile
    >>> from skdpmic import BudgetError, BudgetLedger
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
    ...     try:
    ...         ledger.charge("mean age", 1.5)
    ...     except BudgetError:
    ...         print("refused")
    refused
    """


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the user's line: the innermost call from outside of this package and scikit-learn."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INTERNAL_CALLERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


_SHAPE = r"\([\d, ]*\)"
# What users see most of scikit-learn, numpy, pandas and Python; none of it depends on a value of the data.
# tests/_utils/test_messages_of_others.py raises each of them, to notice rewordings.
MESSAGES = (  # how they begin
    rf"Found array with \d+ (?:sample|feature)\(s\) \(shape={_SHAPE}\) while a minimum of \d+ is required(?: by \w+)?",
    r"Found array with dim \d+",
    r"Found input variables with inconsistent numbers of samples: \[[\d, ]*\]",
    r"Input (?:[Xy] )?contains (?:NaN|infinity or a value too large for dtype\('float\d+'\))",
    r"X has \d+ features, but \w+ is expecting \d+ features as input",
    rf"y should be a 1d array, got an array of shape {_SHAPE} instead",
    r"Unknown label type: [a-z]+(?:-[a-z]+)?",
)
PHRASES = (  # anywhere in them
    r"Sparse data was passed(?: for X)?, but dense data is required\. Use '\.toarray\(\)'",
    r"Feature names are only supported if all input features have string names",
    r"The feature names should match those that were passed during fit",
    r"requires y to be passed, but the target y is None",
    r"(?:Complex data not supported|boolean value of NA is ambiguous|could not convert string to float)",
    r"Expected 2D array, got (?:1D|scalar) array instead",
    r"(?:int too large to convert to float|float\(\) argument must be a string or a real number(?:, not 'NAType')?)",
    r"setting an array element with a sequence",
    r"y must hold only labels that are in classes",  # of this package
)
