"""Reports, as the party with the features sends them."""

import pytest

from skdpmic.two_party import RandomizedResponse

seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
may_refuse = pytest.mark.filterwarnings("ignore:The intervals of")


def reports_of(X, epsilon=1.0, **parameters):
    """Reports of X, with bounds (0, 1) unless the parameters give others."""
    alice = RandomizedResponse(epsilon, **({"bounds": (0, 1)} | parameters)).fit(X)
    return alice.to_arrow(alice.transform(X))
