"""People with several rows each: the person behind each row, and the rows that count.

The guarantee covers people. The number of rows of a person is private, as is the total number of rows, on which the
noise would depend. So each person contributes m rows, a public number: some of their rows if there are more, repeated
rows if there are fewer. This bounds the effect of a person on a score (``docs/theory/people.md``). Which rows count
follows from the label of the person and the order of their own rows: nothing hidden is drawn.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from skdpmic._utils.arguments import is_whole
from skdpmic._utils.texts import quoted
from skdpmic.table.domains import kind_of_date, seconds_of
from skdpmic.table.normal_form import is_absent, objects_of
from skdpmic.table.tables import column_of

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


def read_people(groups, max_rows_per_group, n_rows):
    """Read the person behind each row of a table.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Hashable label of the person behind each row. Labels are compared exactly, as
        :func:`skdpmic.table.people.exact_label` describes.
    max_rows_per_group : int
    n_rows : int

    Returns
    -------
    People
    """
    if isinstance(groups, Sequence) and not isinstance(groups, str | bytes) and not hasattr(groups, "__array__"):
        groups = objects_of(groups)  # which may be tuples
    labels = column_of(groups, "groups")
    if labels.n_samples != n_rows:
        raise ValueError(
            f"groups must have one label for each row of X, got {labels.n_samples} labels for {n_rows} rows."
        )
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
        if is_absent(label):  # inside a tuple
            return None
        if kind := kind_of_date(label):
            return kind, seconds_of(label)
    return next((exact(label) for of_type, exact in _EXACT if isinstance(label, of_type)), label)


_PLAIN = frozenset({str, int, bool, bytes, tuple})
# Python compares numbers exactly, whatever their types, but not members of an enumeration.
_EXACT = (
    (str, str.__str__),
    (bytes, bytes.__bytes__),
    (int | np.integer | np.bool_, int),
    (float | np.floating, float),
    (tuple, lambda label: tuple(map(exact_label, label))),
)
