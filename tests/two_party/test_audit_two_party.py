"""What TwoPartyScorer publishes of few records, audited from outside; a mechanism with less noise fails the audit."""

import numpy as np
import pytest

from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from skdpmic.two_party import known_margin as of_public
from skdpmic.two_party import two_party_scorer as module
from tests.privacy.auditing import privacy_loss_at_least

pytest.importorskip("pyarrow", reason="reports are tables of Arrow")
pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source, which goes on


@pytest.fixture(autouse=True)
def counts_only(monkeypatch):
    """Leave out what follows from the noisy counts, which takes most of the time."""
    nothing = module.distance_correlation.NOTHING
    monkeypatch.setattr(module.distance_correlation, "of_counts", lambda *arguments: (nothing, 0.0))


N, EPSILON, ALPHA = 6, 2.0, 1e-3
HERE, THERE = np.array([1, 0, 0, 0, 0, 0]), np.zeros(N, dtype=int)  # neighbours: one target


def loss(n_columns, n_runs):
    """How much is lost at least, of records that all report the same of each column."""
    X = np.full((N, n_columns), 0.1)
    alice = RandomizedResponse(float("inf"), (0, 1), n_parts=2).fit(X)
    sent = alice.to_arrow(alice.transform(X))
    bob = TwoPartyScorer(classes=[0, 1], epsilon=EPSILON, random_state=np.random.RandomState(0))

    def release(y):
        return bob.fit(sent, y).noisy_counts_

    def is_here(tables):
        """By the two counts that move, of each table."""
        return all(counts[0, 1] >= 1 and counts[0, 0] <= N - 1 for counts in tables)

    return privacy_loss_at_least(release, HERE, THERE, is_here, n_runs, ALPHA)


@pytest.mark.slow
def test_no_more_than_epsilon_is_lost_of_two_columns():
    assert loss(2, 150) <= EPSILON


@pytest.mark.slow
def test_most_of_epsilon_is_lost_and_no_more():
    assert 0.7 * EPSILON < loss(1, 2000) <= EPSILON


@pytest.mark.parametrize(
    "n_columns, n_runs",
    [(1, 250), pytest.param(2, 1000, marks=pytest.mark.slow)],
    ids=["noise for one of the two counts that move", "noise for one of two columns"],
)
def test_half_the_noise_is_found_out(n_columns, n_runs, monkeypatch):
    of_formula = of_public.noise_scale
    monkeypatch.setattr(of_public, "noise_scale", lambda epsilon, k: of_formula(epsilon, k) / 2)
    assert loss(n_columns, n_runs) > EPSILON
