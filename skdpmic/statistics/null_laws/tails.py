"""Tail bounds on the dependence of a table of counts under independence, for all margins.

They hold for any number of independent records whose row and column are independent, for any probabilities of rows and
columns (``docs/theory/p_values.md``). All are natural logarithms, at most 0.
"""

import math

import numpy as np
from scipy.special import gammaln


def log_information_tail(t, n_rows, n_columns):
    """Bound on the probability that n times the mutual information of a fixed table reaches `t` nats.

    Parameters
    ----------
    t : float or ndarray
    n_rows, n_columns : int or ndarray, at least 2

    Returns
    -------
    float or ndarray
        ``D log(t / D) + D - t``, from t = D on, for D the smaller of ``n_columns (n_rows - 1)`` and ``n_rows (n_columns
        - 1)``: Chernoff's bound for a sum of D exponential variables.
    """
    degrees = np.minimum(n_columns * (n_rows - 1), n_rows * (n_columns - 1))
    t = np.maximum(t, degrees)
    return degrees * np.log(t / degrees) + degrees - t


def log_division_tail(tv, n):
    """Bound on the probability that ``2 (p_AB - p_A q_B)`` of fixed sets A of rows and B of columns reaches `tv` > 0.

    Parameters
    ----------
    tv : float or ndarray
    n : int
        Number of records.
    """
    return -2.0 * n * np.square(np.maximum(tv, 0.0))


def log_variation_tail(tv, n, n_rows, n_columns):
    """Bound on the probability that the total variation from independence of a fixed table reaches `tv`.

    The smallest of three bounds: all sets of rows, if there are two columns; Pinsker's inequality; bounded differences.

    Parameters
    ----------
    tv : float or ndarray
    n : int
        Number of records.
    n_rows, n_columns : int, at least 2
    """
    fewer, more = sorted((n_rows, n_columns))
    bounds = [log_information_tail(least_information(tv, n), fewer, more)]
    on_average = math.sqrt((fewer - 1) * (more - 1) / n) / 2
    above = np.maximum(np.asarray(tv, dtype=float) - on_average, 0.0)
    bounds.append(-(2.0 if fewer == 2 else 0.5) * n * np.square(above))
    if fewer == 2:
        bounds.append(log_sets(more) + log_division_tail(tv, n))
    return np.minimum(np.min(np.broadcast_arrays(*bounds), axis=0), 0.0)


def least_information(tv, n):
    """Lower bound on n times the mutual information, in nats, if the total variation is `tv`."""
    return 2.0 * n * np.square(np.maximum(tv, 0.0))


def log_sets(n):
    """Logarithm of the number of nonempty proper subsets of n rows."""
    return n * math.log(2.0) + math.log1p(-(2.0 ** (1 - n)))


def log_choices(n, k):
    """Logarithm of the number of ways to choose k of n; numbers or ndarrays."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
