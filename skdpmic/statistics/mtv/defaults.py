"""B and c of MTVr when the user leaves them to us, by public numbers only (``docs/evidence/defaults.md``)."""

from skdpmic._utils.arguments import is_auto
from skdpmic.statistics.grids.limits import check_c, grid_size

DEFAULT_B = 32.0  # near the best for 100 to 100,000 records, whatever epsilon and the number of classes
DEFAULT_C = 38.0  # the counts of a feature take 19 kB


def default_mtv_c(n_classes=None):
    """How much finer than the merged partition a master partition is.

    Parameters
    ----------
    n_classes : int, default=None
        Of a discrete target; None for a numeric one.

    Returns
    -------
    float
        38, as for a numeric target, for up to seven classes. From there on less, so that the counts of a feature take
        no more than 20 kB, but at least 8, from 38 classes on.

    Examples
    --------
    >>> from skdpmic.statistics.mtv.defaults import default_mtv_c
    >>> [default_mtv_c(n_classes) for n_classes in (None, 2, 10, 100)]
    [38.0, 38.0, 30.0, 8.0]
    """
    return DEFAULT_C if n_classes is None else min(DEFAULT_C, max(300 / n_classes, 8.0))


def resolve_mtv(B, c, n, epsilon, n_classes=None):
    """The (B, c) of MTVr as numbers, from what the user gave.

    Parameters
    ----------
    B, c : float or "auto"
    n : int
        Number of records.
    epsilon : float
        What each score gets of the budget. No other B and c are better for a smaller or a larger one.
    n_classes : int, default=None
        Of a discrete target; None for a numeric one.

    Returns
    -------
    B, c : float

    Raises
    ------
    ValueError
        If `B` is neither "auto", a number >= 4 that n records can use, nor an exponent in (0, 1); or `c` neither "auto"
        nor a number > 0.

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
