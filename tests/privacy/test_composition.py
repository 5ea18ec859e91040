"""zCDP accounting: the conversions follow the published formula, and every rounding is on the safe side."""

import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy import composition
from skdpmic.privacy.composition import delta_of, epsilon_of, epsilon_within, rho_for, scale_for_rho
from tests.folding import each

BUDGETS = [(1.0, 1e-6), (0.1, 1e-10), (10.0, 1e-5), (0.5, 0.2), (3.0, 0.9), (1e-3, 1e-300), (200.0, 1e-9)]


def exact_delta(rho, epsilon):
    """The infimum over alpha of Canonne, Kamath and Steinke (2020), Corollary 13, to 40 digits."""
    rho, epsilon = mpmath.mpf(rho), mpmath.mpf(epsilon)

    def log_delta(log_t):
        alpha = 1 + mpmath.exp(log_t)
        return (alpha - 1) * (alpha * rho - epsilon) - mpmath.log(alpha - 1) + alpha * mpmath.log1p(-1 / alpha)

    low, high = mpmath.mpf(-60), mpmath.mpf(60)
    golden = (mpmath.sqrt(5) - 1) / 2
    for _ in range(160):  # the function falls, then rises
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if log_delta(left) < log_delta(right) else (left, high)
    return mpmath.exp(log_delta((low + high) / 2))


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
def test_delta_is_the_infimum_over_alpha_rounded_up(epsilon, delta):
    with mpmath.workdps(40):
        for rho in (rho_for(epsilon, delta), 0.3 * rho_for(epsilon, delta)):
            exact = exact_delta(rho, epsilon)
            if exact > 1e-300:
                assert exact <= delta_of(rho, epsilon) <= exact * (1 + mpmath.mpf("1e-9"))
            else:
                assert exact <= delta_of(rho, epsilon)


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
def test_rho_is_the_largest_within_the_budget_rounded_down(epsilon, delta):
    rho = rho_for(epsilon, delta)
    with mpmath.workdps(40):
        assert exact_delta(rho, epsilon) <= delta < exact_delta(rho * (1 + 1e-9), epsilon)


def other_library():
    """The functions of `math`, with exp and log1p off by one unit in the last place, as in another C library."""
    directions = np.random.RandomState(0)

    def off_by_one(function):
        return lambda x: math.nextafter(function(x), directions.choice([-math.inf, function(x), math.inf]))

    return SimpleNamespace(**vars(math) | {"exp": off_by_one(math.exp), "log1p": off_by_one(math.log1p)})


@pytest.mark.few
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.3])
def test_budgets_are_the_same_with_another_c_library(epsilon, monkeypatch):
    budgets = [(epsilon, delta) for delta in (1e-9, 1e-6, 1e-3)]
    here = [rho_for(*budget) for budget in budgets]
    assert all((Fraction(rho).numerator).bit_length() <= 40 for rho in here)
    monkeypatch.setattr(composition, "math", other_library())
    rho_for.cache_clear()
    assert here == [rho_for(*budget) for budget in budgets]
    largest, _ = composition._turning_point(lambda rho: delta_of(rho, epsilon) <= 1e-6)
    assert largest * (1 - 2.0**-39) < rho_for(epsilon, 1e-6) < largest * (1 + 2.0**-48)


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
def test_epsilon_is_the_smallest_that_holds_rounded_up(epsilon, delta):
    rho = rho_for(epsilon, delta)
    assert epsilon_of(rho, delta) == pytest.approx(epsilon, rel=1e-9)
    with mpmath.workdps(40):
        assert exact_delta(rho, epsilon_of(rho, delta)) <= delta


@each("epsilon, delta", BUDGETS)
def test_the_bound_holds_for_gaussian_noise_and_is_less_than_ten_times_its_exact_delta(epsilon, delta):
    # Exact (Balle and Wang 2018): sensitivity over standard deviation is sqrt(2 rho).
    mu = math.sqrt(2 * rho_for(epsilon, delta))
    log_head = stats.norm.logcdf(mu / 2 - epsilon / mu)
    exact = math.exp(log_head) * -math.expm1(epsilon + stats.norm.logcdf(-mu / 2 - epsilon / mu) - log_head)
    assert delta / 10 < exact <= delta or delta < 1e-200  # where the formula underflows


def test_the_extremes_give_safe_numbers():
    assert rho_for(math.inf, 1e-6) == math.inf
    assert scale_for_rho(math.inf, 10, 10**6) == 0
    assert delta_of(0, 1) == 0
    assert epsilon_of(0, 1e-6) == 0
    assert delta_of(1.0, math.inf) == 0
    assert delta_of(1e300, 1e6) == 1
    assert epsilon_of(1e300, 1e-6) == math.inf
    assert 0 < delta_of(1e-300, 1e300)  # rounded up
    assert 0.99 * 2.0**200 < epsilon_within(Fraction(rho_for(1e300, 1e-6)), 1e-6) <= 2.0**200
    assert 0.1 / 2 < delta_of(rho_for(1e-40, 0.1), 0.0) <= 0.1  # delta alone pays
    with pytest.raises(ValueError, match="must be larger"):
        rho_for(1e-300, 1e-320)
