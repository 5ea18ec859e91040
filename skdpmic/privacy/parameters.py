"""Checks of the arguments that concern privacy."""

import math
import numbers
import sys
import warnings
from fractions import Fraction

from skdpmic._utils.exceptions import PrivacyLeakWarning

SMALLEST_EPSILON = 1e-100  # noise for much less, as an integer, would be too large to become a float


def check_epsilon(epsilon):
    """Raise unless `epsilon` is a number above 0 that a float can hold; infinity, for no privacy, is one."""
    is_number = isinstance(epsilon, numbers.Real) and (epsilon <= sys.float_info.max or epsilon == math.inf)
    if not is_number or not epsilon >= SMALLEST_EPSILON:
        raise ValueError(f"epsilon must be a number > 0, and at least {SMALLEST_EPSILON}, got {epsilon!r}.")


def check_delta(delta):
    """Raise unless `delta` is a number in [0, 1)."""
    if not isinstance(delta, numbers.Real) or not 0 <= delta < 1:
        raise ValueError(f"delta must be a number in [0, 1), got {delta!r}.")


def check_confidence(confidence):
    """Raise unless `confidence` is a number in (0, 1)."""
    if not isinstance(confidence, numbers.Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number in (0, 1), got {confidence!r}.")


def exact(number):
    """The decimal number that a finite float was written as: 1/10 for 0.1, so that ten of them make 1.

    Noise and ledger both read epsilon in this way, so what the ledger adds up is what the noise costs. A Fraction stays
    as it is: a part of an epsilon.
    """
    return number if isinstance(number, Fraction) else Fraction(repr(float(number)))


def warn_about_delta(delta, n, stacklevel):
    """Warn of a delta with which all about one of n people could be published."""
    if delta > 1 / n:
        warnings.warn(
            f"delta={float(delta):g} is above 1 / n = {1 / n:.2g} for n = {n:,} people or samples: to publish all "
            "data of one of them, drawn at random, would be as private. Choose a delta far below that.",
            stacklevel=stacklevel + 1,
        )


def warn_about_seed(stacklevel):
    """Warn that noise which can be drawn again gives no privacy."""
    warnings.warn(
        "random_state is set, so whoever knows the seed can subtract the noise: the privacy guarantee does not hold. "
        "Two fits with one seed and different epsilon, as clones in a grid search are, reveal the exact scores. "
        "Use random_state=None outside tests.",
        PrivacyLeakWarning,
        stacklevel=stacklevel + 1,
    )
