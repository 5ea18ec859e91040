"""The program behind B="auto" and c="auto" measures errors correctly; its choice is near the best on fresh samples."""

import math
from itertools import compress, product

import numpy as np
import pytest

from benchmarks.tune_defaults import (
    EPSILONS,
    KEYS,
    KINDS,
    affordable,
    automatic,
    classes,
    main,
    population_value,
    scores_of_sample,
    settings,
    unsigned_error,
    weighted_sums,
    weights,
)
from skdpmic.datasets import load_mic_star, relationship
from skdpmic.statistics.mic.mic_r import ClassTargetScorer


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("score, truth, scale", [(0.3, 0.5, 0.1), (0.95, 0.9, 0.3), (0.0, 0.2, 2.0)])
def test_the_mean_over_the_noise_matches_draws(noise, score, truth, scale):
    rng = np.random.default_rng(0)
    size = 400_000
    drawn = rng.laplace(scale=scale, size=size) if noise == "laplace" else rng.normal(0, scale * 2**0.5, size)
    errors = np.abs(np.clip(score + drawn, 0, 1) - truth)
    standard_error = errors.std() / math.sqrt(size)
    assert abs(errors.mean() - unsigned_error(score, truth, scale, 1.0, noise)) < 5 * standard_error  # alpha < 1e-6


def test_every_part_of_the_unit_interval_counts_equally():
    assert weights(np.array([0.5, 0.1, 0.3])) == pytest.approx([0.6, 0.2, 0.2])
    assert weights(np.array(list(load_mic_star().values()))).sum() == pytest.approx(1)


@pytest.mark.parametrize("key", [("F12", 0.5), ("F5", 0.8)])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.combinations
def test_a_large_sample_has_the_population_value_of_a_discrete_target(key, n_classes):
    n = 200_000
    x, y = relationship(*key).sample(n, 0).T
    codes = np.searchsorted(classes(key, n_classes), y, side="right")
    score = ClassTargetScorer(codes, n_classes, 60 * n_classes, 3).score(x, (0, 1))
    assert score == pytest.approx(population_value(key, n_classes), abs=0.01)


def errors_of(n, epsilon, kinds, chosen, seed, repetitions=1, keys=KEYS):
    """The weighted sums of the settings chosen for each kind of target, with both noises: an iterator."""
    samples = [[scores_of_sample(key, n, seed, r, chosen) for key in keys] for r in range(repetitions)]
    for kind, noise in product(kinds, ("laplace", "gaussian")):
        scores = np.array([[sample[kind] for sample in repetition] for repetition in samples])
        yield weighted_sums(scores, keys, n, epsilon, kind, noise)


def excess(n, epsilon, kinds, seed, keys=KEYS):
    """Share by which the automatic error exceeds the least of the grid; the largest over targets and noises."""
    chosen = {kind: [*compress(settings(n, kind), affordable(n, kind)), automatic(n, epsilon, kind)] for kind in kinds}
    errors = errors_of(n, epsilon, kinds, chosen, seed, keys=keys)
    return max(errors[-1] / errors.min() - 1 for errors in errors)


@pytest.mark.slow
def test_the_automatic_choice_is_within_15_percent_of_the_grid_on_fresh_samples():
    assert excess(70, 1.0, (0,), seed=3) < 0.15


@pytest.mark.slow
def test_a_quick_run_makes_and_checks_a_table(tmp_path):
    folders = [f"--{name}={tmp_path}" for name in ("cache", "results", "images")]
    main(["choose", "check", "--quick", "--overwrite", f"--table={tmp_path / 'table.csv'}", *folders])
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 1 + len(KINDS) * len(EPSILONS) * 2
    assert (tmp_path / "defaults_miller_madow.csv").exists()
    assert (tmp_path / "defaults_miller_madow.png").exists()
