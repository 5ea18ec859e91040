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
from skdpmic.table.frames import column_of
from skdpmic.table.normal_form import BYTES, OBJECTS, OTHER, TEXT, exact_number, is_box, is_missing

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
        remedy = (
            "Make it missing, in pandas by X = X.replace([np.inf, -np.inf], np.nan)"
            if name.endswith(" of X")
            else f"Write public numbers in its place, by {name} = np.clip({name}, lower, upper)"
        )
        raise ValueError(f"Input {name} contains infinity. {remedy}.")
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
    column = column_of(values, name)
    if column.kind in (DATES, DURATIONS) or (column.kind == OBJECTS and any(map(is_date, column.values))):
        raise ValueError(dates_refused(name))
    if not are_labels(column, NUMBERS):
        found = TEXT if are_labels(column, TEXT) else OTHER if column.kind == OBJECTS else column.kind
        raise ValueError(f"{name} must hold real numbers, got {found}.")
    floats = column.each(lambda values: _from_objects(values, column.kind, (NUMBERS, OBJECTS), name), np.nan)
    if not np.isfinite(floats).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return floats.astype(np.float64, copy=False)


def check_pair(x, y, min_samples=2):
    """`x` and `y` as two arrays of finite numbers with the same length."""
    x, y = check_column(x, "x"), check_column(y, "y")
    if len(x) != len(y):
        raise ValueError(f"x and y must have the same length, got {len(x)} and {len(y)}.")
    if len(x) < min_samples:
        raise ValueError(f"x and y must hold at least {min_samples} samples, got n_samples={len(x)}.")
    return x, y


# --- Labels ----------------------------------------------------------------------------------------------------------


def refuse_missing(labels, name):
    """Raise if public labels, as an array of objects, include a missing value."""
    if is_missing(labels).any():
        raise ValueError(
            f"{name} must hold labels only, got a missing value such as NaN or None. Leave it "
            "out: missing values of a feature have their own bin, and a target must have none."
        )


def kind_of_labels(labels):
    """Whether public labels are text or numbers."""
    return TEXT if isinstance(labels[0], str) else NUMBERS


def as_codes(column, labels, name):
    """A column of labels as codes: the index in `labels`; their number for other labels; one more for missing values.

    Parameters
    ----------
    column : Column
    labels : tuple of str, or of numbers
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
    codes = exact_codes(column, labels, n_labels).astype(np.uint32)
    codes[column.missing] = n_labels + 1
    return codes


def are_labels(column, kind):
    """Whether a column holds text, bytes, or real numbers of Python, numpy or the standard library, with booleans."""
    if column.kind != OBJECTS:
        return column.kind == kind
    types = set(map(type, column.values))
    return np.timedelta64 not in types and all(issubclass(of_value, _TYPES_OF_LABELS[kind]) for of_value in types)


_TYPES_OF_LABELS = {TEXT: str, BYTES: bytes, NUMBERS: Real | np.bool_ | Decimal}


def exact_codes(column, labels, of_others=-1):
    """The number of each value among labels, or `of_others`, for a column that :func:`are_labels`.

    Integers are compared exactly, whatever their size and type: 1, True and Decimal("1.0") are equal, 2**53 + 1 and
    2.0**53 are not. Other numbers are compared as float64, and text by its characters.

    Parameters
    ----------
    column : Column
    labels : sequence
        Distinct numbers, text or bytes of Python.
    of_others : int, default=-1
        The code of other labels and of missing values.

    Returns
    -------
    int64 ndarray of shape (n_samples,)
    """
    find = _find_numbers if column.values.dtype.kind in "biuf" else _find_objects
    return column.each(lambda values: find(values, labels, of_others), of_others)


def _find_numbers(values, labels, of_others):
    """The search is in the type of the values; labels that this type cannot hold are left out."""
    exact = int if values.dtype.kind in "biu" else float
    if exact is int:
        first, last = (0, 1) if values.dtype == np.bool_ else (np.iinfo(values.dtype).min, np.iinfo(values.dtype).max)
        held = [label % 1 == 0 and first <= label <= last for label in labels]
    else:
        values = values.astype(np.float64, copy=False)
        held = [isinstance(exact_number(label), float) for label in labels]
    codes = np.array(sorted(np.flatnonzero(held), key=labels.__getitem__), dtype=np.int64)
    if len(codes) == 0:
        return np.full(len(values), of_others)
    known = np.array([exact(labels[code]) for code in codes], dtype=values.dtype)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[places] == values, codes[places], of_others)


def _find_objects(values, labels, of_others):
    are_numbers = isinstance(labels[0], Real)
    code_of = {exact_number(label) if are_numbers else label: code for code, label in enumerate(labels)}
    keys = map(exact_number, values) if are_numbers else values
    return without_data(lambda: np.fromiter(map(code_of.get, keys, repeat(of_others)), np.int64, len(values)))
