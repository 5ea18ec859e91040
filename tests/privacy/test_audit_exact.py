"""Exact audits: all small tables, and all outcomes of the real code with their probabilities; nothing is sampled."""

import heapq
import math
from collections import defaultdict
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from skdpmic import dp_mic_classif, dp_mic_regression
from skdpmic.privacy import mechanisms, noise, top_k
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GRID, LaplaceMechanism
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.statistics.sensitivity import (
    binary_mi_sensitivity,
    mi_sensitivity,
    mic_r_sensitivity,
    mtv_r_sensitivity,
)
from tests.privacy.auditing import independent, largest_log_ratio, law_of, noises_within
from tests.privacy.laws import discrete_laplace_cdf, geometric_cdf

ERROR = 1e-9  # far above the rounding error of two scores, far below any gap that matters

# --- Mutual information on a fixed grid: all tables of up to 8 records -------------------------------------------


def largest_change_of_mutual_information(n_rows, n_columns, n):
    """The maximum over all tables of n records of the range over the last record's cell."""
    n_cells = n_rows * n_columns
    rest = np.array(list(combinations_with_replacement(range(n_cells), n - 1)))
    tables = np.stack([np.sum(rest == cell, axis=1) for cell in range(n_cells)], axis=1)
    values = [_information(tables + np.eye(n_cells, dtype=int)[cell], n_rows) for cell in range(n_cells)]
    return (np.max(values, axis=0) - np.min(values, axis=0)).max()


def _information(tables, n_rows):
    """Mutual information in bits of many tables with the same total at once."""
    n = tables[0].sum()
    g = np.array([m * math.log2(m) if m else 0.0 for m in range(n + 1)])
    tables = tables.reshape(len(tables), n_rows, -1)
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    return (g[tables].sum(axis=(1, 2)) - g[rows].sum(axis=1) - g[columns].sum(axis=1) + g[n]) / n


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("n_rows, n_columns", [(2, 2), (2, 3), (4, 2), (3, 3), (3, 4)])
@pytest.mark.combinations
def test_no_table_of_up_to_8_records_changes_by_more_than_the_sensitivity_of_a_fixed_grid(n_rows, n_columns, n):
    largest = largest_change_of_mutual_information(n_rows, n_columns, n)
    if min(n_rows, n_columns) == 2:
        assert largest == pytest.approx(binary_mi_sensitivity(n), abs=1e-12)
    else:
        assert largest <= mi_sensitivity(n) + ERROR
        if n % 2 == 1:
            assert largest == pytest.approx(mi_sensitivity(n), abs=1e-12)


# --- The scores of the estimators: all tables on a few places ---------------------------------------------------


def largest_change_of_scores(scores_of, n, x_places, y_places):
    """The largest change of a score over all tables of n records on these places.

    All possible features are scored at once, against every target in turn.
    """
    features = np.array(list(product(x_places, repeat=n))).T
    scores = np.array([scores_of(features, np.array(y)) for y in product(y_places, repeat=n)])
    scores = scores.reshape(len(y_places) ** (n - 1), len(y_places), len(x_places) ** (n - 1), len(x_places))
    return (scores.max(axis=(1, 3)) - scores.min(axis=(1, 3))).max()


PLACES = (0.1, 0.45, 0.9)  # in halves 0 0 1, in thirds 0 1 2


STATISTICS = {  # parameters, sensitivity, and whether a small table attains it
    "mic_r": ({"correction": None}, mic_r_sensitivity, True),
    "corrected": ({"correction": "miller-madow"}, mic_r_sensitivity, False),
    "mtv_r": ({"statistic": "mtv_r"}, partial(mtv_r_sensitivity, knows_target_shares=True), True),
}


def with_known_shares(name, parameters, n_pieces):
    """Parameters of a scorer; MTVr gets equal target shares, as learnt shares would differ between neighbours."""
    return parameters | ({"target_shares": [1 / n_pieces] * n_pieces} if name == "mtv_r" else {})


def assert_matches_sensitivity(largest, sensitivity, is_attained):
    assert largest <= sensitivity + ERROR
    assert largest > sensitivity / 2
    if is_attained:
        assert largest == pytest.approx(sensitivity, abs=ERROR)


@pytest.mark.parametrize("n, B, c", [(4, 4, 1), (4, 9, 1), pytest.param(5, 9, 2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.combinations
def test_no_small_table_changes_a_score_by_more_than_the_sensitivity(name, n, B, c):
    parameters, sensitivity, is_attained = STATISTICS[name]
    parameters = with_known_shares(name, parameters, 2)

    def scores_of(X, y):
        return dp_mic_regression(X, y, epsilon=math.inf, bounds=(0, 1), target_bounds=(0, 1), B=B, c=c, **parameters)

    assert_matches_sensitivity(largest_change_of_scores(scores_of, n, PLACES, PLACES), sensitivity(n), is_attained)


@pytest.mark.parametrize(
    "n, n_classes, B",
    [
        (4, 2, 4),
        (4, 3, 9),
        *(pytest.param(*table, marks=pytest.mark.slow) for table in ((5, 2, 8), (4, 4, 12), (5, 3, 12))),
    ],
)
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.combinations
def test_no_small_table_changes_a_score_against_classes_by_more_than_the_sensitivity(name, n, n_classes, B):
    parameters, sensitivity, is_attained = STATISTICS[name]
    parameters = with_known_shares(name, parameters, n_classes)
    classes = range(n_classes)

    def scores_of(X, y):
        return dp_mic_classif(X, y, epsilon=math.inf, bounds=(0, 1), classes=classes, B=B, c=2, **parameters)

    largest = largest_change_of_scores(scores_of, n, PLACES, classes)
    assert_matches_sensitivity(largest, sensitivity(n), is_attained and (n_classes < 4 or name == "mic_r"))


# --- The samplers: all paths of their random choices ------------------------------------------------------------


class ChoiceNeeded(Exception):
    """The path of random choices is used up, and another choice is requested."""


def law_over_paths(run, n_paths=1000):
    """The distribution of ``run(choose)``, where ``choose(probabilities)`` draws, and the unexplored probability."""
    law, open_paths = defaultdict(float), [(-1.0, ())]
    for _ in range(n_paths):
        if sum(law.values()) > 1 - 1e-6:
            break
        weight, path = heapq.heappop(open_paths)  # the most likely
        rest = iter(path)

        def choose(probabilities, rest=rest):
            for choice in rest:
                return choice
            raise ChoiceNeeded(probabilities)

        try:
            law[run(choose)] -= weight
        except ChoiceNeeded as needed:
            for choice, probability in enumerate(needed.args[0]):
                if probability > 0:
                    heapq.heappush(open_paths, (weight * probability, (*path, choice)))
    return law, -sum(weight for weight, _ in open_paths)


def choose_uniformly(monkeypatch, choose):
    monkeypatch.setattr(noise, "uniform_below", lambda bound, *_: np.array([choose([1 / bound] * bound)]))


def assert_law(found, unexplored, expected):
    assert unexplored < 3e-3
    for value, probability in found.items():
        assert probability - 1e-12 <= expected(value) <= probability + unexplored + 1e-12


@pytest.mark.parametrize("numerator, denominator", [(0, 1), (1, 1), (1, 2), (2, 3)])
def test_the_paths_of_a_coin_add_up_to_its_probability(numerator, denominator, monkeypatch):
    def run(choose):
        choose_uniformly(monkeypatch, choose)
        return bool(noise._bernoulli_exp(np.array([numerator]), denominator, None)[0])

    p = math.exp(-numerator / denominator)
    assert_law(*law_over_paths(run), {True: p, False: 1 - p}.get)


@pytest.mark.parametrize("scale", [1, 2, Fraction(3, 2), Fraction(2, 5)])
def test_the_paths_of_geometric_noise_given_its_coins_add_up_to_its_distribution(scale, monkeypatch):
    def run(choose):
        def flip(numerators, denominator, source):
            p = math.exp(-numerators[0] / denominator)
            return np.array([choose([1 - p, p]) == 1])

        choose_uniformly(monkeypatch, choose)
        monkeypatch.setattr(noise, "_bernoulli_exp", flip)
        return int(noise.geometric(scale, 1, None)[0])

    assert_law(*law_over_paths(run), lambda z: geometric_cdf(z, scale) - geometric_cdf(z - 1, scale))


def law_given_magnitudes(sampler, scale, monkeypatch):
    magnitudes = noises_within(lambda z: geometric_cdf(z, scale), 0, 60)

    def run(choose):
        choose_uniformly(monkeypatch, choose)
        monkeypatch.setattr(noise, "geometric", lambda *_: np.array([choose([p for _, p in magnitudes])]))
        return int(sampler(scale, 1, None)[0])

    return law_over_paths(run)


@pytest.mark.parametrize("scale", [1, 2, Fraction(3, 2), Fraction(2, 5)])
def test_the_paths_of_laplace_noise_given_its_magnitude_add_up_to_its_distribution(scale, monkeypatch):
    found, unexplored = law_given_magnitudes(noise.discrete_laplace, scale, monkeypatch)
    assert_law(found, unexplored, lambda z: discrete_laplace_cdf(z, scale) - discrete_laplace_cdf(z - 1, scale))


def test_a_sampler_that_counts_zero_twice_is_detected(monkeypatch):
    def zero_twice(scale, size, source):
        magnitude = noise.geometric(scale, size, source)
        return np.where(noise.uniform_below(2, size, source) == 0, -magnitude, magnitude)

    found, _ = law_given_magnitudes(zero_twice, 2, monkeypatch)
    assert found[0] > 1.2 * (discrete_laplace_cdf(0, 2) - discrete_laplace_cdf(-1, 2))


# --- What is released: every outcome of the real mechanisms -----------------------------------------------------


def scores_law(steps, window, scale, monkeypatch):
    """The distribution of what LaplaceMechanism publishes for scores of `steps` grid steps: numbers and order.

    Noisy scores are clamped to the window.
    """

    def release(noises):
        monkeypatch.setattr(mechanisms, "discrete_laplace", lambda *_: np.array(noises, dtype=object))
        released, order = LaplaceMechanism(scale).release(np.array(steps) * GRID, random_bytes=None)
        return tuple(released), tuple(order)

    noises_of = [
        noises_within(lambda z: discrete_laplace_cdf(z, scale), lowest - step, highest - step)
        for step, (lowest, highest) in zip(steps, window, strict=True)
    ]
    return law_of(release, independent(*noises_of))


TOP = 2**30  # a score of 1, in grid steps
NEIGHBOURS = [((0, 0), (2, 2)), ((1, 2), (3, 0)), ((TOP, TOP - 1), (TOP - 2, TOP)), ((0, TOP), (2, TOP - 2))]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 2.5])
@pytest.mark.parametrize("here, there", NEIGHBOURS)
@pytest.mark.combinations
def test_no_release_of_scores_is_more_than_exp_epsilon_times_as_likely_for_a_neighbour(
    here, there, epsilon, monkeypatch
):
    scale = LaplaceMechanism.for_budget(budget_of(epsilon), n_scores=2, steps=2).scale
    window = [(min(pair) - 15, max(pair) + 15) for pair in zip(here, there, strict=True)]
    loss, with_half_the_noise = (
        largest_log_ratio(*(scores_law(steps, window, scale, monkeypatch) for steps in (here, there)))
        for scale in (scale, scale / 2)
    )
    assert loss <= epsilon * (1 + 1e-9)
    assert with_half_the_noise > epsilon
    if here == (0, 0):
        assert loss == pytest.approx(2 * 2 / scale)  # nothing is wasted except by rounding the scale up


def support_law(steps, publish, scale, monkeypatch, highest=45):
    """The distribution of `publish(list, noisy scores)` for one-shot noise with k = 1, in grid steps."""

    def release(noises):
        monkeypatch.setattr(top_k, "geometric", lambda *_: np.array(noises, dtype=object))
        chosen = OneShotTopK(1, scale).release(np.array(steps) * GRID, random_bytes=None)
        return publish(tuple(chosen), [step + z for step, z in zip(steps, noises, strict=True)])

    noises_of = [noises_within(lambda z: geometric_cdf(z, scale), 0, highest - step) for step in steps]
    return law_of(release, independent(*noises_of))


PUBLISHED = {
    "the list": lambda chosen, noisy: chosen,
    "the list and all noisy scores": lambda chosen, noisy: (chosen, *noisy),
    "the list and the noisy scores of the chosen": lambda chosen, noisy: (chosen, noisy[chosen[0]]),
    "the list and the noisy scores of the others": lambda chosen, noisy: (chosen, noisy[1 - chosen[0]]),
}


@pytest.mark.few
@pytest.mark.parametrize("what", PUBLISHED)
@pytest.mark.parametrize("epsilon", [1.0, 2.0])
@pytest.mark.combinations
def test_only_the_list_from_a_one_shot_draw_can_be_published(what, epsilon, monkeypatch):
    scale = OneShotTopK.for_budget(budget_of(epsilon), k=1, steps=1).scale
    neighbours = [((5, 6), (6, 5)), ((5, 5), (6, 6)), ((6, 5), (5, 5))]
    losses = [
        largest_log_ratio(*(support_law(steps, PUBLISHED[what], scale, monkeypatch) for steps in pair))
        for pair in neighbours
    ]
    if what == "the list":
        assert max(losses) == pytest.approx(epsilon, rel=1e-6)
    else:
        assert max(losses) > epsilon
