"""The pictures that explain the guarantee show what the theorems say, and the attack is as strong as possible."""

import numpy as np
import pytest
from scipy.stats import binom

pytest.importorskip("matplotlib", reason="the benchmark draws with matplotlib")

from benchmarks import attack, explain
from skdpmic import DPMICScorer
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import LaplaceMechanism, grid_sensitivity
from skdpmic.statistics.sensitivity import mtv_r_sensitivity

ALPHA = 1e-6  # of each statistical test; all seeds are fixed

# --- Two neighbouring distributions -----------------------------------------------------------------------------------


def test_the_picture_shows_the_scores_of_two_neighbouring_tables():
    """One of 100 rows is replaced, and moves the score as far as any row can."""
    answers, target = np.repeat([1, 1, 0, 0], [33, 17, 17, 33]), np.repeat([0, 1, 0, 1], [33, 17, 17, 33])
    found = []
    for first in (0, 1):
        answers[0] = first
        scorer = DPMICScorer(statistic="mtv_r", epsilon=np.inf, bounds=(0, 1), classes=[0, 1], target_shares=[0.5, 0.5])
        found.append(scorer.fit(answers[:, np.newaxis], target).scores_[0])
    assert found == pytest.approx(explain.SCORES)


def test_the_distribution_in_the_picture_matches_the_noise_that_is_drawn():
    """10,000 draws, in 23 intervals: each share within the binomial quantiles at alpha / 23."""
    n, probabilities = 10_000, explain.published_distribution(0.3)
    steps = grid_sensitivity(mtv_r_sensitivity(explain.N_ROWS, knows_target_shares=True), 0)
    drawn, _ = LaplaceMechanism.for_budget(budget_of(explain.EPSILON), 1, steps).release(
        np.full(n, 0.3), np.random.default_rng(0).bytes
    )
    counts = np.histogram(drawn, explain.EDGES)[0]
    lower, upper = binom.ppf([[ALPHA / 46], [1 - ALPHA / 46]], n, probabilities)
    assert ((lower <= counts) & (counts <= upper)).all()


# --- The attack -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.37, 0.5, 0.61])
def test_the_attacker_computes_the_same_scores_as_the_package(share):
    answers, diagnoses = attack.random_table(np.random.default_rng(0))
    scorer = DPMICScorer(
        statistic="mtv_r", epsilon=np.inf, bounds=(0, 1), classes=[0, 1], target_shares=[1 - share, share]
    )
    found = scorer.fit(answers, diagnoses).scores_
    np.testing.assert_allclose(attack.scores_of(answers, diagnoses, share), found, atol=1e-8)


def test_the_attacker_knows_how_likely_each_name_is():
    """100,000 choices: each share within the binomial quantiles at alpha / 4."""
    n, scores, rng = 100_000, np.array([0.3, 0.32, 0.1, 0.28]), np.random.default_rng(0)
    probabilities = attack.name_probabilities(scores, 0.05)
    assert probabilities.sum() == pytest.approx(1, abs=1e-5)
    chosen = (scores + rng.exponential(0.05, (n, 4))).argmax(axis=1)
    lower, upper = binom.ppf([[ALPHA / 8], [1 - ALPHA / 8]], n, probabilities)
    counts = np.bincount(chosen, minlength=4)
    assert ((lower <= counts) & (counts <= upper)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:noise will exceed the signal")
def test_the_attack_succeeds_on_select_k_best_but_not_on_noise_at_epsilon_1():
    """60 tables: at most 44 right guesses on average, and above 59 with probability below alpha."""
    n, epsilon = 60, 1.0
    right = attack.attack(n, epsilon, seed=0)
    assert right["SelectKBest"] == n
    assert right["PrivateSelectKBest"] <= binom.isf(ALPHA, n, explain.max_share_right(epsilon))


@pytest.mark.slow
def test_all_pictures_are_drawn(tmp_path):
    explain.main(["--output", str(tmp_path)])
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"neighbours.png", "trust.png", "guess.png", "attack.png"}
