"""Samplers and accounting agree with OpenDP, which was written and verified by others.

Its discrete Gaussian is correct from version 0.14.2 on; earlier versions draw zero 5% too rarely at a scale of 2.
"""

import math

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.composition import budget_of, rho_for
from skdpmic.privacy.mechanisms import GaussianMechanism
from skdpmic.privacy.noise import discrete_gaussian, discrete_laplace, entropy_source
from tests.privacy.laws import gaussian_p_value, laplace_p_value, rho_of_scale

dp = pytest.importorskip("opendp.prelude")
dp.enable_features("contrib")

N_DRAWS = 20_000
ALPHA = 1e-9  # of each test of OpenDP's draws, which cannot be seeded: one chance failure in a billion runs
BUDGETS = [(1.0, 1e-6), (0.1, 1e-10), (10.0, 1e-5), (0.5, 0.01)]


def laplace_of_opendp(scale):
    return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(scale))


def gaussian_of_opendp(sigma):
    return dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=float(sigma))


def two_sample_p_value(draws, others):
    """P-value of a chi-square test that two samples have one distribution, on cells with equal counts in the first."""
    draws, others = np.asarray(draws, dtype=float), np.asarray(others, dtype=float)
    cuts = np.unique(np.quantile(draws, np.linspace(0, 1, 31)[1:-1]))
    edges = [-np.inf, *(np.floor(cuts) + 0.5), np.inf]
    table = np.array([np.histogram(sample, bins=edges)[0] for sample in (draws, others)])
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


KINDS = {  # our draws, theirs, the p-value of either, and the power of the scale that these two take
    "laplace": (discrete_laplace, laplace_of_opendp, laplace_p_value, 1),
    "gaussian": (discrete_gaussian, gaussian_of_opendp, gaussian_p_value, 2),
}


@pytest.mark.few
@pytest.mark.parametrize("scale", [2, pytest.param(7, marks=pytest.mark.slow), 10**6])
@pytest.mark.parametrize("draw, theirs, p_value, power", KINDS.values(), ids=KINDS)
def test_noise_has_the_same_distribution_as_that_of_opendp(draw, theirs, p_value, power, scale):
    drawn = theirs(scale)([0] * N_DRAWS)
    assert p_value(drawn, scale**power) > ALPHA
    ours, wrong = (draw(factor * scale**power, N_DRAWS, entropy_source(0)) for factor in (1, 2))
    assert two_sample_p_value(wrong, drawn) < ALPHA < two_sample_p_value(ours, drawn)


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
@pytest.mark.parametrize("n_scores, steps", [(1, 12_345), (1000, 99_999)])
def test_the_gaussian_mechanism_spends_its_rho_and_so_its_epsilon_and_delta(epsilon, delta, n_scores, steps):
    sigma = GaussianMechanism.for_budget(budget_of(epsilon, delta), n_scores, steps).scale
    measurement, distance = gaussian_of_opendp(sigma), steps * math.sqrt(n_scores)
    assert measurement.map(distance) == pytest.approx(float(rho_of_scale(sigma, n_scores, steps)), rel=1e-9)
    assert measurement.map(distance) == pytest.approx(rho_for(epsilon, delta), rel=1e-3)
    spent = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), delta).map(distance)
    assert spent == (pytest.approx(epsilon, rel=1e-3), delta)
