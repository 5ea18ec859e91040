"""Zero-concentrated differential privacy (zCDP): composition, conversion to (epsilon, delta), budgets and costs.

Releases of rho_1, rho_2, ... zCDP are together rho_1 + rho_2 + ... zCDP (Bun and Steinke 2016). The proofs are in
``docs/theory/gaussian.md``. Every number errs on the side of more noise, or of a larger stated loss.
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from skdpmic._utils.arguments import is_number
from skdpmic._utils.texts import PrivacyLeakWarning, quoted, require, warn

# Each term of a sum below has fewer than eight relative roundings of 2**-53, and the sum three more.
_ROUNDING = 2.0**-48
_TINY = 4 * 2.0**-1074  # covers underflow
_LARGE = 2.0**200  # larger numbers are replaced by this, so that nothing overflows
_BITS = 40  # of budgets: the last digits of exp and log differ between processors and C libraries


def scale_for_rho(rho, n_releases, steps):
    """Scale of noise, in integer grid steps, at which `n_releases` of sensitivity `steps` cost `rho` in total.

    For scores with discrete Gaussian noise the scale is the standard deviation; for choices by the exponential
    mechanism, that of its exponent. Either costs ``steps**2 / (2 scale**2)`` per release.

    Parameters
    ----------
    rho : float, above 0; infinity asks for no noise
    n_releases : int
    steps : int

    Returns
    -------
    int
        The smallest integer with ``n_releases steps**2 / (2 scale**2) <= rho``; 0 for infinite rho.
    """
    if rho == math.inf:
        return 0
    return math.isqrt(math.ceil(n_releases * steps**2 / (2 * Fraction(rho))) - 1) + 1


@lru_cache(maxsize=1024)
def rho_for(epsilon, delta):
    """The largest rho whose zCDP implies (epsilon, delta)-differential privacy by :func:`delta_of`, rounded down.

    Parameters
    ----------
    epsilon : float, above 0
    delta : float in (0, 1)

    Returns
    -------
    float
        Rounded down to 40 bits, so that nearly every machine draws the same noise from a seed. Infinite
        for infinite epsilon.

    Examples
    --------
    >>> from skdpmic.privacy.composition import rho_for
    >>> round(rho_for(1, 1e-6), 4)
    0.0244
    """
    epsilon, delta = float(epsilon), float(delta)
    if epsilon == math.inf:
        return math.inf
    rho, _ = _turning_point(lambda rho: delta_of(rho, epsilon) <= delta)
    if rho == 0:
        raise ValueError(f"epsilon and delta must be larger, got {quoted(epsilon)} and {quoted(delta)}.")
    return rounded_down(rho)


def epsilon_of(rho, delta):
    """The smallest epsilon for which `rho`-zCDP implies (epsilon, delta)-differential privacy by :func:`delta_of`.

    Parameters
    ----------
    rho : float, at least 0
    delta : float in (0, 1)

    Returns
    -------
    float
        Rounded up.
    """
    if delta_of(rho, 0.0) <= delta:
        return 0.0
    return _turning_point(lambda epsilon: delta_of(rho, epsilon) > delta)[1]


def epsilon_within(rho, delta):
    """The largest epsilon with ``rho_for(epsilon, delta) <= rho``, to within a few units of its 40 bits.

    Parameters
    ----------
    rho : Fraction
    delta : float in (0, 1)
    """
    if rho <= 0:
        return 0.0
    epsilon = rounded_down(min(epsilon_of(float(rho), delta), _LARGE))
    while epsilon > 0 and rho_for(epsilon, delta) > rho:
        epsilon = rounded_down(epsilon * (1 - 2.0**-_BITS))
    return epsilon


def delta_of(rho, epsilon):
    """The smallest delta for which `rho`-zCDP implies (epsilon, delta)-differential privacy by this conversion.

    The infimum over alpha > 1 of ``exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha)**alpha`` [1]_.
    With t = alpha - 1, its logarithm is ``t ((1 + t) rho - epsilon) - t log(1 + 1 / t) - log(1 + t)``, convex in t.
    Every t gives a valid delta, so only the value at the t found needs to be rounded up.

    Parameters
    ----------
    rho : float, at least 0
    epsilon : float, at least 0

    Returns
    -------
    float
        In [0, 1], rounded up.

    References
    ----------
    .. [1] C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
       Corollary 13.
    """
    if rho == 0 or epsilon == math.inf:
        return 0.0
    if rho > _LARGE:
        return 1.0
    rho, epsilon = max(rho, 1 / _LARGE), min(epsilon, _LARGE)  # a larger delta, and no overflow below
    t = 2.0 ** _root(lambda log_t: _slope(2.0**log_t, rho, epsilon), -300, 300)
    terms = (t * (1 + t) * rho, -t * epsilon, -t * math.log1p(1 / t), -math.log1p(t))
    log_delta = sum(terms) + _ROUNDING * sum(map(abs, terms))
    return min(1.0, math.exp(min(log_delta, 0.0)) * (1 + _ROUNDING) + _TINY)


def _slope(t, rho, epsilon):
    """Derivative in t of the logarithm of delta; it increases."""
    return (1 + 2 * t) * rho - epsilon - math.log1p(1 / t)


def _root(increasing, low, high):
    """The root of an increasing function, to floating-point precision."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return low


def rounded_down(number):
    mantissa, exponent = math.frexp(number)
    return math.ldexp(math.floor(math.ldexp(mantissa, _BITS)), exponent - _BITS)


def _turning_point(holds):
    """Two adjacent floats: `holds` is true at the first (or the first is 0), and false at the second."""
    low, high = 0, int(np.float64(np.inf).view(np.int64))  # nonnegative floats are ordered like their bits
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(_float_of_bits(middle)) else (low, middle)
    return _float_of_bits(low), _float_of_bits(high)


def _float_of_bits(bits):
    return float(np.int64(bits).view(np.float64))


# --- Budgets ---------------------------------------------------------------------------------------------------------
#
# The budget of a release, or of a part of it: a pure epsilon, or a rho of zCDP (``docs/theory/gaussian.md``).
#
# Budgets are divided exactly, in the unit in which costs are summed, and mechanisms compute their noise from them. A
# part of a rho is never passed on as an epsilon with the same delta: delta alone pays for some rho, so a small part
# may be less than the rho of every epsilon.


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


SMALLEST_EPSILON = 1e-100  # for much less, the integer noise would be too large for a float


def check_epsilon(epsilon):
    """Raise unless `epsilon` is a number above 0 that is exactly a float; infinity, for no privacy, is allowed.

    For another number, such as a third, ledgers would store a float that may be below the cost of the noise.
    """
    compared = float(epsilon) if isinstance(epsilon, np.floating) else epsilon  # a short float would overflow
    is_budget = is_number(epsilon) and (compared <= sys.float_info.max or compared == math.inf)
    if not is_budget or not compared >= SMALLEST_EPSILON:
        raise ValueError(f"epsilon must be a number > 0, and at least {SMALLEST_EPSILON}, got {quoted(epsilon)}.")
    if float(epsilon) != epsilon:
        raise ValueError(f"epsilon must be a number that is exactly a float, got {quoted(epsilon)}: pass a float.")


def check_delta(delta):
    """Raise unless `delta` is a number in [0, 1)."""
    require(is_number(delta) and 0 <= delta < 1, "delta must be a number in [0, 1)", delta)


def check_confidence(confidence):
    """Raise unless `confidence` is a number in (0, 1)."""
    require(is_number(confidence) and 0 < confidence < 1, "confidence must be a number in (0, 1)", confidence)


def exact(number):
    """The shortest decimal of a finite float, as a Fraction: 1/10 for 0.1, so that ten of them make 1.

    Noise and ledger both read epsilon in this way, so the total of the ledger is the cost of the noise. A Fraction,
    such as a part of an epsilon, is unchanged.
    """
    return number if isinstance(number, Fraction) else Fraction(repr(float(number)))


def warn_about_delta(delta, n):
    """Warn about a delta that would allow publishing all data of one of n people."""
    if delta > 1 / n:
        warn(
            f"delta={float(delta):g} is above 1 / n = {1 / n:.2g} for n = {n:,} people or samples: this would allow "
            "publishing all data of one of them, drawn at random. Choose a delta far below 1 / n."
        )


def warn_about_seed():
    """Warn that reproducible noise gives no privacy."""
    warn(
        "random_state is set, so anyone with the seed can subtract the noise: the privacy guarantee does not hold. "
        "Two fits with the same seed and different epsilon, such as clones in a grid search, reveal the exact scores. "
        "Use random_state=None outside tests.",
        PrivacyLeakWarning,
    )


# --- Costs ----------------------------------------------------------------------------------------------------------

_LARGE_EPSILON = 1e150  # whose square does not overflow
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
        if squares == 1 or epsilon > _LARGE_EPSILON:
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


def _growth(epsilon, rows):
    """The sum of ``exp(i * epsilon)`` over i below `rows`, as a Fraction, rounded up very slightly."""
    if rows * epsilon > _MAX_EXPONENT:
        return Fraction(10) ** 400
    return Fraction(math.expm1(rows * epsilon) / math.expm1(epsilon)) * _SLIGHTLY_MORE


def round_up(number, value=exact):
    """The smallest float whose `value` is not below `number`, a Fraction or infinity."""
    try:
        rounded = float(number)
    except OverflowError:
        return math.inf
    return rounded if rounded == math.inf or value(rounded) >= number else math.nextafter(rounded, math.inf)


def round_down(number, value=exact):
    """The largest float whose `value` is not above the Fraction `number`."""
    rounded = float(number)
    return rounded if value(rounded) <= number else math.nextafter(rounded, -math.inf)


# --- Privacy filters -------------------------------------------------------------------------------------------------
#
# Whether one more release keeps the total within (epsilon, delta) (``docs/theory/ledger.md``). A filter sees the costs
# of all releases so far, which may have been chosen depending on earlier results. All sums are exact.


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
