"""The release of tables in stages: its cost, its noise, what decides later stages, and what is kept."""

import math
from itertools import combinations

import numpy as np
import pytest

from skdpmic.causal import table_release as table_plan
from skdpmic.causal.pc import Outcome
from skdpmic.causal.table_release import (
    ASKED,
    N_CELLS,
    TablePlan,
    TablesRelease,
    merged_blanks,
    parts_of_labels,
    triples_asked_for,
)
from skdpmic.causal.table_tests import TableTests
from skdpmic.privacy.noise import entropy_source
from skdpmic.release.path import counts_of_sets, with_gaussian_noise
from skdpmic.table.domains import Nominal
from skdpmic.table.records import PublicTable, Shape, TableRecords
from tests.privacy.laws import gaussian_p_value

SCALES = [Nominal(2), Nominal(3), Nominal(1), Nominal(2), Nominal(2)]
SIZES = (4, 5, 3, 4, 4)  # including other and missing


def records(n=500, seed=0):
    """Correlated columns of labels, some of them rare."""
    rng = np.random.default_rng(seed)
    common = rng.random(n)
    columns = [np.where(rng.random(n) < 0.8, common, rng.random(n)) ** 3 * size for size in SIZES]
    return TableRecords(PublicTable(Shape(n, SCALES)), np.array(columns, dtype=np.uint32))


def released(epsilon, max_order=3, table=None, seed=0):
    release, table = TablesRelease(epsilon, 1e-6, 0.01, max_order), records() if table is None else table
    return release.draw(table, release.mechanism(table.public.shape), None, entropy_source(seed))


@pytest.fixture
def few_tables(monkeypatch):
    """Make five columns too many for all tables of three."""
    monkeypatch.setattr(table_plan, "_MOST_TRIPLES", 0)
    monkeypatch.setattr(table_plan, "_MAX_FOR_FOURS", 0)


def test_the_plan_covers_all_rows_of_a_person_and_numeric_columns():
    release = TablesRelease(1.0, 1e-6, 0.01, 3)
    assert release.mechanism(Shape(60, SCALES, 3)) == TablePlan.for_budget(1.0, 1e-6, SIZES, 60, 3, 3)
    mixed = release.mechanism(Shape(60, [*SCALES[:3], (0.0, 1.0)], 1))
    assert mixed == TablePlan.for_budget(1.0, 1e-6, (4, 5, 3, N_CELLS + 1), 60, 1, 3, frozenset([3]))
    assert release.mechanism(Shape(60, SCALES, 3)).noise_scale ** 2 > 8.9 * mixed.rows_per_group


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_bins_follow_from_the_release_alone(epsilon, seed):
    kept = released(epsilon, seed=seed)
    for counts, parts in zip(kept["noisy_counts_"], kept["parts_"], strict=True):
        assert parts.tolist() == parts_of_labels(counts, kept["noise_scales_"][1]).tolist()


@pytest.mark.few
@pytest.mark.parametrize("epsilon", [4.0, 10.0, math.inf])
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_of_tables_follows_from_the_release_alone(epsilon, seed, few_tables):
    kept = released(epsilon, seed=seed)
    pairs = {columns: table for columns, table in kept["noisy_tables_"].items() if len(columns) == 2}
    assert list(pairs) == list(combinations(range(5), 2))
    scales = {k: scale for k, scale in kept["noise_scales_"].items() if k < 3}
    asked = triples_asked_for(5, TableTests(pairs, scales, 500).test, 0.01)
    assert [columns for columns in kept["noisy_tables_"] if len(columns) == 3] == asked
    if asked:
        plan = TablesRelease(epsilon, 1e-6, 0.01, 3).mechanism(records().public.shape)
        assert kept["noise_scales_"][3] == math.sqrt(plan.variance(ASKED, len(asked)))


@pytest.mark.usefixtures("few_tables")
def test_tests_given_two_columns_need_the_tables_of_each_end_with_both():
    def only_a_square_and_a_chord(i, j, given):
        return [Outcome(1.0, 1.0), Outcome(0.0, 0.0)][(i, j) in [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3)]]

    assert triples_asked_for(5, only_a_square_and_a_chord, 0.01) == [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    assert triples_asked_for(5, lambda i, j, given: Outcome(1.0, 1.0), 0.01) == []
    assert (
        triples_asked_for(3, lambda i, j, given: Outcome(0.0, 0.0), 0.01) == []
    )  # no columns are left to condition on


# --- The noise --------------------------------------------------------------------------------------------------------


def noise_of(kept):
    """The noise that was added to the counts of each stage, by number of columns."""
    columns = [np.asarray(column, dtype=np.int64) for column in records().columns]
    codes = [parts[column] for parts, column in zip(kept["parts_"], columns, strict=True)]
    sizes = [parts.max() + 1 for parts in kept["parts_"]]
    exact = counts_of_sets(columns, SIZES, [(j,) for j in range(5)])
    noise = {1: [counts - own for counts, own in zip(kept["noisy_counts_"], exact, strict=True)]}
    of_columns = zip(kept["noisy_counts_"], kept["parts_"], columns, strict=True)
    has_blank = np.any([merged_blanks(counts, parts)[column] for counts, parts, column in of_columns], axis=0)
    noise[0] = [kept["noisy_blanks_"] - np.bincount(has_blank, minlength=2)]
    for columns_of_table, table in kept["noisy_tables_"].items():
        (own,) = counts_of_sets(codes, sizes, [columns_of_table])
        noise.setdefault(len(columns_of_table), []).append((table - own).ravel())
    return {k: np.concatenate(each) for k, each in noise.items()}


@pytest.mark.slow
def test_every_stage_has_the_stated_noise_independent_for_each_cell(few_tables):
    # alpha = 1e-3 for each of four stages, 60 fits, fixed seeds.
    kept = [released(10.0, seed=seed) for seed in range(60)]
    for k in (0, 1, 2, 3):
        noise = [noise_of(each)[k] / each["noise_scales_"][k] for each in kept if k in each["noise_scales_"]]
        flat = np.concatenate(noise)
        assert len(flat) >= (120 if k == 0 else 500)
        assert abs((flat**2).mean() - 1) < 3.3 * math.sqrt(2 / len(flat))
        assert abs(np.mean(flat[1:] * flat[:-1])) < 3.3 / math.sqrt(len(flat))
        assert flat.min() < -2  # no draw is clamped there


def test_every_cell_has_its_own_discrete_gaussian_noise():
    # alpha = 1e-3, 15,000 draws, fixed seed.
    tables = [np.full((50, 100), 50), np.full(10_000, 50)]
    noisy = with_gaussian_noise(tables, 70**2, entropy_source(0))
    assert [table.shape for table in noisy] == [(50, 100), (10_000,)]
    noise = np.concatenate([table.ravel() for table in noisy]) - 50
    assert noise.dtype == np.int64
    assert noise.min() < -50  # nothing is clamped
    assert gaussian_p_value(noise, 70**2) > 1e-3
    assert gaussian_p_value(noise, 35**2) < 1e-12
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 4 / math.sqrt(len(noise))


def test_tables_are_exact_without_noise_and_a_tiny_budget_does_not_overflow():
    assert with_gaussian_noise([np.arange(7)], 0, entropy_source(0))[0].tolist() == list(range(7))
    assert with_gaussian_noise([], 9, entropy_source(0)) == []
    (noisy,) = with_gaussian_noise([np.arange(4)], 2**160, entropy_source(0))
    assert np.abs(noisy).max() == 2**62
    kept = released(1e-300)
    assert all(np.abs(table).max() <= 2**62 for table in kept["noisy_tables_"].values())
