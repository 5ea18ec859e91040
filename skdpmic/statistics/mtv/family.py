"""The grids of MTVr, chosen by public numbers only; privacy holds for any choice (``docs/theory/mtv_r.md``).

A family decides the divisor of the total variation on each of its grids, and so how far one record can move a score. It
states this itself, in `Family.sensitivity`, to which the noise on its scores is calibrated.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from skdpmic._utils.arguments import check_n_shares, is_auto
from skdpmic.statistics.grids import check_c, divisions_in_two, grid_size
from skdpmic.statistics.sensitivity import mtv_r_sensitivity

MOST_PARTS = 10_000  # of a master partition; finer ones find nothing more, whatever the range
_N_EIGHTHS = 8  # parts of a numeric target's range; fine enough for skewed targets
_SIZE_PER_INTERVAL = 0.25  # added to the size of a division for each interval beyond two
_SIZE_PER_CLASS = 0.1  # added for each class beyond two, if no classes are joined
DEFAULT_B = 32.0  # near-optimal for 100 to 100,000 records, any epsilon and any number of classes
DEFAULT_C = 38.0  # the counts of a feature take 19 kB
_SHARE_OF_ERROR = 0.5  # fraction of the noise in a known share that is subtracted; all of it would hide other divisions
UNITS = 2**29  # known shares are multiples of 1 / UNITS; few enough for path lengths to fit in 64 bits


class Side(NamedTuple):
    """One grouping of the columns, and how the feature is merged against it.

    Parameters
    ----------
    groups : tuple of int
        Group of each column, from 0 to l - 1: two groups, whose columns need not be neighbours; or, for l > 2, one
        group for each column.
    k_max : int, at least 2
        Maximum number of parts that the feature is merged into, with cuts of the largest cost. With more than two
        groups it is merged into two parts in any case.
    size : float, above 1, default=2
        Effective number of groups in the penalty.
    margins : tuple of int, default=None
        Known share of each group, above 0, in units that sum to 2**29; None if unknown.
    n_noisy : int, default=0
        Number of noisy counts whose sum is the share of one of two groups: the one with fewer pieces.
    """

    groups: tuple
    k_max: int
    size: float = 2.0
    margins: tuple | None = None
    n_noisy: int = 0

    @property
    def n_groups(self):
        """Number of groups, l."""
        return max(self.groups) + 1


class Cuts(NamedTuple):
    """Costs of the cuts of a feature, each between two neighbouring master parts, in the penalty.

    Parameters
    ----------
    edges : tuple of int
        Cuts that cost less than others, ascending; cut i is before master part i.
    costs : tuple of int
        Their costs.
    other : int
        The cost of any other cut.
    per_unit : int
        The cost that has the penalty of one cut of the coarsest grid.
    """

    edges: tuple = ()
    costs: tuple = ()
    other: int = 1
    per_unit: int = 1

    def with_missing_first(self, n_master):
        """The cuts if missing values are moved before the first master part, from after the last one."""
        moved = sorted((edge % n_master + 1, cost) for edge, cost in zip(self.edges, self.costs, strict=True))
        return self._replace(edges=tuple(edge for edge, _ in moved), costs=tuple(cost for _, cost in moved))


@dataclass(frozen=True)
class Family:
    """The grids of MTVr. The target is the fixed side; a feature is merged from master parts.

    Parameters
    ----------
    n_columns : int
        Number of equal parts, or classes, of the target before they are joined in groups.
    n_master : int
        Number of equal parts of a feature before neighbours are merged.
    sides : tuple of Side
    penalty : float, default=0.75
        For a grid with cuts of weight w in all and a side, ``penalty * sqrt(w * (size - 1) / n)`` minus its value for
        the coarsest grid is subtracted from the total variation. The coarsest grid has no penalty, so scores range from
        0 to 1.
    by_place : bool, default=False
        Whether a cut of a single feature weighs 1 in the middle of its range and before missing values, 3/2 at the
        quarters, and 2 elsewhere. Otherwise each weighs 1.
    share_error : float, default=0.0
        Scale of the noise in each noisy count, as a share of all records.
    is_sized : bool, default=False
        Whether the sizes of sides of known share follow from these shares, as for classes.
    """

    n_columns: int
    n_master: int
    sides: tuple
    penalty: float = 0.75
    by_place: bool = False
    share_error: float = 0.0
    is_sized: bool = False

    @cached_property
    def cuts(self):
        """What the cuts of a feature cost, with missing values in a part after all others.

        In halves by place: 2 for the middle, or what is nearest to it, and missing values, 3 for the quarters, else 4.
        """
        if not self.by_place:
            return Cuts()
        quarter, middle = self.n_master // 4, self.n_master // 2
        costs = {quarter: 3, self.n_master - quarter: 3, middle: 2, self.n_master: 2}
        edges = sorted(edge for edge in costs if edge > 0)
        return Cuts(tuple(edges), tuple(costs[edge] for edge in edges), 4, 2)

    def most_cost(self, side):
        """The largest cost of all cuts against a side; of one cut, against more than two groups."""
        return self.cuts.other * (side.k_max - 1 if side.n_groups == 2 else 1)

    @cached_property
    def knows_target_shares(self):
        """Whether the share of any side is known."""
        return any(side.margins is not None for side in self.sides)

    def sensitivity(self, n, n_replaced=1, units=1):
        """The largest change of a score of these grids if `n_replaced` of n records are replaced; rounded up.

        Parameters
        ----------
        n : int, at least 2
        n_replaced : int, at least 1, default=1
        units : int, default=1
            Largest weight of a record, in units; 1 without weights.
        """
        return mtv_r_sensitivity(n, n_replaced, knows_target_shares=self.knows_target_shares, are_weighted=units > 1)

    def with_target_shares(self, ends, margins, error=0.0):
        """The grids with known shares of the target.

        Parameters
        ----------
        ends : sequence of int
            The index after the last column of each piece of neighbouring columns; the last one is `n_columns`.
        margins : sequence of int
            Known share of each piece, in units of 2**-29. Noisy shares may be negative and need not sum to 1.
        error : float, default=0.0
            Scale of the noise in each share, as a share of all records.
        """
        piece_of = np.searchsorted(ends, np.arange(self.n_columns), side="right").tolist()
        sides = (side._replace(**_known(side.groups, piece_of, margins, error)) for side in self.sides)
        return replace(self, sides=tuple(sides), share_error=error)

    def sized_by_shares(self, share=None):
        """The grids for classes: the rarer a group of known share, the less chance shows, so the smaller its size.

        With `share`, all groups of known shares have the size of this one; one half has the largest.
        """
        sides = [
            side._replace(size=1 + evenness(side.margins[0] / UNITS if share is None else share))
            if side.n_groups == 2 and side.margins is not None
            else side
            for side in self.sides
        ]
        return replace(self, sides=tuple(sides), is_sized=True)

    def offset_of_error(self, side):
        """Amount subtracted from the total variation for the noise in the known share of a side."""
        return _SHARE_OF_ERROR * self.share_error * math.sqrt(side.n_noisy)

    def normaliser(self, side, k):
        """The nu that divides the total variation of k parts against a side (``docs/theory/mtv_r.md``).

        If the share of any side is known, the others count half, so that they have no higher sensitivity.
        """
        if side.margins is not None:
            return 1 - min(side.margins) / UNITS
        nu = 0.5 if min(k, side.n_groups) == 2 else 0.75
        return 2 * nu if self.knows_target_shares else nu


def _known(groups, piece_of, margins, error):
    """The known share of each group of a side, if every group consists of whole pieces.

    A share below its error cannot be distinguished from 0 and is raised to the error, so that neither group is empty.
    Noisy shares of more than two groups are too inaccurate to use.
    """
    group_of = dict(zip(piece_of, groups, strict=True))
    is_whole = len(set(zip(piece_of, groups, strict=True))) == len(margins)
    if not is_whole or (error > 0 and max(groups) > 1):
        return {}
    pieces = [[m for piece, m in enumerate(margins) if group_of[piece] == g] for g in range(max(groups) + 1)]
    if error == 0:
        shares = [max(sum(of_group), 1) for of_group in pieces]
        shares[shares.index(max(shares))] += UNITS - sum(shares)
        return {"margins": tuple(shares)}
    smaller = int(len(pieces[1]) < len(pieces[0]))
    n_noisy = len(pieces[smaller])
    least = max(int(min(error * math.sqrt(n_noisy), 0.5) * UNITS), 1)
    share = min(max(sum(pieces[smaller]), least), UNITS - least)
    return {"margins": (UNITS - share, share) if smaller else (share, UNITS - share), "n_noisy": n_noisy}


# --- The families of B and c ----------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def numeric_family(B, c):
    """The grids for B and c with a numeric target.

    The target's range is divided in two at each eighth, and by the parity of each subset of the binary digits of the
    eighths' indices: the middle half against the rest, every other quarter, every other eighth, and three more. Against
    each of these 13 divisions, the feature is merged by cuts that weigh at most B - 2 in all.

    Parameters
    ----------
    B : float, at least 4
        Maximum grid size, as a number of cells.
    c : float, above 0
        Master parts of the feature per merged part; their number is limited to 2 to 10,000.

    Returns
    -------
    Family
    """
    divisions = divisions_in_two(_N_EIGHTHS, with_each_alone=False)
    sides = [Side(groups, int(B // 2), 2 + _SIZE_PER_INTERVAL * (n_intervals(groups) - 2)) for groups in divisions]
    return Family(_N_EIGHTHS, _master_size(B, c), tuple(sides), by_place=True)


def class_family(B, c, n_classes):
    """The grids for B and c with a discrete target.

    The classes are divided in two: each one against the rest; at each cut of their order; and by the parity of each
    subset of the binary digits of their numbers, into halves with little in common. Against these divisions, the
    feature is merged by cuts that weigh at most B - 2 in all; against all classes at once, by one cut. With more than
    32 classes, only 31 cuts of the order and 31 parities are used.

    Parameters
    ----------
    B : float, at least 4
        Maximum grid size, as a number of cells.
    c : float, above 0
        Master parts of the feature per merged part; their number is limited to 2 to 10,000.
    n_classes : int, at least 2

    Returns
    -------
    Family
    """
    k_max = int(B // 2)
    sides = [Side(groups, k_max, 1 + evenness(sum(groups) / n_classes)) for groups in divisions_in_two(n_classes)]
    if n_classes > 3:  # else those are all divisions
        sides.append(Side(tuple(range(n_classes)), 2, 2 + _SIZE_PER_CLASS * (n_classes - 2)))
    return Family(n_classes, _master_size(B, c), tuple(sides), by_place=True)


def evenness(share):
    """Variance of the indicator of a group with this share, scaled to 1 at one half; chance scores grow with it."""
    return 4 * share * (1 - share)


def n_intervals(groups):
    """Number of runs of neighbouring columns in the same group."""
    return 1 + sum(left != right for left, right in pairwise(groups))


def _master_size(B, c):
    return max(int(min(c * int(B // 2), MOST_PARTS)), 2)


# --- Default B and c, from public numbers only (``benchmarks/results/defaults.md``) ----------------------------------


def resolve_mtv(B, c, n, n_classes=None):
    """The numbers B and c of MTVr, from what the user gave; the defaults suit any epsilon.

    The default c is 38 for a numeric target and up to seven classes. For more classes it decreases, to keep the counts
    of a feature below 20 kB, until it reaches its minimum of 8 at 38 classes.

    Parameters
    ----------
    B, c : float or "auto"
    n : int
        Number of records.
    n_classes : int, default=None
        Number of classes of a discrete target; None for a numeric target.

    Returns
    -------
    B, c : float

    Raises
    ------
    ValueError
        If `B` is not "auto", a number >= 4 that n records can use, or an exponent in (0, 1); or if `c` is not "auto" or
        a number > 0.

    Examples
    --------
    >>> from skdpmic.statistics.mtv.family import resolve_mtv
    >>> resolve_mtv("auto", "auto", n=1000)
    (32.0, 38.0)
    >>> resolve_mtv(0.5, 4, n=10_000)
    (100.0, 4.0)
    >>> [resolve_mtv("auto", "auto", 1000, n_classes)[1] for n_classes in (2, 10, 100)]
    [38.0, 30.0, 8.0]
    """
    B = DEFAULT_B if is_auto(B) else grid_size(B, n, n_classes)
    if is_auto(c):
        return B, DEFAULT_C if n_classes is None else min(DEFAULT_C, max(300 / n_classes, 8.0))
    check_c(c)
    return B, float(c)


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

    def cut(self, bounds):
        """Where a numeric target with range `bounds` is cut in two."""
        lower, upper = bounds
        return self.knots[1] if self.knots else lower + self.ends[0] * ((upper - lower) / self.ends[-1])

    def published(self):
        """The shares clipped to [0, 1], of shape (n_pieces,)."""
        return np.clip(np.array(self.shares, dtype=np.float64), 0.0, 1.0)


def equal_pieces(n_pieces, n_columns):
    """The index after the last column of each piece, for pieces of equal size."""
    return tuple(n_columns * (i + 1) // n_pieces for i in range(n_pieces))


def knots_at(place, bounds):
    """The knots of a numeric target that has this candidate cut; None in the middle, where columns are equal."""
    lower, upper = bounds
    cut = lower + place * ((upper - lower) / N_PLACES)
    return None if cut == lower + (upper - lower) / 2 else (lower, cut, upper)


def public_shares(shares, n_classes, n_columns):
    """The shares that a user gives of classes or of equal pieces of a range; a ValueError if of another number.

    Parameters
    ----------
    shares : array-like of float
    n_classes : int or None
        None for a numeric target.
    n_columns : int
    """
    shares = [Fraction(share) for share in check_n_shares(shares, n_classes)]
    in_all = tuple(share / sum(shares) for share in shares)
    return TargetShares(equal_pieces(len(shares), n_columns), in_all, is_public=True)


def shares_of_counts(counts, n_columns):
    """The shares of a target with almost no noise, from counts of equal pieces or classes; for simulations."""
    n = int(counts.sum())
    shares = tuple(Fraction(int(count), n) for count in counts)
    return TargetShares(equal_pieces(len(shares), n_columns), shares, _NEGLIGIBLE_NOISE, n)
