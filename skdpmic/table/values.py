"""The values of one column as numbers, as codes of public labels, or as labels of people. Errors quote no value.

All functions see only the normal form of a column, and convert each value separately.
"""

from decimal import Decimal
from itertools import repeat
from numbers import Real

import numpy as np

from skdpmic._utils.errors import without_data, without_data_of
from skdpmic._utils.readable import dates_refused, is_date
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, kind_of_date, seconds, seconds_of
from skdpmic.table.normal_form.containers import open_column, open_series
from skdpmic.table.normal_form.form import BYTES, OBJECTS, TEXT
from skdpmic.table.normal_form.from_numpy import is_box

ANY_ORDER = (NUMBERS, DATES, DURATIONS, OBJECTS)  # kinds that can be ordered

# --- Numbers ---------------------------------------------------------------------------------------------------------


def as_numbers(column, of, name):
    """A column of numbers, dates or durations as floats: seconds for dates, NaN for missing values.

    Parameters
    ----------
    column : Column
    of : tuple of str
        Allowed kinds. Numbers may be numerals as text, as in an array of several columns some of which are labels.
    name : str
        Name of the column in errors.

    Returns
    -------
    float32 or float64 ndarray of shape (n_samples,)
    """
    if column.kind not in of and not (column.kind == TEXT and NUMBERS in of):
        if not column.missing.all():
            raise ValueError(_refusal(of, name))
        return np.full(column.n_samples, np.nan)  # the type is arbitrary
    if column.kind in (DATES, DURATIONS):
        return column.each(seconds, np.nan)
    numbers = column.each(lambda values: _from_objects(values, column.kind, of, name), np.nan)
    if np.isinf(numbers).any():
        remedy = " Make it missing by X = X.replace([np.inf, -np.inf], np.nan)." if name.endswith(" of X") else ""
        raise ValueError(f"Input {name} contains infinity.{remedy}")
    return numbers


def _from_objects(values, kind, of, name):
    """Numbers as floats, or objects, each separately."""
    if kind == OBJECTS and len(values):
        one_of_each = dict(zip(map(type, items := values.tolist()), items, strict=True))
        kinds = {kind_of_date(value) if is_date(value) else NUMBERS for value in one_of_each.values()}
        if any(issubclass(kind, complex | np.complexfloating) for kind in one_of_each):
            raise ValueError("Complex data not supported.")  # numpy would drop imaginary parts
        if not kinds <= set(of) or len(kinds) > 1 or any(map(is_box, one_of_each)):
            raise ValueError(_refusal(of, name))
        if kinds != {NUMBERS}:
            return without_data_of(name, lambda: np.array(list(map(seconds_of, values)), dtype=np.float64))
    return _floats(values, name)


def are_numerals(column):
    """Whether a column is text that can be read as numbers, each value separately."""
    if column.kind != TEXT:
        return False
    try:
        column.each(lambda texts: texts.astype(np.float64), np.nan)
    except ValueError:
        return False
    return True


def _refusal(of, name):
    allowed = " or ".join(kind for kind in of if kind != OBJECTS)
    line = "pd.to_datetime(column, format='%Y-%m-%d', errors='coerce'), with the format that it has"
    advice = f" Convert text to dates by {line}." if DATES in of and NUMBERS not in of else ""
    return f"{name} must hold {allowed}, all of one kind, got at least one other value.{advice}"


def _floats(values, name):
    """Numbers as floats; objects each separately."""
    if values.dtype in (np.float64, np.float32):
        return values
    with np.errstate(all="ignore"):
        return without_data_of(name, values.astype, np.float64)


def check_column(values, name):
    """`values` as a 1-D array of finite real numbers."""
    source = open_series(values, name)
    if source is None:
        array = without_data(np.asarray, values)  # of one type: nothing but numbers is read
        if array.ndim != 1:
            raise ValueError(f"{name} must be 1-dimensional, got an array of shape {array.shape}.")
        source = open_column(array)
    column = source.read(name)
    is_typed = column.kind in (NUMBERS, TEXT, BYTES)
    if column.kind in (DATES, DURATIONS) or (not is_typed and any(map(is_date, column.values))):
        raise ValueError(dates_refused(name))
    if column.kind != NUMBERS:
        raise ValueError(f"{name} must hold real numbers, got {column.kind}.")
    with np.errstate(all="ignore"):
        floats = column.each(lambda values: values.astype(np.float64, copy=False), np.nan)
    if not np.isfinite(floats).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return floats


def check_pair(x, y, min_samples=2):
    """`x` and `y` as two arrays of finite numbers with the same length."""
    x, y = check_column(x, "x"), check_column(y, "y")
    if len(x) != len(y):
        raise ValueError(f"x and y must have the same length, got {len(x)} and {len(y)}.")
    if len(x) < min_samples:
        raise ValueError(f"x and y must hold at least {min_samples} samples, got n_samples={len(x)}.")
    return x, y


# --- Labels ----------------------------------------------------------------------------------------------------------


def kind_of_labels(labels):
    """Whether public labels are text or numbers."""
    return TEXT if isinstance(labels[0], str) else NUMBERS


def as_codes(column, labels, name):
    """A column of labels as codes: the index in `labels`; their number for other labels; one more for missing values.

    Numbers are compared as float64, and text by its characters, in every container.

    Parameters
    ----------
    column : Column
    labels : tuple of str, or of float
        Public labels; all values present must have the same type.
    name : str
        Name of the column in errors.

    Returns
    -------
    uint32 ndarray of shape (n_samples,)
    """
    kind, n_labels = kind_of_labels(labels), len(labels)
    if not are_labels(column, kind):
        if not column.missing.all():
            raise ValueError(f"{name} must hold {kind}, like categories, got at least one value of another type.")
        return np.full(column.n_samples, n_labels + 1, dtype=np.uint32)  # the type is arbitrary
    if kind == TEXT:
        return column.each(lambda texts: _codes_of_strings(texts, labels), n_labels + 1)
    return column.each(lambda values: _codes_of_numbers(_floats(values, name), labels), n_labels + 1)


def are_labels(column, kind):
    """Whether a column holds text, bytes, or real numbers of Python, numpy or the standard library, with booleans."""
    if column.kind != OBJECTS:
        return column.kind == kind
    return all(issubclass(of_value, _TYPES_OF_LABELS[kind]) for of_value in set(map(type, column.values)))


_TYPES_OF_LABELS = {TEXT: str, BYTES: bytes, NUMBERS: Real | np.bool_ | Decimal}


def _codes_of_strings(texts, labels):
    code_of = dict(zip(labels, range(len(labels)), strict=True))
    found = map(code_of.get, texts.tolist(), repeat(len(labels)))
    return without_data(lambda: np.fromiter(found, np.uint32, len(texts)))


def _codes_of_numbers(values, labels):
    order = np.argsort(labels)
    known = np.array(labels)[order]
    values = values.astype(np.float64, copy=False)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    codes = np.where(known[places] == values, order[places], len(labels)).astype(np.uint32)
    codes[np.isnan(values)] = len(labels) + 1
    return codes


# --- Labels compared exactly ----------------------------------------------------------------------------------------


def exact_codes(column, labels):
    """The number of each value among labels, or -1, for a column that :func:`are_labels`.

    A number is a label if Python says that the two are equal, which is exact for integers, decimals and floats of any
    size and type: 1, True and Decimal("1.0") are equal, 2**53 + 1 and 2.0**53 are not. Text is text.

    Parameters
    ----------
    column : Column
    labels : ndarray of shape (n_labels,)
        Distinct numbers, text or bytes.

    Returns
    -------
    int64 ndarray of shape (n_samples,)
    """
    find = _find_numbers if column.values.dtype.kind in "biuf" else _find_objects
    return column.each(lambda values: find(values, labels), -1)


def _find_numbers(values, labels):
    """The search is in the type of the values; labels that this type cannot hold are left out."""
    with np.errstate(all="ignore"):
        held = labels.astype(values.dtype)
    is_held = [here.item() == label for here, label in zip(held, labels.tolist(), strict=True)]
    known, code_of = np.unique(held[is_held], return_index=True)
    if len(known) == 0:
        return np.full(len(values), -1)
    code_of = np.flatnonzero(is_held)[code_of]
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[places] == values, code_of[places], -1)


def _find_objects(values, labels):
    code_of = {label: code for code, label in enumerate(labels.tolist())}
    return without_data(lambda: np.fromiter(map(code_of.get, values, repeat(-1)), np.int64, len(values)))


def exact_labels(column):
    """The label of each row as an object of Python; dates and durations as counts of their unit.

    Parameters
    ----------
    column : Column
        Without missing values.

    Returns
    -------
    list of length n_samples
    """
    values = column.values.view(np.int64) if column.values.dtype.kind in "mM" else column.values
    return (values if column.places is None else values[column.places]).tolist()


def numbered(column):
    """The number of the label of each row among the distinct ones, and how many there are.

    Two labels are one if they are equal and have equal hashes in Python, as in :func:`exact_codes`; dates and durations
    of a declared type if they are the same instant or length.

    Parameters
    ----------
    column : Column
        Without missing values; any hashable labels.

    Returns
    -------
    numbers : int64 ndarray of shape (n_samples,)
    n_distinct : int
    """
    values = column.values
    if values.dtype.kind in "mM":
        values = values.view(np.int64)
    if values.dtype.kind in "biuf":
        distinct, found = np.unique(values, return_inverse=True)
    else:
        distinct, found = _numbered_objects(values)
    return found if column.places is None else found[column.places], len(distinct)


def _numbered_objects(labels):
    number_of = {}
    try:
        return number_of, np.array([number_of.setdefault(label, len(number_of)) for label in labels], dtype=np.int64)
    except MemoryError:
        raise
    except Exception:
        pass  # an error raised here would keep the label, and errors of a custom label class may quote it
    raise TypeError("groups must hold hashable labels, such as numbers or strings.")
