"""How much replacing one record can change MTVr (``docs/theory/mtv_r.md``), rounded up."""

# Rounds up to at least the exact value: see skdpmic.statistics.mic.sensitivity.
_ROUND_UP = 1 + 2.0**-45


def mtv_r_sensitivity(n, n_replaced=1, *, knows_target_shares=False, are_weighted=False):
    """Sensitivity of MTVr, for any family of grids and any public offsets.

    For each replaced record, it is 4 (n - 1) / n**2, or 4 / n with weights. If a share of the target's margin is known,
    it is 2 / n in both cases, the minimum for a score that ranges from 0 at independence to 1.

    Parameters
    ----------
    n : int, at least 2
        Number of records.
    n_replaced : int, at least 1, default=1
        Number of records replaced together.
    knows_target_shares : bool, default=False
        Whether the share of any side is known; the other sides then count half.
    are_weighted : bool, default=False
        Whether records have weights, which may differ.

    Returns
    -------
    float
        Upper bound, at most 1, the range of the score; rounded up. For one record, the bound is attained if a grid with
        two parts on both sides has no offset (with a known share t, from
        ``n = 1 + ceil(max(t, 1 - t) / min(t, 1 - t))``). For m <= n / 2 records, some data sets then reach at least
        ``(n - m) / (n - 1)`` of it.
    """
    of_one = 4 / n if are_weighted else 4 * (n - 1) / n**2
    of_one = 2 / n if knows_target_shares else of_one
    return min(n_replaced * of_one * _ROUND_UP, 1.0)
