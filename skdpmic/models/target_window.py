"""A window of a numeric target, learnt privately before its sums: where most targets are.

The noise on sums grows with the width of the range to which targets are clipped, and public bounds are often much wider
than the spread of most targets. So a part of the budget finds the median and the quartiles, and the window extends from
the median to a multiple of the distance to the quartile on either side (``docs/theory/additive_model.md``, Theorem 5).
"""

import math
from fractions import Fraction

import numpy as np

from skdpmic.models.target_steps import GRID, in_steps, shares_of_bounds
from skdpmic.privacy.composition import Pure, budget_of, root_below
from skdpmic.release.bounds.edges import medians, rates, squared_rates

WINDOW_SHARE = Fraction(1, 10)  # share of the budget for the window
MEAN_SHARE = Fraction(3, 20)  # share for the mean in the target's units, on a bent axis
_N_LEVELS = 2  # of medians: of all targets, and of those on either side
_REACH = 3.0  # from the median, in distances to the quartile
_FAR = 200.0  # n times the rate of the first median beyond which the window extends further
_LEAST = GRID / 8  # from the median on either side, in steps


def share_besides(of_numbers, is_bent):
    """The share of the budget for what only numbers have: a window, and the mean if their axis is bent."""
    return (WINDOW_SHARE if of_numbers else 0) + (MEAN_SHARE if is_bent else 0)


def squares_of_window():
    """The cost of the window in zCDP, over that of a pure mechanism with the whole budget."""
    return WINDOW_SHARE**2 * squared_rates(_N_LEVELS, 1)


def rates_of_window(epsilon, delta, rows_per_group=1):
    """The rates of the medians that find the window."""
    part = budget_of(epsilon, delta).part(WINDOW_SHARE)
    if epsilon == math.inf:
        return rates(math.inf, _N_LEVELS)
    of_medians = part.epsilon if isinstance(part, Pure) else root_below(2 * part.rho / squared_rates(_N_LEVELS, 1))
    return rates(of_medians / rows_per_group, _N_LEVELS)


def within_window(target, rates, random_bytes):
    """The target as shares of its bounds; its bounds become the window, which is released.

    Parameters
    ----------
    target : NumericTarget
    rates : list of 2 Fraction or infinity
        From :func:`rates_of_window`.
    random_bytes : callable

    Returns
    -------
    NumericTarget
        With bounds in [0, 1] that are at least an eighth apart.
    """
    steps, _ = in_steps(target)
    positions = np.sort(steps[:, 0] + GRID // 2)
    low, middle, high = medians(positions, GRID + 1, rates, random_bytes)
    reach = _REACH * min(max(1.0, len(positions) * float(rates[0]) / _FAR), GRID)  # all of the bounds without noise
    first = max(middle - max(reach * max(middle - low, 1), _LEAST), 0.0)
    last = min(middle + max(reach * max(high - middle, 1), _LEAST), GRID)
    return target._replace(values=shares_of_bounds(target), bounds=(float(first / GRID), float(last / GRID)))
