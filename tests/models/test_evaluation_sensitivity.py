"""One person changes the counts and sums of an evaluation by at most the proven bound, which is attained."""

from fractions import Fraction
from itertools import product

import numpy as np

from skdpmic.models.evaluation import (
    RIGHT_SHARE,
    SQUARES,
    TABLES_SHARE,
    ClassCells,
    error_sums,
    noisy_counts,
    noisy_sums,
    scale_of_counts,
    scales_of_sums,
)
from skdpmic.privacy.composition import Cost
from skdpmic.privacy.noise import entropy_source
from tests.folding import each
from tests.privacy.auditing import privacy_loss_at_least

# --- Counts ----------------------------------------------------------------------------------------------------------


def tables(cells, records):
    probabilities, target = zip(*records, strict=True)
    return cells.counts(cells.cells(np.array(probabilities), np.array(target)))


@each("n_classes", [2, 3, 4])
def test_replacing_any_record_by_any_other_changes_at_most_two_counts_per_table(n_classes):
    """All pairs of records with predictions in all bins: the largest change is the sensitivity."""
    cells = ClassCells(n_classes, 4)
    steps = [shares for shares in product(range(5), repeat=n_classes) if sum(shares) == 4]
    records = [(np.array(shares) / 4, k) for shares in steps for k in range(n_classes)]
    drawn = np.random.default_rng(0).permutation(len(records))[:40]
    records = [records[i] for i in drawn] if n_classes > 2 else records
    moved = {
        sum(int(np.abs(a - b).sum()) for a, b in zip(tables(cells, [one]), tables(cells, [other]), strict=True))
        for one, other in product(records, repeat=2)
    }
    assert max(moved) == cells.sensitivity(1) == 2 * (1 if n_classes == 2 else n_classes)


def test_the_change_by_a_person_is_proportional_to_the_number_of_rows():
    cells = ClassCells(2, 8)
    here, there = ([((1 - p, p), k)] * 5 for p, k in ((0.01, 0), (0.9, 1)))
    (a,), (b,) = tables(cells, here), tables(cells, there)
    assert np.abs(a - b).sum() == cells.sensitivity(5)


@each("n_bins", [2, 8, 30])
def test_the_bin_of_a_record_depends_only_on_its_own_prediction(n_bins):
    cells, rng = ClassCells(2, n_bins), np.random.default_rng(n_bins)
    edges = cells.edges()
    probabilities = np.concatenate([edges, np.nextafter(edges[1:], 0), rng.random(200)])
    target = rng.integers(2, size=len(probabilities))
    found = cells.cells(np.column_stack([1 - probabilities, probabilities]), target)[0]
    for p, k, cell in zip(probabilities, target, found, strict=True):
        assert cell == k * n_bins + max(j for j in range(n_bins) if p >= edges[j])
    assert edges[n_bins // 2] == 0.5


@each("n_classes, rows", [(2, 1), (2, 3), (5, 1), (20, 4)])
def test_the_noise_on_counts_costs_epsilon_and_in_zcdp_what_is_charged(n_classes, rows):
    """A person whose rows all move in every table, and are all right before and wrong after, in exact fractions."""
    cells, epsilon = ClassCells(n_classes, 8), Fraction(1, 10)
    tables = scale_of_counts(epsilon, TABLES_SHARE, cells.sensitivity(rows))
    right = scale_of_counts(epsilon, RIGHT_SHARE, rows)
    changes = [(rows, tables)] * 2 * len(cells.scored) + [(rows, right)]
    assert sum(change / scale for change, scale in changes) == epsilon
    rho = sum((change / scale) ** 2 / 2 for change, scale in changes)
    assert rho <= Cost.of_parts(0.1, cells.squares()).rho < float(rho) * (1 + 1e-12)


def test_the_worst_neighbours_of_counts_lose_epsilon_and_no_more():
    """20,000 draws each, alpha 1e-6: the loss is epsilon = 1 on the event that all three counts lean to one side."""
    cells, epsilon, n_runs = ClassCells(2, 2), 1.0, 20_000
    here = tables(cells, [((0.9, 0.1), 0)] * 4), 4
    there = tables(cells, [((0.9, 0.1), 0)] * 3 + [((0.1, 0.9), 1)]), 3
    source = entropy_source(0)

    def loss_of(noise, noise_of_right):
        def release(counts):
            (table,), n_right = counts
            noisy = noisy_counts(np.repeat(table[None], n_runs, axis=0), noise, source)
            is_right = noisy_counts(np.repeat(n_right, n_runs), noise_of_right, source)
            return (noisy[:, 0, 0] >= 4) & (noisy[:, 1, 1] <= 0) & (is_right >= 4)

        return privacy_loss_at_least(release, here, there, lambda occurred: occurred, 1, 1e-6)

    noise = scale_of_counts(epsilon, TABLES_SHARE, cells.sensitivity(1))
    of_right = scale_of_counts(epsilon, RIGHT_SHARE, 1)
    assert 0.7 < loss_of(noise, of_right) <= epsilon < loss_of(noise / 2, of_right)


# --- Sums ------------------------------------------------------------------------------------------------------------


def cost_of_a_change(steps, before, after, scales, power=1):
    """Privacy cost of changing one record: powers of the change of each sum divided by its noise scale, added up."""
    here, there = (error_sums(*(np.array([value]) for value in record), steps).tolist() for record in (before, after))
    return sum((abs(a - b) / scale) ** power for a, b, scale in zip(here, there, scales, strict=True))


@each("steps", [1, 2, 3, 4, 5, 8])
def test_changing_a_record_costs_at_most_epsilon_and_one_change_costs_all_of_it(steps):
    """All pairs of records on a coarse grid, in fractions. The bound is attained if steps is a multiple of four."""
    epsilon = Fraction(1, 3)
    scales = scales_of_sums(epsilon, 1, steps)
    records = list(product(range(steps + 1), repeat=2))
    costs = [cost_of_a_change(steps, *pair, scales) for pair in product(records, repeat=2)]
    assert max(costs) <= epsilon
    assert (max(costs) == epsilon) == (steps % 4 == 0)
    doubled = scales_of_sums(epsilon, 2, steps)
    assert doubled == [2 * scale for scale in scales]
    squares = [cost_of_a_change(steps, *pair, scales, 2) for pair in product(records, repeat=2)]
    assert max(squares) == SQUARES * epsilon**2


def test_the_noise_on_each_sum_is_drawn_at_its_scale():
    """300 draws each: the mean absolute value is within 30% of the scale (alpha 1e-6)."""
    scales = [Fraction(50), Fraction(3000), Fraction(7, 2), Fraction(10**6)]
    draws = np.array(
        [noisy_sums(np.array([5, 6, 7, 8]), scales, entropy_source(seed)) for seed in range(300)], dtype=float
    )
    np.testing.assert_allclose(np.abs(draws - [5, 6, 7, 8]).mean(axis=0), [float(s) for s in scales], rtol=0.3)
