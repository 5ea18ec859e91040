"""The normal form itself, and how columns of codes get it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skdpmic._utils.errors import read_by_engine

TEXT, BYTES, OBJECTS, OTHER, CODED = "text", "bytes", "objects", "other values", "categorical values"
BOOLEANS = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Column:
    """A column in its normal form. Raw data; not private.

    Parameters
    ----------
    kind : str
        Numbers, dates, durations or text; else bytes, other values, or objects, each of which may be of any kind.
    values : ndarray of shape (n_values,)
        Numbers of numpy, or of Python if numpy has no exact type for them; dates as datetime64 and durations as
        timedelta64, of which only the integers count, because "not a time" may be a valid integer; else objects.
        Arbitrary where a row has no value.
    missing : bool ndarray of shape (n_samples,)
        Which rows have no value.
    places : int ndarray of shape (n_samples,), default=None
        Where in `values` the value of each row is; None if `values` has one for each row. With places, no object is
        missing, and each belongs to a row.
    """

    kind: str
    values: np.ndarray
    missing: np.ndarray
    places: np.ndarray | None = None

    @property
    def n_samples(self):
        """Number of rows."""
        return len(self.missing)

    def each(self, function, filler):
        """An array of the results of `function` for each value, with `filler` for missing ones.

        Parameters
        ----------
        function : callable
            Maps an array of values to an array of the same length, each value separately.
        filler : scalar
        """
        found = function(self.values)
        if self.places is not None:
            found = found[self.places] if len(found) else np.full(self.n_samples, filler, dtype=found.dtype)
        if self.missing.any():
            found = found.copy() if np.may_share_memory(found, self.values) else found
            np.putmask(found, self.missing, filler)
        return found

    def __getitem__(self, rows):
        """The column of some of the rows."""
        if self.places is None:
            return Column(self.kind, self.values[rows], self.missing[rows])
        return column_of_codes(self.places[rows], self.missing[rows], self._complete)

    def _complete(self, used):
        """Some of the values, as a column."""
        return Column(self.kind, self.values[used], np.zeros(len(used), dtype=np.bool_))


class ColumnSource(NamedTuple):
    """A column of which only the declared type has been read."""

    kind: str
    make: Callable[[], Column]
    labels: tuple | None = None
    """Labels that the type declares, independent of the values."""
    is_coded: bool = False
    """Whether the values are codes of labels that may have been read from the data."""
    is_of_polars: bool = False
    """Whether messages give lines for Polars, not for pandas."""

    def read(self, name):
        """The column in its normal form; an error of the library names only the column."""
        with np.errstate(all="ignore"):
            return read_by_engine(name, self.make)


def column_of_codes(codes, missing, entries_at):
    """A column of codes; unused entries are never read.

    Parameters
    ----------
    codes : int64 ndarray of shape (n_samples,)
        Arbitrary where missing.
    missing : bool ndarray of shape (n_samples,)
    entries_at : callable
        Gives the Column of the entries of ascending codes.
    """
    is_used = np.bincount(codes[~missing]) > 0
    used = np.flatnonzero(is_used)
    entries = entries_at(used)
    place_of = np.append(np.cumsum(is_used) - 1, 0)
    places = place_of[np.where(missing, len(is_used), codes)]
    if len(used) == 0:
        return Column(entries.kind, entries.values, missing, places)
    if entries.missing.any():  # an entry may also be missing
        missing = missing | (entries.missing[places] & ~missing)
    if entries.places is not None:
        places = entries.places[places]
    return Column(entries.kind, entries.values, missing, places)


def joined(columns):
    """Columns below one another."""
    if len(columns) == 1:
        return columns[0]
    kind, missing = columns[0].kind, np.concatenate([column.missing for column in columns])
    values = np.concatenate([column.values for column in columns])
    if all(column.places is None for column in columns):
        return Column(kind, values, missing)
    starts = np.cumsum([0, *(len(column.values) for column in columns)])
    places = [
        start + (np.arange(column.n_samples) if column.places is None else column.places)
        for start, column in zip(starts, columns, strict=False)
    ]
    # Rows without a value may have a place beyond the last one.
    return Column(kind, values, missing, np.minimum(np.concatenate(places), max(len(values) - 1, 0)))
