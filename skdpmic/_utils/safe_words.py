"""Error messages, of this package and others, that are passed on because they quote no value of the data."""

import re

_PLACEHOLDERS = {  # what may stand in a message: no value of the data
    "shape": r"\([\d, ]*\)",
    "count": r"\d+",
    "counts": r"\[[\d, ]*\]",
    "name": r"\w+",
    "types": r"[\[{](?:'[\w.-]+'(?:, )?)*[\]}]",
    "type": r"<class '[\w.]+'>",
    "class": r"[A-Za-z_][\w.]*",
    "by": r"(?: by \w+)?",
    "of": r"(?:\w+ )?",
    "for": r"(?: for \w+)?",
    "no_number": r"(?:NaN|infinity or a value too large for dtype\('\w+'\))",
    "kind": r"[a-z]+(?:-[a-z]+)?",
}
_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if "
    "it contains a single sample"
)


def _pattern(words):
    """A regular expression of a message."""
    parts = re.split(r"\{(\w+)\}", words)
    return "".join(_PLACEHOLDERS[part] if i % 2 else re.escape(part) for i, part in enumerate(parts))


# Messages of scikit-learn that are passed on whole, with their remedies. tests/_utils/test_messages_of_others.py reads
# the source of scikit-learn for new and reworded ones, and says what to do.
SAFE_MESSAGES = tuple(
    map(
        _pattern,
        (
            "Found array with {count} sample(s) (shape={shape}) while a minimum of {count} is required{by}",
            "Found array with {count} feature(s) (shape={shape}) while a minimum of {count} is required{by}",
            "Found array with dim {count}, while dim <= {count} is required{by}",
            "Found array with dim {count}. {name} expected <= {count}",
            "Found input variables with inconsistent numbers of samples: {counts}",
            f"Expected 2D input, got input with shape {{shape}}.\n{_RESHAPE}",
            "Expected a 2-dimensional container but got {type} instead. Pass a DataFrame containing a single row (i.e. "
            "single sample) or a single column (i.e. single feature) instead",
            "Expected sequence or array-like, got {type}",
            "Input {of}contains {no_number}",
            "Negative values in data passed to {name}",
            "Sparse data was passed{for}, but dense data is required. Use '.toarray()' to convert to a dense numpy "
            "array",
            "Only sparse matrices with 32-bit integer indices are accepted. Got {class} indices",
            "Pandas DataFrame with mixed sparse extension arrays generated a sparse matrix with object dtype which can "
            "not be converted to a scipy sparse matrix.Sparse extension arrays should all have the same numeric type",
            "dtype='numeric' is not compatible with arrays of bytes/strings.Convert your data to numeric values "
            "explicitly instead",
            "np.matrix is not supported. Please convert to a numpy array with np.asarray",
            "The feature names should match those that were passed during fit",
            "Feature names are only supported if all input features have string names, but your input has {types} as "
            "feature name / column name types. If you want feature names to be stored and validated, you must convert "
            "them all to strings, by using X.columns = X.columns.astype(str) for example. Otherwise you can remove "
            "feature / column names from your input data, or convert them all to a non-string data type",
            "Unable to generate feature names without n_features_in_",
            "input_features is not equal to feature_names_in_",
            "input_features should have length equal to number of features ({count}), got {count}",
            "The transformer outputs a scipy sparse matrix. Try to set the transformer output to a dense array or "
            "disable {name} output with set_output(transform='default')",
            "Setting output container to '{name}' requires {name} to be installed",
            "Unable to find the number of features from X of type {class} with shape {shape} where the samples are of "
            "type {class}",
            "Unable to find the number of features from X of type {class} with shape {shape}",
            "Unable to find the number of features from X of type {class} where the samples are of type {class}",
            "Unable to find the number of features from X of type {class}",
            "X has {count} features, but {name} is expecting {count} features as input",
            "X does not contain any features, but {name} is expecting {count} features",
            "X has a different shape than during fitting",
            "y should be a 1d array, got an array of shape {shape} instead",
            "This {name} estimator requires y to be passed, but the target y is None",
            "{name} requires y to be passed, but the target y is None",
            "y cannot be class 'SparseSeries' or 'SparseArray'",
            "Unknown label type: {kind}. Maybe you are trying to fit a classifier, which expects discrete classes on a "
            "regression target with continuous values",
            "Support for labels represented as bytes is not supported. Convert the labels to a string or integer "
            "format",
            "You appear to be using a legacy multi-label data representation. Sequence of sequences are no longer "
            "supported; use a binary array or sparse matrix instead - the MultiLabelBinarizer transformer can convert "
            "to this format",
            "Mix type of y not allowed, got types {types}",
            "Multi-label binary indicator input with different numbers of labels",
        ),
    )
)
# Phrases without data inside messages of scikit-learn that quote values, and of numpy, pandas and Python,
SAFE_PHRASES = (
    r"Unknown label type(?: for|: (?:continuous|unknown))",
    r"Mix of label input types \(string and number\)",
    r"Complex data not supported",
    r"Expected 2D array, got (?:1D|scalar) array instead",
    r"Expected array-like \(array or non-string sequence\)",
    r"Input should have at least 1 dimension i\.e\. satisfy `len\(x\.shape\) > 0`",
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
