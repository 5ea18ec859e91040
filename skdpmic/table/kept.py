"""Columns that a selector keeps in any case, given by public names or numbers."""

import numbers

import numpy as np

from skdpmic.table.features import by_number


def check_keep(keep):
    """Raise unless `keep` is a list of distinct names and numbers of columns."""
    is_list = isinstance(keep, list | tuple | np.ndarray) and np.ndim(keep) <= 1
    items = list(keep) if is_list else []
    are_columns = all(isinstance(item, str | numbers.Integral) and not isinstance(item, bool) for item in items)
    if not is_list or not are_columns or len(set(items)) < len(items):
        raise ValueError(f"keep must be a list of distinct names or numbers of features, got {keep!r}.")


def kept_columns(keep, n_features, names):
    """The numbers of the columns kept, ascending.

    Parameters
    ----------
    keep : list of str or int
        Checked.
    n_features : int
    names : array-like of str, or None

    Returns
    -------
    tuple of int
    """
    if not len(keep):
        return ()
    kept = by_number(dict.fromkeys(list(keep)), "keep", n_features, names)
    n_candidates(keep, n_features)
    return tuple(sorted(kept))


def n_candidates(keep, n_features):
    """The number of features to choose from; a ValueError if all are kept."""
    if len(keep) >= n_features:
        raise ValueError(f"keep must leave at least one feature to choose, got all {n_features}.")
    return n_features - len(keep)
