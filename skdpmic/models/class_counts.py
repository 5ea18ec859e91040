"""Counts of records by predicted probability and class, and the exact noise on them (``docs/theory/evaluation.md``)."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.parameters import exact

_FEWEST_BINS, _MOST_BINS = 8, 64


def usual_n_bins(n_groups, epsilon):
    """An even number of bins, by public numbers: more bins round predictions less, and accumulate more noise.

    Parameters
    ----------
    n_groups : int
    epsilon : float
        Budget of each table.
    """
    if epsilon == math.inf:
        return _MOST_BINS
    most = min(n_groups * float(epsilon), 1e6)
    return int(np.clip(2 * round(most**0.4 / 3), _FEWEST_BINS, _MOST_BINS))


@dataclass(frozen=True)
class ClassCells:
    """The cells of a predicted probability of each class, by whether the record is of that class.

    With two classes there is one table, of the second class. With more there is one per class, and a table of two
    counts: records whose most probable class is wrong, or right. A record is in exactly one cell of each table.

    Parameters
    ----------
    n_classes : int, at least 2
    n_bins : int, even
    """

    n_classes: int
    n_bins: int

    @property
    def scored(self):
        """The classes that have a table."""
        return (1,) if self.n_classes == 2 else tuple(range(self.n_classes))

    @property
    def n_tables(self):
        """Number of tables."""
        return 1 if self.n_classes == 2 else self.n_classes + 1

    def edges(self):
        """Ends of the bins, equal parts of the arcsine of the square root: finer near 0 and 1, for rare classes."""
        edges = np.sin(np.linspace(0, np.pi / 2, self.n_bins + 1)) ** 2
        edges[[0, self.n_bins // 2, self.n_bins]] = 0, 0.5, 1
        return edges

    def middles(self):
        """The prediction that represents each bin."""
        edges = self.edges()
        return (edges[:-1] + edges[1:]) / 2

    def cells(self, probabilities, target):
        """The cell of each record in each table, independent of other records.

        Parameters
        ----------
        probabilities : ndarray of shape (n_samples, n_classes)
        target : int ndarray of shape (n_samples,)
            Codes of classes.

        Returns
        -------
        int64 ndarray of shape (n_tables, n_samples)
            Cell ``n_bins * is_of_class + bin`` of a class; 0 or 1 in the table of right predictions.
        """
        inner = self.edges()[1:-1]
        cells = [
            np.searchsorted(inner, probabilities[:, k], side="right") + self.n_bins * (target == k) for k in self.scored
        ]
        if self.n_classes > 2:
            cells.append((np.argmax(probabilities, axis=1) == target).astype(np.int64))
        return np.array(cells, dtype=np.int64)

    def counts(self, cells):
        """The tables: one array (2, n_bins) per class, others first, and with several classes one of shape (2,)."""
        tables = [
            np.bincount(of_class, minlength=2 * self.n_bins).reshape(2, -1) for of_class in cells[: self.n_scored]
        ]
        return tables + [np.bincount(right, minlength=2) for right in cells[self.n_scored :]]

    @property
    def n_scored(self):
        """Number of classes that have a table."""
        return len(self.scored)

    def sensitivity(self, rows_per_group):
        """L1 sensitivity of all tables together: in each, every row of a person leaves a cell and enters another."""
        return 2 * self.n_tables * rows_per_group


@dataclass(frozen=True)
class GeometricCounts:
    """Independent discrete Laplace noise on all counts of all tables.

    Parameters
    ----------
    scale : Fraction
        Scale of the noise, in records; 0 for none.
    """

    scale: Fraction

    name = "geometric"

    @classmethod
    def for_budget(cls, epsilon, sensitivity):
        """The noise that spends epsilon on counts of this L1 sensitivity."""
        return cls(Fraction(0) if epsilon == math.inf else Fraction(sensitivity) / exact(epsilon))

    @property
    def deviation(self):
        """An upper bound on the standard deviation of the noise on a count."""
        return math.sqrt(2) * float(self.scale)

    def release(self, tables, random_bytes):
        """Noisy counts as floats, not clamped."""
        if self.scale == 0:
            return [table.astype(np.float64) for table in tables]
        return [
            (table.ravel() + discrete_laplace(self.scale, table.size, random_bytes))
            .astype(np.float64)
            .reshape(table.shape)
            for table in tables
        ]
