"""Fits of PrivatePC to tables in stages, audited from outside on the worst neighbours.

The audit uses the likelihood ratio of two neighbours: the attacker knows both and the noise of each stage, and joins
their labels by the counts that were released. The graph follows from the release, so it can reveal no more.
Correlations are audited in ``tests/privacy/test_audit_matrix.py``.
"""

import math

import numpy as np
import pytest

from skdpmic.causal import PrivatePC, table_release
from skdpmic.causal import table_release as table_plan
from skdpmic.causal.table_release import merged_blanks, parts_of_labels
from skdpmic.privacy.composition import rho_for
from skdpmic.release.path import counts_of_sets
from tests.privacy.auditing import separation_at_least

pytestmark = pytest.mark.filterwarnings(
    "ignore::skdpmic.PrivacyLeakWarning",  # one source, continued from run to run
    "ignore:noise will exceed the signal",  # few records
    "ignore:untied_fraction_",
    "ignore:noise hides all but one part",
)


BUDGET = (8.5, 1e-3)  # neighbours are then two standard deviations apart, so few fits suffice
LARGEST_SEPARATION = math.sqrt(2 * rho_for(*BUDGET))  # in standard deviations
ALPHA, N_RUNS = 1e-2, 150
N_COLUMNS, N_CODES = 4, 4  # False, True, other and missing
MISSING = 3
STAGES = {"three stages": (0, 1, 3), "four stages": (0, 1, 2, 3)}  # columns of the tables; 0: blanks
N_TABLES = {"three stages": (1, 4, 4), "four stages": (1, 4, 6, 4)}


@pytest.fixture
def plan(request, monkeypatch):
    """The number of stages; for four, the plan treats four columns as many."""
    if request.param == "four stages":
        monkeypatch.setattr(table_plan, "_MOST_TRIPLES", 0)
    return request.param


def with_a_missing_record(n=600):
    """Two tables with nearly equal columns; a record of ones is missing in the second and so joins the zeros."""
    rng = np.random.default_rng(0)
    here = ((rng.random((n, 1)) < 0.4) ^ (rng.random((n, N_COLUMNS)) < 0.1)).astype(float)
    there = here.copy()
    here[0], there[0] = 1, np.nan
    return here, there


def with_rare_labels(n=600):
    """The same, but ones are so rare that noise decides whether they have a bin."""
    here = (np.random.default_rng(0).random((n, N_COLUMNS)) < 0.015).astype(float)
    there = here.copy()
    here[0], there[0] = 0, 1
    return here, there


def fit_to(table, random_state, budget=BUDGET):
    private = PrivatePC(*budget, max_order=2, categories={j: [0, 1] for j in range(N_COLUMNS)})
    return private.set_params(random_state=random_state).fit(table)


def log_ratio(private, here, there, of_scale):
    """Log-likelihood ratio of the whole release between the two tables, for normal noise.

    Parameters
    ----------
    private : PrivatePC
        After a fit.
    here, there : ndarray
    of_scale : dict
        By number of columns of a table: its noise as a share of the stated noise.
    """
    parts = [parts_of_labels(counts, private.noise_scales_[1]) for counts in private.noisy_counts_]
    sizes = [int(of_column.max()) + 1 for of_column in parts]
    sets = list(private.noisy_tables_)

    blanks = [merged_blanks(*each) for each in zip(private.noisy_counts_, parts, strict=True)]

    def exact(table):
        codes = list(np.where(np.isnan(table), MISSING, table).T.astype(np.int64))
        has_blank = np.any([of_column[code] for of_column, code in zip(blanks, codes, strict=True)], axis=0)
        yield np.bincount(has_blank, minlength=2)
        yield from counts_of_sets(codes, [N_CODES] * N_COLUMNS, [(j,) for j in range(N_COLUMNS)])
        yield from counts_of_sets([of_column[code] for of_column, code in zip(parts, codes, strict=True)], sizes, sets)

    seen = [private.noisy_blanks_, *private.noisy_counts_, *private.noisy_tables_.values()]
    n_columns = [0, *[1] * N_COLUMNS, *map(len, sets)]
    total = 0.0
    for k, noisy, one, other in zip(n_columns, seen, exact(here), exact(there), strict=True):
        variance = (private.noise_scales_[k] * of_scale.get(k, 1.0)) ** 2
        total += (((noisy - other) ** 2).sum() - ((noisy - one) ** 2).sum()) / (2 * variance)
    return total


def separation_of_tables(n_runs=N_RUNS, neighbours=with_a_missing_record, of_scale=None):
    """A lower bound on the separation of the two neighbours by the whole release."""
    here, there = neighbours()
    source = np.random.RandomState(0)
    return separation_at_least(
        lambda table: log_ratio(fit_to(table, source), here, there, of_scale or {}),
        here, there, lambda ratio: ratio > 0, n_runs, ALPHA,
    )  # fmt: skip


@pytest.mark.parametrize("plan", STAGES, indirect=True)
def test_a_fit_releases_tables_in_all_stages(plan):
    private = fit_to(with_a_missing_record()[0], 0)
    n_tables = [sum(len(columns) == k for columns in private.noisy_tables_) for k in STAGES[plan][2:]]
    assert (private.noisy_blanks_.ndim, len(private.noisy_counts_), *n_tables) == N_TABLES[plan]


@pytest.mark.parametrize("plan", STAGES, indirect=True)
def test_the_noise_drawn_in_all_stages_costs_all_of_rho_and_no_more(plan, monkeypatch):
    """Without noise; the fit to the neighbour is answered as the first one was, and so requests the same tables."""
    budget, seen = (1.0, 1e-6), ([], [])  # with whole variances of hundreds
    for table, stages in zip(with_a_missing_record(6000), seen, strict=True):

        def release(tables, variance, random_bytes, stages=stages):
            stages.append((tables, variance))
            return seen[0][len(stages) - 1][0]

        monkeypatch.setattr(table_release, "with_gaussian_noise", release)
        fit_to(table, None, budget)
    changes = [sum(((a - b) ** 2).sum() for a, b in zip(here, there, strict=True)) / (2 * variance)
               for (here, variance), (there, _) in zip(*seen, strict=True)]  # fmt: skip
    assert len(changes) == len(STAGES[plan])
    assert 0.99 * rho_for(*budget) < sum(changes) <= rho_for(*budget)


@pytest.mark.slow
@pytest.mark.parametrize("plan, n_runs", [("three stages", 300), ("four stages", 400)], indirect=["plan"])
def test_all_stages_together_are_separated_by_at_most_the_root_of_two_rho_and_by_most_of_it(plan, n_runs):
    # alpha = 1e-2, n_runs fits of each neighbour, fixed seed; 0.55 is three standard errors below the average share
    # that n_runs fits show if the noise is no larger than necessary.
    assert 0.55 * LARGEST_SEPARATION < separation_of_tables(n_runs) <= LARGEST_SEPARATION


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["four stages"], indirect=True)
def test_neighbours_are_no_further_apart_if_noise_decides_which_labels_have_bins(plan):
    # alpha = 1e-2, 500 fits of each neighbour, fixed seed.
    assert 0.3 * LARGEST_SEPARATION < separation_of_tables(500, with_rare_labels) <= LARGEST_SEPARATION


@pytest.mark.slow
@pytest.mark.parametrize("plan, n_columns", [("three stages", 1), ("four stages", 2)], indirect=["plan"])
def test_half_the_noise_of_any_stage_is_detected(plan, n_columns, monkeypatch):
    with_noise = table_release.with_gaussian_noise

    def with_less(tables, variance, random_bytes):
        return with_noise(tables, variance // 4 if tables[0].ndim == n_columns else variance, random_bytes)

    monkeypatch.setattr(table_release, "with_gaussian_noise", with_less)
    assert separation_of_tables(500, of_scale={n_columns: 0.5}) > LARGEST_SEPARATION
