"""The share of features that a plan says will be found is what simulations find."""

import csv
import math
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from skdpmic import plan_release
from skdpmic.planning.chances import SHARES, TABLE, chance_chosen, miss_probability, share_found
from skdpmic.privacy.cube_law import CubeLaw
from skdpmic.privacy.mechanisms import GaussianMechanism, KNormMechanism, LaplaceMechanism
from skdpmic.privacy.noise import entropy_source
from skdpmic.release.kinds import BestFeatures, NoisyScores
from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.table.shape import Shape
from tests.planning.test_plan import rebuilt

LAWS = {"laplace": stats.laplace, "normal": stats.norm, "exponential": stats.expon, "gumbel": stats.gumbel_r}


def share_in_trials(true, noise, k, law, n_trials, random):
    """Share of the k true features among the k best with noise; scores of shape (n_features,) or (n_trials, ...)."""
    scores = np.hstack([np.broadcast_to(part, (n_trials, part.shape[-1])) for part in (true, noise)])
    noisy = scores + law.rvs(size=scores.shape, random_state=random)
    return np.mean(np.argsort(-noisy, axis=1)[:, :k] < true.shape[-1])


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scale", [0.01, 0.1, 0.4])
@pytest.mark.combinations
def test_the_chance_is_that_of_simulated_choices(name, scale):
    # 20,000 trials of 3 features: a standard error of 0.002, and as much from representing a law by few values.
    random, law = np.random.default_rng(1), LAWS[name](scale=scale)
    laws = np.linspace(0.2, 0.8, 5), np.linspace(0, 0.4, 5)
    true, noise = random.choice(laws[0], (20_000, 3)), random.choice(laws[1], (20_000, 17))
    expected = share_in_trials(true, noise, 3, law, 20_000, random)
    assert chance_chosen(*laws, np.full(5, 0.2), 2, 17, 3, law) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("n_features, k", [(1, 1), (2, 1), (10, 1), (10, 4), (10, 9), (100, 5)])
@pytest.mark.combinations
def test_a_perfect_score_is_missed_as_often_as_said(name, n_features, k):
    random, others = np.random.default_rng(2), max(n_features, 2) - 1
    for scale in (0.1, 0.5, 3.0):
        law = LAWS[name](scale=scale)
        noisy = law.rvs(size=(20_000, others + 1), random_state=random)
        noisy[:, 0] += 1
        expected = np.mean((noisy[:, 1:] > noisy[:, :1]).sum(axis=1) >= k)
        missed, at_random = miss_probability(n_features, k, law)
        assert missed == pytest.approx(expected, abs=0.015)  # four standard errors
        assert at_random == 1 - k / (others + 1)


def share_in_cubes(true, noise, k, law, random):
    """As above, with noise of one vector for each trial."""
    scores = np.hstack([true, noise])
    noisy = scores + law.vectors(len(scores), random)
    return np.mean(np.argsort(-noisy, axis=1)[:, :k] < true.shape[1])


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("std", [0.05, 0.15, 0.5])
def test_the_chance_under_noise_in_a_cube_is_that_of_simulated_choices(std, d):
    # 20,000 trials: a standard error of 0.003, and as much from few cubes and few values.
    random, law = np.random.default_rng(1), CubeLaw(d, std / CubeLaw(d, 1.0).std())
    laws = np.linspace(0.2, 0.8, 5), np.linspace(0, 0.4, 5)
    true, noise = random.choice(laws[0], (20_000, 2)), random.choice(laws[1], (20_000, d - 2))
    expected = share_in_cubes(true, noise, 2, law, random)
    assert chance_chosen(*laws, np.full(5, 0.2), 1, d - 2, 2, law) == pytest.approx(expected, abs=0.012)


@pytest.mark.parametrize("n_features, k", [(2, 1), (10, 4), (100, 5)])
def test_a_perfect_score_is_missed_as_often_as_said_under_noise_in_a_cube(n_features, k):
    random = np.random.default_rng(2)
    for std in (0.1, 0.5, 3.0):
        law = CubeLaw(n_features, std / CubeLaw(n_features, 1.0).std())
        noisy = law.vectors(20_000, random)
        noisy[:, 0] += 1
        expected = np.mean((noisy[:, 1:] > noisy[:, :1]).sum(axis=1) >= k)
        assert miss_probability(n_features, k, law)[0] == pytest.approx(expected, abs=0.015)  # four standard errors


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    "n_features, k",
    [(2, 1), (10, 4), pytest.param(10, 9, marks=pytest.mark.slow), pytest.param(60, 5, marks=pytest.mark.slow)],
)
@pytest.mark.combinations
def test_a_perfect_score_is_missed_as_often_as_said_where_noise_is_drawn_for_each_choice(name, n_features, k):
    random = np.random.default_rng(2)
    for scale in (0.1, 0.5, 3.0):
        law, missed_so_far = LAWS[name](scale=scale), np.ones(20_000, dtype=bool)
        for n_left in range(n_features, n_features - k, -1):
            noisy = law.rvs(size=(20_000, n_left), random_state=random)
            missed_so_far &= 1 + noisy[:, 0] < noisy[:, 1:].max(axis=1)
        missed, at_random = miss_probability(n_features, k, law, draws_anew=True)
        assert missed == pytest.approx(missed_so_far.mean(), abs=0.015)  # four standard errors
        assert at_random == 1 - k / n_features


def test_without_noise_nothing_perfect_is_missed_and_in_noise_it_is_a_matter_of_luck():
    for law in LAWS.values():
        assert miss_probability(20, 5, law(scale=1e-4))[0] < 1e-9
        missed, at_random = miss_probability(20, 5, law(scale=1e4))
        assert missed == pytest.approx(at_random, abs=0.01)


@pytest.mark.slow
def test_more_noise_and_more_features_find_less():
    for statistic in STATISTICS:
        for n_classes in (None, 2):
            shares = [
                share_found(statistic, 3000, n_classes, 50, 5, stats.laplace(scale=s)) for s in np.geomspace(1e-3, 10)
            ]
            assert all(np.diff(shares) < 1e-3)
            assert shares[-1] == pytest.approx(5 / 50, abs=0.02)
            of_sizes = [
                share_found(statistic, 3000, n_classes, d, 5, stats.laplace(scale=0.05)) for d in (5, 10, 100, 1000)
            ]
            assert of_sizes[0] == pytest.approx(1.0)
            assert all(np.diff(of_sizes) < 0)


def test_what_was_not_simulated_is_not_stated():
    law = stats.laplace(scale=0.1)
    for n_samples, n_classes in ((99, None), (1000, 3), (99, 2)):
        assert math.isnan(share_found("mtv_r", n_samples, n_classes, 10, 2, law))
    assert share_found("mtv_r", 10**6, None, 10, 2, law) == share_found("mtv_r", 10**5, None, 10, 2, law)
    assert sum(SHARES) == pytest.approx(1)
    assert math.isnan(plan_release(n_samples=500, n_features=9, epsilon=1, k=2, max_rows_per_group=2)[0].found)


def fresh_scores(n, n_noise, n_classes, n_tables, seed):
    """Scores without noise of new tables, by statistic and what is spent on the target: (true, noise) of each table."""
    found = pytest.importorskip("benchmarks.selection.found")
    tables = defaultdict(list)
    for repeat in range(n_tables):
        for key, true, noise in found.scores_of_table(n, seed + repeat, n_classes, n_noise, n_targets=1):
            tables[key].append((true, noise))
    return tables


@pytest.mark.slow
def test_real_mechanisms_find_the_share_that_a_row_states():
    # Between entries of the table of scores; 240 trials in 20 new tables, of 10 features: a standard error of 0.01.
    random, source = np.random.default_rng(3), entropy_source(3)
    tables = fresh_scores(700, 30, None, n_tables=20, seed=10**9)
    plan = plan_release(n_samples=700, n_features=40, k=10, error=0.4, delta=1e-3)
    rows = [row for row in plan if row.statistic == "mic_r"]
    assert {row.mechanism for row in rows} == {"laplace", "gaussian", "k-norm", "one-shot", "exponential"}
    for row in rows:
        mechanism, shares = rebuilt(row, None)[1], []
        for true, noise in tables[row.statistic, None] * 12:
            released = mechanism.release(np.concatenate([random.choice(true, 10, replace=False), noise]), source)
            chosen = released if row.release == "names" else released[1][:10]
            shares.append(np.mean(chosen < 10))
        assert np.mean(shares) == pytest.approx(row.found, abs=0.05)
        assert 0.3 < row.found < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("n, n_classes", [(1000, None), (500, 2)])
def test_the_table_of_scores_is_what_its_command_makes(n, n_classes):
    found = pytest.importorskip("benchmarks.selection.found")
    with TABLE.open(encoding="utf-8") as file:
        kept = [row for row in csv.reader(file) if row[1::2][:2] == [str(n_classes or 0), str(n)]]
    made = [list(map(str, row)) for row in found.rows(n, n_classes, list(found.STATISTICS))]
    assert [row[:5] for row in made] == [row[:5] for row in kept]
    values = (np.array([row[5:] for row in rows], dtype=float) for rows in (made, kept))
    np.testing.assert_allclose(*values, rtol=1e-3, atol=1e-6)  # the digits that are kept


@pytest.mark.slow
@pytest.mark.parametrize(
    "n, d, k, n_tables, n_classes",
    [
        (130, 12, 2, 100, None),
        (130, 12, 2, 100, 2),
        (600, 50, 3, 40, None),
        (5000, 200, 5, 10, 2),
        (40_000, 60, 10, 6, None),
    ],
)
def test_the_share_stated_is_within_five_hundredths_of_simulations_off_the_table(n, d, k, n_tables, n_classes):
    # Standard errors over tables are below 0.015.
    random = np.random.default_rng(4)
    for (statistic, on_target), tables in fresh_scores(n, d - k, n_classes, n_tables, seed=2 * 10**9).items():
        for make_law in LAWS.values():
            for scale in (0.003, 0.01, 0.03, 0.1, 0.3):
                law = make_law(scale=scale)
                shares = [
                    share_in_trials(random.permuted(np.tile(true, (100, 1)), axis=1)[:, :k], noise, k, law, 100, random)
                    for true, noise in tables
                ]
                said = share_found(statistic, n, n_classes, d, k, law, on_target or math.inf)
                # What is learnt of a target is drawn once a table, so that tables differ by more.
                error = 0 if on_target is None else 3 * np.std(shares) / math.sqrt(n_tables)
                assert np.mean(shares) == pytest.approx(said, abs=0.05 + error)


@pytest.mark.slow
def test_the_share_stated_is_that_of_every_cell_of_the_choice_benchmark():
    found, ways = (pytest.importorskip(f"benchmarks.selection.{name}") for name in ("found", "ways"))
    releases = {
        ways.SUPPORT: lambda epsilon, d: partial(BestFeatures, epsilon, 0.0, 5),
        ways.EVEN: lambda epsilon, d: partial(NoisyScores, epsilon, 0.0, LaplaceMechanism, d),
        ways.CUBE: lambda epsilon, d: partial(NoisyScores, epsilon, 0.0, KNormMechanism, d),
        ways.GAUSSIAN: lambda epsilon, d: partial(NoisyScores, epsilon, ways.DELTA, GaussianMechanism, d),
    }
    names = {label: name for name, label in found.STATISTICS.items()}
    results = Path(found.__file__).parent / "results" / "relationships.csv"
    n_cells = 0
    with results.open(encoding="utf-8") as file:
        for cell in csv.DictReader(file):
            if cell["score"] in names and cell["mechanism"] in releases:
                n, d, epsilon, statistic = int(cell["n"]), int(cell["d"]), float(cell["epsilon"]), names[cell["score"]]
                way = releases[cell["mechanism"]](epsilon, d)(learns=statistic == "mtv_r")
                measure = way.measure(statistic_named(statistic, "miller-madow"), "auto", "auto", n, None)
                law = way.mechanism(measure, Shape(n, [(0.0, 1.0)] * d)).law
                on_target = n * float(way.epsilon_of_target) or math.inf
                said = share_found(statistic, n, None, d, 5, law, on_target)
                assert said == pytest.approx(float(cell["recall"]), abs=0.06)
                n_cells += 1
    assert n_cells == 2520
