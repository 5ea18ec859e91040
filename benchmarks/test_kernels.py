"""Time of each kernel by itself: pytest benchmarks/test_kernels.py (needs pytest-benchmark).

The suite is for comparing two states of the code: ``--benchmark-autosave``, then ``--benchmark-compare``.
"""

import numpy as np
import pytest

from skdpmic.mic.counting import column_borders, compress, cumulative_counts
from skdpmic.mic.optimize_axis import entropy_table, optimize_axis, segments_of
from skdpmic.mic.partitions import equipartitions, locate, range_axis, refine
from skdpmic.mic.statistics import ContinuousTarget, DiscreteTarget, continuous_plan
from skdpmic.privacy.noise import discrete_laplace, entropy_source, geometric

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


def test_compress(benchmark, columns):
    x, y = (range_axis(column, 0.0, 1.0, PARTITIONS) for column in columns)
    benchmark(compress, x, y, PLAN[:, 1], PLAN[:, 0])


def test_cumulative_counts(benchmark, columns):
    x, y = (range_axis(column, 0.0, 1.0, PARTITIONS) for column in columns)
    x, y, joint = compress(x, y, PLAN[:, 1], PLAN[:, 0])
    benchmark(cumulative_counts, x, y, joint, 60, np.array([12]))


@pytest.mark.parametrize("n_fixed, n_master, k_max", [(75, 10, 2), (30, 25, 5), (12, 60, 12)])
def test_optimize_axis(benchmark, columns, n_fixed, n_master, k_max):
    x, y = (range_axis(column, 0.0, 1.0, PARTITIONS) for column in columns)
    x, y, joint = compress(x, y, PLAN[:, 1], PLAN[:, 0])
    below, common = cumulative_counts(x, y, joint, n_master, np.array([n_fixed]))
    table = entropy_table(len(columns[0]))
    segments = segments_of(below, column_borders(below, y, common, n_fixed), table)
    benchmark(optimize_axis, segments, k_max)


def test_mic_r(benchmark, columns):
    benchmark(ContinuousTarget(columns[1], (0, 1), 150.0, 5.0).score, columns[0], (0, 1))


def test_mic_r_against_classes(benchmark, columns):
    benchmark(DiscreteTarget((columns[1] * 5).astype(int), 5, 150.0, 5.0).score, columns[0], (0, 1))


@pytest.mark.parametrize("sampler", [discrete_laplace, geometric])
def test_exact_noise(benchmark, sampler):
    benchmark(sampler, 10**7, 10_000, entropy_source())
