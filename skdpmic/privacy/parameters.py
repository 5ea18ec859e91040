"""Checks of the privacy arguments."""

import math
import sys
from fractions import Fraction

import numpy as np

from skdpmic._utils.arguments import is_number
from skdpmic._utils.errors import PrivacyLeakWarning, warn
from skdpmic._utils.texts import quoted

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
    if not is_number(delta) or not 0 <= delta < 1:
        raise ValueError(f"delta must be a number in [0, 1), got {quoted(delta)}.")


def check_confidence(confidence):
    """Raise unless `confidence` is a number in (0, 1)."""
    if not is_number(confidence) or not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number in (0, 1), got {quoted(confidence)}.")


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
            "publishing all data of one of them, drawn at random. Choose a delta far below 1 / n.",
        )


def warn_about_seed():
    """Warn that reproducible noise gives no privacy."""
    warn(
        "random_state is set, so anyone with the seed can subtract the noise: the privacy guarantee does not hold. "
        "Two fits with the same seed and different epsilon, such as clones in a grid search, reveal the exact scores. "
        "Use random_state=None outside tests.",
        PrivacyLeakWarning,
    )
