"""The cells of a value: whether it is missing or invalid, and which part of its range it is in."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdpmic.table.domains import Labels

MISSING, BELOW, ABOVE, OTHER = "missing", "below", "above", "other"
_FLAGS_OF_NUMBERS, _FLAGS_OF_LABELS = (MISSING, BELOW, ABOVE), (MISSING, OTHER)
# A fiftieth, then tenths: skewed columns are recognised by their lower end.
_ENDS = (0.0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MOST_PARTS = len(_ENDS) - 1


@dataclass(frozen=True)
class SummaryCells:
    """The cells of one column, in two sets; every value is in one cell of each set.

    Parameters
    ----------
    domain : Range, LogRange, Knots or Labels
        Public description of the column.
    """

    domain: Any

    @property
    def is_nominal(self):
        """Whether the column holds labels."""
        return isinstance(self.domain, Labels)

    @property
    def flags(self):
        """What may be wrong with a value; a further cell of this set holds the valid values."""
        return _FLAGS_OF_LABELS if self.is_nominal else _FLAGS_OF_NUMBERS

    @property
    def n_parts(self):
        """The number of parts of the public range; a further cell holds missing values and those outside."""
        return min(len(self.domain.labels), _MOST_PARTS) if self.is_nominal else _MOST_PARTS

    @property
    def sizes(self):
        """Number of cells of the two sets."""
        return len(self.flags) + 1, self.n_parts + 1

    def part_ends(self):
        """The ends of the parts of numbers or dates, in the user's types; for labels, the labels of each part."""
        if self.is_nominal:
            part_of = self._parts_of_labels()
            labels = [label if isinstance(label, str) else f"{label:g}" for label in self.domain.labels]
            return [
                [label for label, j in zip(labels, part_of, strict=True) if j == part] for part in range(self.n_parts)
            ]
        lower, upper = self.domain.encoded
        return [self.domain.decode(lower + end * (upper - lower)) for end in _ENDS]

    def part_places(self):
        """The ends of the parts on an axis from 0 to 1, for figures."""
        return np.linspace(0, 1, self.n_parts + 1) if self.is_nominal else np.array(_ENDS)

    def _parts_of_labels(self):
        """Single labels, or groups of neighbouring labels of equal size if there are more labels than parts."""
        n = len(self.domain.labels)
        return [j * self.n_parts // n for j in range(n)]

    def count(self, values):
        """The number of records in each cell of both sets.

        Parameters
        ----------
        values : ndarray of shape (n_samples,)
            Unchanged numbers, NaN if missing; or codes of labels.

        Returns
        -------
        flags, parts : int64 ndarrays of shapes (n_flags + 1,) and (n_parts + 1,)
            The last cell of each set holds all other records.
        """
        flag_of, part_of = self._of_labels(values) if self.is_nominal else self._of_numbers(values)
        n_flags, n_parts = self.sizes
        return np.bincount(flag_of, minlength=n_flags), np.bincount(part_of, minlength=n_parts)

    def _of_labels(self, codes):
        n = len(self.domain.labels)  # the code of other labels; one more for missing values
        flag_of_code = np.array([2] * n + [1, 0])
        part_of_code = np.array([*self._parts_of_labels(), self.n_parts, self.n_parts])
        return flag_of_code[codes], part_of_code[codes]

    def _of_numbers(self, values):
        numbers = [bound for bound in self.domain.bounds if bound != "log"]
        is_missing, is_below, is_above = np.isnan(values), values < numbers[0], values > numbers[-1]
        flag_of = np.select([is_missing, is_below, is_above], [0, 1, 2], 3)
        lower, upper = self.domain.encoded
        width = upper - lower or 1.0  # 0 for a range so narrow that its ends have the same logarithm
        places = (self.domain.encode(np.where(flag_of == 3, values, numbers[0])) - lower) / width
        part_of = np.searchsorted(_ENDS[1:-1], places, side="right")
        return flag_of, np.where(flag_of == 3, part_of, self.n_parts)
