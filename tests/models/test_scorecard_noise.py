"""Noise of scorecards: sensitivities by exhaustive search, exact budgets, and the distribution of the factor."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic.models.model_releases import (
    FACTOR_SHARE,
    STEPS,
    TOTAL_SHARE,
    ScorecardNoise,
    ScorecardRelease,
    losses_in_steps,
    share_of_tables,
)
from skdpmic.models.parts import GRID, MEAN_SHARE, WINDOW_SHARE
from skdpmic.privacy.composition import rho_for
from skdpmic.privacy.noise import entropy_source

SIZES = (2, 3)
NUMBERS = [Fraction(-1, 2), Fraction(-1, 8), Fraction(0), Fraction(1, 2)]


def indicators(record):
    return [np.eye(size, dtype=int)[code] for size, code in zip(SIZES, record, strict=True)]


def class_tables(record, c):
    return np.concatenate([np.outer(one, np.eye(3, dtype=int)[c]).ravel() for one in indicators(record)]), []


def number_tables(record, t):
    return np.concatenate(indicators(record)), np.concatenate([one * t for one in indicators(record)])


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("kind, targets", [("classes", range(3)), ("numbers", NUMBERS)])
@pytest.mark.parametrize("rows", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_the_noise_covers_exactly_the_largest_change_of_all_tables(norm, kind, targets, rows):
    """At the scales used, the costliest change uses exactly the share of the budget that is for the tables."""
    tables = [{"classes": class_tables, "numbers": number_tables}[kind](record, t)
              for record in product(*map(range, SIZES)) for t in targets]  # fmt: skip
    changes = [
        (rows * (np.array(a, dtype=object) - b), rows * (np.array(s, dtype=object) - t))
        for a, s in tables
        for b, t in tables
    ]
    n_classes, delta = (3 if kind == "classes" else None), 0.0 if norm == 1 else 1e-6
    noise = ScorecardNoise.for_budget(1.0, delta, len(SIZES), n_classes, rows)
    scale, share = noise.count_scale, share_of_tables(n_classes is None)
    if norm == 1:
        most = max(sum(abs(c)) / scale + 2 * sum(abs(s)) / scale for c, s in changes)
        assert most == share
    else:
        most = max(sum(c**2) / (2 * scale) + 4 * sum(s**2) / (2 * scale) for c, s in changes)
        assert most == share * Fraction(rho_for(1.0, 1e-6))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("epsilon", [1.0, 100.0])
def test_the_stated_deviations_are_those_of_the_noise(epsilon, delta):
    """Counts are integers, so that little noise is even less than continuous noise; sums are in fine steps."""
    noise = ScorecardNoise.for_budget(epsilon, delta, 5, None)
    draw, zeros = entropy_source(0), np.zeros(20_000, dtype=np.int64)
    drawn = [
        (noise.noise_scale, noise.on_counts(zeros, draw)),
        (noise.sum_scale, noise.on_counts(zeros, draw, Fraction(GRID, 2)) / GRID),
        (noise.step_scale, noise.on_counts(zeros, draw, GRID) / GRID),
        (noise.total_deviation, np.concatenate([noise.on_total(0, GRID, draw) for _ in range(2000)]) / GRID),
    ]
    for stated, z in drawn:
        # Four standard errors of standard deviations of Laplace noise, of 2,000 draws, or of 20,000 that are mostly 0
        assert z.std() == pytest.approx(stated, rel=0.1 if len(z) == 2000 else 0.04), len(z)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("rows", [1, 4])
def test_the_factor_costs_at_most_its_share(delta, rows):
    noise = ScorecardNoise.for_budget(0.5, delta, 5, 2, rows)
    share = FACTOR_SHARE * Fraction(1, 2) if delta == 0 else None
    epsilon_2 = Fraction(2 * STEPS * rows) / noise.choice_scale
    if delta == 0:
        assert epsilon_2 <= share
    else:
        assert epsilon_2**2 / 2 <= FACTOR_SHARE * Fraction(rho_for(0.5, delta))


@pytest.mark.parametrize("rows", [1, 4])
def test_the_total_of_numbers_costs_its_share_and_all_shares_add_up_to_one(rows):
    most = rows * max(abs(t - s) for t in NUMBERS for s in NUMBERS)
    assert most / ScorecardNoise.for_budget(0.5, 0.0, 5, None, rows).total_scale == TOTAL_SHARE / 2
    variance = ScorecardNoise.for_budget(0.5, 1e-6, 5, None, rows).total_scale
    assert most**2 / (2 * variance) == TOTAL_SHARE * Fraction(rho_for(0.5, 1e-6))
    assert (
        share_of_tables(True) + FACTOR_SHARE + TOTAL_SHARE + WINDOW_SHARE == 1 == share_of_tables(False) + FACTOR_SHARE
    )


@pytest.mark.slow
def test_the_factor_is_distributed_as_in_the_exponential_mechanism():
    """4,000 draws; chi-squared at alpha = 1e-6, 2 degrees of freedom."""
    noise = ScorecardNoise("geometric", Fraction(1), 1000)
    losses, before = np.array([3000, 2000, 2500]), np.array([0.0, 1.0, 0.5])
    draw = entropy_source(1)
    found = np.bincount([noise.choose(losses, before, draw) for _ in range(4000)], minlength=3)
    expected = np.exp(-losses / 1000 - before)
    expected *= 4000 / expected.sum()
    assert ((found - expected) ** 2 / expected).sum() < 27.6


def test_the_ledger_is_charged_for_independent_releases():
    for of_numbers, is_bent in ((False, False), (True, False), (True, True)):
        release, part = ScorecardRelease(1.0, 0.0, 10, of_numbers, is_bent), share_of_tables(of_numbers, is_bent) / 10
        others = TOTAL_SHARE**2 + WINDOW_SHARE**2 * Fraction(5, 36) if of_numbers else 0
        others += MEAN_SHARE**2 if is_bent else 0
        squares = 10 * part**2 + FACTOR_SHARE**2 + others
        assert release.cost.epsilon == 1.0
        assert release.cost.in_zcdp == pytest.approx(float(squares) / 2, rel=1e-12)
        assert release.cost.in_zcdp >= squares / 2
        assert ScorecardRelease(1.0, 1e-6, 10, of_numbers).cost.rho == rho_for(1.0, 1e-6)


@pytest.mark.parametrize("are_classes", [True, False])
def test_the_loss_of_a_record_is_within_its_steps_and_independent_of_other_records(are_classes):
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=30.0, size=(200, 3 if are_classes else 1))
    truth = np.eye(3)[rng.integers(0, 3, 200)] if are_classes else rng.choice([-0.5, 0.0, 0.5], (200, 1))
    each = [losses_in_steps(truth[i : i + 1], scores[i : i + 1], are_classes) for i in range(200)]
    assert min(each) >= 0
    assert max(each) <= STEPS
    assert losses_in_steps(truth, scores, are_classes) == sum(each)
