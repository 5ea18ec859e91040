"""TwoPartyScorer's intervals contain the distance correlation of the parts, for many distributions, or are refused."""

import warnings

import numpy as np
import pytest
from scipy import stats

from benchmarks.two_party_intervals import BUDGETS, DISTRIBUTIONS, RELATED, intervals
from skdpmic.two_party import TwoPartyScorer
from tests.two_party.sent import may_refuse, reports_of, seeded

pytest.importorskip("pyarrow", reason="reports are tables of Arrow")

# Each distribution twice, each relation and budget equally often; all are in ``benchmarks/two_party_intervals.py``.
HARD = [
    (distribution, list(RELATED)[(i + j) % 4], BUDGETS[(i + 2 * j) % 3])
    for i, distribution in enumerate(DISTRIBUTIONS)
    for j in (0, 1)
]


@seeded
@may_refuse
@pytest.mark.slow
@pytest.mark.parametrize("distribution, relation, budget", HARD)
def test_intervals_contain_the_true_value_as_often_as_stated(distribution, relation, budget):
    """Of those narrower than [0, 1]: passes with probability 0.998 at 95% coverage, with 0.03 at 85% of 200."""
    held, narrower = intervals(distribution, relation, 1000, *budget, 200)
    assert 200 - held <= stats.binom.isf(0.002, narrower, 0.05)


@seeded
def test_an_interval_is_refused_with_advice_where_the_parts_show_no_spread():
    """Nearly all values lie in the first of 8 parts; their logarithms do not."""
    x = np.random.default_rng(0).lognormal(size=(1000, 1))
    for bounds, is_refused in (((0, 200), True), ((0, 200, "log"), False)):
        bob = TwoPartyScorer().fit(reports_of(x, 4.0, bounds=bounds, random_state=0), np.log(x[:, 0]))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (lower,), (upper,) = bob.scores_interval()
        assert ((lower, upper) == (0, 1)) == is_refused == bool(caught)
        if is_refused:
            assert "in more than one part: use more people, a larger epsilon" in str(caught[0].message)
            assert caught[0].filename == __file__


@seeded
def test_an_interval_is_refused_where_parts_are_too_coarse_for_the_values():
    """Four in five values of the first column lie in the first of 8 parts; the second column has only two values."""
    rng = np.random.default_rng(0)
    x = np.c_[rng.lognormal(size=2000), 20.0 * (rng.random(2000) < 0.1)]
    sent = reports_of(x, 8.0, bounds={0: (0, 20), 1: (0, 20)}, columns_per_record=2, n_parts=8, random_state=0)
    for options in ({}, {"epsilon": 4.0, "target_bounds": (-4, 4), "random_state": 0}):
        bob = TwoPartyScorer(**options).fit(sent, np.log(x[:, 0]) + x[:, 1] / 20)
        with pytest.warns(UserWarning, match=r"intervals of \['x0'\] are \[0, 1\], because more than 60% .* knots"):
            lower, upper = bob.scores_interval()
        assert (lower[0], upper[0]) == (0, 1)
        assert 0.1 < upper[1] - lower[1] < 0.6


@seeded
def test_an_interval_is_refused_where_one_record_decides():
    """The target has no mean, so its distance correlation with anything does not exist."""
    rng = np.random.default_rng(3)
    y = rng.standard_cauchy(1000)
    sent = reports_of(np.arctan(y)[:, np.newaxis], 4.0, bounds=(-2, 2), random_state=0)
    bob = TwoPartyScorer().fit(sent, y)
    with pytest.warns(UserWarning, match="one record contributes more than 15% of the variance"):
        assert np.ravel(bob.scores_interval()).tolist() == [0, 1]
    lower, upper = TwoPartyScorer(target_bounds=(-10, 10)).fit(sent, y).scores_interval()
    assert 0.5 < lower[0] < upper[0] < 1
