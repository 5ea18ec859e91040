"""Default B and c of MTVr, from public numbers only (``docs/evidence/defaults.md``)."""

from skdpmic._utils.arguments import is_auto
from skdpmic.statistics.grids.limits import check_c, grid_size

DEFAULT_B = 32.0  # near-optimal for 100 to 100,000 records, any epsilon and any number of classes
DEFAULT_C = 38.0  # the counts of a feature take 19 kB


def default_mtv_c(n_classes=None):
    """Default c: how many times finer the master partition is than the merged partition.

    Parameters
    ----------
    n_classes : int, default=None
        Number of classes of a discrete target; None for a numeric target.

    Returns
    -------
    float
        38 for a numeric target and up to seven classes. For more classes it decreases, to keep the counts of a feature
        below 20 kB, until it reaches its minimum of 8 at 38 classes.

    Examples
    --------
    >>> from skdpmic.statistics.mtv.defaults import default_mtv_c
    >>> [default_mtv_c(n_classes) for n_classes in (None, 2, 10, 100)]
    [38.0, 38.0, 30.0, 8.0]
    """
    return DEFAULT_C if n_classes is None else min(DEFAULT_C, max(300 / n_classes, 8.0))


def resolve_mtv(B, c, n, epsilon, n_classes=None):
    """Resolve the (B, c) that the user gave for MTVr to numbers.

    Parameters
    ----------
    B, c : float or "auto"
    n : int
        Number of records.
    epsilon : float
        Privacy budget per score. Unused: the same B and c suit any epsilon.
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
    >>> from skdpmic.statistics.mtv.defaults import resolve_mtv
    >>> resolve_mtv("auto", "auto", n=1000, epsilon=1.0)
    (32.0, 38.0)
    >>> resolve_mtv(0.5, 4, n=10_000, epsilon=1.0)
    (100.0, 4.0)
    """
    B = grid_size(DEFAULT_B if is_auto(B) else B, n, n_classes)
    c = default_mtv_c(n_classes) if is_auto(c) else c
    check_c(c)
    return B, float(c)
