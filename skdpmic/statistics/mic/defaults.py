"""Default B and c, from public numbers only: n, epsilon and the number of classes."""

import math
from functools import lru_cache
from importlib.resources import files

import numpy as np

from skdpmic._utils.arguments import is_auto
from skdpmic._utils.texts import quoted
from skdpmic.statistics.grids import check_c, finest_merge, grid_size, largest_c

TABLES = {None: "defaults.csv", "miller-madow": "defaults_miller_madow.csv"}  # by correction
MOST_PARTS = 100  # per side of a noisy table; the best number is never above 40
_DIGITS = 6  # removes rounding errors of table entries, which are rounded down


def default_B(n, epsilon, n_classes=None, correction=None):
    """Maximum grid size, with nearly the smallest error on 189 known distributions.

    Parameters
    ----------
    n : int
        Number of records.
    epsilon : float, above 0
        Budget per score; for Gaussian noise, that of Laplace noise with the same standard deviation.
    n_classes : int, default=None
        Number of classes of a discrete target; None for a continuous one.
    correction : None or "miller-madow", default=None
        Bias correction; see :func:`skdpmic.mic_r`.

    Returns
    -------
    float
        The value in ``defaults.csv``, or with a correction in ``defaults_miller_madow.csv``, interpolated by
        :func:`_interpolate`. The tables were computed by ``benchmarks/tune_defaults.py``; for a comparison with the
        best B and c, see ``benchmarks/results/defaults.md``.

    Examples
    --------
    >>> from skdpmic.statistics.mic.defaults import default_B
    >>> default_B(10_000, 1.0) > default_B(100, 1.0)
    True
    """
    k = _interpolate("k", n, epsilon, n_classes, correction)
    return round(k * k if n_classes is None else k * n_classes, _DIGITS)


def default_c(n, epsilon, n_classes=None, correction=None):
    """How many times finer than the merged partition a master partition is; otherwise as :func:`default_B`."""
    k, m = (_interpolate(name, n, epsilon, n_classes, correction) for name in "km")
    return round(m / k, _DIGITS)


def default_parts(n, epsilon, n_classes=None):
    """Parts per side of a noisy table of n records with budget `epsilon`; with classes, parts of the feature.

    A finer table shows more detail and has more total noise. The rule for continuous targets is near the best on the
    189 distributions of :mod:`skdpmic.datasets` (``benchmarks/geometric.py --rule``).
    """
    epsilon = min(epsilon, 10.0)
    if n_classes is not None:
        return 2 * round(min(max(0.35 * math.sqrt(n * epsilon / n_classes), 2.0), 20.0))
    return 2 * int(min(max(0.14 * math.sqrt(n * epsilon) * max(epsilon, 1.0) ** 0.25, 2.0), 20.0))


# --- The user's values, or else the defaults ----------------------------------------------------------------------


def resolve_B(B, n, epsilon, n_classes=None, correction=None):
    """The maximum grid size as a number, from the user's value; `n_classes` is None for a continuous target."""
    return default_B(n, epsilon, n_classes, correction) if is_auto(B) else grid_size(B, n, n_classes)


def resolve_c(c, n, epsilon, B, n_classes=None, correction=None):
    """c as a number, from the user's value and the resolved B; otherwise as :func:`resolve_B`."""
    if is_auto(c):
        c = default_c(n, epsilon, n_classes, correction)
        return min(c, largest_c(n, B, n_classes))  # B may be large, if given by the user
    check_c(c, n, B, n_classes)
    return float(c)


def resolve_parts(B, c, n, epsilon, n_classes=None):
    """Parts of a feature in its noisy table, and their ratio to the finest merge.

    Parameters
    ----------
    B : float, at least 4
    c : float or "auto"
    n : int
        Number of records.
    epsilon : float
        Budget of each table.
    n_classes : int, default=None
        Number of classes of a discrete target.

    Returns
    -------
    n_parts : int
    c : float
    """
    k_max = finest_merge(B, n_classes)
    if is_auto(c):
        n_parts = default_parts(n, epsilon, n_classes)
        return n_parts, n_parts / k_max
    check_c(c)
    if int(min(c, MOST_PARTS) * k_max) > MOST_PARTS:
        raise ValueError(
            f"c must be at most {MOST_PARTS / k_max:.6g} with B={B:.6g} and mechanism='geometric', because a noisy "
            f"table has at most {MOST_PARTS} parts per side, got {quoted(c)}."
        )
    return max(int(c * k_max), 2), float(c)


# --- The table ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _interpolate(name, n, epsilon, n_classes, correction):
    """Merged parts k of an axis, or parts m = c k of its master partition.

    These vary more smoothly than B and c. The interpolation is linear in log n, log epsilon and log n_classes between
    the entries of the table, and constant outside.
    """
    kinds, epsilons, samples, values = _table(correction)
    is_kind = kinds == 0 if n_classes is None else kinds > 0
    at_n = [[np.interp(math.log(n), np.log(samples), row) for row in rows] for rows in values[name][is_kind]]
    at_epsilon = [np.interp(math.log(epsilon), np.log(epsilons), row) for row in at_n]
    return float(np.interp(math.log(n_classes or 1), np.log(np.maximum(kinds[is_kind], 1)), at_epsilon))


@lru_cache(maxsize=2)
def _table(correction):
    """The numbers of classes (0 for a continuous target), epsilons and n of a file; k and m by these three."""
    with (files("skdpmic.statistics.mic") / TABLES[correction]).open(encoding="utf-8") as file:
        n_classes, epsilon, n, B, c = np.loadtxt(file, delimiter=",", skiprows=1, unpack=True)
    axes = [np.unique(column) for column in (n_classes, epsilon, n)]
    k = np.where(n_classes == 0, np.sqrt(B), B / np.maximum(n_classes, 1))
    shape = [len(axis) for axis in axes]
    return *axes, {"k": k.reshape(shape), "m": (c * k).reshape(shape)}
