"""Shares of the target, given by the user or released as noisy counts (``docs/theory/learnt_margin.md``).

They are the shares of the records in each piece of the target's columns.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from skdpmic._utils.arguments import check_n_shares, check_target_cut
from skdpmic._utils.texts import quoted
from skdpmic.statistics.mtv.family import UNITS
from skdpmic.table.domains import Knots, numbers_in

N_PLACES = 1024  # candidate cuts of the target's range
_NEGLIGIBLE_NOISE = Fraction(1, 10**6)  # negligible noise, so that the same shares are known as with real noise


@dataclass(frozen=True)
class TargetShares:
    """Public or released shares of the target.

    Parameters
    ----------
    ends : tuple of int
        The index after the last column of each piece; a piece is a run of neighbouring columns.
    shares : tuple of Fraction
        Shares of the records in each piece. Noisy shares may be negative and need not sum to 1.
    scale : Fraction, default=0
        Scale of the discrete Laplace noise in each share, times `n`; 0 for exact or public shares.
    n : int, default=1
        Number of records counted; with weights, their largest possible total weight, in units.
    sums : tuple of int, default=None
        With weights, the noisy sum of weights in each piece, in units, from which the shares are computed.
    knots : tuple of float, default=None
        Lower bound, cut and upper bound of a numeric target, with as many columns on either side of the cut; None for
        columns of equal width.
    is_public : bool, default=False
        Whether the user gave the shares; their error is then unknown.
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
        """Estimated mean weight, as a fraction of the largest weight; None if unknown."""
        return None if self.sums is None else min(max(sum(self.sums) / self.n, self.error), 1.0)

    def of(self, family):
        """The grids of a family for a target with these shares."""
        return family.with_target_shares(self.ends, [round(share * UNITS) for share in self.shares], self.error)

    def with_equal_shares(self):
        """Equal shares in place of the released ones."""
        return replace(self, shares=(Fraction(1, len(self.shares)),) * len(self.shares), knots=None)

    def at_cut(self, position, bounds, keeps_columns=False):
        """The shares as those on either side of a cut at this position in the range of a numeric target.

        With `keeps_columns`, as in counts that exist, the cut must be between two columns.
        """
        if not keeps_columns:
            return replace(self, knots=knots_at(position, bounds))
        (lower, upper), n_columns = bounds, self.ends[-1]
        place = round((position - lower) / ((upper - lower) / n_columns))
        if lower + place * ((upper - lower) / n_columns) != position:
            raise ValueError(
                f"target_cut must be between two parts of the {n_columns} in which a sketch counts the target. For any "
                "other cut, call fit(X, y) with a table in memory."
            )
        return replace(self, ends=(place, n_columns))

    def cut(self, bounds):
        """Where a numeric target with range `bounds` is cut in two."""
        lower, upper = bounds
        return self.knots[1] if self.knots else lower + self.ends[0] * ((upper - lower) / self.ends[-1])

    def on_axis(self, values, bounds):
        """Values of a numeric target and their range, rescaled so that a cut between columns is in the middle."""
        if self.knots is None:
            return values, bounds
        domain = Knots(self.knots)
        return domain.encode(values), domain.encoded

    def published(self):
        """The shares clipped to [0, 1], of shape (n_pieces,)."""
        return np.clip(np.array(self.shares, dtype=np.float64), 0.0, 1.0)


def chance_of_weights(mean_weight):
    """Size of chance scores with weights of this mean (as a fraction of the largest), relative to equal weights.

    It is the root mean square weight, which lies between the mean and its square root. The middle suits survey weights.
    """
    return mean_weight**0.75


def equal_pieces(n_pieces, n_columns):
    """The index after the last column of each piece, for pieces of equal size."""
    return tuple(n_columns * (i + 1) // n_pieces for i in range(n_pieces))


def knots_at(position, bounds):
    """The knots of a numeric target that is cut here; None in the middle of its range, where columns are equal."""
    lower, upper = bounds
    return None if position == lower + (upper - lower) / 2 else (lower, position, upper)


def candidate_cut(place, bounds):
    """Where a candidate cut is in the range of the target."""
    lower, upper = bounds
    return lower + place * ((upper - lower) / N_PLACES)


def _position_of_cut(target_cut, domain):
    """Where a given cut is in the encoded range of a numeric target, exactly as released if it was: a float.

    Decoding and encoding may move a released cut by a rounding error, and with it records to its other side.
    """
    lower, upper = domain.encoded
    try:
        of, value = numbers_in([target_cut])
    except (TypeError, ValueError, OverflowError):
        of, value = None, [math.nan]
    (position,) = domain.encode(np.array(value)).tolist()
    if of != domain.of or not lower < position < upper:
        raise ValueError(f"target_cut must be inside target_bounds, and of their type, got {quoted(target_cut)}.")
    edge = candidate_cut(round((position - lower) / ((upper - lower) / N_PLACES)), domain.encoded)
    return edge if numbers_in([domain.decode(edge)]) == (of, value) else position


def given_shares(shares, n_classes, n_columns, cut=None, domain=None, keeps_columns=False):
    """The shares that a user gives; a ValueError if they are those of another kind of target.

    Parameters
    ----------
    shares : array-like of float
    n_classes : int or None
        None for a numeric target.
    n_columns : int
    cut : float, datetime64 or timedelta64, default=None
        The public cut on whose sides two shares are; None for classes or equal parts of the range.
    domain : Range, LogRange or Knots, default=None
        Axis of the target; needed with `cut`.
    keeps_columns : bool, default=False
        Whether the columns of the target are those of counts that exist.
    """
    if cut is not None:
        check_target_cut(cut, shares, n_classes is not None)
    known = public_shares(check_n_shares(shares, n_classes), n_columns)
    return known if cut is None else known.at_cut(_position_of_cut(cut, domain), domain.encoded, keeps_columns)


def public_shares(shares, n_columns):
    """The shares of a target from public shares of its classes or of equal pieces of its range.

    Parameters
    ----------
    shares : sequence of float
        Positive shares with a sum of about 1.
    n_columns : int
    """
    shares = [Fraction(share) for share in shares]
    in_all = tuple(share / sum(shares) for share in shares)
    return TargetShares(equal_pieces(len(shares), n_columns), in_all, is_public=True)


def shares_of_counts(counts, n_columns):
    """The shares of a target with almost no noise, from counts of equal pieces or classes; for simulations."""
    n = int(counts.sum())
    shares = tuple(Fraction(int(count), n) for count in counts)
    return TargetShares(equal_pieces(len(shares), n_columns), shares, _NEGLIGIBLE_NOISE, n)
