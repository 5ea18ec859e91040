"""PrivateCorrelation, audited from outside on neighbours that are as far apart as possible.

The likelihood ratio of two neighbours depends only on the sum of the released correlations, each with the sign of its
move. So the audit uses that sum.
"""

import math

import numpy as np
import pytest

from skdpmic.correlation import PrivateCorrelation
from skdpmic.correlation import private_correlation as concordance
from skdpmic.privacy.composition import rho_for
from tests.correlation.test_kendall_matrix_sensitivity import extremes
from tests.privacy.auditing import separation_at_least

pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source continues from run to run

ALPHA, N_RUNS = 1e-2, 200
EPSILON, DELTA = 3.0, 1e-3
CLAIMED = math.sqrt(2 * rho_for(EPSILON, DELTA))  # how far apart two neighbours may be, in standard deviations
N, P = 12, 5
SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])  # half of the correlations that move rise, and half fall


def separation(release, n_runs=N_RUNS):
    """Lower bound on the separation of neighbours."""
    here, there = extremes(N, P, SIGNS)
    exact = [PrivateCorrelation(epsilon=math.inf).fit(table).noisy_correlation_ for table in (here, there)]
    moves = np.triu(exact[0] - exact[1], 1)
    middle = (moves * (exact[0] + exact[1])).sum() / 2

    def is_here(noisy):
        return (moves * noisy).sum() > middle

    return separation_at_least(release, here, there, is_here, n_runs, ALPHA)


def correlation(seed=0, **change):
    private = PrivateCorrelation(EPSILON, DELTA, random_state=np.random.RandomState(seed)).set_params(**change)
    return lambda table: private.fit(table).noisy_correlation_


@pytest.mark.slow
def test_neighbours_are_separated_by_at_most_root_two_rho_and_by_at_least_half_of_it():
    # alpha = 1e-2, 600 fits of each neighbour, fixed seed. Tests in correlation/ check that the noise is minimal.
    assert 0.5 * CLAIMED < separation(correlation(), 600) <= CLAIMED


@pytest.mark.slow
def test_half_the_noise_is_detected(monkeypatch):
    draw = concordance.discrete_gaussian
    monkeypatch.setattr(concordance, "discrete_gaussian", lambda sigma2, *rest: draw(sigma2 // 4, *rest))
    assert separation(correlation()) > CLAIMED
