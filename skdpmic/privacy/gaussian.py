"""How much Gaussian noise (epsilon, delta) needs, exactly, from the safe side (``docs/theory/gaussian.md``).

A release that adds continuous Gaussian noise is mu-Gaussian-DP, where mu**2 sums (change / standard deviation)**2 over
its numbers; rounding its results keeps that. Several such releases of one fit compose to the root of the sum of mu**2.
Budgets are kept as rho = mu**2 / 2, which is also the cost in zCDP.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from skdpmic.privacy.composition import Concentrated, rounded_down

_DIGITS = 120  # of decimal numbers; far more than the differences below lose
_FAR = 9  # standard deviations from which tails are computed by a continued fraction
_DEPTH = 100  # of the continued fraction; two successive ones enclose the tail
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
_SLIGHTLY_MORE = 1 + Decimal(10) ** -60  # more than all roundings lose
_SLIGHTLY_LESS = 1 - 2.0**-36


def gaussian_budget(epsilon, delta, pure=()):
    """The rho of Gaussian noise that, beside parts of these pure epsilons, is (epsilon, delta)-DP; rounded down.

    Parameters
    ----------
    epsilon : float, above 0
    delta : float in (0, 1)
    pure : tuple of Fraction
        Epsilons of parts with independent noise in the same release.

    Returns
    -------
    Concentrated
    """
    if epsilon == math.inf:
        return Concentrated(math.inf)
    return Concentrated(Fraction(_rho_for(float(epsilon), float(delta), tuple(pure))))


@lru_cache(maxsize=1024)
def _rho_for(epsilon, delta, pure):
    near = math.exp(brentq(lambda log: _log_delta(math.exp(log), epsilon, pure) - math.log(delta), -300, 300))
    while delta_of_gaussian(near, epsilon, pure) > Decimal(delta):
        near *= _SLIGHTLY_LESS
    return rounded_down(near**2 / 2)


def delta_of_gaussian(mu, epsilon, pure=()):
    """An upper bound on the least delta of a mu-Gaussian-DP release, with parts of pure epsilons, at this epsilon.

    Of any part that is e-DP, randomised response is the worst: with probability ``exp(e) / (1 + exp(e))`` it moves the
    privacy loss by e, otherwise by -e. So ``delta(x) = (exp(e) delta'(x - e) + delta'(x + e)) / (1 + exp(e))``, where
    delta' is that of the other parts.

    Parameters
    ----------
    mu : float, above 0
    epsilon : float or Decimal
        May be negative.
    pure : tuple of Fraction

    Returns
    -------
    Decimal
    """
    with localcontext(prec=_DIGITS):
        return _delta_above(Decimal(mu), Decimal(epsilon), [Decimal(e.numerator) / e.denominator for e in pure])


def _delta_above(mu, epsilon, pure):
    if pure:
        first, *others = pure
        odds = first.exp()
        more, less = (_delta_above(mu, epsilon + sign * first, others) for sign in (-1, 1))
        return (odds * more + less) / (1 + odds) * _SLIGHTLY_MORE
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return (tail_between(near)[1] - epsilon.exp() * tail_between(far)[0]) * _SLIGHTLY_MORE


def tail_between(t):
    """Two Decimals that enclose P(N > t) for a standard normal N.

    From `_FAR` on by the continued fraction ``phi(t) / (t + 1 / (t + 2 / (t + 3 / ...)))``, of which successive ends lie
    on both sides; below, by ``1/2 - phi(t) (t + t**3 / 3 + t**5 / (3 5) + ...)``, whose rest is below a geometric series.
    """
    if t < 0:
        low, high = tail_between(-t)
        return 1 - high, 1 - low
    density = (-t * t / 2).exp() / (2 * _PI).sqrt()
    if t >= _FAR:
        ends = []
        for depth in (_DEPTH, _DEPTH + 1):
            fraction = t
            for i in range(depth, 0, -1):
                fraction = t + i / fraction
            ends.append(density / fraction)
        return min(ends) / _SLIGHTLY_MORE, max(ends) * _SLIGHTLY_MORE
    term = total = t
    n = 1
    while (ratio := t * t / (n + 2)) > Decimal("0.5") or term > Decimal(10) ** -90:
        n += 2
        term *= t * t / n
        total += term
    rest = 2 * term
    half = Decimal("0.5")
    return half - density * (total + rest) * _SLIGHTLY_MORE, half - density * total / _SLIGHTLY_MORE


def _log_delta(mu, epsilon, pure):
    """The logarithm of about the same, in floats."""
    if pure:
        e, others = float(pure[0]), pure[1:]
        more, less = _log_delta(mu, epsilon - e, others), _log_delta(mu, epsilon + e, others)
        return np.logaddexp(more + e, less) - np.logaddexp(e, 0)
    near, far = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return near + np.log1p(-np.exp(np.minimum(far - near, -1e-300)))
