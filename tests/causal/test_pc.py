import numpy as np
import pytest

from skdpmic.causal.graphs import cpdag_of, skeleton_of
from skdpmic.causal.pc import pc
from tests.causal.networks import NETWORKS
from tests.causal.oracle import d_separation, random_dag

ALPHA = 0.5


@pytest.mark.parametrize("name", NETWORKS)
def test_with_an_oracle_it_finds_the_cpdag_of_each_network(name):
    _, dag = NETWORKS[name]
    skeleton, cpdag = pc(len(dag), d_separation(dag), ALPHA, max_order=len(dag))
    np.testing.assert_array_equal(skeleton, skeleton_of(dag))
    np.testing.assert_array_equal(cpdag, cpdag_of(dag))


@pytest.mark.parametrize("seed", range(200))
def test_with_an_oracle_it_finds_the_cpdag_of_random_graphs(seed):
    rng = np.random.default_rng(seed)
    n_columns = int(rng.integers(2, 9))
    dag = random_dag(rng, n_columns, rng.uniform(0.1, 0.6))
    skeleton, cpdag = pc(n_columns, d_separation(dag), ALPHA, max_order=n_columns)
    np.testing.assert_array_equal(skeleton, skeleton_of(dag))
    np.testing.assert_array_equal(cpdag, cpdag_of(dag))
