"""Error messages, of this package and others, that are passed on because they quote no value of the data."""

import re

_PLACEHOLDERS = {  # what may stand in a message: no value of the data
    "shape": r"\([\d, ]*\)",
    "count": r"\d+",
    "counts": r"\[[\d, ]*\]",
    "name": r"\w+",
    "types": r"\[(?:'[\w.-]+'(?:, )?)*\]",
    "by": r"(?: by \w+)?",
    "of": r"(?:\w+ )?",
    "for": r"(?: for \w+)?",
    "no_number": r"(?:NaN|infinity or a value too large for dtype\('\w+'\))",
    "kind": r"[a-z]+(?:-[a-z]+)?",
}
# What users see most. tests/_utils/test_messages_of_others.py raises each of them, to notice rewordings.
MESSAGES = (
    "Found array with {count} sample(s) (shape={shape}) while a minimum of {count} is required{by}",
    "Found array with {count} feature(s) (shape={shape}) while a minimum of {count} is required{by}",
    "Found array with dim {count}, while dim <= {count} is required{by}",
    "Found array with dim {count}. {name} expected <= {count}",
    "Found input variables with inconsistent numbers of samples: {counts}",
    "Input {of}contains {no_number}",
    "Sparse data was passed{for}, but dense data is required. Use '.toarray()' to convert to a dense numpy array",
    "The feature names should match those that were passed during fit",
    "Feature names are only supported if all input features have string names, but your input has {types} as feature "
    "name / column name types",
    "X has {count} features, but {name} is expecting {count} features as input",
    "y should be a 1d array, got an array of shape {shape} instead",
    "{name} requires y to be passed, but the target y is None",
    "This {name} estimator requires y to be passed, but the target y is None",
    "Unknown label type: {kind}. Maybe you are trying to fit a classifier, which expects discrete classes on a "
    "regression target with continuous values",
)
# Phrases without data inside messages of scikit-learn that quote values, and of numpy, pandas and Python,
SAFE_PHRASES = (
    r"Complex data not supported",
    r"Expected 2D array, got (?:1D|scalar) array instead",
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


def pattern(words):
    """A regular expression of a message."""
    parts = re.split(r"\{(\w+)\}", words)
    return "".join(_PLACEHOLDERS[part] if i % 2 else re.escape(part) for i, part in enumerate(parts))
