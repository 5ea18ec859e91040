"""The rivals keep to their sensitivities, the simulations of the benchmark have the right law, its headlines hold."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import mutual_info_score

pytest.importorskip("matplotlib", reason="the benchmark draws with matplotlib")
pytest.importorskip("pandas", reason="the benchmark keeps its results with pandas")
pytest.importorskip("tqdm", reason="the benchmark shows progress with tqdm")

import pandas

from benchmarks.selection import __main__ as benchmark
from benchmarks.selection import relationships, report, rivals, ways
from benchmarks.selection.rivals import Table
from skdpmic import DPMICScorer, DPMICSelector
from skdpmic.datasets import relationship
from skdpmic.privacy.top_k import OneShotTopK

ROOT = Path(__file__).parents[1]
ERROR = 1e-9  # far above the rounding of two scores, far below any gap that matters


def square(x, y):
    """A table of one feature, or of several columns, all between -1 and 1."""
    X = np.asarray(x, dtype=float).reshape(len(y), -1)
    return Table(X, np.asarray(y, dtype=float), np.full(X.shape[1], -1.0), np.full(X.shape[1], 1.0), (-1, 1))


def spearman(table):
    return rivals.spearman(table, np.random.default_rng(0).random((2, len(table.y))))


def thirds(table):
    return rivals.binned_information(table, n_parts=3)


def against_classes(table):
    """Information on two classes: the sign of the target."""
    return rivals.binned_information(table._replace(y=(table.y > 0).astype(float), target_bounds=None, n_classes=2), 3)


RIVALS = {
    "covariance": (rivals.covariance, rivals.covariance_sensitivity),
    "Kendall": (rivals.kendall, rivals.kendall_sensitivity),
    "Spearman": (spearman, rivals.spearman_sensitivity),
    "binned MI": (thirds, rivals.binned_information_sensitivity),
    "binned MI, two classes": (against_classes, lambda n: rivals.binned_information_sensitivity(n, 2)),
}

# --- Sensitivities --------------------------------------------------------------------------------------------------


def climb(score, n, seed, n_steps):
    """The largest change of a score that hill climbing finds: n - 1 records stay, one is replaced."""
    random = np.random.default_rng(seed)
    places = np.array([-1.0, -0.9, -0.3, 0.2, 0.7, 0.95, 1.0])
    records = random.choice(places, size=(n + 1, 2))  # the last two are the record before, and after

    def change(records):
        values = [score(square(*np.delete(records, gone, axis=0).T))[0] for gone in (n - 1, n)]
        return abs(values[0] - values[1])

    height = change(records)
    for _ in range(n_steps):
        step = records.copy()
        step[random.integers(n + 1), random.integers(2)] = random.choice(places)
        if (new := change(step)) >= height:
            records, height = step, new
    return height


@pytest.mark.parametrize("name", RIVALS)
@pytest.mark.parametrize("n, n_steps", [(5, 250), (9, 400), pytest.param(15, 2000, marks=pytest.mark.slow)])
def test_no_climb_beats_the_sensitivity_of_a_rival(name, n, n_steps):
    score, sensitivity = RIVALS[name]
    found = [climb(score, n, seed, n_steps) for seed in range(2)]
    assert max(found) <= sensitivity(n) + ERROR
    assert max(found) > 0.6 * sensitivity(n)  # the search does find its way


@pytest.mark.parametrize("n", [6, 101])
def test_the_sensitivities_of_the_rivals_are_attained(n):
    def change(score, before, after):
        return abs(score(square(*before)) - score(square(*after)))[0]

    ones, one_moved = np.ones(n), np.append(np.ones(n - 1), -1)
    assert change(rivals.covariance, (ones, ones), (one_moved, one_moved)) == pytest.approx(4 * (n - 1) / n**2)

    order = np.arange(n) / n
    top_is_least = np.append(order[:-1], -1)
    assert change(rivals.kendall, (order, order), (order, top_is_least)) == pytest.approx(4 / n)
    assert 4 / n > 2 / (n - 1)  # the published sensitivity
    assert change(spearman, (order, order), (order, top_is_least)) == pytest.approx(6 / (n + 1))


def test_the_published_sensitivity_of_kendall_is_exceeded_by_climbing():
    assert climb(rivals.kendall, 9, 0, 400) > 2 / (9 - 1) + 0.05


@pytest.mark.parametrize("n", [5, 9])
def test_binned_information_attains_its_sensitivity(n):
    half = (n + 1) // 2  # one record shares its row with half of the others and its column with the other half
    x = np.array([-1.0] * half + [1.0] * (n - half))
    y = np.array([-1.0] + [1.0] * (half - 1) + [-1.0] * (n - half))
    x_after, y_after = np.append(0.0, x[1:]), np.append(0.0, y[1:])
    change = abs(thirds(square(x, y)) - thirds(square(x_after, y_after)))[0]
    assert change == pytest.approx(rivals.binned_information_sensitivity(n))


# --- Scores ---------------------------------------------------------------------------------------------------------


def test_rivals_are_what_their_names_say():
    random = np.random.default_rng(0)
    x, y = random.uniform(-1, 1, size=(2, 300))
    y = np.clip(x + y, -1, 1)
    table = square(x, y)
    assert rivals.covariance(table)[0] == pytest.approx(abs(np.cov(x, y, bias=True)[0, 1]))
    untied = square(x, 0.3 * y + 1e-3 * np.arange(300) / 300)
    assert spearman(untied)[0] == pytest.approx(abs(stats.spearmanr(x, untied.y).statistic))
    cells = [np.minimum(((v + 1) * 4).astype(int), 7) for v in (x, y)]
    assert rivals.binned_information(table, 8)[0] == pytest.approx(mutual_info_score(*cells) / np.log(2))


def test_kendall_counts_tied_pairs_as_zero():
    random = np.random.default_rng(1)
    x, y = random.integers(-2, 3, size=(2, 40)) / 2
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    assert rivals.kendall(square(x, y))[0] == pytest.approx(abs(signs.sum()) / (40 * 39))
    assert rivals.kendall(square(np.ones(40), y))[0] == 0


def test_spearman_of_two_constant_columns_is_that_of_chance():
    values = [
        rivals.spearman(square(np.ones(200), np.ones(200)), np.random.default_rng(s).random((2, 200))) for s in range(9)
    ]
    assert np.max(values) < 4 / np.sqrt(200)


# --- Simulations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["F6", "F13", "F21"])
def test_features_given_the_target_have_the_law_of_the_relationship(name):
    """Chi-square on an 8 x 8 grid, 20,000 draws, alpha = 0.001."""
    mixture, n = relationship(name, 0.5), 20_000
    x, y = mixture.sample(n, random_state=0).T
    drawn = relationships.draw_given_target(mixture, y, np.random.default_rng(0))
    counts = [np.histogram2d(v, y, bins=8, range=[[0, 1], [0, 1]])[0].ravel() for v in (x, drawn)]
    counts = np.array(counts)[:, np.sum(counts, axis=0) >= 10]
    assert stats.chi2_contingency(counts).pvalue > 0.001


def test_noise_features_are_true_ones_permuted():
    pool = relationships.make_pool(500, seed=0, n_noise=30)
    assert pool.X.shape == (500, 51)
    assert (np.sort(pool.X[:, 21]) == np.sort(pool.X[:, 0])).all()
    assert abs(np.corrcoef(pool.X[:, 21:].T, pool.y)[-1, :-1]).max() < 4.5 / np.sqrt(500)


def test_noise_and_grids_are_those_of_the_package():
    pool = relationships.make_pool(400, seed=0, n_noise=9)
    (n, d), public = pool.X.shape, {"bounds": (0, 1), "target_bounds": (0, 1)}
    fits = {
        ways.SUPPORT: DPMICSelector(k=5, epsilon=2.0, release="support", **public),
        ways.EVEN: DPMICScorer(epsilon=2.0, **public),
        ways.GAUSSIAN: DPMICScorer(epsilon=2.0, mechanism="gaussian", delta=ways.DELTA, **public),
    }
    for mechanism, estimator in fits.items():
        estimator.fit(pool.X, pool.y)
        grid = ways.grid_for("MICr", mechanism, 2.0, 5, d, n)
        assert grid == (estimator.B_, estimator.c_)
        scale = ways.noise_scale("MICr", mechanism, 2.0, 5, d, n)
        assert scale == pytest.approx(estimator.noise_scale_, rel=1e-6)


def test_simulated_choices_have_the_law_of_the_mechanism():
    """How often each of eight features is chosen, 600 exact draws; beyond 4 sigma once in 2,000 runs."""
    values, k, draws = np.linspace(0, 0.35, 8), 3, 600
    mechanism = OneShotTopK(k, 2**30 // 10)
    source = np.random.RandomState(0).bytes
    exact = np.bincount(np.ravel([mechanism.release(values, source) for _ in range(draws)]), minlength=8) / draws
    simulated = ways.choose(
        np.tile(values, (20_000, 1)), k, ways.SUPPORT, mechanism.noise_scale, np.random.default_rng(0)
    )
    share = np.bincount(simulated.ravel(), minlength=8) / 20_000
    assert (np.abs(share - exact) < 4 * np.sqrt(0.25 / draws + 0.25 / 20_000)).all()


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    computed = []

    def compute(name, repeat):
        computed.append((name, repeat))
        if len(computed) == 2:
            raise KeyboardInterrupt
        return [{"value": 1.0}]

    with pytest.raises(KeyboardInterrupt):
        benchmark.completed(tmp_path, compute, {"a": 2}, {})
    assert len(benchmark.completed(tmp_path, compute, {"a": 2}, {})) == 2
    assert computed == [("a", 0), ("a", 1), ("a", 1)]


# --- Results --------------------------------------------------------------------------------------------------------


def test_the_tables_of_the_docs_are_those_of_the_results():
    page = (ROOT / "docs" / "results_selection.md").read_text(encoding="utf-8")
    summary = pandas.read_csv(benchmark.RESULTS / "relationships.csv")
    tables = pandas.read_csv(benchmark.RESULTS / "tables.csv")
    for shown in (report.least_epsilon_table(summary), report.shapes_table(summary), report.models_table(tables)):
        assert shown in page


# --- Headlines ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_quick_form_finds_what_the_docs_say(tmp_path):
    """Shares of 2 tables with 400 trials each: given these, a standard error below 0.5 / sqrt(800) = 0.018."""
    pytest.importorskip("statsmodels", reason="one of the tables comes with statsmodels")
    frame, _ = benchmark.main(["--quick", "--output", str(tmp_path)])
    for name in ("scores", "mechanisms", "shapes", "by_relationship", "tables"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    cells = frame.groupby(["n", "d", "score", "mechanism", "epsilon"])[["recall", *relationships.SHAPES]].mean()
    margin = 4 * 0.018 * np.sqrt(2)  # of the difference of two shares

    def share(score, mechanism, epsilon, n=10_000, d=100, of="recall"):
        return cells.loc[(n, d, score, mechanism, epsilon), of]

    trends = ("covariance", "Kendall", "Spearman")
    of_waves = max(share(score, ways.SUPPORT, 1.0, of="waves") for score in trends)
    assert share("MICr", ways.SUPPORT, 1.0, of="waves") > of_waves + margin
    assert share("MICr", ways.SUPPORT, 1.0) > max(share(score, ways.SUPPORT, 1.0) for score in trends) + margin
    assert share("MICr", ways.SUPPORT, 1.0) > share("MICr", ways.EVEN, 1.0) + margin
    assert share("MICr", ways.GAUSSIAN, 1.0) > share("MICr", ways.EVEN, 1.0) + margin
    assert share("MICr", ways.SUPPORT, 1.0, d=20) > 0.9
    # Where a trend is all there is to find, ranks win at a small epsilon.
    assert share("Kendall", ways.SUPPORT, 0.1, of="monotone") > share("MICr", ways.SUPPORT, 0.1, of="monotone") + margin
