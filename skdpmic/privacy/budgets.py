"""The budget of a release, or of a part of it: a pure epsilon, or a rho of zCDP (``docs/theory/gaussian.md``).

Budgets are divided exactly, in the unit in which costs are summed, and mechanisms compute their noise from them. A part
of a rho is never passed on as an epsilon with the same delta: delta alone pays for some rho, so a small part may be
less than the rho of every epsilon.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.parameters import exact


def budget_of(epsilon, delta=0.0):
    """The budget of a whole release: pure without delta, and the largest rho that epsilon and delta allow with it."""
    if epsilon == math.inf:
        return Pure(math.inf) if delta == 0 else Concentrated(math.inf)
    return Pure(exact(epsilon)) if delta == 0 else Concentrated(Fraction(rho_for(epsilon, delta)))


@dataclass(frozen=True)
class Pure:
    """Pure differential privacy.

    Parameters
    ----------
    epsilon : Fraction, above 0, or infinity
    """

    epsilon: Fraction | float

    def part(self, share):
        """A share of it, in (0, 1]; the parts of a release cost no more than all of it if their shares sum to 1."""
        return Pure(self.epsilon * share)


@dataclass(frozen=True)
class Concentrated:
    """Zero-concentrated differential privacy.

    Parameters
    ----------
    rho : Fraction, above 0, or infinity
    """

    rho: Fraction | float

    def part(self, share):
        """A share of it, as of a pure budget."""
        return Concentrated(self.rho * share)

    @property
    def epsilon(self):
        """The epsilon of a pure mechanism that costs no more, because it is epsilon**2 / 2 zCDP; rounded down."""
        return math.inf if self.rho == math.inf else root_below(2 * self.rho)


def root_below(number):
    """The square root of a positive Fraction, rounded down to the digits of a float; without underflow or overflow."""
    power = (number.numerator.bit_length() - number.denominator.bit_length()) // 2
    mantissa = number / Fraction(4) ** power
    root = math.sqrt(mantissa)
    while Fraction(root) ** 2 > mantissa:
        root = math.nextafter(root, 0.0)
    return Fraction(root) * Fraction(2) ** power
