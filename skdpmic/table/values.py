"""The values of one column as numbers, codes of public labels, a target, weights or people. Errors quote no value.

All functions see only the normal form of a column, and convert each value separately.
"""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from hashlib import blake2b
from itertools import repeat
from numbers import Real
from typing import NamedTuple

import numpy as np

from skdpmic._utils.arguments import check_n_shares, check_shares, is_whole
from skdpmic._utils.readable import abbreviated, dates_refused, is_date
from skdpmic._utils.texts import NO_MISSING, ONLY_COMPLETE, TO_NUMBERS, quoted, require, without_data, without_data_of
from skdpmic.table import domains, normal_form
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, Order, domain_of, kind_of_date, seconds, seconds_of
from skdpmic.table.frames import column_of
from skdpmic.table.normal_form import BYTES, OBJECTS, OTHER, TEXT, array_of, exact_number

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
        if not kinds <= set(of) or len(kinds) > 1 or any(map(normal_form.is_box, one_of_each)):
            raise ValueError(_refusal(of, name))
        if kinds != {NUMBERS}:
            return without_data_of(name, lambda: np.array(list(map(seconds_of, values)), dtype=np.float64))
    if values.dtype in (np.float64, np.float32):
        return values
    with np.errstate(all="ignore"):
        return without_data_of(name, values.astype, np.float64)


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
    if normal_form.are_missing(labels, set(map(type, labels))).any():
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
    return column.each(lambda values: _codes_of(values, labels, of_others), of_others)


def _codes_of(values, labels, of_others):
    if values.dtype.kind in "biuf":  # each distinct number is looked up once
        distinct, places = np.unique(values, return_inverse=True)
        return _codes_of(distinct.astype(object), labels, of_others)[places]
    are_numbers = isinstance(labels[0], Real)
    code_of = {exact_number(label) if are_numbers else label: code for code, label in enumerate(labels)}
    keys = map(exact_number, values) if are_numbers else values
    return without_data(lambda: np.fromiter(map(code_of.get, keys, repeat(of_others)), np.int64, len(values)))


# --- Targets ---------------------------------------------------------------------------------------------------------


WEIGHT_UNITS = 256  # weights are rounded to this many equal parts of `max_weight`, so that sums are exact
USUAL_MEAN = 0.25  # assumed mean of survey weights, as a share of the largest, if unknown


class NumericTarget(NamedTuple):
    """A numeric target. Raw data; not private."""

    values: np.ndarray  # (n_samples,)
    bounds: tuple | None  # the range of these values; None if the statistic needs none
    weights: np.ndarray | None = None  # uint32 (n_samples,), in units; None for equal weights

    n_classes = None  # type: ignore[misc]  # a plain attribute of the class


class ClassTarget(NamedTuple):
    """A target of class numbers 0 ... n_classes - 1. Raw data; not private."""

    values: np.ndarray  # (n_samples,)
    n_classes: int
    weights: np.ndarray | None = None

    bounds = None  # type: ignore[misc]


def check_kind(target_bounds, classes, needs_ranges=True):
    """Whether the target is numeric; raises unless exactly one of its two public descriptions is given.

    A numeric target needs none if the statistic needs no ranges.
    """
    if (target_bounds is None) == (classes is None) and (needs_ranges or classes is not None):
        given = "neither" if classes is None else "both"
        raise ValueError(
            f"exactly one of target_bounds (for a continuous target) and classes (for a discrete one) must be given, "
            f"got {given}: pass what is publicly known, such as target_bounds=(0, 100) or classes=['no', 'yes']."
        )
    return classes is None


def target_domain(target_bounds, needs_ranges=True):
    """The domain of a numeric target."""
    return domain_of(target_bounds, "target_bounds") if needs_ranges else Order()


def check_target_shares(target_shares, target_bounds, classes):
    """Public shares of the records in each class, in ascending order, or in equal parts of a numeric target.

    Parameters
    ----------
    target_shares : array-like of shape (n_classes,), in the order of `classes`, or of shape (2,), (4,) or (8,)
    target_bounds : tuple, array-like or None
    classes : array-like or None
        If both are None, a sketch describes the target. Its measure checks the number of shares.

    Returns
    -------
    list of float
        All above 0, with a sum of about 1.
    """
    if classes is None:
        return check_shares(target_shares) if target_bounds is None else check_n_shares(target_shares, None)
    labels = check_classes(classes)
    shares = check_n_shares(target_shares, len(labels))
    given = _with_common_type(array_of(classes, "classes"))
    if len(given) != len(labels):
        raise ValueError("classes must be distinct labels with target_shares, got duplicates.")
    return [shares[i] for i in np.argsort(given, kind="stable")]


def make_target(y, n_samples, domain, classes, reader, named="classes"):
    """The target of this many records.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    n_samples : int
    domain : Range, LogRange, Knots or Order
        Axis of a numeric target, from :func:`target_domain`.
    classes : array-like or None
        Labels of a discrete target; None for a numeric one.
    reader : str
        The estimator that errors name.
    named : str, default="classes"
        What errors call `classes`.
    """
    if y is None:
        raise ValueError(f"{reader} requires y to be passed, but the target y is None.")
    y = column_of(y, "y", one_dimensional)
    if y.n_samples != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_samples}, {y.n_samples}]")
    if classes is not None:
        return _class_target(y, classes, named)
    y = _as_numbers(y, domain)
    return NumericTarget(domain.encode(y), domain.encoded)


def _as_numbers(y, domain):
    allowed = ANY_ORDER if domain.of == Order.of else (domain.of, OBJECTS)
    if y.kind not in allowed and not (y.missing.all() or (NUMBERS in allowed and are_numerals(y))):
        remedy = f" {TO_NUMBERS}" if y.kind == TEXT else ""
        raise ValueError(f"y must hold real numbers, or dates with target_bounds of dates, got {y.kind}.{remedy}")
    values = as_numbers(y, allowed, "y").astype(np.float64, copy=False)
    if np.isnan(values).any():
        raise ValueError(f"Input y contains NaN. A target must be complete: {ONLY_COMPLETE}")
    return values


def check_classes(classes):
    """The distinct labels of a discrete target, in ascending order."""
    labels = array_of(classes, "classes") if np.ndim(classes) == 1 else np.empty(0)
    if labels.dtype.kind in "Of":
        refuse_missing(labels, "classes")
    labels = _with_common_type(labels)
    require(labels.dtype.kind in "biufUS", "classes must be numbers, booleans or strings, all of one type", classes)
    labels = np.unique(labels)
    require(len(labels) >= 2, "classes must be a list or array of at least 2 distinct labels", classes)
    if normal_form.kind_of_dtype(labels.dtype) == NUMBERS and len(np.unique(labels.astype(np.float64))) < len(labels):
        # One float in y would turn all labels into floats, so that one record could change the classes of others.
        raise ValueError(
            f"classes must also be distinct as float64, got {quoted(classes)}: write them as text, and y as "
            "y.astype(str)."
        )
    return labels


def _class_target(y, classes, named):
    labels = check_classes(classes)
    if y.n_samples == 0:  # an empty column has an arbitrary type
        return ClassTarget(np.empty(0, dtype=np.int64), len(labels))
    if y.missing.any():
        remedy = NO_MISSING if named == "classes" else f"A target must be complete: {ONLY_COMPLETE}"
        raise ValueError(f"Input y contains NaN. {remedy}")
    kind = normal_form.kind_of_dtype(labels.dtype)
    if y.kind not in (kind, OBJECTS):
        numbered = (kind, y.kind) == (TEXT, NUMBERS)
        remedy = " VotingClassifier and other wrappers number labels: fit the estimator by itself." if numbered else ""
        raise ValueError(f"{named} and y must hold labels of one type, got {kind} and {y.kind}.{remedy}")
    if not are_labels(y, kind):
        raise ValueError("y must hold labels of the same type as classes, got at least one other value.")
    codes = exact_codes(y, labels.tolist())
    if (codes < 0).any():
        known = abbreviated(labels.tolist())
        raise ValueError(f"y must hold only labels that are in {named}, {known}, got at least one other label.")
    return ClassTarget(codes, len(labels))


def one_dimensional(array):
    """A target as scikit-learn takes it: one column of two dimensions is taken, with a warning."""
    from sklearn import config_context  # which scores of a pair do not load
    from sklearn.utils import column_or_1d

    with config_context(array_api_dispatch=False):
        return column_or_1d(array, warn=True)


def _with_common_type(labels):
    """Labels given as objects, in an array of their common type; unchanged if none holds each of them exactly."""
    if labels.dtype.kind not in "OT":
        return labels
    for one_type in (str, bytes, (Real, np.bool_)):
        if all(isinstance(label, one_type) for label in labels):
            typed = np.asarray(labels.tolist())
            return typed if typed.tolist() == labels.tolist() else labels.astype(object)
    return labels.astype(object)


# --- Weights -----------------------------------------------------------------------------------------------


def check_given_together(
    values, limit, name="groups", limit_name="max_rows_per_group", are_to="identify the person behind each row"
):
    """Raise unless a column beside a table and the public limit that its guarantee requires are given together."""
    if values is None and limit is not None:
        raise ValueError(
            f"{name} must {are_to} with {limit_name}={quoted(limit)}, got None: call fit(X, y, {name}=...). Pipelines "
            f"and searches pass it to estimators with set_fit_request({name}=True), if metadata routing is enabled."
        )
    if values is not None and limit is None:
        raise ValueError(f"{limit_name} must be given with {name}, got None: the guarantee requires this public limit.")


check_weights_given = partial(
    check_given_together, name="sample_weight", limit_name="max_weight", are_to="hold the weight of each row"
)


def read_weights(sample_weight, max_weight, n_samples):
    """The weight of each record in units: uint32 (n_samples,). Raw data; not private.

    Each weight is clipped to `max_weight` and rounded to an integer number of units, separately.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,)
    max_weight : float
    n_samples : int
    """
    column = column_of(sample_weight, "sample_weight")
    if column.n_samples != n_samples:
        raise ValueError(f"sample_weight must have one weight per row of X, {n_samples}, got {column.n_samples}.")
    try:
        weights = as_numbers(column, (NUMBERS, OBJECTS), "sample_weight").astype(np.float64, copy=False)
    except (TypeError, ValueError):
        weights = np.array([np.nan])
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("sample_weight must hold finite numbers >= 0, got at least one other value.")
    weights = np.minimum(weights, max_weight)  # first, as quotients could overflow
    return np.rint(weights / max_weight * WEIGHT_UNITS).astype(np.uint32)


# --- People with several rows each ------------------------------------------------------------------------------------
#
# The guarantee covers people. The number of rows of a person is private, as is the total number of rows, on which the
# noise would depend. So each person contributes m rows, a public number: some of their rows if there are more, repeated
# rows if there are fewer. This bounds the effect of a person on a score (``docs/theory/people.md``). Which rows count
# follows from the label of the person and the order of their own rows: nothing hidden is drawn.


_AT_LEAST = 4  # people, as for records


class People(NamedTuple):
    """The person behind each row of a table. Raw data; not private."""

    persons: np.ndarray  # (n_rows,), the number 0 ... n_groups - 1 of the person behind each row, in any order
    n_groups: int
    rows_per_group: int
    keys: np.ndarray  # (n_groups,), uint64: a function of the label of each person

    @property
    def n_samples(self):
        """Total number of rows that count."""
        return self.n_groups * self.rows_per_group

    def rows(self):
        """The `rows_per_group` rows of each person: theirs, in an order of their own, repeated until there are enough.

        If a person has more rows, some are left out; if they have fewer, numbers of repetitions differ by at most one.

        Returns
        -------
        rows : int64 ndarray of shape (n_samples,)
            Row numbers, ascending.
        """
        n_rows, by_person = len(self.persons), np.argsort(self.persons, kind="stable")
        n_own = np.bincount(self.persons, minlength=self.n_groups)
        own = np.arange(n_rows) - np.repeat(np.cumsum(n_own) - n_own, n_own)  # place of a row among those of its person
        keys = _mixed(np.repeat(self.keys, n_own) + own.astype(np.uint64))
        place = np.empty(n_rows, dtype=np.int64)
        place[by_person[np.lexsort((keys, self.persons[by_person]))]] = own
        n_own = n_own[self.persons]
        return np.repeat(np.arange(n_rows), (self.rows_per_group - 1 - place + n_own) // n_own)


def _mixed(numbers):
    """The output of SplitMix64 for states that are multiples of its odd constant: a permutation of 64-bit numbers.

    References
    ----------
    .. [1] G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
    """
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def check_max_rows(max_rows_per_group):
    """Raise unless `max_rows_per_group` is valid."""
    if max_rows_per_group is not None and not (is_whole(max_rows_per_group) and max_rows_per_group >= 1):
        raise ValueError(f"max_rows_per_group must be None or an int >= 1, got {quoted(max_rows_per_group)}.")


def read_people(groups, max_rows_per_group, n_rows):
    """Read the person behind each row of a table.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Hashable label of the person behind each row. Labels are compared exactly, as
        :func:`skdpmic.table.values.exact_label` describes.
    max_rows_per_group : int
    n_rows : int

    Returns
    -------
    People
    """
    if isinstance(groups, Sequence) and not isinstance(groups, str | bytes) and not hasattr(groups, "__array__"):
        groups = normal_form.objects_of(groups)  # which may be tuples
    labels = column_of(groups, "groups")
    if labels.n_samples != n_rows:
        raise ValueError(f"groups must have one label for each row of X, {n_rows}, got {labels.n_samples}.")
    if labels.missing.any():
        raise ValueError("groups must have a label for each row, got missing values.")
    persons, n_groups = numbered(labels)
    if n_groups < _AT_LEAST:
        raise ValueError(f"groups must hold at least {_AT_LEAST} labels, one per person, got {n_groups}.")
    _, first = np.unique(persons, return_index=True)
    values = labels.values[first if labels.places is None else labels.places[first]]
    keys = [_key(label) for label in (values if values.dtype.kind in "mM" else values.tolist())]
    return People(persons, n_groups, int(max_rows_per_group), np.array(keys, dtype=np.uint64))


def _key(label):
    """A number of 64 bits that equal labels share, in every process."""
    exact = exact_label(label)
    if isinstance(exact, tuple):
        exact = str(list(map(_key, exact)))
    elif not isinstance(exact, str):  # Python hashes numbers alike in every process, but not bytes
        exact = str(exact if isinstance(exact, bytes | None) else hash(exact))
    return int.from_bytes(blake2b(exact.encode(errors="surrogatepass"), digest_size=8).digest(), "big")


def numbered(column):
    """The number of the label of each row among the distinct ones, and how many there are.

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
        found = [number_of.setdefault(exact_label(label), len(number_of)) for label in labels]
        return number_of, np.array(found, dtype=np.int64)
    except MemoryError:
        raise
    except Exception:
        pass  # an error raised here would keep the label, and errors of a custom label class may quote it
    raise TypeError("groups must hold hashable labels, such as numbers or strings.")


def labels_of_column(column):
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


def exact_label(label):
    """A hashable value that equal labels share: numbers by value, text by characters, dates by seconds."""
    if type(label) not in _PLAIN:
        if normal_form.is_absent(label):  # inside a tuple
            return None
        if kind := kind_of_date(label):
            return kind, seconds_of(label), domains.part_of_second(label)
    return next((exact(label) for of_type, exact in _EXACT if isinstance(label, of_type)), label)


_PLAIN = frozenset({str, int, bool, bytes, tuple})
# Python compares numbers exactly, whatever their types, but not members of an enumeration.
_EXACT = (
    (str, str.__str__),
    (bytes, bytes.__bytes__),
    (int | np.integer | np.bool_, int),
    (float | np.float32 | np.float16, float),  # longer ones are equal to others by value as they are
    (tuple, lambda label: tuple(map(exact_label, label))),
)
