"""The number of records in the smaller of two classes of a target, from their known shares.

The size of the smaller class bounds a score of Kendall, and its variation by chance
(``docs/theory/p_values.md``, Theorems 5 and 6).
"""

from typing import NamedTuple

from scipy import stats

from skdpmic.statistics.mtv.released_shares import shares_interval

MISSED = 1e-5  # probability that a bound is too low, which is added to p-values


class SmallerClass(NamedTuple):
    """The known bounds on the size of the smaller of two classes.

    Parameters
    ----------
    most : int
        Upper bound on its number of records.
    is_exact : bool
        Whether this is the exact number.
    """

    most: int
    is_exact: bool

    @property
    def missed(self):
        """Upper bound on the probability that it has more."""
        return 0.0 if self.is_exact else MISSED

    def widening(self, n):
        """Factor by which scores of a class of `most` of n records also cover those of smaller classes."""
        return 1.0 if self.is_exact else 1 + 1 / (n - self.most - 1)


def smaller_class(target_shares, n):
    """The bounds on the smaller of two classes of n records, from the shares of the target.

    Parameters
    ----------
    target_shares : TargetShares
        Released with noise, or without; or public, for the records or for the population they were sampled from.
    n : int, at least 4

    Returns
    -------
    SmallerClass
    """
    if target_shares.is_public:
        most = int(stats.binom.isf(MISSED, n, float(min(target_shares.shares))))
    elif target_shares.scale == 0:
        return SmallerClass(int(min(target_shares.shares) * n), is_exact=True)
    else:
        _, upper = shares_interval(target_shares, 1 - MISSED)
        most = int(upper.min() * n + 0.5)  # an integer, up to rounding
    return SmallerClass(min(most, n // 2), is_exact=False)
