"""Safe error messages: they describe the problem, and never quote a value."""

import re

# Messages of scikit-learn without data: they contain only shapes, counts, and names of types and estimators. A message
# that scikit-learn rewords is no longer passed on; tests/_utils/test_messages_of_others.py then says what to do.
_SHAPE = r"\([\d, ]*\)"
SAFE_MESSAGES = (
    rf"Found array with \d+ (?:sample|feature)\(s\) \(shape={_SHAPE}\) while a minimum of \d+ is required(?: by \w+)?",
    r"Found array with dim \d+, while dim <= \d+ is required(?: by \w+)?",
    r"Found array with dim \d+\. \w+ expected <= \d+",
    r"Found input variables with inconsistent numbers of samples: \[[\d, ]*\]",
    r"Input (?:[Xy] )?contains (?:NaN|infinity or a value too large for dtype\('\w+'\))",
    r"Sparse data was passed(?: for X)?, but dense data is required",
    r"The feature names should match those that were passed during fit",
    r"X has \d+ features, but \w+ is expecting \d+ features as input",
    rf"y should be a 1d array, got an array of shape {_SHAPE} instead",
    r"(?:This \w+ estimator|\w+) requires y to be passed, but the target y is None",
)
# Phrases without data inside messages of scikit-learn, numpy, pandas and Python,
SAFE_PHRASES = (
    r"Unknown label type: (?:continuous|unknown)",
    r"Complex data not supported",
    r"Expected 2D array, got (?:1D|scalar) array instead",
    r"Feature names are only supported if all input features have string names",
    r"boolean value of NA is ambiguous",
    r"could not convert string to float",
    r"int too large to convert to float",
    r"float\(\) argument must be a string or a real number(?:, not 'NAType')?",
    r"setting an array element with a sequence",
)
# and of this package.
OUR_PHRASES = (
    r"bounds must be \(lower, upper\), each a number or an array of shape \(n_features,\) = \(\d+,\)",
    r"bounds is a dict by feature name, but X has no feature names",
    r"bounds must have an entry for every feature",
    r"y must hold only labels that are in classes",
    r"classes and y must hold labels of one type",
    r"[Xy] must hold numbers, got dates or durations",
    r"[Xy] must not be a masked array",
)

NO_MISSING = (
    "A target must be complete: make 'unknown' a separate class, or keep only rows with a target; their number is then "
    "public."
)
_ADVICE = {
    "Expected 2D array": "Reshape your data with .reshape(-1, 1) for one feature, .reshape(1, -1) for one sample.",
    "contains NaN": NO_MISSING,
    "boolean value of NA": NO_MISSING,
    "NAType": NO_MISSING,
    "could not convert string": "Features with labels require their public labels in categories; a target with labels "
    "requires classes instead of target_bounds.",
    "Sparse data was passed": "Use '.toarray()' to convert to a dense numpy array.",
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
    """The same as :func:`without_data`, for a column named in the error."""
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
    except Exception as error:
        kind = type(error).__name__
    raise ValueError(
        f"{name} could not be read: the library that holds it failed with {kind}. Its message is not shown, because it "
        f"may quote values: read {name} without this package to see it."
    )


def _public_message(error):
    text = str(error)
    if text.startswith("The feature names should match"):
        return text  # lists names, which are compared before any value is read
    known = _known_words(text)
    if not known:
        return f"the data must be numbers, or labels in y, got other values ({type(error).__name__})."
    advice = [words for phrase, words in _ADVICE.items() if phrase in known[0]]
    return " ".join([f"{known[0]}.", *advice])


def public_messages(error):
    """The known phrases of scikit-learn and of this package in an error message, which contain no data."""
    if is_invalid_parameter(error.__cause__):  # the cause names the estimator, the error cross_validate
        return public_messages(error.__cause__)
    if is_invalid_parameter(error):
        first_line = str(error).partition("\n")[0]
        return [first_line.partition(". Got ")[0]]  # the value may be labels passed to a score function
    return _known_words(str(error))


def _known_words(message):
    whole = re.match("|".join(SAFE_MESSAGES), message)
    return [whole.group()] if whole else re.findall("|".join(SAFE_PHRASES + OUR_PHRASES), message.partition("\n")[0])


def is_invalid_parameter(error):
    """Whether scikit-learn raised this for an invalid parameter; the message describes the allowed values."""
    return type(error).__name__ == "InvalidParameterError" and type(error).__module__.startswith("sklearn.")
