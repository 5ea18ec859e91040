"""Checks of shares and other plain arguments. No message quotes a data value."""

import numbers

import numpy as np

from skdpmic._utils.texts import quoted, require

_MOST, _SMALLEST_ERROR = 2**53, 1e-6
_ROUNDING_OF_SHARES = 0.01  # rounded percentages may sum to 99 or 101


def is_auto(given):
    """Whether a parameter, which may be an array, is "auto"."""
    return isinstance(given, str) and given == "auto"


def check_n_shares(target_shares, n_classes):
    """Public shares of this many classes, or for None, of equal parts of a numeric target: a list of floats."""
    return check_shares(target_shares, (2, 4, 8) if n_classes is None else (n_classes,))


def check_shares(target_shares, n_shares=None):
    """The shares as a list of floats above 0 with a sum of about 1, whose length is in `n_shares` if that is given."""
    try:
        numbers_ = np.asarray(target_shares, dtype=np.float64)
    except (TypeError, ValueError):
        numbers_ = np.empty(0)
    is_list = numbers_.ndim == 1 and bool((numbers_ > 0).all()) and abs(numbers_.sum() - 1) <= _ROUNDING_OF_SHARES
    if not is_list or (n_shares is not None and len(numbers_) not in n_shares):
        allowed = "" if n_shares is None else f"{' or '.join(map(str, n_shares))} "
        found = f"{len(numbers_)} numbers" if is_list else quoted(target_shares)
        raise ValueError(f"target_shares must be {allowed}numbers above 0 with a sum of 1, got {found}.")
    return numbers_.tolist()


def is_number(value):
    """Whether a parameter is a real number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value):
    """Whether a parameter is an int; True and False are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def check_k(k):
    """Raise unless `k` is a valid number of features."""
    is_all = isinstance(k, str) and k == "all"
    require(is_all or (is_whole(k) and k >= 1), "k must be an int >= 1 or 'all'", k)


def check_goal(error, found):
    """Raise unless each goal of a plan is None, or an error or a share of the best features that is possible."""
    must = f"error must be a number in [{_SMALLEST_ERROR}, 1]"
    require(error is None or (is_number(error) and _SMALLEST_ERROR <= error <= 1), must, error)
    require(found is None or (is_number(found) and 0 < found < 1), "found must be a number in (0, 1)", found)


def check_n_jobs(n_jobs):
    """Raise unless `n_jobs` is None or an int that joblib accepts."""
    require(n_jobs is None or (is_whole(n_jobs) and n_jobs != 0), "n_jobs must be None or an int other than 0", n_jobs)


def check_whole(value, name, least=1):
    """Raise unless `value` is an int that is at least `least`, and no more than a float counts exactly."""
    require(is_whole(value) and value >= least, f"{name} must be an int >= {least}", value)
    if value > _MOST:
        raise ValueError(f"{name} must be an int <= 2**53, got one of {int(value).bit_length():,} bits.")


def check_verbose(verbose):
    """Raise unless `verbose` is an int >= 0, or a bool."""
    require(isinstance(verbose, numbers.Integral) and verbose >= 0, "verbose must be an int >= 0", verbose)


def one_of(names):
    """Names as a choice, for a message."""
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last


def nearest_shares(estimates):
    """The nearest shares along the last axis: at least 0, with a sum of 1, in the same order.

    Parameters
    ----------
    estimates : ndarray of shape (..., n_shares)

    Returns
    -------
    ndarray of the same shape
    """
    descending = -np.sort(-estimates, axis=-1)
    shifts = (descending.cumsum(axis=-1) - 1) / np.arange(1, estimates.shape[-1] + 1)
    last = (descending > shifts).sum(axis=-1, keepdims=True) - 1
    return np.maximum(estimates - np.take_along_axis(shifts, last, axis=-1), 0.0)
