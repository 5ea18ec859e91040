"""Which grids MTVr looks at, by public numbers only: any choice of them is as private (``docs/theory/mtv_r.md``)."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from skdpmic.statistics.grids.divisions import cuts, distinct, each_alone, parities

MOST_PARTS = 10_000  # of a master partition: finer ones find nothing more, whatever the range
_N_EIGHTHS = 8  # of the range of a numeric target: fine enough for a skewed one
_OF_AN_INTERVAL = 0.25  # what each interval beyond two adds to the size of a division in two
_OF_A_CLASS = 0.1  # and each class beyond two, where all are kept apart
UNITS = 2**29  # that known shares are rounded to: so few that no path along a walk is too long for 64 bits


class Side(NamedTuple):
    """One way to join the columns, and how the feature is merged against it.

    Parameters
    ----------
    groups : tuple of int
        Group 0 ... l - 1 of each column, l >= 2. Those of a group need not be neighbours.
    k_max : int, at least 2
        Most parts that the feature is merged into.
    size : float, above 1, default=2
        As how many groups these count in the penalty.
    margins : tuple of int, default=None
        What is known of the share of each group, all above 0, in units that add up to 2**29; None if nothing is.
    n_noisy : int, default=0
        How many noisy counts the smaller one of two known shares is a sum of.
    """

    groups: tuple
    k_max: int
    size: float = 2.0
    margins: tuple | None = None
    n_noisy: int = 0

    @property
    def n_groups(self):
        """How many groups there are: l."""
        return max(self.groups) + 1


@dataclass(frozen=True)
class Family:
    """The grids of MTVr. The target is the fixed side; a feature is merged from master parts.

    Parameters
    ----------
    n_columns : int
        Equal parts, or classes, of the target, before they are joined in groups.
    n_master : int
        Equal parts of a feature before neighbours are merged.
    sides : tuple of Side
    penalty : float, default=0.75
        Of a grid of k parts and a side, ``penalty * sqrt((k - 1) * (size - 1) / n)`` is taken off the total variation,
        less what this is for the coarsest grid: that one keeps all, so that scores end at 0 and 1.
    share_error : float, default=0.0
        Scale of the noise of each noisy count, as a share of all records.
    """

    n_columns: int
    n_master: int
    sides: tuple
    penalty: float = 0.75
    share_error: float = 0.0

    def for_groups(self, n_per_group):
        """The same grids for records of which `n_per_group` (a float) are as good as one, such as rows of a person.

        Chance then does as much as with so many times fewer records, and so the penalty is higher.
        """
        return replace(self, penalty=self.penalty * math.sqrt(n_per_group))

    @cached_property
    def knows_margins(self):
        """Whether the share of any side is known."""
        return any(side.margins is not None for side in self.sides)

    def knowing(self, ends, margins, error=0.0):
        """The same grids, where something is known of the target's margin.

        Parameters
        ----------
        ends : sequence of int
            The columns are in pieces of neighbours; the column after each piece, the last of which is `n_columns`.
        margins : sequence of int
            What is known of the share of each piece, in units of 2**-29. With noise, they may be below 0, and need not
            add up to 1.
        error : float, default=0.0
            Scale of the noise in each of them, as a share of all records.
        """
        piece_of = np.searchsorted(ends, np.arange(self.n_columns), side="right").tolist()
        sides = (side._replace(**_known(side.groups, piece_of, margins, error)) for side in self.sides)
        return replace(self, sides=tuple(sides), share_error=error)

    def with_sides(self, sides, penalty):
        """The same grids with other sides and another penalty."""
        return replace(self, sides=tuple(sides), penalty=penalty)

    def error_of(self, side):
        """The scale of the noise in what is known of a side, as a share of all records."""
        return error_of_sum(self.share_error, side.n_noisy)

    def normaliser(self, side, k):
        """What a total variation of k parts against a side is divided by (``docs/theory/mtv_r.md``).

        If the share of some side is known, the others count half: so no grid moves further than one whose share is.
        """
        if side.margins is not None:
            return np.full(np.shape(k), 1 - min(side.margins) / UNITS)
        if side.n_groups == 2:
            return np.full(np.shape(k), 1.0 if self.knows_margins else 0.5)
        return largest_variation(side.n_groups, k) * (2 if self.knows_margins else 1)


def largest_variation(n_groups, k):
    """nu of grids of k by `n_groups` parts."""
    return np.where(np.minimum(k, n_groups) == 2, 0.5, 0.75)


def error_of_sum(error, n_noisy):
    """The scale of the noise in a sum of noisy shares."""
    return error * math.sqrt(n_noisy)


def _known(groups, piece_of, margins, error):
    """What is known of the share of each group of a side, each of which has to be made of whole pieces.

    A share below its error is not told from none; it counts as that much, so that no side is all but one group. Of
    more than two groups noise tells too little.
    """
    group_of = dict(zip(piece_of, groups, strict=True))
    is_whole = len(set(zip(piece_of, groups, strict=True))) == len(margins)
    if not is_whole or (error > 0 and max(groups) > 1):
        return {}
    pieces = [[m for piece, m in enumerate(margins) if group_of[piece] == g] for g in range(max(groups) + 1)]
    if error == 0:
        return {"margins": _adding_up([sum(of_group) for of_group in pieces])}
    smaller = int(len(pieces[1]) < len(pieces[0]))
    n_noisy = len(pieces[smaller])
    least = max(int(min(error_of_sum(error, n_noisy), 0.5) * UNITS), 1)
    share = min(max(sum(pieces[smaller]), least), UNITS - least)
    return {"margins": (UNITS - share, share) if smaller else (share, UNITS - share), "n_noisy": n_noisy}


def _adding_up(shares):
    """The same shares, but all above 0 and with a sum of all units."""
    shares = [max(share, 1) for share in shares]
    shares[shares.index(max(shares))] += UNITS - sum(shares)
    return tuple(shares)


# --- The families of B and c ----------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def numeric_family(B, c):
    """The grids that B and c stand for, with a numeric target.

    The target's range is divided in two at each eighth, and by the parity of any of the binary digits of the eighths'
    numbers: the middle half against the rest, every other quarter, every other eighth, and three more. Against each of
    these 13 divisions, the feature is merged into at most B / 2 parts.

    Parameters
    ----------
    B : float, at least 4
        Maximum grid size, as a number.
    c : float, above 0
        The feature has c times as many master parts as merged ones, but from 2 to 10,000.

    Returns
    -------
    Family
    """
    divisions = distinct([*cuts(_N_EIGHTHS), *parities(_N_EIGHTHS)])
    sides = [Side(groups, int(B // 2), 2 + _OF_AN_INTERVAL * (n_intervals(groups) - 2)) for groups in divisions]
    return Family(_N_EIGHTHS, _master_size(B, c), tuple(sides))


def class_family(B, c, n_classes):
    """The grids that B and c stand for, with a target of classes.

    The classes are divided in two: each one against the rest; in their order, between any two of them; and by the
    parity of any of the binary digits of their numbers, in halves that have little in common. Against these divisions,
    the feature is merged into at most B / 2 parts; against all classes at once, into two. Beyond 32 classes, only 31
    divisions are in order, and 31 by parity.

    Parameters
    ----------
    B : float, at least 4
        Maximum grid size, as a number.
    c : float, above 0
        The feature has c times as many master parts as merged ones, but from 2 to 10,000.
    n_classes : int, at least 2

    Returns
    -------
    Family
    """
    classes = tuple(range(n_classes))
    divisions = distinct([*each_alone(n_classes), *cuts(n_classes), *parities(n_classes)])
    sides = [Side(groups, int(B // 2), 1 + evenness(sum(groups) / n_classes)) for groups in divisions]
    if n_classes > 3:  # else those are all divisions
        sides.append(Side(classes, 2, 2 + _OF_A_CLASS * (n_classes - 2)))
    return Family(n_classes, _master_size(B, c), tuple(sides))


def evenness(share):
    """The variance of belonging to a group with this share, to which chance adds the more; 1 for a half."""
    return 4 * share * (1 - share)


def n_intervals(groups):
    """How many intervals neighbouring columns of one group make."""
    return 1 + sum(left != right for left, right in pairwise(groups))


def _master_size(B, c):
    return max(int(min(c * int(B // 2), MOST_PARTS)), 2)
