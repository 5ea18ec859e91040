"""B="auto" and c="auto": tables made by benchmarks/tune_defaults.py, and the claims that come with them."""

import math
from itertools import compress, product

import numpy as np
import pytest

from benchmarks.tune_defaults import (
    CHOICE,
    EPSILONS,
    KEYS,
    KINDS,
    MM,
    REPETITIONS,
    ROOT,
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
from skdpmic import DPMICScorer, dp_mic_classif
from skdpmic.datasets import load_mic_star, relationship
from skdpmic.statistics.grids import check_B, check_c, largest_c
from skdpmic.statistics.mic.defaults import TABLES, default_B, default_c, resolve_B, resolve_c
from skdpmic.statistics.mic.mic_r import ClassTargetScorer

CORRECTIONS = [None, MM]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_table_has_every_cell_and_is_returned_as_it_is(correction):
    rows = np.loadtxt(ROOT / "skdpmic" / "statistics" / "mic" / TABLES[correction], delimiter=",", skiprows=1).tolist()
    assert len(rows) == len(KINDS) * len(EPSILONS) * len(REPETITIONS[CHOICE])
    for n_classes, epsilon, n, B, c in rows:
        assert default_B(int(n), epsilon, int(n_classes) or None, correction) == B
        assert default_c(int(n), epsilon, int(n_classes) or None, correction) == c


@pytest.mark.parametrize("n_classes", [None, 2, 3, 10, 30, 1000])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_what_is_chosen_is_never_refused(n_classes, correction):
    for n, epsilon in product((4, 30, 1000, 10**4, 10**7), (1e-9, 0.1, 10, math.inf)):
        B, c = (default(n, epsilon, n_classes, correction) for default in (default_B, default_c))
        assert resolve_B("auto", n, epsilon, n_classes, correction) == B
        assert resolve_c("auto", n, epsilon, B, n_classes, correction) == c
        check_B(B, n, n_classes)
        check_c(c, n, B, n_classes)


def test_c_is_chosen_to_suit_a_large_B():
    n, B = 1000, 1000
    assert default_c(n, 1.0, 2) == 8
    assert resolve_c("auto", n, 1.0, B, 2) == largest_c(n, B, 2) == 2
    scores = dp_mic_classif(np.zeros((n, 1)), np.arange(n) % 2, epsilon=1, bounds=(0, 1), classes=[0, 1], B=B)
    assert 0 <= scores[0] <= 1


@pytest.mark.parametrize("correction", [None, "miller-madow"])
def test_the_choice_is_a_function_of_public_numbers(correction):
    rng = np.random.default_rng(0)
    public = {"bounds": (0, 1), "target_bounds": (0, 1), "epsilon": 2, "correction": correction}
    fits = [DPMICScorer(**public).fit(rng.random((60, 2)) ** power, rng.random(60)) for power in (1, 5)]
    assert {(fit.B_, fit.c_) for fit in fits} == {
        (default_B(60, 1.0, correction=correction), default_c(60, 1.0, correction=correction))
    }
    del public["target_bounds"]
    labels = DPMICScorer(classes=range(4), **public).fit(rng.random((60, 2)), rng.integers(4, size=60))
    assert (labels.B_, labels.c_) == (default_B(60, 1.0, 4, correction), default_c(60, 1.0, 4, correction))


# --- The figures behind the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("score, truth, scale", [(0.3, 0.5, 0.1), (0.95, 0.9, 0.3), (0.0, 0.2, 2.0)])
def test_the_mean_over_the_noise_is_that_of_draws(noise, score, truth, scale):
    rng = np.random.default_rng(0)
    size = 400_000
    drawn = rng.laplace(scale=scale, size=size) if noise == "laplace" else rng.normal(0, scale * 2**0.5, size)
    errors = np.abs(np.clip(score + drawn, 0, 1) - truth)
    standard_error = errors.std() / math.sqrt(size)
    assert abs(errors.mean() - unsigned_error(score, truth, scale, 1.0, noise)) < 5 * standard_error  # alpha < 1e-6


def test_every_part_of_the_unit_interval_counts_alike():
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
def test_the_quick_form_makes_a_table_and_checks_it(tmp_path):
    folders = [f"--{name}={tmp_path}" for name in ("cache", "results", "images")]
    main(["choose", "check", "--quick", "--overwrite", f"--table={tmp_path / 'table.csv'}", *folders])
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 1 + len(KINDS) * len(EPSILONS) * 2
    assert (tmp_path / "defaults_miller_madow.csv").exists()
    assert (tmp_path / "defaults_miller_madow.png").exists()
