"""The global sensitivity of each rank statistic, as a score in [0, 1]: the effect of replacing one record.

The proofs are in ``docs/theory/ranks.md``. Every value is exact, rounded up to the next float, and at most 1, the range
of the scores. For the signed scores within strata, see ``docs/theory/conditional_ranks.md``.
"""

import math
from fractions import Fraction


def kendall_sensitivity(n):
    """Sensitivity of Kendall's |tau-a|, with or without ties: 4 / n, attained for n >= 4.

    Parameters
    ----------
    n : int, at least 2
        Number of records.

    Returns
    -------
    float
        Rounded up.
    """
    return _rounded_up(min(Fraction(4, n), Fraction(1)))


def chatterjee_sensitivity(n):
    """Sensitivity of Chatterjee's xi, in one direction or the larger of both: 3 (2n - 5) / (n^2 - 1), attained.

    Clamped to [0, 1], the score attains it for n >= 8. Equal values are ordered by keys that do not depend on the data.

    Parameters
    ----------
    n : int, at least 3
        Number of records.

    Returns
    -------
    float
        Rounded up.
    """
    return _rounded_up(Fraction(3 * (2 * n - 5), n**2 - 1))


def distance_correlation_sensitivity(n):
    """Bound on the sensitivity of the distance correlation of ranks: (n - 1) / sqrt(V_n), less than 3 sqrt(10) / n.

    ``V_n = (n^2 - 1) (2 n^2 + 7) / 180`` is the sum of ``(min(i, j) - i j / n)^2`` over all i, j < n. Equal values are
    ordered by keys that do not depend on the data.

    Parameters
    ----------
    n : int, at least 2
        Number of records.

    Returns
    -------
    float
        Rounded up.
    """
    return _root_rounded_up(min(Fraction(180 * (n - 1), (n + 1) * (2 * n**2 + 7)), Fraction(1)))


def conditional_kendall_sensitivity(n):
    """Sensitivity of Kendall's tau-a within strata, with its sign, for any number of strata: below 6 / n.

    Attained: the larger of ``4 (n - 1) / n^2``, within a stratum, and, from one of p + 1 records to one of then q + 1,
    ``(6 - 4 / (p + 1) - 4 / (q + 1)) / n`` with ``p + q = n - 1``, as equal as they can be. Records may change stratum.

    Parameters
    ----------
    n : int, at least 2
        Number of records.

    Returns
    -------
    float
        Rounded up.
    """
    within = Fraction(4 * (n - 1), n)
    between = sum((3 - Fraction(4, n_others + 1) for n_others in _halves(n - 1)), start=Fraction(0))
    return _rounded_up(max(within, between) / n)


def kendall_matrix_squared_sensitivity(n_columns, n, rows_per_group=1):
    """Square of the L2 sensitivity of all Kendall sums of a table together: 4 floor(p^2 / 4) times that of the pairs.

    The sums are the concordant minus the discordant pairs of records, for each pair of p columns, and for each column
    with itself, where they are the untied pairs (``docs/theory/kendall_matrix.md``). Attained by one row.

    Parameters
    ----------
    n_columns : int, at least 2
    n : int, at least 2
        Number of records.
    rows_per_group : int, default=1
        Number of records per person, all of which may be replaced.

    Returns
    -------
    int
        Exact, in pairs of records.
    """
    n_pairs_replaced = rows_per_group * (n - rows_per_group) + rows_per_group * (rows_per_group - 1) // 2
    return 4 * (n_columns**2 // 4) * n_pairs_replaced**2


def group_sensitivity(sensitivity, rows_per_group):
    """Bound on the change of a score if all records of one person are replaced, one by one.

    Parameters
    ----------
    sensitivity : float
        Sensitivity to one record.
    rows_per_group : int, at least 1
        Number of records per person.

    Returns
    -------
    float
        At most 1, rounded up.
    """
    return _rounded_up(min(rows_per_group * Fraction(sensitivity), Fraction(1)))


def _halves(n):
    return n // 2, n - n // 2


def _rounded_up(value):
    """The smallest float that is not below the fraction `value`."""
    nearest = float(value)
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def _root_rounded_up(square):
    """A float that is not below the root of the fraction `square`."""
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
