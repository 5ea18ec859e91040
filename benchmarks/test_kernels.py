"""Time of each kernel by itself: pytest benchmarks/test_kernels.py (needs pytest-benchmark).

The suite is for comparing two states of the code: ``--benchmark-autosave``, then ``--benchmark-compare``.
"""

import numpy as np
import pytest

from skdpmic.privacy.noise import discrete_laplace, entropy_source, geometric
from skdpmic.statistics.grids.partitions import equipartitions, locate, refine
from skdpmic.statistics.mic.cell_counts import cells_of, count, empty_tables
from skdpmic.statistics.mic.mass_partitions import both_ways, mass_tables, ranked_column
from skdpmic.statistics.mic.mic_e import mass_plan
from skdpmic.statistics.mic.mic_r import ClassTargetScorer, NumericTargetScorer, RangeGrids, continuous_plan
from skdpmic.statistics.mic.optimize_axis import entropy_table, largest_entry

PLAN = continuous_plan(150.0, 5.0, "reduced")
PARTITIONS = equipartitions(PLAN[:, :2])


@pytest.fixture(params=[1000, 10_000, 1_000_000])
def columns(request):
    rng = np.random.default_rng(0)
    return rng.random(request.param), rng.random(request.param)


def test_refine(benchmark):
    benchmark(refine, 0.0, 1.0, PARTITIONS)


def test_locate(benchmark, columns):
    benchmark(locate, columns[0], refine(0.0, 1.0, PARTITIONS)[0], 0.0, 1.0)


def test_cells(benchmark):
    grids = RangeGrids(150.0, 5.0)
    edges, first_cell = refine(0.0, 1.0, equipartitions(grids.plan[:, :2]))
    benchmark(cells_of, first_cell, len(edges) + 1, grids._edges)


@pytest.fixture
def counted(columns):
    grids = RangeGrids(150.0, 5.0, n=len(columns[0]))
    x, y = (grids.place(column, (0.0, 1.0)) for column in columns)
    return (x, y, grids.groups.complete.numbers, empty_tables(x, y)), grids.groups.complete.grids


def test_count(benchmark, counted):
    benchmark(count, *counted[0])


def test_largest_entry(benchmark, columns, counted):
    arguments, grids = counted
    tables, table = count(*arguments), entropy_table(len(columns[0]))
    benchmark(lambda: largest_entry([(tables, grids.rows)], grids.most, table, len(columns[0])))


def test_mass_tables(benchmark, columns):
    ways, plan = both_ways(*map(ranked_column, columns)), mass_plan(150.0, 15.0)
    benchmark(lambda: [None for _ in mass_tables(ways, plan)])


def test_mic_r(benchmark, columns):
    benchmark(NumericTargetScorer(columns[1], (0, 1), 150.0, 5.0).score, columns[0], (0, 1))


def test_mic_r_against_classes(benchmark, columns):
    benchmark(ClassTargetScorer((columns[1] * 5).astype(int), 5, 150.0, 5.0).score, columns[0], (0, 1))


@pytest.mark.parametrize("sampler", [discrete_laplace, geometric])
def test_exact_noise(benchmark, sampler):
    benchmark(sampler, 10**7, 10_000, entropy_source())
