"""Limits and divisions of grids, from public numbers only (``docs/evidence/defaults.md``)."""

import math
import numbers
import sys

_ALWAYS = 1_000  # allowed for any number of records: takes a fraction of a second
_AT_MOST = 10_000  # maximum for any number of records: memory and time of a score grow with the square
_FOR_A_CLASS = 100  # twice the defaults


def largest_size(n, n_classes=None):
    """The largest useful number of cells of a grid for `n` records, and so the largest B.

    Beyond n cells, a grid adds only bias. Below 1,000 records, 1,000 cells are allowed; above 10,000, at most 10,000.

    Parameters
    ----------
    n : int or inf
        Number of records; infinity if it is open.
    n_classes : int, default=None
        Number of classes of a discrete target: each class may have 100 cells, for any n.

    Returns
    -------
    int

    Examples
    --------
    >>> from skdpmic.statistics.grids.limits import largest_size
    >>> [largest_size(n) for n in (50, 5_000, 10**6)]
    [1000, 5000, 10000]
    >>> largest_size(50, n_classes=20)
    2000
    """
    return max(int(min(max(n, _ALWAYS), _AT_MOST)), _FOR_A_CLASS * (n_classes or 0))


def largest_c(n, B, n_classes=None, master="reduced"):
    """The largest c, at which master partitions have at most ``largest_size(n)`` parts.

    Finer ones would only separate records that differ by less than 1 / n of the range.

    Parameters
    ----------
    n : int or inf
        Number of records; infinity if it is open.
    B : float, at least 4
        As a number.
    n_classes : int, default=None
        Of a discrete target.
    master : {"reduced", "full"}, default="reduced"

    Returns
    -------
    float
    """
    return largest_size(n) / (finest_merge(B, n_classes) if master == "reduced" else int(B // 2))


def finest_merge(B, n_classes=None):
    """Parts of an axis in the finest square grid of at most B cells; with classes, in the finest grid."""
    return math.isqrt(int(B)) if n_classes is None else max(int(B // n_classes), 2)


def check_B(B, n=None, n_classes=None):
    """Raise unless `B` is a number >= 4 or an exponent in (0, 1) and, if `n` is given, at most `largest_size`."""
    if not isinstance(B, numbers.Real) or not (4 <= B <= sys.float_info.max or 0 < B < 1):
        raise ValueError(f"B must be a number >= 4 or an exponent in (0, 1), got {B!r}.")
    if n is not None and B > largest_size(n, n_classes):
        raise ValueError(f"B must be at most {largest_size(n, n_classes):,} cells{_with(n, n_classes)}, got {B!r}.")


def grid_size(B, n, n_classes=None):
    """`B` as a number, checked: itself, or for an exponent in (0, 1) ``n**B``, from 4 up to 10,000."""
    check_B(B, n, n_classes)
    return float(min(max(n**B, 4.0), largest_size(n))) if B < 1 else float(B)


def check_c(c, n=None, B=None, n_classes=None, master="reduced"):
    """Raise unless `c` is a positive number and, if `n` and `B` are given, at most `largest_c`."""
    if not isinstance(c, numbers.Real) or not 0 < c <= sys.float_info.max:
        raise ValueError(f"c must be a number > 0, got {c!r}.")
    if n is not None and c > largest_c(n, B, n_classes, master):
        raise ValueError(
            f"c must be at most {largest_c(n, B, n_classes, master):.6g} with B={B:.6g}{_with(n, n_classes)}, because "
            f"master partitions have at most {largest_size(n):,} parts, got {c!r}."
        )


def _with(n, n_classes):
    known = [] if n == math.inf else [f"n_samples={n}"]
    known += [] if n_classes is None else [f"{n_classes} classes"]
    return " with " + " and ".join(known) if known else ""


# --- Divisions into two groups ---------------------------------------------------------------------------------------


MOST_DIVISIONS = 32  # in order, and by parity


def each_alone(n_columns):
    """Each column against the rest."""
    return [tuple(int(j == one) for j in range(n_columns)) for one in range(n_columns)]


def cuts(n_columns):
    """Columns up to a cut, and those after it."""
    n_places = min(n_columns, MOST_DIVISIONS)
    return [tuple(int(j * n_places // n_columns >= cut) for j in range(n_columns)) for cut in range(1, n_places)]


def parities(n_columns):
    """By the parity of the sum of some binary digits of the column number."""
    n_masks = min(2 ** (n_columns - 1).bit_length(), MOST_DIVISIONS)
    return [tuple((j & mask).bit_count() % 2 for j in range(n_columns)) for mask in range(1, n_masks)]


def distinct(divisions):
    """The distinct divisions, with the first column in group 0."""
    return list(dict.fromkeys(tuple(group ^ groups[0] for group in groups) for groups in divisions))
