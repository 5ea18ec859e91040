"""Fits of PrivatePC, audited from outside on neighbours that are as far apart as can be.

The likelihood ratio of two neighbours depends on the sum of what is released alone, each part with the sign of its
move; so that sum is what is looked at. What follows from the release, the graph, can say no more.
"""

import math

import numpy as np
import pytest

from skdpmic.causal import PrivatePC
from skdpmic.causal import table_release as two_way_tables
from skdpmic.correlation import kendall_release as concordance
from skdpmic.privacy.composition import rho_for
from skdpmic.statistics.ranks import sensitivity as rank_sensitivity
from tests.correlation.test_kendall_matrix_sensitivity import extremes
from tests.privacy.auditing import separation_at_least

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdpmic.PrivacyLeakWarning", "ignore:noise will exceed the signal"
)  # one source, which goes on; and few records

ALPHA, N_RUNS = 1e-2, 150
EPSILON, DELTA = 3.0, 1e-3
CLAIMED = math.sqrt(2 * rho_for(EPSILON, DELTA))  # how far apart two neighbours may be, in standard deviations
N, P = 12, 5
P_OF_LABELS = 3  # noise on 48 counts takes its time
KINDS = ["numeric", "categorical"]


def neighbours(kind):
    """Two tables, of which a record is the other way round in all columns, or in half of them."""
    if kind == "numeric":
        return extremes(N, P, np.array([1.0, -1.0, 1.0, 1.0, -1.0]))
    here = np.random.default_rng(0).random((N, P_OF_LABELS)) < 0.5
    there = here.copy()
    there[0] = ~here[0]
    return here, there


def released(private):
    if private.kind_ == "numeric":
        return private.noisy_correlation_[np.triu_indices(P, 1)]
    return np.concatenate([table.ravel() for table in private.noisy_tables_.values()])


def fit(seed=0):
    private = PrivatePC(EPSILON, DELTA, random_state=np.random.RandomState(seed))
    return private.fit


def separation(kind, n_runs=N_RUNS):
    """How far apart the releases of neighbours are at least."""
    here, there = neighbours(kind)
    exact = [released(PrivatePC(epsilon=math.inf).fit(table)) for table in (here, there)]
    moves = exact[0] - exact[1]
    middle = moves @ (exact[0] + exact[1]) / 2
    fit_to = fit()
    return separation_at_least(
        lambda table: moves @ released(fit_to(table)), here, there, lambda total: total > middle, n_runs, ALPHA
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind, n_runs, share", [("numeric", 2000, 0.6), ("categorical", 400, 0.27)])
def test_a_release_is_separated_by_no_more_than_the_root_of_two_rho_and_by_most_of_it(kind, n_runs, share):
    # alpha = 1e-2, so many fits of each neighbour, fixed seed; the share is three standard errors below what so many
    # fits show on average of noise that is no larger than it must be.
    assert share * CLAIMED < separation(kind, n_runs) <= CLAIMED


MODULES = [("numeric", concordance), pytest.param("categorical", two_way_tables, marks=pytest.mark.slow)]


@pytest.mark.parametrize("kind, module", MODULES)
def test_half_the_noise_is_found_out(kind, module, monkeypatch):
    draw = module.discrete_gaussian
    monkeypatch.setattr(module, "discrete_gaussian", lambda sigma2, *rest: draw(sigma2 // 4, *rest))
    assert separation(kind) > CLAIMED


@pytest.mark.parametrize("kind, module", MODULES)
def test_noise_that_is_drawn_once_is_found_out(kind, module, monkeypatch):
    """Of two tables, or correlations, that move apart the difference then tells all."""
    draw = module.discrete_gaussian
    monkeypatch.setattr(module, "discrete_gaussian", lambda sigma2, size, source: [*draw(sigma2, 1, source)] * size)
    assert separation(kind) > 2 * CLAIMED


@pytest.mark.slow
def test_noise_for_a_single_pair_of_columns_is_found_out(monkeypatch):
    of_matrix, of_tables = (
        rank_sensitivity.kendall_matrix_squared_sensitivity,
        two_way_tables.two_way_squared_sensitivity,
    )
    monkeypatch.setattr(concordance, "kendall_matrix_squared_sensitivity", lambda p, *rows: of_matrix(2, *rows))
    monkeypatch.setattr(two_way_tables, "two_way_squared_sensitivity", lambda p, *rows: of_tables(2, *rows))
    for kind in KINDS:
        assert separation(kind) > CLAIMED
