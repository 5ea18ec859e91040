"""Fits of PrivatePC, audited from outside on neighbours that are as far apart as can be.

Of correlations, the likelihood ratio of two neighbours depends on the sum of what is released alone, each part with the
sign of its move; so that sum is what is looked at. Of tables, which are released in stages, it is the ratio itself: the
attacker knows both neighbours and the noise of each stage, and joins their labels by the counts that were released.
What follows from the release, the graph, can say no more.
"""

import math

import numpy as np
import pytest

from skdpmic.causal import PrivatePC, table_release
from skdpmic.causal import table_release as table_plan
from skdpmic.causal.label_parts import counts_of_sets, parts_of_labels
from skdpmic.causal.table_release import TablePlan
from skdpmic.correlation import kendall_release as concordance
from skdpmic.privacy.composition import rho_for
from skdpmic.statistics.ranks import sensitivity as rank_sensitivity
from tests.correlation.test_kendall_matrix_sensitivity import extremes
from tests.privacy.auditing import separation_at_least

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdpmic.PrivacyLeakWarning",  # one source, which goes on
    "ignore:noise will exceed the signal",  # few records
    "ignore:untied_fraction_",
    "ignore:noise hides all but one part",
)

ALPHA, N_RUNS = 1e-2, 150


def claimed(epsilon, delta):
    """How far apart two neighbours may be, in standard deviations."""
    return math.sqrt(2 * rho_for(epsilon, delta))


def source():
    return np.random.RandomState(0)


# --- Correlations -----------------------------------------------------------------------------------------------------

OF_NUMBERS = (3.0, 1e-3)
CLAIMED = claimed(*OF_NUMBERS)
N, P = 12, 5


def correlations(private):
    return private.noisy_correlation_[np.triu_indices(P, 1)]


def separation_of_correlations(n_runs=N_RUNS):
    """How far apart the releases of neighbours are at least."""
    here, there = extremes(N, P, np.array([1.0, -1.0, 1.0, 1.0, -1.0]))
    exact = [correlations(PrivatePC(epsilon=math.inf).fit(table)) for table in (here, there)]
    moves = exact[0] - exact[1]
    middle = moves @ (exact[0] + exact[1]) / 2
    fit_to = PrivatePC(*OF_NUMBERS, random_state=source()).fit
    return separation_at_least(
        lambda table: moves @ correlations(fit_to(table)), here, there, lambda total: total > middle, n_runs, ALPHA
    )


@pytest.mark.slow
def test_correlations_are_separated_by_no_more_than_the_root_of_two_rho_and_by_most_of_it():
    # alpha = 1e-2, 2000 fits of each neighbour, fixed seed; the share is three standard errors below what so many fits
    # show on average of noise that is no larger than it must be.
    assert 0.6 * CLAIMED < separation_of_correlations(2000) <= CLAIMED


def test_half_the_noise_on_correlations_is_found_out(monkeypatch):
    draw = concordance.discrete_gaussian
    monkeypatch.setattr(concordance, "discrete_gaussian", lambda sigma2, *rest: draw(sigma2 // 4, *rest))
    assert separation_of_correlations() > CLAIMED


def test_noise_on_correlations_that_is_drawn_once_is_found_out(monkeypatch):
    """Of two correlations that move apart the difference then tells all."""
    draw = concordance.discrete_gaussian
    monkeypatch.setattr(concordance, "discrete_gaussian", lambda sigma2, n, source: [*draw(sigma2, 1, source)] * n)
    assert separation_of_correlations() > 2 * CLAIMED


@pytest.mark.slow
def test_noise_for_a_single_pair_of_columns_is_found_out(monkeypatch):
    of_matrix = rank_sensitivity.kendall_matrix_squared_sensitivity
    monkeypatch.setattr(concordance, "kendall_matrix_squared_sensitivity", lambda p, *rows: of_matrix(2, *rows))
    assert separation_of_correlations() > CLAIMED


# --- Tables, in stages ------------------------------------------------------------------------------------------------

BUDGET = (8.5, 1e-3)  # at which neighbours are two standard deviations apart, and fewer fits tell more
OF_TABLES = claimed(*BUDGET)
N_COLUMNS, N_CODES = 4, 4  # False, True, other and missing
STAGES = {"two stages": (1, 3), "three stages": (1, 2, 3)}  # by the number of columns of their tables
REACHED = {"two stages": (4, 4), "three stages": (4, 6, 4)}  # of how many tables


@pytest.fixture
def plan(request, monkeypatch):
    """Four columns are released as the plan of many would be, if it has three stages."""
    if request.param == "three stages":
        monkeypatch.setattr(table_plan, "_MOST_TRIPLES", 0)
    return request.param


def booleans(n=600):
    """Two tables of columns that are nearly equal, of which a record is the other way round."""
    rng = np.random.default_rng(0)
    here = (rng.random((n, 1)) < 0.5) ^ (rng.random((n, N_COLUMNS)) < 0.1)
    there = here.copy()
    here[0], there[0] = False, True
    return here, there


def with_rare_labels(n=600):
    """The same, but True is so rare that noise decides whether it has a part."""
    here = np.random.default_rng(0).random((n, N_COLUMNS)) < 0.015
    there = here.copy()
    here[0], there[0] = False, True
    return here, there


def log_ratio(private, here, there, of_scale):
    """How much likelier all that was released is of the first table, by normal laws.

    Parameters
    ----------
    private : PrivatePC
        After a fit.
    here, there : bool ndarray
    of_scale : dict
        By the number of columns of a table: what its noise is, of that which is stated.
    """
    parts = [parts_of_labels(counts, private.noise_scales_[1]) for counts in private.noisy_counts_]
    sizes = [int(of_column.max()) + 1 for of_column in parts]
    sets = list(private.noisy_tables_)

    def exact(table):
        codes = list(table.T.astype(np.int64))
        yield from counts_of_sets(codes, [N_CODES] * N_COLUMNS, [(j,) for j in range(N_COLUMNS)])
        yield from counts_of_sets([of_column[code] for of_column, code in zip(parts, codes, strict=True)], sizes, sets)

    seen = [*private.noisy_counts_, *private.noisy_tables_.values()]
    total = 0.0
    for noisy, one, other in zip(seen, exact(here), exact(there), strict=True):
        variance = (private.noise_scales_[noisy.ndim] * of_scale.get(noisy.ndim, 1.0)) ** 2
        total += (((noisy - other) ** 2).sum() - ((noisy - one) ** 2).sum()) / (2 * variance)
    return total


def separation_of_tables(n_runs=N_RUNS, neighbours=booleans, of_scale=None):
    """How far apart all that is released is of neighbours at least."""
    here, there = neighbours()
    fit_to = PrivatePC(*BUDGET, max_order=2, random_state=source()).fit
    return separation_at_least(
        lambda table: log_ratio(fit_to(table), here, there, of_scale or {}),
        here, there, lambda ratio: ratio > 0, n_runs, ALPHA,
    )  # fmt: skip


@pytest.mark.parametrize("plan", STAGES, indirect=True)
def test_a_fit_releases_the_tables_of_all_stages(plan):
    private = PrivatePC(*BUDGET, max_order=2, random_state=source()).fit(booleans()[0])
    n_tables = [sum(len(columns) == k for columns in private.noisy_tables_) for k in STAGES[plan][1:]]
    assert (len(private.noisy_counts_), *n_tables) == REACHED[plan]


@pytest.mark.slow
@pytest.mark.parametrize("plan, n_runs", [("two stages", 300), ("three stages", 400)], indirect=["plan"])
def test_all_stages_are_separated_by_no_more_than_the_root_of_two_rho_and_by_most_of_it(plan, n_runs):
    # alpha = 1e-2, so many fits of each neighbour, fixed seed; the share is three standard errors below what so many
    # fits show on average of noise that is no larger than it must be.
    assert 0.55 * OF_TABLES < separation_of_tables(n_runs) <= OF_TABLES


@pytest.mark.slow
@pytest.mark.parametrize("plan", STAGES, indirect=True)
def test_where_noise_decides_which_labels_have_parts_neighbours_are_no_further_apart(plan):
    # alpha = 1e-2, 500 fits of each neighbour, fixed seed.
    assert 0.3 * OF_TABLES < separation_of_tables(500, with_rare_labels) <= OF_TABLES


@pytest.mark.parametrize(
    "plan, n_columns, n_runs",
    [pytest.param("two stages", k, 150, marks=pytest.mark.slow) for k in (1, 3)]
    + [pytest.param("three stages", 2, 500, marks=pytest.mark.slow)],
    indirect=["plan"],
)
def test_half_the_noise_of_any_stage_is_found_out(plan, n_columns, n_runs, monkeypatch):
    with_noise = table_release.with_gaussian_noise

    def with_less(tables, variance, random_bytes):
        return with_noise(tables, variance // 4 if tables[0].ndim == n_columns else variance, random_bytes)

    monkeypatch.setattr(table_release, "with_gaussian_noise", with_less)
    assert separation_of_tables(n_runs, of_scale={n_columns: 0.5}) > OF_TABLES


@pytest.mark.parametrize("plan", ["two stages", pytest.param("three stages", marks=pytest.mark.slow)], indirect=True)
def test_noise_on_tables_that_is_drawn_once_is_found_out(plan, monkeypatch):
    """Of two counts that move apart the difference then tells all."""
    draw = table_release.discrete_gaussian
    monkeypatch.setattr(table_release, "discrete_gaussian", lambda sigma2, n, source: [*draw(sigma2, 1, source)] * n)
    assert separation_of_tables() > 1.5 * OF_TABLES


SPENT_TWICE = [
    pytest.param("two stages", lambda of_counts, of_all, of_asked: (1, 1, 0), 300, marks=pytest.mark.slow),
    pytest.param(
        "three stages", lambda of_counts, of_all, of_asked: (of_counts, of_all + of_asked, of_all + of_asked), 900,
        marks=pytest.mark.slow,
    ),
]  # fmt: skip


@pytest.mark.parametrize("plan, wrong, n_runs", SPENT_TWICE, indirect=["plan"])
def test_a_stage_that_spends_the_share_of_another_again_is_found_out(plan, wrong, n_runs, monkeypatch):
    shares = TablePlan.shares.fget
    monkeypatch.setattr(TablePlan, "shares", property(lambda plan: wrong(*shares(plan))))
    assert separation_of_tables(n_runs) > OF_TABLES


@pytest.mark.slow
@pytest.mark.parametrize("plan", STAGES, indirect=True)
def test_noise_for_a_single_table_in_each_stage_is_found_out(plan, monkeypatch):
    of_tables = table_plan.tables_squared_sensitivity
    monkeypatch.setattr(table_plan, "tables_squared_sensitivity", lambda n_tables, m: of_tables(1, m))
    assert separation_of_tables() > OF_TABLES
