"""Labels of people, compared exactly: each becomes a kind and an exact value, by a function of the label alone.

Equality of scalars is no equivalence between libraries: a datetime and a numpy.datetime64 may each equal a Timestamp of
pandas, but not one another, so a record with a Timestamp would decide whether two other rows are of one person.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from skdpmic.table.domains import exact_seconds_of, kind_of_date
from skdpmic.table.normal_form.from_numpy import is_absent


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
    """A kind and an exact value, hashable: numbers by value, text by characters, dates by instant, others by type."""
    if type(label) not in _PLAIN:
        if is_absent(label):  # inside a tuple
            return "missing", None
        if kind := kind_of_date(label):
            return kind, exact_seconds_of(label)
    for of_type, kind, exact in _KINDS:
        if isinstance(label, of_type):
            return kind, exact(label)
    return type(label), label


def _exact_float(label):
    is_long = isinstance(label, np.longdouble) and np.isfinite(label)
    return Fraction(*label.as_integer_ratio()) if is_long else float(label)


_PLAIN = frozenset({str, int, bool, bytes, tuple})
# Python compares numbers of these types exactly, whatever their types.
_KINDS = (
    (str, "text", str.__str__),
    (bytes, "bytes", bytes.__bytes__),
    (int | np.integer | np.bool_, "number", int),
    (Decimal, "number", Decimal),
    (Fraction, "number", Fraction),
    (float | np.floating, "number", _exact_float),
    (tuple, "tuple", lambda label: tuple(map(exact_label, label))),
    (frozenset, "set", lambda label: frozenset(map(exact_label, label))),
)
