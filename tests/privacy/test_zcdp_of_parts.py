"""The zCDP cost of releases without delta: the exact Rényi divergences against what a ledger is charged.

A release whose divergence is at most alpha * rho at every order alpha is rho-zCDP. Towards order 1 the divergences
come near what is charged, so half the charge would be too small.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic.privacy.composition import Cost, budget_of
from skdpmic.privacy.mechanisms import LaplaceMechanism, NoiseOnGrid
from skdpmic.release.kinds import BestFeatures, JointFeatures, NoisyScores, NoisyTables
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.two_party.randomized_response import keep_probability
from tests.folding import each
from tests.privacy.laws import renyi
from tests.privacy.test_in_turn import by_permute_and_flip

ORDERS = [1.0001, 1.5, 2, 4, 16, 256]


def laplace_divergence(shift, scale, order):
    """Divergence of discrete Laplace noise shifted by `shift`: geometric series on either side and in between."""
    between = np.arange(shift + 1)
    log_sides = [-order * 0 - (1 - order) * shift / scale, -order * shift / scale]  # before 0, and after shift
    log_middle = -order * between / scale - (1 - order) * (shift - between) / scale
    tail = 1 / math.expm1(1 / scale)  # of exp(-z / scale), z = 1, 2, ...
    total = sum(math.exp(log) for log in log_sides) * tail + np.exp(log_middle).sum()
    return math.log(total * math.tanh(1 / (2 * scale))) / (order - 1)


@each("order", ORDERS)
@pytest.mark.parametrize("epsilon, d", [(1.0, 50), (0.3, 2), (3.0, 10), (0.1, 1)])
def test_an_even_split_of_laplace_noise_costs_no_more_than_is_charged(epsilon, d, order):
    steps = 1000
    scale = LaplaceMechanism.for_budget(budget_of(epsilon), d, steps).scale
    charged = NoisyScores(epsilon, 0.0, LaplaceMechanism, d).cost.in_zcdp
    assert d * laplace_divergence(steps, scale, order) <= order * charged
    assert d * laplace_divergence(steps, scale, 1.0001) > charged / 2


@each("rows_per_group", [1, 3])
@each("order", ORDERS)
@pytest.mark.parametrize("epsilon, d", [(1.0, 50), (0.3, 2), (2.0, 1)])
def test_noisy_tables_cost_no_more_than_is_charged_however_a_person_moves(epsilon, d, order, rows_per_group):
    scale = float(GeometricMechanism.for_budget(epsilon, d, rows_per_group).scale)
    charged = NoisyTables(epsilon, d).cost.in_zcdp
    ways = [way for way in product(range(rows_per_group + 1), repeat=rows_per_group) if sum(way) <= rows_per_group]
    of_cells_losing_rows = [sum(laplace_divergence(rows, scale, order) for rows in way if rows) for way in ways]
    assert d * 2 * max(of_cells_losing_rows) <= order * charged
    assert d * 2 * laplace_divergence(rows_per_group, scale, 1.0001) > charged / 2


@each("order", ORDERS)
@pytest.mark.parametrize("epsilon, k", [(0.2, 2), (1.0, 3), (1.0, 30)])
def test_choices_in_turn_cost_no_more_than_is_charged(epsilon, k, order):
    """Three tied features that a neighbour moves apart, and the single scores of the chosen ones."""
    steps, release = 1000, JointFeatures(epsilon, 0.0, k)
    mechanism, charged = release.noise_for(steps), release.cost.in_zcdp
    here, there = (
        np.array([*by_permute_and_flip(dict(enumerate(worth)), mechanism.scale).values()])
        for worth in ((0, 0, 0), (steps, -steps, -steps))
    )

    def divergence(at):
        choice = max(renyi(here, there, at), renyi(there, here, at))
        return k * choice + (k - 1) * laplace_divergence(steps, mechanism._own_scale, at)

    assert divergence(order) <= order * charged
    assert divergence(1.0001) > 0.4 * charged  # by bounded range it would be a quarter of what is charged


@pytest.mark.parametrize("k", [1, 2, 50])
def test_one_draw_for_several_names_is_charged_as_one_part(k):
    """The same noise serves all k places, so there are no parts to sum."""
    assert BestFeatures(0.5, 0.0, k).cost == Cost(0.5)
    assert NoisyScores(0.5, 0.0, OneDraw, 30).cost == Cost(0.5)


class OneDraw(NoiseOnGrid):
    """A mechanism that does not declare an even split."""

    needs_delta = False

    @staticmethod
    def epsilon_per_score(budget, n_scores):
        return budget.epsilon


@each("order", ORDERS)
@each("n_parts", [2, 4, 9])
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
