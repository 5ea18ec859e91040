"""Once a process has compiled something, processes that are forked from it need not prepare numba anew for a second."""

import numba
import numpy as np


@numba.njit
def total(column):
    return column.sum()


total(np.zeros(2))
