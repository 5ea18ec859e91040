"""Counts of records by predicted probability and class, and the exact noise on them (``docs/theory/evaluation.md``)."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.parameters import exact

_FEWEST_BINS, _MOST_BINS = 8, 64
TABLES_SHARE, RIGHT_SHARE = Fraction(5, 6), Fraction(1, 6)  # of the budget


def usual_n_bins(n_groups, epsilon, n_tables):
    """An even number of bins, by public numbers: more bins round predictions less, and accumulate more noise.

    Parameters
    ----------
    n_groups : int
    epsilon : float
    n_tables : int
    """
    if epsilon == math.inf:
        return _MOST_BINS
    most = min(n_groups * float(epsilon * TABLES_SHARE / n_tables), 1e6)
    return int(np.clip(2 * round(most**0.4 / 3), _FEWEST_BINS, _MOST_BINS))


@dataclass(frozen=True)
class ClassCells:
    """The cells of a predicted probability of each class, by whether the record is of that class.

    With two classes there is one table, of the second class; with more, one per class. A record is in exactly one cell
    of each table. Besides, right predictions are counted.

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
        """The cell of each record in each table, ``n_bins * is_of_class + bin``, independent of other records.

        Parameters
        ----------
        probabilities : ndarray of shape (n_samples, n_classes)
        target : int ndarray of shape (n_samples,)
            Codes of classes.

        Returns
        -------
        int64 ndarray of shape (n_tables, n_samples)
        """
        inner = self.edges()[1:-1]
        bins = [np.searchsorted(inner, probabilities[:, k], side="right") for k in self.scored]
        return np.array([of + self.n_bins * (target == k) for of, k in zip(bins, self.scored, strict=True)])

    def counts(self, cells):
        """The tables, others first: int64 ndarray of shape (n_tables, 2, n_bins)."""
        counts = [np.bincount(of_table, minlength=2 * self.n_bins) for of_table in cells]
        return np.reshape(counts, (len(self.scored), 2, self.n_bins))

    def sensitivity(self, rows_per_group):
        """L1 sensitivity of all tables together: in each, every row of a person leaves a cell and enters another."""
        return 2 * len(self.scored) * rows_per_group

    def squares(self):
        """The sum of ``(epsilon_i / epsilon)**2`` over two counts of each table, and the number of right ones."""
        return TABLES_SHARE**2 / (2 * len(self.scored)) + RIGHT_SHARE**2


@dataclass(frozen=True)
class GeometricCounts:
    """Independent discrete Laplace noise on counts.

    Parameters
    ----------
    scale : Fraction
        Scale of the noise, in records; 0 for none.
    """

    scale: Fraction

    name = "geometric"

    @classmethod
    def for_budget(cls, epsilon, share, sensitivity):
        """The noise that spends a share of epsilon on counts of this L1 sensitivity."""
        return cls(Fraction(0) if epsilon == math.inf else sensitivity / (share * exact(epsilon)))

    def release(self, counts, random_bytes):
        """Noisy counts as floats, not clamped."""
        if self.scale == 0:
            return counts.astype(np.float64)
        noise = discrete_laplace(self.scale, counts.size, random_bytes)
        return (counts + noise.reshape(counts.shape)).astype(np.float64)
