"""The joint law of several columns that says no more than their two-way tables do."""

from itertools import combinations

import numpy as np

_ROUNDS, _CLOSE = 30, 1e-6  # of the sum of all absolute changes
_TINY = 1e-300


def law_of_pairs(shape, table_of):
    """The law of largest entropy among those with these two-way tables, by iterative proportional fitting.

    It is the log-linear model without interactions of three columns or more. Where no law has all of the tables, as
    they were estimated with noise, fitting ends near to all of them.

    Parameters
    ----------
    shape : tuple of int
        How many parts each of at least two columns has.
    table_of : callable
        ``table_of(a, b)`` for a < b: shares, an ndarray of shape (shape[a], shape[b]), not negative.

    Returns
    -------
    ndarray of that shape
        Probabilities.
    """
    law = np.full(shape, 1 / np.prod(shape))
    axes = range(len(shape))
    targets = [
        (tuple(c for c in axes if c not in pair), table_of(*pair).reshape([shape[c] if c in pair else 1 for c in axes]))
        for pair in combinations(axes, 2)
    ]
    for _ in range(_ROUNDS):
        before = law
        for others, target in targets:
            law = law * (target / np.maximum(law.sum(axis=others, keepdims=True), _TINY))
        if np.abs(law - before).sum() < _CLOSE:
            break
    return law
