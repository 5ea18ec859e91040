"""What is known of the target's margin, from elsewhere or by noisy counts (``docs/theory/known_margin.md``).

All of it is public or released: a share of the records in each of some pieces of the target's columns.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from skdpmic.statistics.mtv.family import UNITS

_HARDLY_ANY = Fraction(1, 10**6)  # noise, with which the same divisions are known as with more


@dataclass(frozen=True)
class Margin:
    """What is known of the target's margin.

    Parameters
    ----------
    ends : tuple of int
        The target's columns are in pieces of neighbours; the column after each piece.
    shares : tuple of Fraction
        Of the records in each piece. With noise, they may be below 0, and need not add up to 1.
    scale : Fraction, default=0
        Of the discrete Laplace noise in each of them, times `n`; 0 for what is exact, or was known before.
    n : int, default=1
        Records that were counted; with weights, in units that these may weigh together.
    sums : tuple of int, default=None
        With weights, the noisy sums in each piece, in units, of which the shares are made.
    knots : tuple of float, default=None
        Of a numeric target: its range in two parts of equally many columns; None for equal columns.
    is_public : bool, default=False
        Whether it was known before, so that nobody knows how wrong it may be.
    """

    ends: tuple
    shares: tuple
    scale: Fraction = Fraction(0)
    n: int = 1
    sums: tuple | None = None
    knots: tuple | None = None
    is_public: bool = False

    @property
    def error(self):
        """Scale of the noise in each share."""
        return float(self.scale / self.n)

    @property
    def mean_weight(self):
        """About the mean weight, as a share of the largest one; None if nothing is known of it."""
        return None if self.sums is None else min(max(sum(self.sums) / self.n, self.error), 1.0)

    def of(self, family):
        """The grids of a family, where this is known."""
        return family.knowing(self.ends, [round(share * UNITS) for share in self.shares], self.error)

    def with_equal_shares(self):
        """The same, but for what was released."""
        return replace(self, shares=(Fraction(1, len(self.shares)),) * len(self.shares), knots=None)

    def cut(self, bounds):
        """Where a numeric target is divided in two, whose range is `bounds`."""
        lower, upper = bounds
        return self.knots[1] if self.knots else lower + self.ends[0] * ((upper - lower) / self.ends[-1])

    def published(self):
        """Each share, of shape (n_pieces,), in [0, 1]."""
        return np.clip(np.array(self.shares, dtype=np.float64), 0.0, 1.0)


def chance_of_weights(mean_weight):
    """How much chance does with weights of this mean, as a share of the largest one, next to records of that weight.

    That is the root of their mean square: between the mean and its root. The middle suits the weights of surveys.
    """
    return mean_weight**0.75


def equal_pieces(n_pieces, n_columns):
    """The column after each of some pieces of equally many columns."""
    return tuple(n_columns * (i + 1) // n_pieces for i in range(n_pieces))


def public_margin(shares, n_columns):
    """What is known of a target by shares of equal pieces, or of its classes, that are public.

    Parameters
    ----------
    shares : sequence of float
        Above 0, with a sum of about 1.
    n_columns : int
    """
    shares = [Fraction(share) for share in shares]
    in_all = tuple(share / sum(shares) for share in shares)
    return Margin(equal_pieces(len(shares), n_columns), in_all, is_public=True)


def margin_of(counts, n_columns):
    """What nearly no noise would tell of a target, from the records in equal pieces or classes; for simulations."""
    n = int(counts.sum())
    shares = tuple(Fraction(int(count), n) for count in counts)
    return Margin(equal_pieces(len(shares), n_columns), shares, _HARDLY_ANY, n)
