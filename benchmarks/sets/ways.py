"""The ways to choose k columns that are compared. A way is a function of a split, epsilon and a seed."""

import warnings
from functools import partial
from inspect import signature

import numpy as np

from benchmarks.selection.ways import DELTA
from benchmarks.sets import free, rivals
from skdpmic import PrivateSelectKBest
from skdpmic.correlation import PrivateForwardSelector

SINGLE, FORWARD, RIVAL = "single scores", "forward from one matrix", "Kendall less redundancy"


def _best(split, epsilon, seed, **options):
    """By PrivateSelectKBest, with mtv_r."""
    return _chosen(best(split.table, epsilon, seed, **options), split)


def best(table, epsilon, seed=None, **options):
    """The selector, with what is public about a table."""
    public = table.features | table.target
    return PrivateSelectKBest(table.k, epsilon=epsilon, random_state=seed, **options, **public)


def _forward(split, epsilon, seed):
    """By PrivateForwardSelector; labels count in the order in which they are public, as one number."""
    public = {"categories": split.table.features["categories"] or None}
    if split.table.n_classes is not None:
        public["classes"] = split.table.target["classes"]
    options = {"epsilon": epsilon, "delta": DELTA, "random_state": seed, **public}
    return _chosen(PrivateForwardSelector(split.table.k, **options), split)


def _chosen(selector, split):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the seed, and of noise that exceeds the signal
        return np.argsort(selector.fit(split.X, split.y).ranking_, kind="stable")[: split.table.k]


# One line for each way of the package; those whose parameters it does not have yet are left out.
_OF_THE_PACKAGE = {
    SINGLE: {},
    "redundancy 0.5": {"redundancy": 0.5},
    "redundancy 1": {"redundancy": 1.0},
    "joint": {"criterion": "joint"},
}
PRIVATE = {
    **{
        name: partial(_best, **options)
        for name, options in _OF_THE_PACKAGE.items()
        if options.keys() <= signature(PrivateSelectKBest).parameters.keys()
    },
    FORWARD: _forward,
    RIVAL: rivals.kendall_less_redundancy,
}
FREE = {
    "mutual information": free.mutual_information,
    "mRMR, difference": free.mrmr_difference,
    "mRMR, quotient": free.mrmr_quotient,
    "JMI": free.joint_mean,
    "JMIM": free.joint_minimum,
    "permutation importance": free.permutation,
    "forward, boosting": free.forward,
    "all columns": free.everything,
    "at random": free.at_random,
}
WAYS = PRIVATE | FREE
NEED_ORDER = (FORWARD, RIVAL)  # of the target: numbers, or two classes
