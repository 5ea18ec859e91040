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
