"""Exact audits: all small tables, and all outcomes of the real code with their probabilities; nothing is sampled."""

import heapq
import math
from collections import defaultdict
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from skdpmic import dp_mic_classif, dp_mic_regression
from skdpmic.privacy import mechanisms, noise, top_k
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GRID, LaplaceMechanism
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.statistics.sensitivity import mic_r_sensitivity, mtv_r_sensitivity
from tests.privacy.auditing import independent, largest_log_ratio, law_of, noises_within
from tests.privacy.laws import discrete_laplace_cdf, geometric_cdf
from tests.privacy.searches import ERROR, MM, all_tables, largest_change, scores_of_tables

# --- The scores of the estimators: all tables on a few places ---------------------------------------------------

PLACES = (0.1, 0.45, 0.9)  # in halves 0 0 1, in thirds 0 1 2
STATISTICS = {  # parameters, sensitivity, and whether a small table attains it
    "mic_r": ({"correction": None}, mic_r_sensitivity, True),
    "corrected": ({"correction": MM}, mic_r_sensitivity, False),
    "mtv_r": ({"statistic": "mtv_r"}, partial(mtv_r_sensitivity, knows_target_shares=True), True),
}
SIZES = [  # records, classes, B, c
    *[(4, None, 4, 1), (4, None, 9, 1), (4, 2, 4, 2), (4, 3, 9, 2)],
    *[(5, None, 9, 2), (5, 2, 8, 2), (4, 4, 12, 2), (5, 3, 12, 2)],
]


@pytest.mark.parametrize(
    "n, n_classes, B, c", [pytest.param(*size, marks=[pytest.mark.slow] * (size in SIZES[4:])) for size in SIZES]
)
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.combinations
def test_no_small_table_changes_a_score_by_more_than_the_sensitivity(name, n, n_classes, B, c):
    parameters, sensitivity, is_attained = STATISTICS[name]
    parameters = {"epsilon": math.inf, "bounds": (0, 1), "B": B, "c": c, **parameters}
    if name == "mtv_r":  # equal target shares, as learnt shares would differ between neighbours
        parameters["target_shares"] = [1 / (n_classes or 2)] * (n_classes or 2)
    if n_classes:
        function, targets = partial(dp_mic_classif, classes=range(n_classes), **parameters), range(n_classes)
    else:
        function, targets = partial(dp_mic_regression, target_bounds=(0, 1), **parameters), PLACES

    def scorer_of(y):
        return SimpleNamespace(score_block=lambda X, domains: function(np.transpose(X), y))

    tables, moves = all_tables((len(PLACES), len(targets)), n)
    largest = largest_change(scores_of_tables(tables, PLACES, targets, scorer_of), moves)
    assert sensitivity(n) / 2 < largest <= sensitivity(n) + ERROR
    if is_attained and (n_classes != 4 or name == "mic_r"):
        assert largest == pytest.approx(sensitivity(n), abs=ERROR)


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


@pytest.fixture
def matches_law(monkeypatch):
    """Check a sampler's distribution over all choices that its uniform numbers, and the draws of ``inner``, take."""

    def check(sample, expected, **inner):
        def run(choose):
            monkeypatch.setattr(noise, "uniform_below", lambda bound, *_: np.array([choose([1 / bound] * bound)]))
            for name, (kind, law_of_one) in inner.items():
                draw = lambda *of, kind=kind, law_of_one=law_of_one: np.array([choose(law_of_one(*of))], kind)  # noqa: E731
                monkeypatch.setattr(noise, name, draw)
            return int(sample())

        law, unexplored = law_over_paths(run)
        assert unexplored < 3e-3
        return all(p - 1e-12 <= expected(value) <= p + unexplored + 1e-12 for value, p in law.items())

    return check


@pytest.mark.parametrize("numerator, denominator", [(0, 1), (1, 1), (1, 2), (2, 3)])
def test_the_paths_of_a_coin_add_up_to_its_probability(numerator, denominator, matches_law):
    p, numerators = math.exp(-numerator / denominator), np.array([numerator])
    assert matches_law(lambda: noise._bernoulli_exp(numerators, denominator, None)[0], {1: p, 0: 1 - p}.get)


SCALES = [1, 2, Fraction(3, 2), Fraction(2, 5)]


@pytest.mark.parametrize("scale", SCALES)
def test_the_paths_of_geometric_noise_given_its_coins_add_up_to_its_distribution(scale, matches_law):
    def coin(numerators, denominator, source):
        return [-math.expm1(-numerators[0] / denominator), math.exp(-numerators[0] / denominator)]

    expected = lambda z: geometric_cdf(z, scale) - geometric_cdf(z - 1, scale)  # noqa: E731
    assert matches_law(lambda: noise.geometric(scale, 1, None)[0], expected, _bernoulli_exp=(bool, coin))


def zero_twice(scale, size, source):
    magnitude = noise.geometric(scale, size, source)
    return np.where(noise.uniform_below(2, size, source) == 0, -magnitude, magnitude)


@pytest.mark.parametrize("scale", SCALES)
def test_the_paths_of_laplace_noise_given_its_magnitude_add_up_to_its_distribution(scale, matches_law):
    magnitudes = [p for _, p in noises_within(lambda z: geometric_cdf(z, scale), 0, 60)]
    for sampler in (noise.discrete_laplace, zero_twice):
        expected = lambda z: discrete_laplace_cdf(z, scale) - discrete_laplace_cdf(z - 1, scale)  # noqa: E731
        matches = matches_law(lambda: sampler(scale, 1, None)[0], expected, geometric=(int, lambda *_: magnitudes))  # noqa: B023
        assert matches == (sampler is noise.discrete_laplace)


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
        chosen, _ = OneShotTopK(1, scale).release(np.array(steps) * GRID, random_bytes=None)
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
