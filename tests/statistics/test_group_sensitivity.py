"""Theorem 1 and the table of docs/theory/people.md: how far replacing all records of one person moves a score.

A table holds masses with sum 1. One person has a mass of ``share``, and the others have R, so replacing the person
turns R + A into R + A'. Other tests show how far single records move the scores, such as ``test_sensitivity.py``.
"""

import math
from itertools import product

import mpmath
import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import NumericTargetScorer
from skdpmic.statistics.sensitivity import (
    group_sensitivity,
    kendall_sensitivity,
    mic_r_group_sensitivity,
    mic_r_sensitivity,
)
from tests.folding import each
from tests.statistics.mic.test_closed_family import ADJACENT, ALL, LOG3, TWO, all_tables, information, merged

ERROR = 1e-9  # far above rounding, far below any gap that matters
E = math.log2(math.e)
MANY = 200  # people: from here on, the theorem needs no third term


def entropy(p):
    """h(p), in bits."""
    return -(p * np.log2(np.maximum(p, 1e-300)) + (1 - p) * np.log2(np.maximum(1 - p, 1e-300)))


def g(masses):
    return masses * np.log2(np.maximum(masses, 1e-300))


def information_of_masses(tables):
    """Mutual information in bits, of tables of shape (..., n_rows, n_columns) with sum 1."""
    margins = g(tables.sum(axis=-1)).sum(axis=-1) + g(tables.sum(axis=-2)).sum(axis=-1)
    return g(tables).sum(axis=(-1, -2)) - margins


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


@each("n", [*range(2, 300), 1000, 10**6, 2**31])
def test_with_one_record_per_person_the_sensitivity_is_that_of_a_record(n):
    assert mic_r_group_sensitivity(n, 1) == mic_r_sensitivity(n)
    assert group_sensitivity(kendall_sensitivity(n), 1) == kendall_sensitivity(n)


@pytest.mark.parametrize("n, m", list(product([4, 10, 1000, 10**7], [1, 2, 3, 10, 1000])))
def test_rank_statistics_move_m_times_as_far_but_by_no_more_than_one(n, m):
    with mpmath.workdps(50):
        exact = min(m * mpmath.mpf(kendall_sensitivity(n)), mpmath.mpf(1))
        assert exact <= mpmath.mpf(group_sensitivity(kendall_sensitivity(n), m)) <= exact * (1 + mpmath.mpf("1e-15"))


# --- All tables -----------------------------------------------------------------------------------------------------


def largest_changes(scores, moves, most):
    """The largest change of the score between tables that are 1, 2, ... `most` moves of a record apart."""
    here, there = np.concatenate([moves, moves[::-1]], axis=1)
    reached, changes = scores, []
    for _ in range(most):
        further = reached.copy()
        np.maximum.at(further, here, reached[there])
        reached = further
        changes.append((reached - scores).max())
    return changes


@each("shape, n", [((2, 2), n) for n in (6, 12, 21, 30, 48)] + [((2, 3), 9), ((2, 3), 16), ((2, 4), 9)])
def test_with_two_parts_m_records_change_the_score_by_no_more_than_two_halves_of_them(shape, n):
    tables, moves = all_tables(shape, n)
    for m, change in enumerate(largest_changes(information(tables), moves, n // 2), start=1):
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
        scores = np.maximum(scores, information(merged(tables, 1, pair)))
    one, two = largest_changes(scores, moves, 2)
    assert one <= mic_r_group_sensitivity(n, 1) + ERROR
    assert mic_r_sensitivity(n) * 1.5 < two <= mic_r_group_sensitivity(n // 2, 2) + ERROR


def nearly_attained(n, m, corner):
    """The change when m of n records leave a cell, in which `corner` records stay, for two others."""
    others = np.array([[0, corner], [n - m - corner, 0]])
    here, there = others + np.array([[[0, m], [0, 0]], [[m - m // 2, 0], [0, m // 2]]])
    return float(abs(np.diff(information(np.array([here, there])))[0]))


@each("m", range(2, 30))
def test_h_of_the_share_is_too_small_for_any_number_of_records_above_one(m):
    n = 10_000 * m
    assert nearly_attained(n, m, round(math.sqrt(m * n))) > entropy(m / n) * 1.02


@pytest.mark.parametrize("share, attained", [(0.1, 0.915), (0.01, 0.984), (1e-3, 0.996), (1e-4, 0.999)])
def test_the_bound_is_nearly_attained(share, attained):
    n = 10**7
    m = round(share * n)
    largest = max(nearly_attained(n, m, round(factor * math.sqrt(m * n))) for factor in np.linspace(0.3, 2.0, 200))
    assert largest / (2 * entropy(share / 2)) == pytest.approx(attained, abs=1e-3)
    assert largest <= mic_r_group_sensitivity(round(1 / share), 2)


# --- Random tables: each inequality of the proof --------------------------------------------------------------------


def random_masses(rng, size, shape, total):
    """Masses with sum `total` (an array of shape (size,)), many of them near 0."""
    masses = rng.gamma(10 ** rng.uniform(-2, 0.5, (size, 1, 1)), size=(size, *shape)) + 1e-12
    masses *= rng.random((size, *shape)) < rng.uniform(0.3, 1, (size, 1, 1))
    masses[:, 0, 0] += 1e-12
    return masses * (total / masses.sum(axis=(1, 2)))[:, None, None]


def random_neighbours(rng, size, shape, shares):
    """Random tables: the person's share, R, A and A'."""
    share = np.exp(rng.uniform(*np.log(shares), size))
    return share, *(random_masses(rng, size, shape, total) for total in (1 - share, share, share))


SIZE = 2000
SHAPES = [(2, 2), (2, 3), (2, 6), (3, 3), (3, 5), (4, 4), (5, 7)]


@pytest.mark.parametrize("shape", SHAPES)
def test_one_grid_changes_by_no_more_than_the_lemmas_say(shape):
    share, rest, removed, added = random_neighbours(np.random.default_rng(0), SIZE, shape, (1e-5, 0.9))
    change = np.abs(information_of_masses(rest + removed) - information_of_masses(rest + added)) / math.log2(min(shape))
    parts = min(shape)
    bound = 2 * entropy(share / 2) if parts == 2 else 2 * entropy(share) / math.log2(parts) + share
    assert (change <= bound + ERROR).all()


def growth(x, y):
    """G(x, y) = g(x + y) - g(x) - g(y)."""
    return g(x + y) - g(x) - g(y)


@pytest.mark.parametrize("n_columns", [2, 3, 6])
def test_each_step_of_the_lemma_for_two_parts_holds(n_columns):
    share, rest, removed, added = random_neighbours(np.random.default_rng(1), SIZE, (2, n_columns), (1e-5, 0.9))
    swap = rest[:, 0].sum(axis=1) > rest[:, 1].sum(axis=1)
    rest, removed, added = (np.where(swap[:, None, None], part[:, ::-1], part) for part in (rest, removed, added))
    change = information_of_masses(rest + removed) - information_of_masses(rest + added)
    r1, r2 = rest.sum(axis=2).T
    a1, a2 = added.sum(axis=2).T  # alpha
    p1, p2 = removed.sum(axis=2).T  # rho

    in_columns = growth(rest[:, 0] + added[:, 0], rest[:, 1] + added[:, 1]) - growth(rest[:, 0], rest[:, 1])
    first = growth(r1 + p1, r2 + p2) - growth(r1 + a1, r2 + a2) + in_columns.sum(axis=1)
    assert (change <= first + ERROR).all()
    by_column = growth(added[:, 0], rest[:, 1] + added[:, 1]) + growth(rest[:, 0], added[:, 1])
    assert (in_columns <= by_column + ERROR).all()
    assert (by_column.sum(axis=1) <= growth(a1, r2 + a2) + growth(r1, a2) + ERROR).all()
    second = growth(r1 + p1, r2 + p2) - growth(r1, 1 - r1) + growth(r1, a1) + growth(r1, a2)
    np.testing.assert_allclose(
        second, first - in_columns.sum(axis=1) + growth(a1, r2 + a2) + growth(r1, a2), atol=ERROR
    )

    is_small = r1 + share <= 0.5
    assert 0 < is_small.mean() < 1
    assert (second <= entropy(a1) + entropy(a2) + ERROR)[is_small].all()
    assert (entropy(a1) + entropy(a2) <= 2 * entropy(share / 2) + ERROR).all()
    assert (second <= 4 * share**2 + entropy(share) + ERROR)[~is_small].all()
    assert (4 * share**2 + entropy(share) <= entropy(share) + share + ERROR)[share <= 0.25].all()
    assert (2 * entropy(share / 2) >= 1)[share > 0.25].all()
    assert (entropy(share) + share <= 2 * entropy(share / 2) + ERROR).all()


@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3), (4, 6)])
def test_each_step_of_the_lemma_for_more_parts_holds(shape):
    share, rest, removed, added = random_neighbours(np.random.default_rng(2), SIZE, shape, (1e-5, 0.2))
    here, there = rest + removed, rest + added
    change = information_of_masses(here) - information_of_masses(there)

    # Knowing whether a record is the person's adds at most h(share) bits.
    of_rest, of_removed, of_added = (
        information_of_masses(part / part.sum(axis=(1, 2), keepdims=True)) for part in (rest, removed, added)
    )
    assert (information_of_masses(here) <= entropy(share) + (1 - share) * of_rest + share * of_removed + ERROR).all()
    assert (information_of_masses(there) >= (1 - share) * of_rest + share * of_added - entropy(share) - ERROR).all()

    s, v = here.sum(axis=2), here.sum(axis=1)
    sigma = removed.sum(axis=2)
    expected = there.sum(axis=2)[:, :, None] * there.sum(axis=1)[:, None, :]
    phi = np.divide(added, there, out=np.zeros_like(added), where=there > 0)
    log_expected = np.log2(np.divide(expected, there, out=np.ones_like(added), where=added > 0))
    of_cells = (added * log_expected).sum(axis=(1, 2))
    of_rows = -(sigma * np.log2(np.maximum(s, 1e-300))).sum(axis=1)
    assert (change <= of_rows + of_cells + 2 * share * E + ERROR).all()

    mass = (phi * expected).sum(axis=(1, 2))  # W
    assert (of_cells <= share * np.log2(mass / share) + ERROR).all()
    p, q = (phi * here).sum(axis=(1, 2)), (phi * s[:, :, None] * v[:, None, :]).sum(axis=(1, 2))
    assert (p <= 2 * share + ERROR).all()
    assert (q >= mass - 2 * share - ERROR).all()
    of_test = E * (p * np.log(np.maximum(p, 1e-300) / q) - p + q)
    assert (information_of_masses(here) >= of_test - ERROR).all()

    usual = 2.0 ** (-of_rows / share)  # s*
    assert (usual >= share / shape[0] * (1 - ERROR)).all()
    smallest = s.min(axis=1)
    assert (smallest <= usual * (1 + ERROR)).all()
    assert (entropy(smallest) <= usual * (np.log2(1 / usual) + E) + ERROR).all()


def both_sides(share):
    """Kappa and both sides of the last inequality, which must not hold."""
    kappa = 3 * share ** (1 - LOG3) * math.e ** (LOG3 * (1 - share / 2) - 2)
    left = E * (kappa - 12 + 6 * math.log(6 / (kappa - 6)))
    return kappa, left, LOG3 / (LOG3 - 1) * (math.log2(3 / share) + E)


def test_the_last_inequality_fails_for_200_or_more_people():
    kappa, left, right = both_sides(1 / MANY)
    assert (left, right) == pytest.approx((29.9, 28.9), abs=0.05)
    # From there on the left side rises faster in the logarithm of the number of people, since kappa only grows.
    assert E * (1 - 6 / (kappa - 6)) * kappa * (LOG3 - 1) > 5 * LOG3 / (LOG3 - 1) * E
    for n_groups in np.geomspace(MANY, 1e12, 1000):
        kappa, left, right = both_sides(1 / n_groups)
        assert kappa > 12
        assert left > right


def test_the_last_inequality_may_hold_for_fewer_people():
    _, left, right = both_sides(1 / 190)
    assert left < right


# --- Hill climbing --------------------------------------------------------------------------------------------------

POSITIONS = (np.arange(12) + 0.5) / 12


def climb_records(rng, n_groups, m, n_steps, correction):
    """The largest change of the package's score if one of `n_groups` people with m records each is replaced."""

    def score(places):
        x, y = POSITIONS[places.T]
        return NumericTargetScorer(y, (0, 1), 12, 2, correction=correction).score(x, (0, 1))

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


@pytest.mark.parametrize("correction", [None, "miller-madow"])
@pytest.mark.parametrize("n_groups, m", [(20, 2), (20, 5), (200, 3)])
@pytest.mark.combinations
def test_hill_climbing_over_records_never_exceeds_the_sensitivity(n_groups, m, correction):
    largest = climb_records(np.random.default_rng(0), n_groups, m, 300, correction)
    assert largest <= mic_r_group_sensitivity(n_groups, m) + ERROR
    if correction is None and m > 2:
        assert largest > mic_r_sensitivity(n_groups) * (1.0 if n_groups > 100 else 0.8)
