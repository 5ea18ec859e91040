"""The global sensitivity of MICr and MICe to replacing one record, in bits, rounded up.

The proofs are in ``docs/theory``: ``sensitivity.md``, ``closed_family.md``, ``people.md``, ``mic_e.md``.
"""

import math

# Each value below takes fewer than ten floating-point operations, each with an error of a few units of 2**-53 of a
# quantity that is at most the result, so this factor raises it above the exact value.
_ROUND_UP = 1 + 2.0**-45

_MANY_GROUPS = 200  # from here on, three parts have too little more information than two


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
    """Sensitivity of MICr for any kind of target, with or without a bias correction, any bounds, any B and any c.

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


def mic_r_group_sensitivity(n_groups, rows_per_group):
    """Bound on the change of MICr if all records of one person are replaced, with the same number for each person.

    Parameters
    ----------
    n_groups : int, at least 2
        Number of people, N.
    rows_per_group : int, at least 1
        Number of records per person, m.

    Returns
    -------
    float
        The smallest of three: ``m h(1 / (N m))``, for m records replaced one by one; ``2 h(1 / 2N)``, but for fewer
        than 200 people at least ``2 h(1 / N) / log2(3) + 1 / N``; and 1, the range of the score. From 200 people on it
        is the same for every m >= 2; for one record each it is :func:`mic_r_sensitivity`. Bits, rounded up.
    """
    if rows_per_group == 1:
        return mic_r_sensitivity(n_groups)
    one_by_one = rows_per_group * binary_mi_sensitivity(n_groups * rows_per_group) * _ROUND_UP
    at_once = 2 * binary_mi_sensitivity(2 * n_groups)
    if n_groups < _MANY_GROUPS:
        of_three_parts = (2 * binary_mi_sensitivity(n_groups) / math.log2(3) + 1 / n_groups) * _ROUND_UP
        at_once = max(at_once, of_three_parts)
    return min(one_by_one, at_once, 1.0)


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
        The largest ``(l + 1) d(ceil(n / l)) / n`` over the sizes l = 2 ... B / 2 of the fixed axis, with d as in
        :func:`mi_sensitivity`, but at most 1, the range of the score. Bits, rounded up.
    """
    sizes = range(2, min(int(B // 2), n - 1) + 1)  # with one record in every part, all are equivalent
    return min(max(((size + 1) * _d(-(-n // size)) / n * _ROUND_UP for size in sizes), default=0.0), 1.0)


def _d(m):
    """d(m) = m log2 m - (m - 1) log2(m - 1), the growth of m log2 m, for m > 1."""
    return math.log2(m) - (m - 1) * math.log1p(-1 / m) / math.log(2)
