"""The way of a release that publishes all two-way tables: its cost, its noise, and what is kept."""

import math

import numpy as np

from skdpmic.causal.table_release import NoisyTwoWayTables, TwoWayTablesRelease
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.noise import entropy_source
from skdpmic.table.nominal import Nominal
from skdpmic.table.records import Records
from skdpmic.table.shape import Shape

SCALES = [Nominal(2), Nominal(3), Nominal(1)]
SIZES = (4, 5, 3)  # with other and missing


def records(n=50):
    rng = np.random.default_rng(0)
    return Records(np.array([rng.integers(size, size=n) for size in SIZES], dtype=np.uint32), SCALES, None)


def released(epsilon, way=None):
    way = TwoWayTablesRelease(epsilon, 1e-6) if way is None else way
    return way.draw(records(), None, way.mechanism(None, records().shape), None, entropy_source(0))


def test_the_ledger_is_charged_what_the_release_costs():
    cost = TwoWayTablesRelease(0.7, 1e-5).cost
    assert (cost.epsilon, cost.delta, cost.rho) == (0.7, 1e-5, rho_for(0.7, 1e-5))


def test_other_and_missing_have_cells_of_their_own_and_without_noise_all_are_exact():
    tables = released(math.inf)["noisy_tables_"]
    assert {pair: table.shape for pair, table in tables.items()} == {(0, 1): (4, 5), (0, 2): (4, 3), (1, 2): (5, 3)}
    x, y = records().columns[1:]
    np.testing.assert_array_equal(tables[1, 2], [[np.sum((x == a) & (y == b)) for b in range(3)] for a in range(5)])


def test_the_noise_covers_all_rows_of_a_person():
    mechanism = TwoWayTablesRelease(1.0, 1e-6).mechanism(None, Shape(60, SCALES, 3))
    assert mechanism == NoisyTwoWayTables.for_budget(1.0, 1e-6, SIZES, 60, 3)
    assert mechanism.variance > 8.9 * NoisyTwoWayTables.for_budget(1.0, 1e-6, SIZES, 60).variance


def test_what_is_kept_is_what_was_released():
    kept = released(1.0)
    assert set(kept) == {"noisy_tables_", "noise_scale_"}
    mechanism = TwoWayTablesRelease(1.0, 1e-6).mechanism(None, records().shape)
    assert kept["noise_scale_"] == math.sqrt(mechanism.variance)
    moves = [kept["noisy_tables_"][pair] - table for pair, table in released(math.inf)["noisy_tables_"].items()]
    spread = np.std(np.concatenate([move.ravel() for move in moves]))
    assert 0.7 < spread / kept["noise_scale_"] < 1.3  # 47 cells, fixed seed
