"""The private rank statistics within strata: score, noise, payment, and audits that less noise fails."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import skdpmic
from skdpmic import BudgetError, BudgetLedger, PrivacyLeakWarning
from skdpmic.pairs import conditional, ranks
from skdpmic.privacy import mechanisms
from skdpmic.privacy.mechanisms import GRID
from skdpmic.statistics.ranks.conditional import conditional_kendall, conditional_spearman
from tests.privacy.auditing import privacy_loss_at_least
from tests.statistics.ranks.test_conditional_sensitivity import SCORES, SENSITIVITY, from_falling_to_rising

NAMES = list(SCORES)
LABELS = ["north", "south"]
seeded = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")


def private(name):
    return getattr(skdpmic, f"conditional_{name}_laplace")


def dependent(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return x, np.where(rng.random(n) < 0.5, x, rng.random(n)), rng.choice([*LABELS, "west"], size=n)


# --- The score --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 5, 100])
def test_infinite_epsilon_gives_the_score(n):
    x, y, strata = dependent(n)
    codes = np.unique(strata, return_inverse=True)[1]
    expected = [conditional_kendall(x, y, codes), conditional_spearman(x, y, codes)]
    assert [private(name)(x, y, strata, categories=LABELS, epsilon=math.inf) for name in NAMES] == expected


@pytest.mark.parametrize("name", NAMES)
def test_the_sign_is_kept_and_columns_of_any_kind_are_read(name):
    x, y, strata = dependent(300)
    public = {"categories": LABELS, "epsilon": math.inf}
    score = private(name)(x, y, strata, **public)
    assert score > 0.3
    assert private(name)(np.exp(x), -(y**3), strata, **public) == pytest.approx(-score, abs=2**-50)
    assert private(name)(y.tolist(), x.tolist(), strata.tolist(), **public) == score
    assert private(name)(x, y, strata == "north", categories=[False, True], epsilon=math.inf) != score


@pytest.mark.parametrize("name", NAMES)
def test_other_labels_and_missing_ones_are_two_more_strata(name):
    x, y, strata = dependent(300)
    strata = strata.astype(object)
    strata[::7] = None
    four = private(name)(x, y, strata, categories=LABELS, epsilon=math.inf)
    named = np.where(np.equal(strata, None), "none", strata)
    assert four == private(name)(x, y, named, categories=[*LABELS, "west", "none"], epsilon=math.inf)
    assert four != private(name)(x, y, named, categories=[*LABELS, "west and none"], epsilon=math.inf)


# --- The noise --------------------------------------------------------------------------------------------------


@seeded
@pytest.mark.parametrize("name", NAMES)
def test_noise_has_the_scale_of_the_sensitivity(name):
    # The median of |noise| is scale * ln 2. 400 releases, fixed seed: within 5 standard errors, which are at most
    # 1.5 / sqrt(400) of it; half or twice the noise is not.
    n, epsilon = 400, 2.0
    table, source = dependent(n), np.random.RandomState(0)
    score = private(name)(*table, categories=LABELS, epsilon=math.inf)
    released = np.array(
        [private(name)(*table, categories=LABELS, epsilon=epsilon, random_state=source) for _ in range(400)]
    )
    noise = np.abs(released - score)
    assert np.median(noise) == pytest.approx(SENSITIVITY[name](n) / epsilon * math.log(2), rel=0.375)


@pytest.mark.parametrize("name", NAMES)
def test_released_scores_are_on_the_grid_and_fresh_each_time(name):
    released = [private(name)(*dependent(100), categories=LABELS, epsilon=1) for _ in range(20)]
    assert all(isinstance(score, float) and (score + 1) % (2 * GRID) == 0 for score in released)
    assert len(set(released)) > 10


@pytest.mark.parametrize("name", NAMES)
def test_released_scores_keep_to_the_range_and_reach_both_ends_of_it(name):
    # Noise of scale 1e6: of either sign with probability 1/2, and beyond the range but for a chance of 1e-6.
    released = {private(name)(*dependent(4), categories=LABELS, epsilon=1e-6) for _ in range(60)}
    assert released == {-1.0, 1.0}


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_repeats_the_release_and_warns_at_the_call(name):
    with pytest.warns(PrivacyLeakWarning, match="random_state is set") as warned:
        one, again = (private(name)(*dependent(100), categories=LABELS, epsilon=3, random_state=1) for _ in range(2))
    assert one == again
    assert warned[0].filename == __file__


# --- Audits -----------------------------------------------------------------------------------------------------


def law_of_release(name, tables, epsilon, monkeypatch):
    """What the noise is added to, in grid steps, for each table, and its scale: the whole law of what is released."""
    drawn = []
    monkeypatch.setattr(
        mechanisms, "discrete_laplace", lambda scale, size, _: drawn.append(scale) or np.zeros(size, int)
    )
    released = [private(name)(*table, categories=[0, 1], epsilon=epsilon) for table in tables]
    assert len(set(drawn)) == 1
    return [(Fraction(score) + 1) / 2 / Fraction(GRID) for score in released], drawn[0]


def exact_loss(name, tables, epsilon, monkeypatch):
    """The privacy loss of integer steps with discrete Laplace noise: their largest distance over the scale."""
    steps, scale = law_of_release(name, tables, epsilon, monkeypatch)
    return (max(steps) - min(steps)) / scale


@pytest.mark.parametrize("n", [5, 6, 21, 200])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7])
@pytest.mark.parametrize("name", NAMES)
def test_the_worst_neighbours_lose_epsilon_and_no_more(name, epsilon, n, monkeypatch):
    loss = exact_loss(name, from_falling_to_rising(n), epsilon, monkeypatch)
    assert (1 - 1e-6) * epsilon < loss <= Fraction(repr(float(epsilon)))


def all_neighbours(n, n_strata):
    """Tables that share all records but the last, at all its places; the others differ, in ascending order of x."""
    places = [place - 0.5 for place in range(n)]
    for y, strata in product(permutations(range(n - 1)), product(range(n_strata), repeat=n - 2)):
        others = range(n - 1), y, (0, *strata)  # whichever stratum is called 0
        yield [
            tuple(np.append(column, value) for column, value in zip(others, last, strict=True))
            for last in product(places, places, range(n_strata))
        ]


@pytest.mark.parametrize("name", NAMES)
def test_all_neighbours_of_four_records_lose_no_more_than_epsilon(name, monkeypatch):
    losses = [exact_loss(name, tables, 1.0, monkeypatch) for tables in all_neighbours(4, 2)]
    assert len(losses) == 6 * 4
    assert 0.8 < max(losses) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_half_the_sensitivity_is_found_out(name, monkeypatch):
    monkeypatch.setattr(conditional, f"conditional_{name}_sensitivity", lambda n: SENSITIVITY[name](n) / 2)
    assert exact_loss(name, from_falling_to_rising(21), 1.0, monkeypatch) > 1.9


@pytest.mark.parametrize("name", NAMES)
def test_the_sensitivity_of_one_stratum_is_found_out(name, monkeypatch):
    of_all = {"kendall": lambda n: 4 / n, "spearman": lambda n: 6 / (n + 1)}
    monkeypatch.setattr(conditional, f"conditional_{name}_sensitivity", of_all[name])
    assert exact_loss(name, from_falling_to_rising(21), 1.0, monkeypatch) > 1.25


def test_the_published_bound_that_is_too_small_is_found_out(monkeypatch):
    # Priv-PC, Theorem 7: 4.5 / sqrt(n - 1) for z, which is 1.5 sqrt(n) times the score in large strata.
    monkeypatch.setattr(
        conditional, "conditional_kendall_sensitivity", lambda n: 4.5 / math.sqrt(n - 1) / (1.5 * math.sqrt(n))
    )
    assert exact_loss("kendall", from_falling_to_rising(201), 1.0, monkeypatch) > 1.9


@seeded
@pytest.mark.slow
@pytest.mark.parametrize("name", ["kendall", "spearman"])
def test_half_the_noise_is_found_out_by_sampling(name):
    # The chance of a release no less than the higher of two scores that are apart by the sensitivity, in 300 runs each:
    # a half, and exp(-epsilon) of that. alpha = 1e-2, fixed seed.
    here, there = sorted(from_falling_to_rising(21), key=lambda table: -SCORES[name](*table))
    highest = SCORES[name](*here)

    def loss(epsilon):
        source = np.random.RandomState(0)

        def release(table):
            return private(name)(*table, categories=[0, 1], epsilon=epsilon, random_state=source)

        return privacy_loss_at_least(release, here, there, lambda score: score >= highest, 300, 1e-2)

    assert 1 / 4 < loss(epsilon=1.0) <= 1
    assert loss(epsilon=2.0) > 1


# --- Payment and errors -----------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "ledger.db", 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_the_ledger_is_charged_before_the_score_is_computed(name, ledger, monkeypatch):
    table = dependent(50)
    private(name)(*table, categories=LABELS, epsilon=0.75, ledger=ledger)
    (entry,) = ledger.entries()
    assert (entry.what, entry.epsilon, entry.n, entry.d) == (f"conditional_{name}_laplace", 0.75, 50, 1)
    monkeypatch.setattr(conditional, f"conditional_{name}", None)
    with pytest.raises(BudgetError):
        private(name)(*table, categories=LABELS, epsilon=0.5, ledger=ledger)
    with pytest.raises(TypeError, match="not callable"):
        private(name)(*table, categories=LABELS, epsilon=0.25, ledger=ledger)
    assert [entry.epsilon for entry in ledger.entries()] == [0.75, 0.25]


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"epsilon": 0}, "epsilon must be a number > 0, and at least 1e-100, got 0"),
        ({"x": [1, 2, 3], "y": [1, 2, 3], "strata": [1, 2, 3]}, "x and y must hold at least 4 samples"),
        ({"x": [1, 2, 3, 86.75]}, "x and y must have the same length, got 4 and 5"),
        ({"y": [1, 2, 3, 86.75, math.nan]}, "y must be finite, got NaN or infinity"),
        ({"strata": [1, 2, 86.75]}, "strata must have as many entries as x and y, got 3 and 5"),
        ({"strata": np.array([86.75] * 5), "categories": ["a", "b"]}, "strata must hold text, as categories do"),
        ({"categories": [1]}, "categories must be a list or array of at least 2 different labels"),
        ({"categories": "data"}, "categories must be a list or array of at least 2 different labels"),
        ({"ledger": "a file"}, "ledger must be a BudgetLedger or None, got 'a file'"),
        ({"random_state": -1}, "random_state must be None, an int in"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_are_not_allowed_are_refused_and_cost_nothing(name, ledger, changed, message):
    five = [1, 2, 3, 4, 5]
    arguments = {"x": five, "y": five, "strata": five, "categories": [1, 2], "epsilon": 1.0, "ledger": ledger}
    with pytest.raises(ValueError, match=message) as caught:
        private(name)(**(arguments | changed))
    assert "8675" not in str(caught.value).replace(".", "")
    assert ledger.entries() == []


@pytest.mark.parametrize("name", NAMES)
def test_more_records_than_64_bits_allow_are_refused(name, monkeypatch):
    monkeypatch.setattr(ranks, "MAX_RECORDS", 9)
    with pytest.raises(ValueError, match="scores can be computed of at most 9 records, got n_samples=10"):
        private(name)(*dependent(10), categories=LABELS, epsilon=1.0)
