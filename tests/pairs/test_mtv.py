"""`mtv_r_laplace`: the noise that the sensitivity asks for, paid first, and errors that cost nothing."""

import math

import numpy as np
import pytest

from skdpmic import BudgetError, BudgetLedger, PrivacyLeakWarning, mtv_r, mtv_r_laplace
from skdpmic.pairs import mtv
from skdpmic.privacy import mechanisms
from skdpmic.privacy.mechanisms import GRID, grid_sensitivity, scale_for_budget
from skdpmic.statistics.mtv.counts import ROUNDING_ERROR, CountsScorer
from skdpmic.statistics.mtv.sensitivity import mtv_r_sensitivity
from tests.privacy.auditing import off_the_grid, privacy_loss_at_least
from tests.privacy.laws import laplace_p_value

ALPHA = 1e-2
BOUNDS = ((0, 1), (0, 1))
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    x = rng.random(300)
    return x, (x + 1.2 * rng.random(300)) / 2.2


# --- Noise ------------------------------------------------------------------------------------------------------


@seeded
@pytest.mark.parametrize("epsilon", [1.0, pytest.param(3, marks=pytest.mark.slow)])
def test_released_scores_have_the_noise_of_the_sensitivity(pair, epsilon):
    # alpha = 1e-3, n = 1,000, fixed seed; half or twice the noise has a p-value of 0.
    source = np.random.RandomState(0)
    released = [mtv_r_laplace(*pair, epsilon=epsilon, bounds=BOUNDS, random_state=source) for _ in range(1000)]
    score = mtv_r(*pair, bounds=BOUNDS)
    scale = scale_for_budget(epsilon, grid_sensitivity(mtv_r_sensitivity(300), ROUNDING_ERROR))
    assert 0.3 < score < 0.7  # nothing is cut off at 0 or 1
    assert scale * GRID == pytest.approx(4 * 299 / 300**2 / epsilon, rel=1e-5)
    assert off_the_grid(released) == 0
    noise = (np.array(released) / GRID).astype(np.int64) - math.floor(score / GRID)
    assert laplace_p_value(noise, scale) > 1e-3
    for wrong in (scale / 2, scale * 2):
        assert laplace_p_value(noise, wrong) < 1e-12


def test_the_noise_covers_the_rounding_error(pair, monkeypatch):
    scales = []

    def draw(scale, size, source):
        scales.append(scale)
        return np.zeros(size, dtype=object)

    monkeypatch.setattr(mechanisms, "discrete_laplace", draw)
    for error in (ROUNDING_ERROR, 2.0**-10):
        monkeypatch.setattr(CountsScorer, "rounding_error", error)
        mtv_r_laplace(*pair, epsilon=1, bounds=BOUNDS)
    assert scales == [grid_sensitivity(mtv_r_sensitivity(300), error) for error in (ROUNDING_ERROR, 2.0**-10)]
    assert scales[1] - scales[0] == pytest.approx(2 * 2.0**-10 / GRID, abs=2)


def lone_record(n=50):
    """All records in one corner, score 0; then one of them in the opposite corner, as far off as the sensitivity."""
    x, x_other = np.zeros(n), np.zeros(n)
    x_other[-1] = 1
    return (x, x), (x_other, x_other)


def audited_loss(epsilon):
    """What is lost, at alpha = 0.01, by 700 runs on each table; half the noise is found out with probability 0.95."""
    source = np.random.RandomState(0)
    here, there = lone_record()
    return privacy_loss_at_least(
        lambda table: mtv_r_laplace(*table, epsilon=epsilon, bounds=BOUNDS, random_state=source),
        here,
        there,
        lambda score: score == 0,
        700,
        ALPHA,
    )


@seeded
def test_no_more_than_epsilon_is_lost_and_half_the_noise_is_found_out():
    assert 0.25 < audited_loss(1.0) <= 1.0
    assert audited_loss(2.0) > 1.0  # says 1, has the noise of 2


def test_infinite_epsilon_is_the_score_without_privacy(pair):
    for B, c in ((12, 3), (0.5, 8.5)):
        expected = mtv_r(*pair, bounds=BOUNDS, B=B, c=c)
        assert mtv_r_laplace(*pair, epsilon=math.inf, bounds=BOUNDS, B=B, c=c) == expected
    assert mtv_r_laplace(*pair, epsilon=math.inf, bounds=BOUNDS) == mtv_r(*pair, bounds=BOUNDS)


def test_a_seed_warns_where_the_function_was_called_and_repeats_the_noise(pair):
    with pytest.warns(PrivacyLeakWarning) as caught:
        first = mtv_r_laplace(*pair, epsilon=1, bounds=BOUNDS, random_state=5)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(PrivacyLeakWarning):
        assert mtv_r_laplace(*pair, epsilon=1, bounds=BOUNDS, random_state=5) == first
    assert mtv_r_laplace(*pair, epsilon=1, bounds=BOUNDS) != first


# --- The ledger -------------------------------------------------------------------------------------------------


def test_the_budget_is_paid_before_anything_is_computed(pair, tmp_path, monkeypatch):
    ledger = BudgetLedger(tmp_path / "budget.db", 1.0)
    mtv_r_laplace(*pair, epsilon=0.75, bounds=BOUNDS, ledger=ledger)
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.delta) == (0.75, 0.0)

    monkeypatch.setattr(mtv, "AgainstNumbers", None)  # calling it fails
    with pytest.raises(BudgetError):
        mtv_r_laplace(*pair, epsilon=0.75, bounds=BOUNDS, ledger=ledger)
    with pytest.raises(TypeError):
        mtv_r_laplace(*pair, epsilon=0.25, bounds=BOUNDS, ledger=ledger)
    assert sum(entry.epsilon for entry in ledger.entries()) == 1.0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"epsilon": 0}, "epsilon must be a number > 0"),
        ({"x": np.full(3, 0.8675), "y": np.zeros(3)}, "at least 4 samples, got n_samples=3"),
        ({"x": np.full((5, 2), 0.8675)}, "x must be 1-dimensional"),
        ({"y": np.array([0.8675, np.nan, 0, 0])}, "y must be finite"),
        ({"bounds": ((0, 1), (1, 1))}, "bounds of y must be finite"),
        ({"B": 2}, "B must be a number >= 4"),
        ({"B": "best"}, "B must be a number >= 4"),
        ({"c": "big"}, "c must be a number > 0"),
        ({"random_state": "seed"}, "random_state must be None, an int"),
    ],
)
def test_bad_arguments_are_refused_and_cost_nothing(pair, tmp_path, change, message):
    ledger = BudgetLedger(tmp_path / "budget.db", 1.0)
    arguments = {"x": pair[0], "y": pair[1], "epsilon": 0.5, "bounds": BOUNDS, "ledger": ledger} | change
    with pytest.raises(ValueError, match=message) as caught:
        mtv_r_laplace(**arguments)
    assert "8675" not in str(caught.value)
    assert ledger.entries() == []


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, "1"])
def test_a_bad_epsilon_is_refused_without_a_ledger_too(pair, epsilon):
    with pytest.raises(ValueError, match="epsilon must be a number > 0"):
        mtv_r_laplace(*pair, epsilon=epsilon, bounds=BOUNDS)


def test_what_is_no_ledger_is_refused(pair):
    with pytest.raises(ValueError, match="ledger must be a BudgetLedger"):
        mtv_r_laplace(*pair, epsilon=1, bounds=BOUNDS, ledger="budget.db")
