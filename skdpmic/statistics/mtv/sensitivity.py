"""How much replacing one record can change MTVr (``docs/theory/mtv_r.md``), rounded up."""

# Above the exact value: see skdpmic.statistics.mic.sensitivity.
_ROUND_UP = 1 + 2.0**-45


def mtv_r_sensitivity(n, n_replaced=1):
    """Sensitivity of MTVr, for any family of grids and any public offsets: 4 (n - 1) / n**2 for each record replaced.

    Parameters
    ----------
    n : int, at least 2
        Number of records.
    n_replaced : int, at least 1, default=1
        Records that are replaced together.

    Returns
    -------
    float
        At most 1, the range of the score. For one record it is attained if a grid with two parts on both sides has no
        offset; for m of them, up to n / 2, some data sets then come within a factor ``(n - m) / (n - 1)``. Rounded up.
    """
    return min(n_replaced * (4 * (n - 1) / n**2) * _ROUND_UP, 1.0)
