"""One private score: its noise, its payment, its release. All that is public is made before the payment."""

import numpy as np

from skdpmic.privacy.mechanisms import LaplaceMechanism, grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import warn_about_seed


def laplace_noise(epsilon, sensitivity, rounding_error):
    """The mechanism that spends epsilon on a score of this sensitivity, computed with this error at most."""
    return LaplaceMechanism.for_budget(epsilon, 0.0, 1, grid_sensitivity(sensitivity, rounding_error))


def pay(what, epsilon, n, ledger, random_state):
    """The source of noise, once the ledger is charged; a function that is `never_cached` calls this."""
    source = entropy_source(random_state)
    if random_state is not None:
        warn_about_seed(stacklevel=4)
    if ledger is not None:
        ledger.charge(what, epsilon, n=n, d=1)
    return source


def release(score, mechanism, source):
    """The score with noise, in [0, 1]."""
    released, _ = mechanism.release(np.array([score]), source)
    return float(released[0])
