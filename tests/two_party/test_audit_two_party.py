"""A black-box audit of what TwoPartyScorer publishes about few records; a mechanism with less noise fails it."""

import math

import numpy as np
import pytest

from skdpmic.two_party import TwoPartyScorer
from skdpmic.two_party import two_party_scorer as module
from skdpmic.two_party.distance_correlation import NOTHING
from tests.privacy.auditing import privacy_loss_at_least
from tests.two_party.sent import reports_of

pytest.importorskip("pyarrow", reason="reports are tables of Arrow")
pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one seeded source for all runs


@pytest.fixture(autouse=True)
def counts_only(monkeypatch):
    """Skip what is computed from the noisy counts, which takes most of the time."""
    monkeypatch.setattr(module, "estimate_from_counts", lambda *arguments: (NOTHING, 0.0))


N, EPSILON, ALPHA = 6, 2.0, 1e-3
HERE, THERE = np.array([1, 0, 0, 0, 0, 0]), np.zeros(N, dtype=int)  # neighbours: one target


def is_here(tables):
    """The event: in each table, the two counts that differ look like HERE."""
    return all(counts[0, 1] >= 1 and counts[0, 0] <= N - 1 for counts in tables)


RELEASES = {  # parameters, published attribute, neighbour under which the event is more likely, the other, event
    "tables": ({}, "noisy_counts_", HERE, THERE, is_here),
    "scores": (  # 2 / 3 here and 1 there
        {"statistic": "mtv_r", "target_shares": [0.5, 0.5]}, "noisy_scores_", THERE, HERE,
        lambda scores: bool(np.all(scores >= 1)),
    ),
}  # fmt: skip


def loss(kind, n_columns, n_runs):
    """A lower bound on the privacy loss; all records send the same report for each column."""
    parameters, published, likely, other, event = RELEASES[kind]
    sent = reports_of(np.full((N, n_columns), 0.1), math.inf, n_parts=2)
    bob = TwoPartyScorer(classes=[0, 1], epsilon=EPSILON, random_state=np.random.RandomState(0), **parameters)
    return privacy_loss_at_least(lambda y: getattr(bob.fit(sent, y), published), likely, other, event, n_runs, ALPHA)


@pytest.mark.slow
@pytest.mark.parametrize("kind, share", [("tables", 0.7), ("scores", 0.6)])
def test_most_of_epsilon_is_lost_and_no_more(kind, share):
    assert share * EPSILON < loss(kind, 1, 1500) <= EPSILON
    assert loss(kind, 2, 150) <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("kind, n_columns, n_runs", [("tables", 1, 250), ("tables", 2, 1000), ("scores", 1, 400)])
def test_half_the_noise_is_detected(kind, n_columns, n_runs, monkeypatch):
    of_formula = module.noise_scale
    monkeypatch.setattr(module, "noise_scale", lambda *public: of_formula(*public) / 2)
    assert loss(kind, n_columns, n_runs) > EPSILON
