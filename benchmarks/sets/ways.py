"""The ways to choose k columns that are compared. A way is a function of a split, epsilon and a seed."""

import warnings
from functools import partial

import numpy as np

from benchmarks.sets import free, rivals
from skdpmic import PrivateSelectKBest

SINGLE, RIVAL, AT_ONCE = "single scores", "Kendall less redundancy", "correlations, a set at once"


def _best(split, epsilon, seed, **options):
    """By PrivateSelectKBest, with mtv_r."""
    return _chosen(best(split.table, epsilon, seed, **options), split)


def best(table, epsilon, seed=None, kind=PrivateSelectKBest, **options):
    """The selector, with what is public about a table."""
    public = table.features | table.target
    return kind(table.k, epsilon=epsilon, random_state=seed, **options, **public)


def _chosen(selector, split):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the seed, and about noise that exceeds the signal
        return np.argsort(selector.fit(split.X, split.y).ranking_, kind="stable")[: split.table.k]


PRIVATE = {
    SINGLE: partial(_best, criterion="single"),
    "joint": partial(_best, criterion="joint"),
    "auto": partial(_best, criterion="auto"),
    RIVAL: rivals.kendall_less_redundancy,
    AT_ONCE: rivals.set_of_correlations,
}
# What was compared until commit 2a2d595, which measured it: these ways stay in the results.
REMOVED = ("redundancy 0.5", "redundancy 1")
FREE = {
    "mutual information": free.mutual_information,
    "mRMR, quotient": free.mrmr_quotient,
    "forward, boosting": free.forward,
    "all columns": free.everything,
    "at random": free.at_random,
}
WAYS = PRIVATE | FREE
NEED_ORDER = (RIVAL, AT_ONCE)  # of the target: numbers, or two classes
