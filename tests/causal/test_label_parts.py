"""Bins of labels and of numbers depend only on released counts, and hold the records that tests need."""

import numpy as np
import pytest

from skdpmic.causal.table_release import (
    MOST_PARTS,
    N_CELLS,
    merged_blanks,
    merged_labels,
    parts_of_cells,
    parts_of_labels,
)


def cells(values):
    """Counts in equal cells of the range from 0 to 1, followed by the number of missing values, none."""
    return np.append(np.histogram(np.clip(values, 0.0, 1.0), N_CELLS, (0.0, 1.0))[0], 0)


def with_noise(counts, scale, seed=0):
    return counts + np.rint(np.random.default_rng(seed).normal(0, scale, len(counts))).astype(np.int64)


def records_of(parts, counts):
    return np.bincount(parts, weights=counts)


# --- Labels -----------------------------------------------------------------------------------------------------------


def test_frequent_labels_keep_a_bin_and_rare_ones_join_the_most_frequent():
    assert parts_of_labels(np.array([50, 0, 300, 29, 31, -400]), 10.0).tolist() == [0, 1, 1, 1, 2, 1]


def test_the_count_of_joined_labels_includes_their_noise():
    """Two of four labels; the counts sum to 12 less than the number of records, and half of these are added."""
    counts = np.array([20.0, 900.0, 80.0, 4.0])
    parts = parts_of_labels(counts, 10.0)
    assert merged_labels([counts, counts], [parts, np.arange(4)], 1016, 10.0**2) == {0: (0, (30.0, 100.0), True)}
    assert merged_blanks(counts, parts).tolist() == [False, False, False, True]
    assert not merged_labels([counts], [np.array([2, 0, 1, 0])], 1016, 10.0**2)[0].has_public


# --- Numbers ----------------------------------------------------------------------------------------------------------


def values(name, n=20_000):
    rng = np.random.default_rng(7)
    return {
        "uniform": rng.random(n),
        "normal": rng.normal(0.5, 0.1, n),
        "skewed": rng.lognormal(-3, 1, n),
        "two values": (rng.random(n) < 0.3).astype(float),
        "seven values": rng.integers(7, size=n) / 6,
        "a constant": np.full(n, 0.3),
    }[name]


@pytest.mark.parametrize("scale", [0.0, 20.0, 60.0])
@pytest.mark.parametrize("name", ["uniform", "normal", "skewed"])
def test_numbers_are_cut_into_about_six_bins_of_nearly_equal_size(name, scale):
    counts = cells(values(name))
    parts = parts_of_cells(with_noise(counts, scale), scale)
    assert (np.diff(parts[:-1]) >= 0).all()
    sizes = records_of(parts, counts)
    assert 5 <= len(sizes) <= MOST_PARTS
    assert sizes.min() > 0.4 * sizes.sum() / MOST_PARTS
    assert sizes.max() < 1.6 * sizes.sum() / len(sizes) + counts.max() / 2


@pytest.mark.parametrize("name, n_values", [("two values", 2), ("seven values", 7), ("a constant", 1)])
@pytest.mark.parametrize("scale", [0.0, 20.0])
def test_a_number_with_few_values_has_a_bin_for_each(name, n_values, scale):
    counts = cells(values(name))
    parts = parts_of_cells(with_noise(counts, scale), scale)
    assert parts.max() + 1 == n_values
    assert len(set(parts[counts > 0].tolist())) == n_values


@pytest.mark.parametrize("name", ["normal", "two values"])
def test_missing_values_have_their_own_bin_if_there_are_any_and_otherwise_share_the_largest(name):
    counts = cells(values(name))
    with_missing = parts_of_cells(with_noise(np.append(counts[:-1], 3000), 20.0), 20.0)
    assert (with_missing == with_missing[-1]).sum() == 1
    noisy = with_noise(counts, 20.0)
    parts = parts_of_cells(noisy, 20.0)
    sizes = records_of(parts[:-1], np.maximum(noisy[:-1], 0))
    assert parts[-1] == sizes.argmax()
