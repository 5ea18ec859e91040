"""The possible answers of a plan, numbers of three digits, and the search for the smallest sufficient one."""

from bisect import bisect_left
from decimal import ROUND_CEILING, Context, Decimal
from functools import cache

_UPWARDS = Context(prec=3, rounding=ROUND_CEILING)


@cache
def epsilons():
    """All possible answers for epsilon, ascending."""
    return [float(f"{digits}e{power}") for power in range(-8, 5) for digits in range(100, 1000)]


@cache
def sizes():
    """All possible answers for the number of records, ascending."""
    return [*range(4, 1000), *(digits * 10**power for power in range(1, 7) for digits in range(100, 1000)), 10**9]


def least(values, meets):
    """The smallest of ascending `values` that meets the request, as do all above it; None if none does."""
    first = bisect_left(values, True, key=meets)
    return values[first] if first < len(values) else None


def rounded_up(number):
    """Rounded up to three digits."""
    return float(_UPWARDS.create_decimal(Decimal(number)))
