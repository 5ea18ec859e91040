"""Sums of privacy filters are exact, never below what is spent, and combined only where that is valid."""

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

from skdpmic.privacy import mechanisms
from skdpmic.privacy.composition import BasicFilter, Cost, ZCDPFilter, delta_of, rho_for


@pytest.mark.parametrize("epsilon, times, limit", [(0.1, 10, 1.0), (0.7, 10, 7.0), (1e-3, 1000, 1.0), (0.3, 3, 0.9)])
def test_costs_add_up_as_written_decimals(epsilon, times, limit):
    basic = BasicFilter(limit, 0.0)
    full = [Cost(epsilon, count=times)]
    assert basic.accepts(full)
    assert not basic.accepts([*full, Cost(1e-300)])
    assert basic.spent(full) == (limit, 0.0)
    assert basic.remaining(full) == (0.0, 0.0)


def test_the_noise_and_the_ledger_read_epsilon_in_the_same_way():
    # One step of sensitivity at scale s costs 1 / s: ten fits at 0.1 cost 1 exactly, not 1 + 5e-17.
    for epsilon in (0.1, 0.7, 1 / 3, 1e-3):
        assert Fraction(1, mechanisms.scale_for_budget(epsilon, 1)) <= Fraction(repr(epsilon))
    assert mechanisms.scale_for_budget(0.1, 10**30) == 10**31


def test_deltas_add_up_too():
    basic = BasicFilter(10.0, 1e-6)
    assert basic.accepts([Cost(1.0, 5e-7, count=2)])
    assert not basic.accepts([Cost(1.0, 5e-7, count=2), Cost(1.0, 1e-30)])
    assert basic.accepts([Cost(1.0, 5e-7, count=2), Cost(1.0)])
    assert basic.spent([Cost(1.0, 5e-7, count=2)]) == (2.0, 1e-6)


@pytest.mark.parametrize("epsilon, delta", [(1.0, 1e-6), (5.0, 1e-9), (0.1, 1e-3)])
def test_zcdp_accepts_gaussian_noise_up_to_rho_and_pure_costs_up_to_epsilon(epsilon, delta):
    limit = ZCDPFilter(epsilon, delta)
    rho = rho_for(epsilon, delta)
    assert limit.accepts([Cost(epsilon, delta, rho)])
    assert limit.accepts([Cost(9 * epsilon, delta, rho / 64, count=64)])
    assert not limit.accepts([Cost(epsilon, delta, rho / 64, count=65)])
    assert limit.accepts([Cost(epsilon / 4, count=4)])
    assert not limit.accepts(
        [Cost(epsilon / 4, count=4), Cost(1e-6, 1e-9, 1e-12)]
    )  # neither composition alone holds both
    small = float(Fraction(math.sqrt(rho / 32)))  # 16 pure costs of rho / 64 each: past epsilon, within rho
    assert limit.accepts([Cost(small, count=16), Cost(epsilon, delta, rho / 2)])


@pytest.mark.parametrize("k", [1, 3, 20])
def test_a_zcdp_filter_accepts_exactly_what_it_says_is_left(k):
    limit = ZCDPFilter(2.0, 1e-6)
    costs = [Cost(0.3, 1e-6, rho_for(0.3, 1e-6), count=k)]
    epsilon, delta = limit.spent(costs)
    assert delta == 1e-6
    assert delta_of(rho_for(0.3, 1e-6) * k, epsilon) <= 1e-6 * (1 + 1e-9)
    assert epsilon < 0.3 * k or k == 1
    epsilon, delta = limit.remaining(costs)
    assert limit.accepts([*costs, Cost(epsilon, delta, rho_for(epsilon, delta))])
    more = epsilon * (1 + 1e-9)
    assert not limit.accepts([*costs, Cost(more, delta, rho_for(more, delta))])


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1 / 3, 1.0, 1e-100, 1e149])
@pytest.mark.parametrize("n", [1, 2, 3, 50, 10**6])
def test_a_split_is_charged_the_least_float_that_is_not_below_the_sum_of_its_parts(epsilon, n):
    cost, parts = Cost.of_parts(epsilon, Fraction(1, n)), n * (Fraction(repr(epsilon)) / n) ** 2 / 2
    assert parts <= cost.in_zcdp
    assert n == 1 or Fraction(math.nextafter(cost.rho, 0)) < parts
    assert cost[:2] == (epsilon, 0.0)
    assert cost._replace(count=7).in_zcdp == 7 * cost.in_zcdp


@pytest.mark.parametrize("epsilon", [1e151, 1e308, math.inf])
def test_an_epsilon_whose_square_is_not_a_float_is_charged_as_a_whole(epsilon):
    assert Cost.of_parts(epsilon, Fraction(1, 50)) == Cost(epsilon)
    assert Cost(math.inf).in_zcdp == math.inf


def test_taking_the_smaller_of_both_sums_would_be_invalid_for_adaptive_spending():
    epsilon, delta = 5.0, 1e-6
    p, q = 100 * delta, 99 * delta  # P(published 1) on two neighbours
    rho_bit = math.log(p / q) ** 2 / 2
    assert p - q <= delta
    bit, randomised_response = Cost(1e-9, delta, rho_bit), Cost(epsilon - 1e-9)
    gaussian = Cost(1.0, delta, rho_for(epsilon, delta) - rho_bit - 1e-12)
    assert BasicFilter(epsilon, delta).accepts([bit, randomised_response])  # after a 1
    assert ZCDPFilter(epsilon, delta).accepts([bit, gaussian])  # after a 0
    assert not ZCDPFilter(epsilon, delta).accepts(
        [bit, randomised_response]
    )  # so the ledger does not take the smaller of both sums

    after_1 = 1 / (1 + math.exp(-randomised_response.epsilon)) * (p - q)
    left = epsilon - math.log((1 - p) / (1 - q))
    half = math.sqrt(2 * gaussian.rho) / 2
    after_0 = (1 - p) * (norm.cdf(half - left / (2 * half)) - math.exp(left) * norm.cdf(-half - left / (2 * half)))
    assert after_1 + after_0 > 1.15 * delta
