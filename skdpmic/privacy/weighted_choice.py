"""A choice by weight and loss, exact although its probabilities are irrational (``docs/theory/learnt_edges.md``).

Floating point is only used for proposals: each is at least as likely as it should be, and is accepted with the
probability that corrects the difference, which is decided in integers, with as many bits as needed.
"""

import math
from fractions import Fraction

import numpy as np

_BITS = 60  # of the integers used to draw proposals
_MORE_BITS = 64
_SLACK = 1 + 2.0**-40  # far more than the seventy roundings of a ceiling


def weighted_choice(weights, losses, rate, random_bytes):
    """An index, drawn with probability proportional to ``weight * exp(-rate * loss)``.

    Parameters
    ----------
    weights : int64 ndarray of shape (n_choices,)
        At least 0, not all 0, with a sum below 2**58.
    losses : int64 ndarray of shape (n_choices,)
        At least 0.
    rate : Fraction, at least 0, or infinity
        With infinity, the choice is among the smallest losses, by weight.
    random_bytes : callable
        From :func:`entropy_source`.

    Returns
    -------
    int
    """
    losses = losses - losses[weights > 0].min()
    if rate == math.inf:
        weights, rate = np.where(losses == 0, weights, 0), Fraction(0)
    ceilings, shift = _ceilings(weights, losses, rate)
    ends = np.cumsum(ceilings)
    while True:
        point = int.from_bytes(random_bytes(8), "little") >> (64 - _BITS)
        i = int(np.searchsorted(ends, point, side="right"))
        if i < len(ends):
            offset = point - int(ends[i] - ceilings[i])
            if _is_below(offset, int(weights[i]) << shift, rate * int(losses[i]), random_bytes):
                return i


def _ceilings(weights, losses, rate):
    """Integers above ``2**shift * weight * exp(-rate * loss)``, whose sum is at most about 2**_BITS; and the shift."""
    ceilings = weights * _exponentials(losses, rate) * _SLACK
    shift = _BITS - 1 - math.frexp(ceilings.sum())[1]
    # One more than the floor, also if a product underflowed.
    return np.where(weights > 0, np.ldexp(ceilings, shift).astype(np.int64) + 1, 0), shift


def _exponentials(losses, rate):
    """``exp(-rate * loss)``, up to rounding: a product over the bits of each loss."""
    product, (_, above) = np.ones(len(losses)), exponential_bounds(rate, 128)
    for bit in range(int(losses.max()).bit_length()):
        product *= np.where(losses >> bit & 1, math.ldexp(above, -128), 1.0)
        above = -(-above * above >> 128)  # of the square, rounded up
    return product


def _is_below(whole, weight, x, random_bytes):
    """Whether ``whole`` plus a random fraction is below ``weight * exp(-x)``: bits are added until this is certain."""
    n_bits, point = 0, whole
    while True:
        precision = n_bits + weight.bit_length() + _MORE_BITS
        below, above = exponential_bounds(x, precision)
        if (point + 1) << precision <= (weight * below) << n_bits:
            return True
        if point << precision >= (weight * above) << n_bits:
            return False
        point = (point << _MORE_BITS) + int.from_bytes(random_bytes(_MORE_BITS // 8), "little")
        n_bits += _MORE_BITS


def exponential_bounds(x, precision):
    """Integers closely below and above ``2**precision * exp(-x)``.

    Parameters
    ----------
    x : Fraction, at least 0
    precision : int
    """
    halvings = math.floor(x).bit_length()
    bits = precision + 2 * halvings + 16
    y = math.floor(x * 2 ** (bits - halvings))  # x, halved until it is below 1
    term, total, sign, k = 1 << bits, 0, 1, 0
    while term:
        total += sign * term
        sign, k = -sign, k + 1
        term = (term * y >> bits) // k
    # Each term is at most 3 too small, the omitted terms sum to at most one more, and y was rounded.
    margin = 3 * k + 8
    below, above = max(total - margin, 0), min(total + margin, 1 << bits)
    for _ in range(halvings):
        below, above = below * below >> bits, -(-above * above >> bits)
    return below >> (bits - precision), -(-above >> (bits - precision))
