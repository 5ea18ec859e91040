"""People with several rows each: whose rows are whose, and which of them count.

The person is what is protected. How many rows someone has is private, and so is the number of all rows, on which the
noise would depend. So everybody counts for m rows, a public number: drawn from one's own if there are more, repeated if
there are fewer. How far a person's rows can move a score is then known (``docs/theory/people.md``).
"""

import numbers
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skdpmic._utils.errors import without_data
from skdpmic._utils.readable import is_dask_collection, refuse_masked
from skdpmic.table.frames import as_column

_AT_LEAST = 4  # persons, as of records where each is one
_SORTED_KINDS = frozenset("biufSUmM")  # of dtypes


class People(NamedTuple):
    """Whose each row of a table is. As sensitive as the data."""

    persons: np.ndarray  # (n_rows,), the number 0 ... n_groups - 1 of each row's person, in any order
    n_groups: int
    rows_per_group: int

    @property
    def n_samples(self):
        """How many rows all get together."""
        return self.n_groups * self.rows_per_group

    def draw(self, random_bytes):
        """`rows_per_group` rows of each person: one's own rows in random order, over and over, until there are enough.

        So of more rows, some are drawn without replacement; of fewer, each counts as often as any other, or once more.

        Parameters
        ----------
        random_bytes : callable
            Random bytes.

        Returns
        -------
        rows : int64 ndarray of shape (n_samples,)
            Row numbers, ascending.
        """
        n_rows = len(self.persons)
        keys = np.frombuffer(random_bytes(8 * n_rows), dtype=np.uint64)
        order = np.lexsort((keys, self.persons))
        n_own = np.bincount(self.persons, minlength=self.n_groups)
        first = np.cumsum(n_own) - n_own
        place = np.empty(n_rows, dtype=np.int64)  # of each row among those of its person
        place[order] = np.arange(n_rows) - np.repeat(first, n_own)
        n_own = n_own[self.persons]
        return np.repeat(np.arange(n_rows), (self.rows_per_group - 1 - place + n_own) // n_own)


def check_max_rows(max_rows_per_group):
    """Raise unless a person may have so many rows."""
    is_number = isinstance(max_rows_per_group, numbers.Integral) and not isinstance(max_rows_per_group, bool)
    if max_rows_per_group is not None and not (is_number and max_rows_per_group >= 1):
        raise ValueError(f"max_rows_per_group must be None or an int >= 1, got {max_rows_per_group!r}.")


def check_given_together(groups, max_rows_per_group):
    """Raise unless it is known both whose the rows are and how many of a person count, or neither."""
    if groups is None and max_rows_per_group is not None:
        raise ValueError(
            f"groups must identify the person behind each row with max_rows_per_group={max_rows_per_group!r}, got "
            "None: call fit(X, y, groups=...). Pipelines and searches hand groups on to what asks for them by "
            "set_fit_request(groups=True), if metadata routing is enabled."
        )
    if groups is not None and max_rows_per_group is None:
        raise ValueError(
            "max_rows_per_group must be an int >= 1 where groups are given, got None: a person is protected who counts "
            "for no more rows than a public number."
        )


def read_people(groups, max_rows_per_group, n_rows):
    """Whose the rows of a table are.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        A label of each row's person, of any kind that is hashable.
    max_rows_per_group : int
    n_rows : int

    Returns
    -------
    People
    """
    labels = _as_labels(groups)
    if len(labels) != n_rows:
        raise ValueError(f"groups must hold a label for each row of X, got {len(labels)} labels for {n_rows} rows.")
    persons, different = _numbered(labels)
    if any(map(_is_missing, different)):
        raise ValueError("groups must hold a label for each row, got missing values.")
    if len(different) < _AT_LEAST:
        raise ValueError(f"groups must hold at least {_AT_LEAST} different labels, one a person, got {len(different)}.")
    return People(persons, len(different), int(max_rows_per_group))


# --- Labels ---------------------------------------------------------------------------------------------------------


def _as_labels(groups):
    """The labels, in an array of one type that numpy sorts, or in a list."""
    if is_dask_collection(groups):
        raise TypeError("groups must be in memory, got a dask collection.")
    refuse_masked(groups, "groups")
    groups = as_column(groups, "groups")
    n_dimensions = len(getattr(groups, "shape", (None,)))
    is_array, is_text = hasattr(groups, "__array__"), isinstance(groups, str | bytes)
    if n_dimensions != 1 or is_text or not (is_array or isinstance(groups, Sequence)):
        what = f"{n_dimensions} dimensions" if n_dimensions != 1 else type(groups).__name__
        raise ValueError(f"groups must be array-like of shape (n_samples,), got {what}.")
    labels = without_data(np.asarray, groups) if is_array else list(groups)
    return labels.tolist() if is_array and labels.dtype.kind not in _SORTED_KINDS else labels


def _numbered(labels):
    """The number of each row's label among the different ones, and these."""
    if isinstance(labels, np.ndarray):
        different, persons = np.unique(labels, return_inverse=True)
        return persons, different
    number_of = {}
    try:
        return np.array([number_of.setdefault(label, len(number_of)) for label in labels]), list(number_of)
    except MemoryError:
        raise
    except Exception:
        pass  # an error raised here would keep the label, and one of a class of labels may quote it
    raise TypeError("groups must hold hashable labels, such as numbers or strings.")


def _is_missing(label):
    try:
        return label is None or bool(label != label)  # NaN and NaT are not even themselves
    except TypeError:  # nor does pandas.NA say whether it is
        return True
