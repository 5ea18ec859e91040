"""The private rank statistics of one pair: score, noise, payment, and audits that less noise fails."""

import math
from fractions import Fraction

import numpy as np
import pytest

import skdpmic
from skdpmic import BudgetError, BudgetLedger, PrivacyLeakWarning
from skdpmic.pairs import ranks
from skdpmic.privacy import mechanisms
from skdpmic.privacy.mechanisms import GRID
from skdpmic.statistics.ranks.kernels import (
    chatterjee,
    distance_correlation,
    kendall,
    mid_ranks,
    spearman,
    strict_ranks,
)
from tests.privacy.auditing import off_the_grid, privacy_loss_at_least
from tests.statistics.ranks.test_sensitivity import SENSITIVITY, compiled_only, corner, tilted, valley

NAMES = list(SENSITIVITY)
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")


def private(name):
    return getattr(skdpmic, f"{name}_laplace")


def dependent(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return x, np.where(rng.random(n) < 0.5, x, rng.random(n))


# --- The score --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 5, 100])
def test_infinite_epsilon_gives_the_score(n):
    x, y = dependent(n)
    mid, strict = (mid_ranks(x), mid_ranks(y)), (strict_ranks(x, x), strict_ranks(y, y))
    expected = [kendall(*mid), spearman(*mid), chatterjee(*strict), distance_correlation(*strict)]
    assert [private(name)(x, y, epsilon=math.inf) for name in NAMES] == expected


@pytest.mark.parametrize("name", NAMES)
def test_only_the_order_counts_and_x_and_y_can_change_places(name):
    x, y = dependent(200)
    score = private(name)(x, y, epsilon=math.inf)
    assert private(name)(np.exp(9 * x), -(y**3), epsilon=math.inf) == pytest.approx(score, abs=2**-50)
    assert private(name)(y.tolist(), x.tolist(), epsilon=math.inf) == score
    assert private(name)(1000 * x.astype(np.float32) > 500, y, epsilon=math.inf) > 0.1  # truth values are numbers


@pytest.mark.parametrize("name", NAMES)
def test_columns_of_ties_do_not_look_dependent(name):
    x, labels = np.zeros(2000), np.arange(2000) % 2
    assert private(name)(x, x, epsilon=math.inf) < 0.1
    assert private(name)(x, np.arange(2000), epsilon=math.inf) < 0.1
    assert private(name)(labels, np.arange(2000) // 1000, epsilon=math.inf) < 0.1


def test_equal_values_are_put_in_a_new_random_order_each_time():
    x, y = np.random.default_rng(0).integers(5, size=(2, 500))
    for name in ("chatterjee", "distance_correlation"):
        assert len({private(name)(x, y, epsilon=math.inf) for _ in range(10)}) > 1
    for name in ("kendall", "spearman"):
        assert len({private(name)(x, y, epsilon=math.inf) for _ in range(10)}) == 1


# --- The noise --------------------------------------------------------------------------------------------------


@seeded
@pytest.mark.parametrize("name", NAMES)
def test_noise_has_the_scale_of_the_sensitivity(name):
    # The median of |noise| is scale * ln 2. 400 releases, fixed seed: within 5 standard errors, which are at most
    # 1.5 / sqrt(400) of it; half or twice the noise is not.
    n, epsilon = 400, 2.0
    x, y = dependent(n)
    source = np.random.RandomState(0)
    released = np.array([private(name)(x, y, epsilon=epsilon, random_state=source) for _ in range(400)])
    noise = np.abs(released - private(name)(x, y, epsilon=math.inf))
    assert np.median(noise) == pytest.approx(SENSITIVITY[name](n) / epsilon * math.log(2), rel=0.375)


@pytest.mark.parametrize("name", NAMES)
def test_released_scores_are_on_the_grid_and_fresh_each_time(name):
    x, y = dependent(100)
    released = [private(name)(x, y, epsilon=1) for _ in range(20)]
    assert off_the_grid(released) == 0
    assert len(set(released)) > 10
    assert all(isinstance(score, float) for score in released)


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_repeats_the_release_and_warns_at_the_call(name):
    x, y = np.random.default_rng(0).integers(5, size=(2, 100))
    with pytest.warns(PrivacyLeakWarning, match="random_state is set") as warned:
        one, again = (private(name)(x, y, epsilon=3, random_state=1) for _ in range(2))
    assert one == again
    assert warned[0].filename == __file__


# --- Audits -----------------------------------------------------------------------------------------------------

NEIGHBOURS = {
    "kendall": corner(20),
    "spearman": corner(20),
    "chatterjee": valley(20),
    "distance_correlation": tilted(30_000, edge=0.03),
}
SEEN = {"distance_correlation": 0.56}  # what part of epsilon neighbours are known to lose, 1 for the others


def scores_and_scale(name, tables, epsilon, monkeypatch):
    """What the noise is added to, in grid steps, and the scale of the noise: the whole law of what is released."""
    drawn = []
    monkeypatch.setattr(
        mechanisms, "discrete_laplace", lambda scale, size, _: drawn.append(scale) or np.zeros(size, int)
    )
    steps = [Fraction(private(name)(x, y, epsilon=epsilon)) / Fraction(GRID) for x, y in tables]
    assert drawn[0] == drawn[1]
    return steps, drawn[0]


def exact_loss(name, epsilon, monkeypatch):
    """The privacy loss of integer steps with discrete Laplace noise: their distance over the scale."""
    (here, there), scale = scores_and_scale(name, NEIGHBOURS[name], epsilon, monkeypatch)
    return abs(here - there) / scale


@compiled_only
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7])
@pytest.mark.parametrize("name", NAMES)
def test_the_worst_neighbours_lose_epsilon_and_no_more(name, epsilon, monkeypatch):
    loss = exact_loss(name, epsilon, monkeypatch)
    assert SEEN.get(name, 1 - 1e-6) * epsilon < loss <= Fraction(repr(float(epsilon)))


@compiled_only
@pytest.mark.parametrize("name", NAMES)
def test_half_the_sensitivity_is_found_out(name, monkeypatch):
    monkeypatch.setattr(ranks, f"{name}_sensitivity", lambda n: SENSITIVITY[name](n) / 2)
    assert exact_loss(name, 1.0, monkeypatch) > 1.1


def test_the_published_bounds_that_are_too_small_are_found_out(monkeypatch):
    monkeypatch.setattr(ranks, "kendall_sensitivity", lambda n: 2 / (n - 1))  # Priv-PC, Theorem 6
    assert exact_loss("kendall", 1.0, monkeypatch) > 1.8


def is_one(score):
    return score == 1


@seeded
def test_half_the_noise_is_found_out_by_sampling():
    # Score 1, and 1 less the sensitivity: the chance of a released 1, in 300 runs each; alpha = 1e-2, fixed seed.
    def loss(epsilon):
        source = np.random.RandomState(0)

        def release(table):
            return skdpmic.kendall_laplace(*table, epsilon=epsilon, random_state=source)

        return privacy_loss_at_least(release, *corner(20), is_one, 300, 1e-2)

    assert 1 / 4 < loss(epsilon=1.0) <= 1
    assert loss(epsilon=2.0) > 1


# --- Payment and errors -----------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "ledger.db", 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_the_ledger_is_charged_before_the_score_is_computed(name, ledger, monkeypatch):
    x, y = dependent(50)
    private(name)(x, y, epsilon=0.75, ledger=ledger)
    (entry,) = ledger.entries()
    assert (entry.what, entry.epsilon, entry.n, entry.d) == (f"{name}_laplace", 0.75, 50, 1)
    monkeypatch.setattr(ranks, "mid_ranks", None)  # what is computed first
    monkeypatch.setattr(ranks, "_strict_ranks_of", None)
    with pytest.raises(BudgetError):
        private(name)(x, y, epsilon=0.5, ledger=ledger)
    with pytest.raises(TypeError, match="not callable"):
        private(name)(x, y, epsilon=0.25, ledger=ledger)
    assert [entry.epsilon for entry in ledger.entries()] == [0.75, 0.25]


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"epsilon": 0}, "epsilon must be a number > 0, and at least 1e-100, got 0"),
        ({"epsilon": math.nan}, "epsilon must be a number > 0"),
        ({"x": [1, 2, 3], "y": [1, 2, 3]}, "x and y must hold at least 4 samples, got n_samples=3"),
        ({"x": [1, 2, 3, 86.75]}, "x and y must have the same length, got 4 and 5"),
        ({"y": [1, 2, 3, 86.75, math.nan]}, "y must be finite, got NaN or infinity"),
        ({"x": [1, 2, 3, 86.75, math.inf]}, "x must be finite, got NaN or infinity"),
        ({"x": [[86.75]] * 5}, r"x must be 1-dimensional, got an array of shape \(5, 1\)"),
        ({"y": list("abcde")}, "y must hold real numbers, got dtype"),
        ({"random_state": -1}, "random_state must be None, an int in"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_are_not_allowed_are_refused_and_cost_nothing(name, ledger, changed, message):
    arguments = {"x": [1, 2, 3, 4, 5], "y": [1, 2, 3, 4, 5], "epsilon": 1.0} | changed
    for whose in (ledger, None):
        with pytest.raises(ValueError, match=message) as caught:
            private(name)(**arguments, ledger=whose)
        assert "8675" not in str(caught.value).replace(".", "")
    assert ledger.entries() == []


@pytest.mark.parametrize("name", NAMES)
def test_a_ledger_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match="ledger must be a BudgetLedger or None, got 'a file'"):
        private(name)(*dependent(10), epsilon=1.0, ledger="a file")


def test_more_records_than_64_bits_allow_are_refused(ledger, monkeypatch):
    monkeypatch.setattr(ranks, "MAX_RECORDS", 9)
    for name in NAMES:
        with pytest.raises(ValueError, match="scores can be computed of at most 9 records, got n_samples=10"):
            private(name)(*dependent(10), epsilon=1.0, ledger=ledger)
    assert ledger.entries() == []
