"""How much replacing one record can change a score: the global sensitivity of MICr and MICe, in bits, and of MTVr.

The proofs are in ``docs/theory``: ``sensitivity.md``, ``closed_family.md``, ``mic_e.md``, ``mtv_r.md``. Every value is
rounded up.
"""

import math

# Each value below takes fewer than ten floating-point operations, each off by a few units of 2**-53 of a
# quantity no larger than the result, so this factor lifts it above the exact one.
_ROUND_UP = 1 + 2.0**-45


def binary_mi_sensitivity(n):
    """Sensitivity of mutual information on a fixed grid with two parts on one side: h(1/n), attained.

    Parameters
    ----------
    n : int, at least 2

    Returns
    -------
    float
        ``h(1/n) = (log2 n) / n + ((n - 1) / n) log2(n / (n - 1))`` bits, rounded up.
    """
    return _d(n) / n * _ROUND_UP


def mi_sensitivity(n):
    """Bound on the sensitivity of mutual information on any fixed grid: 2 d((n+1)/2) / n.

    Here ``d(m) = m log2 m - (m-1) log2(m-1)``, the growth of ``g(m) = m log2 m``.

    Parameters
    ----------
    n : int, at least 2

    Returns
    -------
    float
        Bits, rounded up.
    """
    return 2 * _d((n + 1) / 2) / n * _ROUND_UP


def mic_r_sensitivity(n):
    """Sensitivity of MICr for any kind of target, with a correction for chance or none, any bounds, any B and any c.

    Parameters
    ----------
    n : int, at least 2
        Number of records.

    Returns
    -------
    float
        ``h(1/n)``, which is attained without a correction. Bits, rounded up.
    """
    return binary_mi_sensitivity(n)


def mic_e_sensitivity(n, B):
    """Bound on the sensitivity of MICe over grids with cuts at fixed ranks, for any c.

    Parameters
    ----------
    n : int, at least 2
    B : float, at least 4
        Maximum grid size, as a number.

    Returns
    -------
    float
        The largest ``(l + 1) d(ceil(n / l)) / n`` of the sizes l = 2 ... B / 2 of the fixed axis, with d as in
        :func:`mi_sensitivity`, but at most 1, the range of the score. Bits, rounded up.
    """
    sizes = range(2, min(int(B // 2), n - 1) + 1)  # with one record in every part, none tells more than another
    return min(max(((size + 1) * _d(-(-n // size)) / n * _ROUND_UP for size in sizes), default=0.0), 1.0)


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


def _d(m):
    """d(m) = m log2 m - (m - 1) log2(m - 1), the growth of m log2 m, for m > 1."""
    return math.log2(m) - (m - 1) * math.log1p(-1 / m) / math.log(2)
