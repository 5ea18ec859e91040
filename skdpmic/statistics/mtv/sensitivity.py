"""How much replacing one record can change MTVr (``docs/theory/mtv_r.md``), rounded up."""

# Above the exact value: see skdpmic.statistics.mic.sensitivity.
_ROUND_UP = 1 + 2.0**-45


def mtv_r_sensitivity(n, n_replaced=1, *, knows_margins=False, are_weighted=False):
    """Sensitivity of MTVr, for any family of grids and any public offsets, for each record replaced.

    That is 4 (n - 1) / n**2; and 2 / n if something is known of the target's margin, which is the least that a score
    from 0 at independence to 1 can have. Where records have weights, it is 4 / n and 2 / n.

    Parameters
    ----------
    n : int, at least 2
        Number of records.
    n_replaced : int, at least 1, default=1
        Records that are replaced together.
    knows_margins : bool, default=False
        Whether the share of a side is known, and the others count half.
    are_weighted : bool, default=False
        Whether a record may weigh less than another one.

    Returns
    -------
    float
        At most 1, the range of the score. For one record it is attained if a grid with two parts on both sides has no
        offset (with a known share t, from n = 1 + ceil(max(t, 1 - t) / min(t, 1 - t)) on); for m of them, up to n / 2,
        some data sets then come within a factor ``(n - m) / (n - 1)``. Rounded up.
    """
    of_one = 4 / n if are_weighted else 4 * (n - 1) / n**2
    of_one = 2 / n if knows_margins else of_one
    return min(n_replaced * of_one * _ROUND_UP, 1.0)
