"""Compared scores keep to their sensitivities, simulations to their distributions, and the main claims hold."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import mutual_info_score

pytest.importorskip("matplotlib", reason="the benchmark draws with matplotlib")
pytest.importorskip("pandas", reason="the benchmark keeps its results with pandas")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

import pandas

from benchmarks.selection import __main__ as benchmark
from benchmarks.selection import no_functions, relationships, report, rivals, ways
from benchmarks.selection.statistics import NOTHING_KNOWN, STATISTICS
from benchmarks.selection.table import Table
from benchmarks.tests import pages
from skdpmic import (
    DPMICScorer,
    private_score,
)
from skdpmic.datasets import relationship
from skdpmic.privacy.top_k import OneShotTopK
from tests.select_names import SelectNames

ERROR = 1e-9  # far above the rounding of two scores, far below any gap that matters


def square(x, y, n_classes=None):
    """A table of one or more features between -1 and 1; with two classes, the class is the sign of the target."""
    X, y = np.asarray(x, dtype=float).reshape(len(y), -1), np.asarray(y, dtype=float)
    bounds = np.full(X.shape[1], -1.0), np.full(X.shape[1], 1.0)
    return Table(X, y, *bounds, (-1, 1)) if n_classes is None else Table(X, (y > 0).astype(int), *bounds, None, 2)


def thirds(table):
    return rivals.binned_information(table, n_bins=3)


# --- Sensitivities --------------------------------------------------------------------------------------------------


def climb(change, n, seed, n_steps):
    """The largest change of a score that hill climbing finds: n - 1 records stay, one is replaced."""
    random = np.random.default_rng(seed)
    places = np.array([-1.0, -0.9, -0.3, 0.2, 0.7, 0.95, 1.0])
    records = random.choice(places, size=(n + 1, 2))  # the last two are the replaced record, before and after
    height = change(records)
    for _ in range(n_steps):
        step = records.copy()
        step[random.integers(n + 1), random.integers(2)] = random.choice(places)
        if (new := change(step)) >= height:
            records, height = step, new
    return height


@pytest.mark.parametrize("n_classes", [None, 2])
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("n, n_steps", [(11, 100), pytest.param(15, 1500, marks=pytest.mark.slow)])
@pytest.mark.combinations
def test_hill_climbing_never_beats_the_sensitivity_of_a_compared_score(name, n, n_steps, n_classes):
    """The benchmark's scores, with the sensitivity that sets its noise; climbing finds at least a quarter of it."""
    statistic = STATISTICS[name]
    grid = statistic.grid(n, 1.0, n_classes)
    if ways.learns(grid):  # about the target; what it learns is the same for neighbours then
        grid = grid.with_target_shares([0.5, 0.5])
    keys = np.random.default_rng(0).random((2, n))

    def change(records):
        tables = [square(*np.delete(records, gone, axis=0).T, n_classes) for gone in (n - 1, n)]
        before, after = (statistic.scores(table, grid, keys)[0] for table in tables)
        return abs(before - after)

    found = max(climb(change, n, seed, n_steps) for seed in range(2))
    sensitivity = statistic.sensitivity(n, n_classes, grid)
    assert 0.25 * sensitivity < found <= sensitivity + ERROR


# --- Scores ---------------------------------------------------------------------------------------------------------


def test_rivals_compute_what_their_names_say():
    random = np.random.default_rng(0)
    x, y = random.uniform(-1, 1, size=(2, 300))
    y = np.clip(x + y, -1, 1)
    table = square(x, y)
    assert rivals.covariance(table)[0] == pytest.approx(abs(np.cov(x, y, bias=True)[0, 1]))
    cells = [np.minimum(((v + 1) * 4).astype(int), 7) for v in (x, y)]
    assert rivals.binned_information(table, 8)[0] == pytest.approx(mutual_info_score(*cells) / np.log(2))


def test_compared_scores_match_the_package():
    """Against the public functions, and scipy's."""
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, size=200)
    y = 0.5 * x**2 + random.uniform(-0.3, 0.3, size=200)
    table, keys = square(x, y), random.random((2, 200))

    def score(name):
        return STATISTICS[name].scores(table, STATISTICS[name].grid(200, np.inf, None), keys)[0]

    def package(**which):
        return pytest.approx(private_score(x, y, epsilon=np.inf, bounds=((-1, 1), (-1, 1)), **which))

    assert score(NOTHING_KNOWN) == package(statistic="mtv_r")
    assert score("MICr") == package(correction=None)
    assert score("MICr, corrected") == package()
    assert score("Kendall") == pytest.approx(abs(stats.kendalltau(x, y).statistic))
    assert score("Spearman") == pytest.approx(abs(stats.spearmanr(x, y).statistic))


# --- Simulations ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["F6", "F13", "F21", "circle", "3 x 3 squares"])
def test_features_given_the_target_follow_the_mixture(name):
    """Chi-square on an 8 x 8 grid, 20,000 draws, alpha = 0.001."""
    mixture = relationship(name, 0.5) if name.startswith("F") else no_functions.mixture_of(name, 0.4)
    n = 20_000
    x, y = mixture.sample(n, random_state=0).T
    drawn = relationships.draw_given_target(mixture, y, np.random.default_rng(0))
    counts = [np.histogram2d(v, y, bins=8, range=[[0, 1], [0, 1]])[0].ravel() for v in (x, drawn)]
    counts = np.array(counts)[:, np.sum(counts, axis=0) >= 10]
    assert stats.chi2_contingency(counts).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, parameters",
    [
        ("MICr", {"correction": None}),
        ("MICr, corrected", {}),
        ("MTVr", {"statistic": "mtv_r"}),
        ("Kendall", {"statistic": "kendall"}),
    ],
)
def test_noise_and_grids_match_the_package(name, parameters):
    pool = relationships.make_pool(400, seed=0, n_noise=9)
    (n, d), public = pool.X.shape, {"bounds": (0, 1), "target_bounds": (0, 1)} | parameters
    fits = {
        ways.SUPPORT: SelectNames(k=5, epsilon=2.0, **public),
        ways.EVEN: DPMICScorer(epsilon=2.0, **public),
        ways.CUBE: DPMICScorer(epsilon=2.0, mechanism="k-norm", **public),
        ways.GAUSSIAN: DPMICScorer(epsilon=2.0, mechanism="gaussian", delta=ways.DELTA, **public),
    }
    scores = ways.Scores(pool, name, seed=0)
    for mechanism, estimator in fits.items():
        estimator.fit(pool.X, pool.y)
        ((_, _, values, scale),) = ways.private_ways(scores, 5, d, [2.0], mechanisms=[mechanism])
        per_score = ways.epsilon_per_score(mechanism, ways.budget_of_way(mechanism, 2.0), 5, d)
        if name.startswith("MICr"):
            assert STATISTICS[name].grid(n, per_score, None) == (estimator.B_, estimator.c_)
        if mechanism == ways.CUBE:  # whose noise_scale_ is the standard deviation
            scale *= np.sqrt((d + 1) * (d + 2) / 3)
        assert scale == pytest.approx(estimator.noise_scale_, rel=1e-6)
        assert values.shape == ((8, d) if name == "MTVr" else (d,))


def test_simulated_choices_follow_the_mechanism():
    """How often each of eight features is chosen, 600 exact draws; beyond 4 sigma in one of 2,000 runs."""
    values, k, draws = np.linspace(0, 0.35, 8), 3, 600
    mechanism = OneShotTopK(k, 2**30 // 10)
    source = np.random.RandomState(0).bytes
    exact = np.bincount(np.ravel([mechanism.release(values, source)[0] for _ in range(draws)]), minlength=8) / draws
    simulated = ways.choose(
        np.tile(values, (20_000, 1)), k, ways.SUPPORT, mechanism.noise_scale, np.random.default_rng(0)
    )
    share = np.bincount(simulated.ravel(), minlength=8) / 20_000
    assert (np.abs(share - exact) < 4 * np.sqrt(0.25 / draws + 0.25 / 20_000)).all()


# --- Results --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_report_matches_the_results_and_the_page_shows_parts_of_it():
    text = report.of_results(benchmark.RESULTS)
    assert pages.text_of("benchmarks/selection/results/tables.md") == text
    real = pages.text_of("benchmarks/selection/results/real_tables.md")
    assert len(pages.shown_in(pages.text_of("docs/evidence/selection.md"), text + real)) == 2


def test_no_statistic_finds_more_functions_than_the_first_one():
    """On average over all tables with the same numbers of rows and features and epsilon, as the docs say."""
    leads = pandas.read_csv(benchmark.RESULTS / "leads.csv")
    of_functions = leads[leads["experiment"] == "functions"]
    assert len(of_functions) == 15 * 7 * (len(STATISTICS) - 1)
    before = of_functions["score"] == NOTHING_KNOWN
    assert of_functions[~before]["lead"].min() > -0.005
    # With nothing learnt it finds more only where hardly anything is found.
    assert of_functions[before]["lead"].min() > -0.04
    ahead = of_functions[before & (of_functions["lead"] < -0.01)]
    assert (ahead["n"] * ahead["epsilon"]).max() <= 30


# --- Headlines ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_quick_run_finds_what_the_docs_say(tmp_path):
    """Shares of 2 tables with 400 trials each: given the tables, their standard error is below 0.5 / sqrt(800) = 0.018.

    The trials and the noise are the same for all statistics, so a difference mostly has a smaller error than assumed
    below.
    """
    frame, _, no_function, wide = benchmark.main(["--quick", "--output", str(tmp_path)])
    for name in report.PICTURES:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    of_difference = 0.018 * np.sqrt(2)
    keys = ["n", "d", "score", "mechanism", "epsilon"]
    cells = frame.groupby(keys)[["recall", *relationships.SHAPES]].mean()

    def share(score, mechanism, epsilon, n=10_000, d=100, of="recall"):
        return cells.loc[(n, d, score, mechanism, epsilon), of]

    # MTVr is never behind, and far ahead where noise is large.
    for n, d, epsilon in product((1000, 10_000), (20, 100), (0.1, 1.0, 10.0)):
        best = max(share(score, ways.SUPPORT, epsilon, n, d) for score in STATISTICS)
        assert share("MTVr", ways.SUPPORT, epsilon, n, d) > best - 0.03 - 3 * of_difference
    assert share("MTVr", ways.SUPPORT, 1.0, n=1000) > 0.98 - 3 * 0.018
    assert share("MTVr", ways.SUPPORT, 0.1) > 0.99 - 3 * 0.018
    for rival in ("MICr", "Kendall", "Spearman", "covariance", "binned MI"):
        assert share("MTVr", ways.SUPPORT, 0.1) > share(rival, ways.SUPPORT, 0.1) + 0.1
    # Shapes that are not functions: the finest checkerboard is hidden from MTVr, but not from MICr.
    shapes = no_function.groupby(keys)[list(no_functions.SHAPES)].mean().loc[(3000, 100)]
    assert shapes.loc[("MTVr", ways.SUPPORT, 1.0)].drop("16 x 16 squares").min() > 0.8
    assert shapes.loc[("MTVr", "none", np.inf), "16 x 16 squares"] < 0.2
    assert shapes.loc[("MICr", "none", np.inf), "16 x 16 squares"] > 0.7

    recall = wide.groupby(["of", "score", "width"])["recall"].mean()
    assert recall["features", "MTVr", 100] > recall["features", "MICr", 100] + 0.2
