"""Attacks on more than the size of the noise: which doubles occur, a reused seed, scores beside a release of names.

Each attack succeeds on a mechanism broken in that way, and fails on the real one.
"""

import numpy as np
import pytest
from sklearn.base import clone

from skdpmic import DPMICScorer, PrivacyLeakWarning, mic_r, private_score
from skdpmic.privacy.mechanisms import GRID, to_grid
from skdpmic.statistics.sensitivity import mic_r_sensitivity
from tests.privacy.auditing import (
    float_laplace,
    float_laplace_can_give,
    off_the_grid,
    privacy_loss_at_least,
    scores_behind_one_seed,
)
from tests.select_names import SelectNames

EPSILON = 1.0
GRIDS = {"bounds": ((0, 1), (0, 1)), "B": 4, "c": 1}
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")  # one source continues from run to run

# --- Floating point ---------------------------------------------------------------------------------------------


def with_exact_noise(x, y, source, epsilon=EPSILON):
    return private_score(x, y, epsilon=epsilon, random_state=source, **GRIDS)


def with_exact_noise_on_ranks(x, y, source, epsilon=EPSILON):
    return private_score(x, y, statistic="mic_e", epsilon=epsilon, random_state=source, B=4)


def with_float_noise(x, y, source, epsilon=EPSILON):
    return np.clip(float_laplace(mic_r(x, y, **GRIDS), mic_r_sensitivity(len(y)) / epsilon, source), 0, 1)


def loss_from_which_doubles_occur(release, n=20):
    """All records in one corner, score 0; then one of them in the opposite corner. The event: a number that the
    textbook sampler cannot return for the score 0. alpha = 1e-2, 200 runs.
    """
    everyone, but_one = np.zeros(n), np.arange(n) // (n - 1)
    source = np.random.RandomState(0)

    def reveals_another_score(released):
        return 0 < released < 1 and not float_laplace_can_give(released, 0.0, mic_r_sensitivity(n) / EPSILON)

    return privacy_loss_at_least(
        lambda x: release(x, x, source), but_one, everyone, reveals_another_score, n_runs=200, alpha=1e-2
    )


@pytest.mark.slow
@seeded
def test_which_doubles_occur_reveals_nothing():
    assert loss_from_which_doubles_occur(with_exact_noise) <= EPSILON


def test_float_laplace_noise_is_detected_by_which_doubles_occur():
    assert loss_from_which_doubles_occur(with_float_noise) > 1.5 * EPSILON


def some_releases(release):
    """On tables of many kinds and sizes, at three epsilons."""
    rng = np.random.default_rng(0)
    source = np.random.RandomState(0)
    for n in (4, 7, 50, 333):
        x = rng.random(n)
        for y in (x, x**2, rng.random(n), np.zeros(n), np.round(x)):
            for epsilon in (0.3, 1, 30):
                yield release(x, y, source, epsilon)


@seeded
@pytest.mark.parametrize("release", [with_exact_noise, with_exact_noise_on_ranks])
def test_all_released_scores_are_on_one_grid_whatever_the_data(release):
    released = np.array(list(some_releases(release)))
    assert off_the_grid(released) == 0
    assert np.mean((released > 0) & (released < 1)) > 0.3


def test_float_laplace_noise_is_off_the_grid():
    assert off_the_grid(list(some_releases(with_float_noise))) > 15


# --- A reused seed ----------------------------------------------------------------------------------------------


def release_at_two_epsilons(random_state):
    """What clones of one scorer publish, as in a search over epsilon, and the noise-free scores in grid steps."""
    rng = np.random.default_rng(1)
    y = rng.random(400)
    X = np.column_stack([np.where(rng.random(400) < keep, y, rng.random(400)) for keep in (0.3, 0.5, 0.6)])
    scorer = DPMICScorer(bounds=(0, 1), target_bounds=(0, 1), B=12, c=5, random_state=random_state)
    fitted = [clone(scorer).set_params(epsilon=epsilon).fit(X, y) for epsilon in (10.0, 25.0)]
    grids = {"bounds": ((0, 1), (0, 1)), "B": 12, "c": 5, "correction": "miller-madow"}
    exact = to_grid([mic_r(column, y, **grids) for column in X.T])
    return *((scorer.scores_, scorer.noise_scale_) for scorer in fitted), exact.astype(np.int64)


def test_two_fits_with_one_seed_reveal_the_exact_scores_and_warn():
    with pytest.warns(PrivacyLeakWarning, match="Two fits with the same seed and different epsilon"):
        first, second, exact = release_at_two_epsilons(random_state=42)
    found = scores_behind_one_seed(first, second, seeds=range(100))  # the attacker does not know the seed
    np.testing.assert_array_equal(found, exact)


def test_two_fits_without_a_seed_do_not_give_away_the_scores(recwarn):
    first, second, exact = release_at_two_epsilons(random_state=None)
    assert not [warning for warning in recwarn if issubclass(warning.category, PrivacyLeakWarning)]
    assert scores_behind_one_seed(first, second, seeds=range(100)) is None
    assert (np.abs(first[0] / GRID - exact) > 1000).any()  # all three come that close with probability below 1e-10


# --- A release of names publishes nothing else -------------------------------------------------------------------


def test_a_release_of_names_leaves_no_scores():
    X = np.random.default_rng(0).random((20, 3))
    selector = SelectNames(k=1, bounds=(0, 1), target_bounds=(0, 1), B=4, c=1).fit(X, X[:, 0])
    assert sorted(selector.ranking_) == [1, 2, 2]  # nor the order of the features not chosen
    of_features = {name for name, value in vars(selector).items() if np.shape(value) == (3,)}
    assert of_features == {"null_scores_", "ranking_"}
    assert selector.null_scores_.tolist() == [0, 0, 0]  # functions of public numbers


# --- Before the private step ------------------------------------------------------------------------------------------
