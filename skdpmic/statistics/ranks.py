"""Kendall's rank correlation as a score in [0, 1]: it needs no ranges, because only the order of the values matters.

Missing values come before all others, and labels of a nominal feature are in their given order: the key of a record
does not depend on other records. Equal values share their mean rank.

The sum of a score is an exact integer. Only the last division is rounded: down, to a multiple of 2**-53. So rounding a
score down to a coarser grid gives the *exact* score rounded down to that grid (``docs/theory/ranks.md``). At most
``MAX_RECORDS`` records are allowed: their square, which bounds all numbers in kernels, fits in 62 bits.
"""

from dataclasses import dataclass, replace

import numpy as np

from skdpmic._utils.jit import jit, leaf
from skdpmic.statistics.largest_scores import largest_kendall
from skdpmic.statistics.measure import Measure, Scorer, Statistic
from skdpmic.statistics.mtv.family import TargetShares, public_shares
from skdpmic.statistics.sensitivity import group_sensitivity, kendall_sensitivity
from skdpmic.table.domains import Nominal
from skdpmic.table.facts import refuse_unordered

MAX_RECORDS = 2**31 - 1

# --- The statistic ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kendall(Measure, Statistic):
    """Kendall's |tau-a|: equal values share a rank. It is its own measure, because there are no grids.

    Known shares of two classes only determine the largest possible score.
    """

    target_shares: TargetShares | None = None

    name = "kendall"
    needs_ranges = False
    is_explained_by_shares = True

    def measure(self, B, c, n, epsilon, n_classes):
        """The statistic itself, as B and c are ignored. Two classes are ranked in ascending order of their labels."""
        refuse_unordered(self.name, n_classes)
        return self

    def sensitivity(self, shape):
        """Sensitivity to the records of one person; an error if there are too many records."""
        if shape.n_samples > MAX_RECORDS:  # sums over more could overflow in kernels
            most = f"at most {MAX_RECORDS:,} records"
            raise ValueError(f"scores can be computed for {most}, got n_samples={shape.n_samples:,}.")
        return group_sensitivity(kendall_sensitivity(shape.n_samples), shape.rows_per_group)

    def rounding_error(self, shape):
        """0: a score is exact, rounded down to a finer grid than that of the noise."""
        return 0

    def with_target_shares(self, shares):
        """The measure with public shares of two classes; a ValueError if they are of another number."""
        return replace(self, target_shares=public_shares(shares, 2, 2))

    def largest_score(self, n):
        """The largest score of n records that any feature can have; None if the shares of classes are not known."""
        return None if self.target_shares is None else largest_kendall(float(self.target_shares.shares[0]), n)

    def scorer(self, target, random_bytes):
        """The function that scores features against a target."""
        target_ranks = mid_ranks(target.values)
        return Scorer(lambda x, domain: kendall(mid_ranks(in_order(x, domain)), target_ranks))


def in_order(x, domain):
    """The column `x` as ordered numbers: missing values first, then labels in their order, then other labels."""
    values = np.asarray(x, dtype=np.float64)
    if isinstance(domain, Nominal):
        values = np.where(x == domain.n_labels + 1, np.nan, values)
    return np.where(np.isnan(values), -np.inf, values)  # missing values share a rank


# --- Ranks ------------------------------------------------------------------------------------------------------


def mid_ranks(values):
    """Twice the mid-rank of each value, minus 1: the number of values below it, plus the number of values not above it.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        Finite.

    Returns
    -------
    ranks : int64 ndarray of shape (n_samples,)
        In 1 ... 2 n_samples - 1, with mean n_samples.
    """
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (2 * np.cumsum(sizes) - sizes)[group]


def kendall(x_ranks, y_ranks):
    """Kendall's |tau-a|: concordant minus discordant pairs, over all pairs; a pair tied in x or y counts 0.

    Parameters
    ----------
    x_ranks, y_ranks : int64 ndarrays of shape (n_samples,)
        From `mid_ranks`, of at least 2 records.

    Returns
    -------
    float
        In [0, 1], rounded down to a multiple of 2**-53.
    """
    n = len(x_ranks)
    return (abs(concordance(x_ranks, y_ranks)) << 54) // (n * (n - 1)) * 2.0**-53


def concordance(x_ranks, y_ranks):
    """Concordant minus discordant pairs of records, an int; for a column and itself, the number of untied pairs.

    Parameters
    ----------
    x_ranks, y_ranks : int64 ndarrays of shape (n_samples,)
        From `mid_ranks`.
    """
    # Halved mid-ranks of different values are still different, and below n.
    room = np.zeros((5, len(x_ranks) + 1), dtype=np.int64)
    return int(_concordance(x_ranks >> 1, y_ranks >> 1, room))


_TREE, _EQUAL, _FIRST, _FREE, _Y_IN_ORDER = range(5)  # rows of the workspace of `_concordance`


@jit
def _concordance(x_ranks, y_ranks, room):
    """Concordant minus discordant pairs of records, from ranks in 0 ... n - 1 that are equal for equal values."""
    n = len(x_ranks)
    for rank in x_ranks:
        room[_FIRST, rank + 1] += 1
    for rank in range(n):  # number of records with a lower rank in x
        room[_FIRST, rank + 1] += room[_FIRST, rank]
        room[_FREE, rank] = room[_FIRST, rank]
    for i in range(n):
        room[_Y_IN_ORDER, room[_FREE, x_ranks[i]]] = y_ranks[i]
        room[_FREE, x_ranks[i]] += 1

    concordance = 0
    for rank in range(n):  # the tree contains ranks in y of the previous records
        start, end = room[_FIRST, rank], room[_FIRST, rank + 1]
        for i in range(start, end):
            y_rank = room[_Y_IN_ORDER, i]
            below = _sum_below(room[_TREE], y_rank)
            concordance += below - (start - below - room[_EQUAL, y_rank])
        for i in range(start, end):
            _add_one(room[_TREE], room[_Y_IN_ORDER, i])
            room[_EQUAL, room[_Y_IN_ORDER, i]] += 1
    return concordance


@leaf
def _add_one(tree, place):
    """Add 1 to entry `place` of a Fenwick tree: node k holds the sum of the entries k - (k & -k) ... k - 1."""
    node = place + 1
    while node < len(tree):
        tree[node] += 1
        node += node & -node


@leaf
def _sum_below(tree, place):
    """The sum of the entries 0 ... place - 1 of a Fenwick tree."""
    total = 0
    node = place
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total
