"""Checks of the arguments that concern privacy."""

import math
import numbers
import warnings

from skdpmic.exceptions import PrivacyLeakWarning


def check_epsilon(epsilon):
    """Raise unless `epsilon` is a number above 0; infinity, for no privacy, is one."""
    if not isinstance(epsilon, numbers.Real) or math.isnan(epsilon) or epsilon <= 0:
        raise ValueError(f"epsilon must be a number > 0, got {epsilon!r}.")


def warn_of_seed(stacklevel):
    """Warn that noise which can be drawn again protects nobody."""
    warnings.warn(
        "random_state is set, so whoever knows the seed can subtract the noise: the privacy guarantee does not hold. "
        "Two fits with one seed and different epsilon, as clones in a grid search are, reveal the exact scores. "
        "Use random_state=None outside tests.",
        PrivacyLeakWarning,
        stacklevel=stacklevel + 1,
    )
