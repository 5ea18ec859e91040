"""Privacy filters: whether one more release keeps the total within (epsilon, delta) (``docs/theory/ledger.md``).

A filter sees the costs of all releases so far, which may have been chosen depending on earlier results. All sums are
exact.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from skdpmic.privacy.composition import epsilon_of, epsilon_within, exact, rho_for

_LARGE = 1e150  # an epsilon whose square does not overflow
_SLIGHTLY_MORE = 1 + Fraction(1, 2**40)  # more than the relative error of a factor of deltas
_MAX_EXPONENT = 700  # above it, the factor is taken for one with which any delta grows past 1


class Cost(NamedTuple):
    """The cost of a release that is (epsilon, delta)-DP, and rho-zCDP if rho is known; made `count` times.

    If the cost is for one record, and a person has up to `rows` of them, the totals are those for a person
    (``docs/theory/ledger.md``, Lemma 2).
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None
    count: int = 1  # type: ignore[assignment]  # tuples have a method of that name
    rows: int = 1

    @classmethod
    def concentrated(cls, epsilon, delta):
        """The cost of a zCDP release, with the rho that epsilon and delta allow."""
        return cls(float(epsilon), float(delta), rho_for(epsilon, delta))

    @classmethod
    def of_parts(cls, epsilon, squares):
        """The cost of a release with delta 0 whose parts have independent noise, and cost less in zCDP than as one.

        A part that is epsilon_i-DP is epsilon_i**2 / 2 zCDP, and the costs in zCDP are summed
        (``docs/theory/ledger.md``, Lemma 1).

        Parameters
        ----------
        epsilon : float, above 0
            Budget of all parts together.
        squares : int or Fraction, in (0, 1]
            Upper bound on the sum of ``(epsilon_i / epsilon)**2``, exactly: 1 / d for d parts of epsilon / d.
        """
        if squares == 1 or epsilon > _LARGE:
            return cls(float(epsilon))
        return cls(float(epsilon), rho=round_up(squares * exact(epsilon) ** 2 / 2, Fraction))

    @property
    def in_zcdp(self):
        """Total rho as a Fraction: the charge of a ledger with composition="zcdp".

        Pure epsilon-DP is epsilon**2 / 2 zCDP (Bun and Steinke 2016, Proposition 1.4).
        """
        if math.inf in (self.epsilon, self.rho):
            return math.inf
        rho = exact(self.epsilon) ** 2 / 2 if self.rho is None else Fraction(self.rho)
        return rho * self.rows**2 * self.count

    @property
    def in_basic(self):
        """Total epsilon and delta as Fractions: the charge of a ledger with composition="basic"."""
        delta = exact(self.delta)
        if delta and self.rows > 1:
            delta = min(Fraction(1), delta * _growth(self.epsilon, self.rows))
        return exact(self.epsilon) * self.rows * self.count, delta * self.count


class BasicFilter:
    """Sums epsilons and deltas.

    Parameters
    ----------
    epsilon, delta : float
        The limit.
    """

    def __init__(self, epsilon, delta):
        self.epsilon, self.delta = exact(epsilon), exact(delta)

    def accepts(self, costs):
        """Whether the total of `costs` is within the limit."""
        epsilon, delta = _sum(costs)
        return epsilon <= self.epsilon and delta <= self.delta

    def spent(self, costs):
        """The total, as (epsilon, delta), rounded up."""
        epsilon, delta = _sum(costs)
        return round_up(epsilon), round_up(delta)

    def remaining(self, costs):
        """The largest (epsilon, delta) that would still be accepted, rounded down."""
        epsilon, delta = _sum(costs)
        return round_down(self.epsilon - epsilon), round_down(self.delta - delta)


class ZCDPFilter:
    """Accepts if all costs have delta 0 and their epsilons fit, or if their rhos fit.

    Parameters
    ----------
    epsilon, delta : float
        The limit; delta above 0.
    """

    def __init__(self, epsilon, delta):
        self.epsilon, self.delta = epsilon, delta
        self.rho, self._pure = Fraction(rho_for(epsilon, delta)), BasicFilter(epsilon, 0.0)

    def accepts(self, costs):
        """Whether the total of `costs` is within the limit."""
        return self._pure.accepts(costs) or _sum_of_rho(costs) <= self.rho

    def spent(self, costs):
        """The least (epsilon, delta) known to cover all of `costs`, rounded up."""
        if not costs:
            return 0.0, 0.0
        by_rho = epsilon_of(round_up(_sum_of_rho(costs), Fraction), self.delta)
        if self._pure.accepts(costs) and (by_sum := self._pure.spent(costs))[0] <= by_rho:
            return by_sum
        return by_rho, self.delta

    def remaining(self, costs):
        """The largest (epsilon, delta) of one more release that would be accepted, rounded down.

        With delta > 0, this is for a release with Gaussian noise, whose rho is ``rho_for(epsilon, delta)``; otherwise
        for a release with a single part.
        """
        if not costs:
            return self.epsilon, self.delta
        gaussian = epsilon_within(self.rho - _sum_of_rho(costs), self.delta)
        pure = self._pure.remaining(costs) if self._pure.accepts(costs) else (0.0, 0.0)
        return (gaussian, self.delta) if gaussian > pure[0] else pure


FILTERS = {"basic": BasicFilter, "zcdp": ZCDPFilter}  # by composition


def _sum(costs):
    pairs = [cost.in_basic for cost in costs]
    return tuple(sum(side, Fraction(0)) for side in zip(*pairs, strict=True)) if pairs else (Fraction(0), Fraction(0))


def _sum_of_rho(costs):
    return sum((cost.in_zcdp for cost in costs), Fraction(0))


def _growth(epsilon, rows):
    """The sum of ``exp(i * epsilon)`` over i below `rows`, as a Fraction, rounded up very slightly."""
    if rows * epsilon > _MAX_EXPONENT:
        return Fraction(10) ** 400
    return Fraction(math.expm1(rows * epsilon) / math.expm1(epsilon)) * _SLIGHTLY_MORE


def round_up(number, value=exact):
    """The smallest float whose `value` is not below the Fraction `number`."""
    try:
        rounded = float(number)
    except OverflowError:
        return math.inf
    return rounded if value(rounded) >= number else math.nextafter(rounded, math.inf)


def round_up_sum(*epsilons):
    """The smallest float that is not below the sum; each number is read as its shortest decimal."""
    return math.inf if math.inf in epsilons else round_up(sum(map(exact, epsilons)))


def round_down(number, value=exact):
    """The largest float whose `value` is not above the Fraction `number`."""
    rounded = float(number)
    return rounded if value(rounded) <= number else math.nextafter(rounded, -math.inf)
