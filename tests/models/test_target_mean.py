"""Predictions add up to the target, in its own units, whatever its axis: exactly without noise, or within it."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic import PrivateAdditiveRegressor
from skdpmic.models import model_releases as scorecard
from skdpmic.models.model_releases import FACTOR_SHARE, TOTAL_SHARE, ScorecardNoise, share_of_tables
from skdpmic.models.parts import GRID, MEAN_SHARE, WINDOW_SHARE, Octaves, numbers_at, share_besides
from skdpmic.privacy.composition import rho_for
from skdpmic.table.domains import domain_of

pytestmark = pytest.mark.filterwarnings("ignore:noise will exceed the signal", "ignore:delta is")

AXES = [
    (0, 1e6, "log"), (1, 1e9, "log"), (-1e4, 1e6, "log"), (-1e6, -1, "log"), (0, 0.01, "log"), (0, 1e300, "log"),
    (0, 10, 1000, 1e5), (-50, 0, 10, 1e4),
]  # fmt: skip
SKEWED = {
    "log-normal": lambda rng, n: 1000 * rng.lognormal(0, 1.2, n),
    "gamma": lambda rng, n: rng.gamma(0.5, 2000, n),
    "Pareto": lambda rng, n: 500 * (rng.pareto(2.5, n) + 1),
    "half are zero": lambda rng, n: rng.choice([0.0, 1.0], n) * rng.gamma(1.0, 2000, n),
}


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_the_sums_cost_their_share_and_no_less(axis, rows):
    """By exhaustion over pairs of targets near all ends of bins: two sums, each of which changes by 2 at most."""
    octaves = Octaves.of(domain_of(axis, "target_bounds"))
    ends = [octaves.anchor + side * upper for side in octaves.sides for upper in octaves.uppers[-6:]]
    each = [octaves.sums(np.array([y])).ravel() / GRID for y in [*ends, *np.multiply(ends, 1.01), octaves.anchor]]
    changes = [a - b for a, b in product(each, each)]
    most_1, most_2 = max(abs(c).sum() for c in changes), max((c**2).sum() for c in changes)
    assert (most_1, most_2) == (2, 2)
    pure, concentrated = (ScorecardNoise.of_mean(0.5, delta, rows).count_scale for delta in (0.0, 1e-6))
    assert 2 * int(most_1) * rows / pure == MEAN_SHARE / 2
    assert 2 * int(most_2) * rows**2 / (2 * concentrated) == MEAN_SHARE * Fraction(rho_for(0.5, 1e-6))
    assert share_of_tables(True, True) + FACTOR_SHARE + TOTAL_SHARE + WINDOW_SHARE + MEAN_SHARE == 1
    assert share_besides(True, True) == WINDOW_SHARE + MEAN_SHARE


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_fit_draws_this_noise_for_all_rows_of_a_person(delta, monkeypatch):
    drawn = []
    monkeypatch.setattr(scorecard, "with_noise", lambda draw, scale, sums, *_: [drawn.append(scale), sums][1])
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(900, 2)), rng.lognormal(3, 1, 900)
    model = PrivateAdditiveRegressor(1.0, delta, bounds=(0, 1), target_bounds=AXES[0], max_rows_per_group=3)
    model.fit(X, y, groups=np.arange(900) // 3)
    expected = ScorecardNoise.of_mean(1.0, delta, 3).count_scale
    assert drawn[-1] == expected * (GRID**2 if delta else GRID)


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_each_record_is_summed_by_itself(axis):
    domain = domain_of(axis, "target_bounds")
    octaves, rng = Octaves.of(domain), np.random.default_rng(0)
    numbers = numbers_at(domain, rng.uniform(*domain.encoded, 50))
    np.testing.assert_array_equal(octaves.sums(numbers), sum(octaves.sums(numbers[i : i + 1]) for i in range(50)))
    mean = octaves.mean(octaves.sums(numbers) / GRID, 50, ScorecardNoise.of_mean(math.inf, 0.0))
    assert octaves.anchor + mean == pytest.approx(numbers.mean(), rel=1e-3)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_without_noise_predictions_add_up_to_the_target_on_every_axis(axis, delta):
    domain, rng = domain_of(axis, "target_bounds"), np.random.default_rng(1)
    X = rng.uniform(size=(2000, 3))
    lower, upper = domain.encoded
    position = lower + (upper - lower) * np.clip(0.3 + 0.2 * X[:, 0] + 0.08 * rng.normal(size=2000), 0.01, 0.99)
    y = numbers_at(domain, position)
    model = PrivateAdditiveRegressor(math.inf, delta, bounds=(0, 1), target_bounds=axis).fit(X, y)
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=5e-3, abs=5e-3 * abs(y).mean())


@pytest.mark.parametrize("name", SKEWED)
@pytest.mark.parametrize("epsilon, delta, room", [(2.0, 1e-6, 0.12), (4.0, 0.0, 0.12)])
def test_the_total_of_a_skewed_target_is_predicted_within_the_noise(name, epsilon, delta, room):
    """Ten fits to 10,000 records: without the correction, totals are 0.2 to 0.9 of the truth, by family."""
    shares = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(10_000, 3))
        y = SKEWED[name](rng, 10_000) * np.exp(X[:, 0])
        model = PrivateAdditiveRegressor(epsilon, delta, bounds=(0, 1), target_bounds=(0, 1e6, "log")).fit(X, y)
        shares.append(model.predict(X).sum() / y.sum())
    assert abs(np.mean(shares) - 1) < room / 2
    assert np.max(np.abs(np.array(shares) - 1)) < 3 * room
