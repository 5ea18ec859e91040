"""Noise on counts of cells: its sampler, its exact distribution, its privacy loss, its intervals."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import special

from skdpmic.privacy.noise import entropy_source
from skdpmic.release import summary_cells as moves
from skdpmic.release.summary_cells import GaussianCells, MovesMechanism, discrete_moves, n_of_signs, n_within
from tests.folding import each
from tests.privacy.laws import p_value_of_law

ALPHA = 1e-3  # of each chi-square test; seeds are fixed, so a pass stays a pass


def size_of(z):
    """The sum of the positive entries."""
    return sum(entry for entry in z if entry > 0)


def vectors(n_cells, size):
    """All vectors of integers with sum 0 and at most this size."""
    return [z for z in product(range(-size, size + 1), repeat=n_cells) if sum(z) == 0 and size_of(z) <= size]


# --- The sampler ------------------------------------------------------------------------------------------------------


@each("n_cells, size", product(range(2, 6), range(5)))
def test_vectors_are_counted_by_size_and_by_signs(n_cells, size):
    found = vectors(n_cells, size)
    assert n_within(n_cells, size) == len(found)
    if size:
        signs = Counter(sum(entry > 0 for entry in z) for z in found if size_of(z) == size)
        assert n_of_signs(n_cells, size) == [signs[i] for i in range(1, n_cells)]
    for larger in range(6 * size + 1, 6 * size + 5):  # of more cells than a column has, too
        of_size = n_within(3 * n_cells, larger) - n_within(3 * n_cells, larger - 1)
        assert sum(n_of_signs(3 * n_cells, larger)) == of_size


@each("n_cells", [[2], [3, 2], [4, 4, 3], [12, 4]])
def test_radii_have_exactly_the_distribution_of_the_mixture(n_cells, monkeypatch):
    degrees = [m - 1 for m in n_cells]
    constant = None
    for total in range(25):
        asked = {}

        def uniform_below(bound, size, source, asked=asked):
            asked["bound"] = bound
            return [asked["draw"]]

        def geometric(scale, size, source, asked=asked, total=total):
            assert scale == Fraction(7, 2)
            assert size == sum(degrees) + 1
            if asked.pop("is_drawn", False):
                raise InterruptedError  # the proposal is rejected
            asked["is_drawn"] = True
            return np.array([total] + [0] * (size - 1), dtype=object)

        monkeypatch.setattr(moves, "geometric", geometric)
        monkeypatch.setattr(moves, "uniform_below", uniform_below)
        threshold = math.prod(n_within(m, total) * math.factorial(m - 1) for m in n_cells)
        asked["draw"] = threshold - 1
        assert moves._radius(n_cells, Fraction(7, 2), None) == total
        asked |= {"draw": threshold, "is_drawn": False}
        with pytest.raises(InterruptedError):
            moves._radius(n_cells, Fraction(7, 2), None)
        assert threshold <= asked["bound"]
        # The sum is proposed with probability proportional to this, so that accepted sums follow the mixture.
        proposed = math.perm(total + sum(degrees), sum(degrees))
        constant = constant or Fraction(asked["bound"], proposed)
        assert asked["bound"] == constant * proposed


@pytest.mark.slow
@pytest.mark.parametrize("n_cells, radius", [(2, 3), (3, 2), (4, 2), (5, 1)])
def test_vectors_are_uniform_within_a_radius(n_cells, radius):
    source, found = entropy_source(0), vectors(n_cells, radius)
    drawn = [tuple(moves._uniform_within(n_cells, radius, source)) for _ in range(6000)]
    assert set(drawn) <= set(found)
    assert p_value_of_law(drawn, dict.fromkeys(found, 1 / len(found))) > ALPHA


def test_noise_on_many_columns_sums_to_zero_in_each():
    noise = discrete_moves([4] * 300, Fraction(500), entropy_source(2))
    assert [len(z) for z in noise] == [4] * 300
    assert all(sum(z) == 0 for z in noise)


# --- Its privacy loss -------------------------------------------------------------------------------------------------


@each("epsilon, rows_per_group, n_columns", product([0.1, 1.0, 7.5], [1, 3], [1, 20]))
def test_a_record_or_a_person_changes_no_probability_by_more_than_epsilon(epsilon, rows_per_group, n_columns):
    """The largest log-ratio of probabilities between neighbours, over outcomes near the counts, for each column."""
    mechanism = MovesMechanism.for_budget(epsilon, [4] * n_columns, rows_per_group)
    steps, cells = mechanism.n_steps * rows_per_group, np.eye(4, dtype=int)
    moved = [
        size_of(steps * (np.array(z) + cells[b] - cells[a])) - size_of(steps * np.array(z))
        for z in vectors(4, 2)
        for a, b in product(range(4), repeat=2)
    ]
    assert Fraction(int(max(map(abs, moved)))) / mechanism.scale == Fraction(str(epsilon))


@each("rows_per_group, n_columns", product([1, 3], [1, 20]))
def test_gaussian_noise_spends_rho_on_the_largest_joint_move_of_all_columns(rows_per_group, n_columns):
    mechanism = GaussianCells.for_budget(Fraction(1, 50), [4] * n_columns, rows_per_group)
    # In every column, records move from one cell to another, and each cell has independent noise.
    squared_sensitivity = n_columns * (rows_per_group**2 + rows_per_group**2)
    assert squared_sensitivity / (2 * mechanism.variance) == Fraction(1, 50)


@pytest.mark.parametrize("kind, budget", [(MovesMechanism, 2.0), (GaussianCells, Fraction(1, 2))])
def test_released_counts_are_noisy_counts_and_sum_to_all_records(kind, budget):
    """Noise is symmetric: within five standard errors of the mean."""
    counts = [np.array([5, 0, 95, 900]), np.array([0, 1000])]
    mechanism = kind.for_budget(budget, [4, 2], 1)
    draws = [np.concatenate(mechanism.release(counts, entropy_source(seed))) for seed in range(100)]
    np.testing.assert_allclose(np.sum(draws, axis=1), 2000, atol=1e-9)
    spread = np.std(draws, axis=0)
    assert spread.min() > 0.2
    np.testing.assert_array_less(abs(np.mean(draws, axis=0) - np.concatenate(counts)), 5 * spread / math.sqrt(100))


# --- Its intervals ----------------------------------------------------------------------------------------------------


def exact_tail(n_cells, scale, largest):
    """P(noise on the first cell of the first column >= t) for each t, from the numbers of vectors of each size."""
    m = n_cells[0]
    logs = [sum(math.log(n_within(k, r)) for k in n_cells) - r / float(scale) for r in range(largest)]
    weights = np.exp(np.array(logs) - max(logs))
    per_vector = weights / weights.sum() / [float(n_within(m, r)) for r in range(largest)]
    within = np.cumsum(per_vector[::-1])[::-1]  # of each vector of a size: uniform within each larger radius
    tail = np.zeros(largest)
    for s in range(1, largest):
        for i, ways in enumerate(n_of_signs(m, s), start=1):
            beyond = special.comb(s - np.arange(1, s + 1), i - 1) / max(special.comb(s - 1, i - 1), 1)
            tail[1 : s + 1] += within[s] * ways * i / m * beyond
    return tail


@each("n_cells, epsilon", [([4], 1.0), ([3, 3], 1.0), ([4, 4, 4], 2.0), ([6, 3], 4.0), ([2, 2], 1.0)])
def test_the_reach_exceeds_the_exact_quantile_by_little_more_than_the_grid(n_cells, epsilon):
    mechanism = MovesMechanism.for_budget(epsilon, n_cells, 1)
    largest = int(float(mechanism.scale) * (sum(n_cells) + 22))
    tail = exact_tail(n_cells, mechanism.scale, largest)
    for level in (0.05, 0.005, 0.0005):
        reach = mechanism.reach(level, n_cells[0])
        beyond = math.floor(reach * mechanism.n_steps) + 1  # the smallest integer above it
        assert tail[beyond] <= level
        assert tail[max(1, math.floor(0.93 * reach * mechanism.n_steps) - 2)] > level
