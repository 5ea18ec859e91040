"""Of the graphs that Priv-PC was scored against, only earthquake's is what can be known of the network."""

import networkx
import numpy as np
import pytest

pytest.importorskip("pgmpy", reason="the networks are in pgmpy's wheel")

from benchmarks.causal.graph_measures import structural_hamming_distance
from benchmarks.causal.networks import network
from benchmarks.published_pc.ground_truth import EDGES, published_truth
from benchmarks.published_pc.loop import directed, largest_order, skeleton
from benchmarks.published_pc.statistics import Records, g_test
from skdpmic.causal.cpdag import skeleton_of


def published_and_true(name):
    true = network(name).cpdag
    return published_truth(name, len(true)), true


def edges_between(marks, other, columns):
    """Of those in one graph and not in the other, whatever their direction."""
    missing = np.argwhere(np.triu(skeleton_of(marks) & ~skeleton_of(other)))
    return {frozenset(columns[i] for i in pair) for pair in missing}


SLOW = ("earthquake", "asia", "survey", "sachs", "child")  # to read


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in EDGES])
def test_the_published_truth_is_the_networks_for_earthquake_alone(name):
    graphs = [networkx.from_numpy_array(marks, create_using=networkx.DiGraph) for marks in published_and_true(name)]
    assert networkx.is_isomorphic(*graphs) == (name == "earthquake")  # in whatever order the columns are


@pytest.mark.slow
def test_edges_of_asia_and_survey_are_missing():
    for name, missing in [
        ("asia", {frozenset(("either", "xray")), frozenset(("either", "dysp"))}),
        ("survey", {frozenset("AE"), frozenset("SE")}),
    ]:
        published, true = published_and_true(name)
        assert edges_between(true, published, network(name).columns) == missing
        assert not edges_between(published, true, network(name).columns)


def test_an_arrow_of_cancer_points_the_wrong_way():
    published, true = published_and_true("cancer")
    cancer, dyspnoea = map(network("cancer").columns.index, ("Cancer", "Dyspnoea"))
    assert structural_hamming_distance(published, true) == 1
    assert (published[dyspnoea, cancer], published[cancer, dyspnoea]) == (True, False)
    assert (true[dyspnoea, cancer], true[cancer, dyspnoea]) == (False, True)


@pytest.mark.slow
def test_four_edges_of_sachs_are_missing_and_one_is_none():
    published, true = published_and_true("sachs")
    columns = network("sachs").columns
    assert len(edges_between(true, published, columns)) == 4
    assert edges_between(published, true, columns) == {frozenset(("P38", "Raf"))}


@pytest.mark.parametrize("name", ["asia", "cancer"])
def test_a_run_without_privacy_finds_just_the_published_truth(name):
    codes = network(name).sample(100_000, seed=0)
    records = Records.of(codes, network(name).sizes)
    p = records.n_columns
    found = directed(
        *skeleton(p, lambda i, j, given: g_test(records, i, j, given)[2] > 0.01, largest_order(100_000, p))
    )
    assert (found == published_truth(name, p)).all()
