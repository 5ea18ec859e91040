"""Theorem 1 and the table of docs/theory/people.md: how far replacing all records of one person moves a score.

A table holds masses with sum 1. One person has a mass of ``share``, and the others have R, so replacing the person
turns R + A into R + A'. Other tests show how far single records move the scores, such as ``test_sensitivity.py``.
"""

import math

import mpmath
import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import NumericTargetScorer
from skdpmic.statistics.sensitivity import (
    mic_r_group_sensitivity,
    mic_r_sensitivity,
)
from tests.folding import each
from tests.privacy.searches import ERROR, LOG3, MM, UNIT, all_tables, information, joined, largest_change
from tests.statistics.mic.test_closed_family import ADJACENT, ALL, MERGES, TWO

E = math.log2(math.e)
MANY = 200  # people: from here on, the theorem needs no third term


def entropy(p):
    """h(p), in bits."""
    return -(p * np.log2(np.maximum(p, 1e-300)) + (1 - p) * np.log2(np.maximum(1 - p, 1e-300)))


# --- The formula --------------------------------------------------------------------------------------------------


@each("n_groups", [2, 3, 5, 10, 50, 199, 200, 201, 1000, 12_345, 10**6])
@each("m", [2, 3, 4, 7, 20, 1000])
def test_the_sensitivity_is_the_least_of_the_bounds_rounded_up(n_groups, m):
    def h(p):
        return -p * mpmath.log(p, 2) - (1 - p) * mpmath.log(1 - p, 2)

    with mpmath.workdps(50):
        share = mpmath.mpf(1) / n_groups
        at_once = 2 * h(share / 2)
        if n_groups < MANY:
            at_once = max(at_once, 2 * h(share) / mpmath.log(3, 2) + share)
        exact = min(m * h(share / m), at_once, mpmath.mpf(1))
        assert exact <= mpmath.mpf(mic_r_group_sensitivity(n_groups, m)) <= exact * (1 + mpmath.mpf("1e-12"))


# --- All tables -----------------------------------------------------------------------------------------------------


@each("shape, n", [((2, 2), n) for n in (6, 12, 21, 30, 48)] + [((2, 3), 9), ((2, 3), 16), ((2, 4), 9)])
def test_with_two_parts_m_records_change_the_score_by_no_more_than_two_halves_of_them(shape, n):
    tables, moves = all_tables(shape, n)
    for m in range(1, n // 2 + 1):
        change = largest_change(information(tables), moves, m)
        in_halves = entropy(-(-m // 2) / n) + entropy(m // 2 / n)
        assert change <= in_halves + ERROR <= 2 * entropy(m / n / 2) + 2 * ERROR
        if n % m == 0:
            assert change <= mic_r_group_sensitivity(n // m, m) + ERROR
        if m == 1:
            assert change == pytest.approx(in_halves, abs=ERROR)


@pytest.mark.parametrize("n, merges", [(10, ALL), (10, TWO), pytest.param(12, ADJACENT, marks=pytest.mark.slow)])
def test_in_a_closed_family_two_records_change_the_score_by_no_more_than_their_person_may(n, merges):
    tables, moves = all_tables((3, 3), n)
    scores = information(tables) / LOG3
    for pair in merges:
        scores = np.maximum(scores, information(joined(tables, MERGES[pair], (0, 1, 2))))
    one, two = (largest_change(scores, moves, m) for m in (1, 2))
    assert one <= mic_r_group_sensitivity(n, 1) + ERROR
    assert mic_r_sensitivity(n) * 1.5 < two <= mic_r_group_sensitivity(n // 2, 2) + ERROR


def nearly_attained(n, m, corner):
    """The change when m of n records leave a cell, in which `corner` records stay, for two others."""
    others = np.array([[0, corner], [n - m - corner, 0]])
    here, there = others + np.array([[[0, m], [0, 0]], [[m - m // 2, 0], [0, m // 2]]])
    return float(abs(np.diff(information(np.array([here, there])))[0]))


@pytest.mark.parametrize("share, attained", [(0.1, 0.915), (0.01, 0.984), (1e-3, 0.996), (1e-4, 0.999)])
def test_the_bound_is_nearly_attained(share, attained):
    n = 10**7
    m = round(share * n)
    largest = max(nearly_attained(n, m, round(factor * math.sqrt(m * n))) for factor in np.linspace(0.3, 2.0, 200))
    assert largest / (2 * entropy(share / 2)) == pytest.approx(attained, abs=1e-3)
    assert largest <= mic_r_group_sensitivity(round(1 / share), 2)


# --- Random tables --------------------------------------------------------------------------------------------------


def random_masses(rng, size, shape, total):
    """Masses with sum `total` (an array of shape (size,)), many of them near 0."""
    masses = rng.gamma(10 ** rng.uniform(-2, 0.5, (size, 1, 1)), size=(size, *shape)) + 1e-12
    masses *= rng.random((size, *shape)) < rng.uniform(0.3, 1, (size, 1, 1))
    masses[:, 0, 0] += 1e-12
    return masses * (total / masses.sum(axis=(1, 2)))[:, None, None]


@each("shape", [(2, 2), (2, 3), (2, 6), (3, 3), (3, 5), (4, 4), (5, 7)])
def test_one_grid_changes_by_no_more_than_the_lemmas_say(shape):
    rng, parts = np.random.default_rng(0), min(shape)
    share = np.exp(rng.uniform(*np.log((1e-5, 0.9)), 2000))
    rest, removed, added = (random_masses(rng, 2000, shape, total) for total in (1 - share, share, share))
    change = np.abs(information(rest + removed) - information(rest + added)) / math.log2(parts)
    bound = 2 * entropy(share / 2) if parts == 2 else 2 * entropy(share) / math.log2(parts) + share
    assert (change <= bound + ERROR).all()


def both_sides(share):
    """Kappa and both sides of the last inequality, which must not hold."""
    kappa = 3 * share ** (1 - LOG3) * math.e ** (LOG3 * (1 - share / 2) - 2)
    left = E * (kappa - 12 + 6 * math.log(6 / (kappa - 6)))
    return kappa, left, LOG3 / (LOG3 - 1) * (math.log2(3 / share) + E)


def test_the_last_inequality_fails_for_200_or_more_people():
    _, left, right = both_sides(1 / 190)
    assert left < right  # it may hold for fewer people
    kappa, left, right = both_sides(1 / MANY)
    assert (left, right) == pytest.approx((29.9, 28.9), abs=0.05)
    # From there on the left side rises faster in the logarithm of the number of people, since kappa only grows.
    assert E * (1 - 6 / (kappa - 6)) * kappa * (LOG3 - 1) > 5 * LOG3 / (LOG3 - 1) * E
    for n_groups in np.geomspace(MANY, 1e12, 1000):
        kappa, left, right = both_sides(1 / n_groups)
        assert kappa > 12
        assert left > right


# --- Hill climbing --------------------------------------------------------------------------------------------------

POSITIONS = (np.arange(12) + 0.5) / 12


def climb_records(rng, n_groups, m, n_steps, correction):
    """The largest change of the package's score if one of `n_groups` people with m records each is replaced."""

    def score(places):
        x, y = POSITIONS[places.T]
        return NumericTargetScorer(y, UNIT, 12, 2, correction=correction).score(x, UNIT)

    def change(parts):
        rest, removed, added = parts
        return score(np.concatenate([rest, removed])) - score(np.concatenate([rest, added]))

    n_rest = (n_groups - 1) * m
    corner = max(1, round(math.sqrt(n_groups) * m))  # where the bound for two parts is nearly attained
    rest = np.array([(0, 11)] * corner + [(11, 0)] * (n_rest - corner))
    state = [rest, np.tile([0, 0], (m, 1)), np.tile([0, 11], (m, 1))]
    state[1][m // 2 :] = 11
    best = change(state)
    for _ in range(n_steps):
        trial = [part.copy() for part in state]
        part = trial[rng.integers(3)]
        few = rng.integers(len(part), size=rng.integers(1, 1 + max(1, len(part) // 4)))
        part[few] = rng.integers(12, size=2)
        value = change(trial)
        if value >= best:
            best, state = value, trial
    return best


@pytest.mark.parametrize("correction", [None, MM])
@pytest.mark.parametrize("n_groups, m", [(20, 2), (20, 5), (200, 3)])
@pytest.mark.combinations
def test_hill_climbing_over_records_never_exceeds_the_sensitivity(n_groups, m, correction):
    largest = climb_records(np.random.default_rng(0), n_groups, m, 300, correction)
    assert largest <= mic_r_group_sensitivity(n_groups, m) + ERROR
    if correction is None and m > 2:
        assert largest > mic_r_sensitivity(n_groups) * (1.0 if n_groups > 100 else 0.8)
