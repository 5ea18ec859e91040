"""B and c when the user leaves them to us. They depend on public numbers only: n and epsilon."""

import math

import numpy as np

# Table 2 of Lazarsfeld, Johnson and Adeniran (2022), MICr-Lap: the B with the least error, at c = 5.
_SAMPLES = (25, 250, 500, 1000, 5000, 10000)
_B_AT_EPSILON_1 = (8, 40, 60, 80, 150, 150)
_B_AT_EPSILON_0_1 = (6, 40, 80, 100, 125, 150)
_C = 5.0


def default_B(n, epsilon):
    """Maximum grid size for n records, of which each score gets `epsilon`.

    Linear in n and in log epsilon between the entries of the table, constant outside it.
    """
    at_1 = np.interp(n, _SAMPLES, _B_AT_EPSILON_1)
    at_0_1 = np.interp(n, _SAMPLES, _B_AT_EPSILON_0_1)
    return float(np.interp(math.log10(epsilon), (-1, 0), (at_0_1, at_1)))


def default_c():
    """How much finer than the merged partition a master partition is."""
    return _C


def default_parts(n, epsilon, n_classes=None):
    """Parts of each side of a noisy table of n records, on which `epsilon` is spent; with classes, of the feature's.

    The finer the table, the more it can show and the more noise there is in all of it. The rule was fitted to the 21
    relationships of :mod:`skdpmic.datasets` at n = 100 ... 20,000 and epsilon = 0.1 ... 10
    (``benchmarks/geometric.py --rule``).
    """
    signal = n * min(epsilon, 10.0)
    if n_classes is not None:
        return 2 * round(min(max(0.35 * math.sqrt(signal / n_classes), 2.0), 20.0))
    return 2 * int(min(max(0.2 * math.sqrt(signal), 2.0), 20.0))
