"""What releases without delta cost in zCDP: the exact Rényi divergences of their laws, and what a ledger is charged.

A release that keeps to alpha * rho at every order alpha is rho-zCDP. Towards order 1 the divergences come near to what
is charged, so a charge that is half as large is too small.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic.budget.filters import Cost
from skdpmic.privacy.greedy import greedy_for_budget
from skdpmic.privacy.mechanisms import LaplaceMechanism, NoiseOnGrid
from skdpmic.release.kinds import BestFeatures, GreedyFeatures, NoisyScores, NoisyTables
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.two_party.response_noise import keep_probability
from tests.privacy.test_greedy import BASE, STEPS, K, by_permute_and_flip, law_of_lists, worst

ORDERS = [1.0001, 1.5, 2, 4, 16, 256]


def renyi(p, q, order):
    """Divergence of two laws without zeros, as arrays; through logarithms, so that no power overflows."""
    logs = order * np.log(p) + (1 - order) * np.log(q)
    return (logs.max() + math.log(np.exp(logs - logs.max()).sum())) / (order - 1)


def of_laplace(shift, scale, order):
    """Divergence of discrete Laplace noise, moved by `shift`: sums of geometric series on either side, and between."""
    between = np.arange(shift + 1)
    log_sides = [-order * 0 - (1 - order) * shift / scale, -order * shift / scale]  # before 0, and after shift
    log_middle = -order * between / scale - (1 - order) * (shift - between) / scale
    tail = 1 / math.expm1(1 / scale)  # of exp(-z / scale), z = 1, 2, ...
    total = sum(math.exp(log) for log in log_sides) * tail + np.exp(log_middle).sum()
    return math.log(total * math.tanh(1 / (2 * scale))) / (order - 1)


def test_the_divergence_of_laplace_noise_is_that_of_its_law():
    z = np.arange(-4000, 4000)
    p, q = (np.exp(-np.abs(z - centre) / 20) for centre in (0, 7))
    for order in (1.5, 4):
        assert of_laplace(7, 20, order) == pytest.approx(renyi(p / p.sum(), q / q.sum(), order), rel=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon, d", [(1.0, 50), (0.3, 2), (3.0, 10), (0.1, 1)])
def test_an_even_split_of_laplace_noise_costs_no_more_than_is_charged(epsilon, d, order):
    steps = 1000
    scale = LaplaceMechanism.for_budget(epsilon, 0.0, d, steps).scale
    charged = NoisyScores(epsilon, 0.0, LaplaceMechanism, d).cost.in_zcdp
    assert d * of_laplace(steps, scale, order) <= order * charged
    assert d * of_laplace(steps, scale, 1.0001) > charged / 2


@pytest.mark.parametrize("rows_per_group", [1, 3])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon, d", [(1.0, 50), (0.3, 2), (2.0, 1)])
def test_noisy_tables_cost_no_more_than_is_charged_however_a_person_moves(epsilon, d, order, rows_per_group):
    scale = float(GeometricMechanism.for_budget(epsilon, d, rows_per_group).scale)
    charged = NoisyTables(epsilon, d).cost.in_zcdp
    ways = [way for way in product(range(rows_per_group + 1), repeat=rows_per_group) if sum(way) <= rows_per_group]
    one_side = [sum(of_laplace(rows, scale, order) for rows in way if rows) for way in ways]  # of cells that lose rows
    assert d * 2 * max(one_side) <= order * charged
    assert d * 2 * of_laplace(rows_per_group, scale, 1.0001) > charged / 2


# Scores, and scores with the feature of each row, in which three features are tied; and how a neighbour moves them.
TIED = (0, 0, 0), ((0, 0, 0), (0, 0, 0), (0, 0, 0))
MOVED = (1, -1, -1), ((0, -1, 1), (-1, 0, 1), (-1, 1, 0))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon, redundancy", [(0.2, 1.0), (0.2, 0.3), (1.0, 1.0), (1.0, 4.0)])
def test_choices_one_by_one_cost_no_more_than_is_charged(epsilon, redundancy, order):
    scale = greedy_for_budget(epsilon, 0.0, K, redundancy, STEPS).scale
    charged = GreedyFeatures(epsilon, 0.0, K, redundancy).cost.in_zcdp

    def divergence(p, q, at=order):
        return renyi(*(np.array([law[chosen] for chosen in p]) for law in (p, q)), at)

    def one_choice(adjusted):
        return by_permute_and_flip(adjusted, scale)

    def law_at(ends):
        scores, with_features = (np.array(end) * STEPS + BASE for end in ends)
        return law_of_lists(scores.tolist(), with_features.tolist(), K, Fraction(str(redundancy)), one_choice)

    here, there = map(law_at, (TIED, MOVED))
    assert worst(divergence, Fraction(str(redundancy)), one_choice) <= order * charged
    assert max(divergence(here, there), divergence(there, here)) <= order * charged
    assert divergence(here, there, 1.0001) > 0.45 * charged  # bounded range would be a quarter of what is charged


@pytest.mark.parametrize("redundancy, later", [(1, 2), (0.5, 1.5), (1e-9, 1), (2.5, 3.5), (1e6, 1e6 + 1)])
@pytest.mark.parametrize("k", [2, 5, 100])
@pytest.mark.parametrize("steps", [1, 7, 10**6])
def test_the_epsilons_of_choices_are_never_charged_below_the_sum_of_their_squares(k, redundancy, later, steps):
    scale = greedy_for_budget(1.0, 0.0, k, redundancy, steps).scale
    first, others = Fraction(2 * steps, scale), Fraction(2 * (steps + math.ceil(Fraction(redundancy) * steps)), scale)
    squares = first**2 + (k - 1) * others**2
    charged = GreedyFeatures(1.0, 0.0, k, redundancy).cost.in_zcdp
    assert squares / 2 <= charged <= Fraction(1, 2)
    assert charged <= squares / 2 * Fraction(10, 8) or steps == 1


def test_equal_choices_are_charged_as_an_even_split():
    assert GreedyFeatures(1.0, 0.0, 4, 1e-300).cost.in_zcdp < Fraction(1, 6)
    assert GreedyFeatures(1.0, 0.0, 5, 1).cost.rho == pytest.approx(17 / 81 / 2)


@pytest.mark.parametrize("k", [1, 2, 50])
def test_one_draw_for_several_names_is_charged_as_one_part(k):
    """Its noise serves all k places, so there are no parts to add up."""
    assert BestFeatures(0.5, 0.0, k).cost == Cost(0.5)
    assert NoisyScores(0.5, 0.0, OneDraw, 30).cost == Cost(0.5)


class OneDraw(NoiseOnGrid):
    """A mechanism that does not say that it splits evenly."""

    needs_delta = False


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n_parts", [2, 4, 9])
def test_reports_cost_no_more_than_is_charged(n_parts, order):
    epsilon, k = 1.5, 3
    keep = keep_probability(n_parts, epsilon / k)
    p = np.full(n_parts, (1 - keep) / (n_parts - 1))
    q = p.copy()
    p[0] = q[1] = keep
    charged = Cost.of_parts(epsilon, Fraction(1, k)).in_zcdp
    assert k * renyi(p, q, order) <= order * charged
    if n_parts == 2:
        assert k * renyi(p, q, 1.0001) > charged / 2
