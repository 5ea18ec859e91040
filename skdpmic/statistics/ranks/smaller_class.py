"""How many records the smaller of two classes of a target has, from what is known of their shares.

A score of Kendall or Spearman cannot be larger than the smaller class allows, nor vary more by chance
(``docs/theory/p_values.md``, Theorems 5 and 6).
"""

from typing import NamedTuple

from scipy import stats

from skdpmic.statistics.mtv.learnt_margin import shares_interval

MISSED = 1e-5  # how likely a bound may be too low: so much is added to p-values


class SmallerClass(NamedTuple):
    """What is known of the smaller of two classes.

    Parameters
    ----------
    most : int
        It has no more records than this.
    is_exact : bool
        Whether it has no fewer either, for sure.
    """

    most: int
    is_exact: bool

    @property
    def missed(self):
        """How likely it is at most that it has more."""
        return 0.0 if self.is_exact else MISSED

    def widening(self, n):
        """By what scores of a class of `most` of n records have to be multiplied, to stand for those of fewer, too."""
        return 1.0 if self.is_exact else 1 + 1 / (n - self.most - 1)


def smaller_class(margin, n):
    """What a margin of two classes tells of the smaller one of n records.

    Parameters
    ----------
    margin : Margin
        Learnt with noise, or without; or public, and then of the records or of a population that they were drawn from.
    n : int, at least 4

    Returns
    -------
    SmallerClass
    """
    if margin.is_public:
        most = int(stats.binom.isf(MISSED, n, float(min(margin.shares))))
    elif margin.scale == 0:
        return SmallerClass(int(min(margin.shares) * n), is_exact=True)
    else:
        _, upper = shares_interval(margin, 1 - MISSED)
        most = int(upper.min() * n + 0.5)  # whole, but for rounding
    return SmallerClass(min(most, n // 2), is_exact=False)
