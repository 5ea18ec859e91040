"""The noise on the tables of an additive model (``docs/theory/additive_model.md``).

The release consists of the table of each pair of columns, the counts of each column, and the sums of the target in the
parts of each column. All are integers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple


class TargetChange(NamedTuple):
    """How much the sums of a target in the parts of one column may change if one record is replaced.

    Squared L2 distances, in units of the target's range: of two values in the same part, and in different parts. Both
    are attained by the same two values.
    """

    stays: Fraction
    moves: Fraction


CHANGE_OF_NUMBERS = TargetChange(Fraction(1), Fraction(1, 2))  # from -1/2 to 1/2; two classes are these ends
CHANGE_OF_CLASSES = TargetChange(Fraction(2), Fraction(2))  # one count in each of several classes


def target_change(n_classes):
    """The change of the sums of a target with this many classes, or of numbers."""
    return CHANGE_OF_CLASSES if n_classes is not None and n_classes > 2 else CHANGE_OF_NUMBERS


def squared_sensitivity(n_columns, weight, change, rows_per_group=1):
    """Squared L2 sensitivity of all tables together, with the tables of the target multiplied by ``sqrt(weight)``.

    If the parts of a record change in all but m of d columns, d (d - 1) - m (m - 1) cells of the tables of pairs change
    by one, and 2 (d - m) counts of columns; the maximum over m is attained.

    Parameters
    ----------
    n_columns : int
    weight : int or Fraction
        Squared weight of the tables of the target.
    change : TargetChange
    rows_per_group : int, default=1
        Number of records per person, all of which may be replaced.

    Returns
    -------
    Fraction
        Exact.
    """
    d = n_columns
    most = max(
        d * (d - 1) - m * (m - 1) + 2 * (d - m) + weight * (m * change.stays + (d - m) * change.moves)
        for m in range(d + 1)
    )
    return rows_per_group**2 * Fraction(most)


def squared_weight(n_columns, change):
    """Squared weight of the tables of the target, at which they cost as much as the pairs if all parts change."""
    return Fraction(n_columns + 1) / change.moves


@dataclass(frozen=True)
class TwoWayNoise:
    """Discrete Gaussian noise on all tables.

    Parameters
    ----------
    count_variance : int
        Variance of the noise on each count of records; 0 for none.
    sum_variance : Fraction
        Variance of the noise on each sum of the target, in units of its range.
    n_columns : int
    """

    count_variance: int
    sum_variance: Fraction
    n_columns: int

    name = "gaussian"

    @classmethod
    def for_budget(cls, rho, n_columns, change, rows_per_group=1):
        """The noise at which all tables cost rho in zCDP."""
        weight = squared_weight(n_columns, change)
        if rho == math.inf:
            return cls(0, Fraction(0), n_columns)
        squared = squared_sensitivity(n_columns, weight, change, rows_per_group)
        count_variance = math.ceil(squared / (2 * Fraction(rho)))
        return cls(count_variance, count_variance / weight, n_columns)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a count of records."""
        return math.sqrt(self.count_variance)

    @property
    def sum_scale(self):
        """Standard deviation of the noise on a sum of the target, in units of its range."""
        return math.sqrt(self.sum_variance)
