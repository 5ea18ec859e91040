"""Intervals of TwoPartyScorer hold the distance correlation of the parts, of values of many laws, or are refused."""

import warnings

import numpy as np
import pytest

from benchmarks.two_party_intervals import BUDGETS, LAWS, RELATED, intervals
from skdpmic.two_party import TwoPartyScorer
from tests.two_party.sent import may_refuse, reports_of, seeded

pytest.importorskip("pyarrow", reason="reports are tables of Arrow")

FAST = ("two values",)
# Each law twice, each relation and each budget equally often; ``benchmarks/two_party_intervals.py`` has all.
HARD = [(law, list(RELATED)[(i + j) % 4], BUDGETS[(i + 2 * j) % 3]) for i, law in enumerate(LAWS) for j in (0, 1)]


@pytest.mark.slow
@seeded
@may_refuse
@pytest.mark.parametrize("law", [pytest.param(law, marks=[] if law in FAST else pytest.mark.slow) for law in LAWS])
def test_intervals_hold_the_truth_of_the_parts_whatever_the_law_of_the_values(law):
    """40 tables of 1,000 records at epsilon 4: with 95% each, 34 hold it with probability .996; with 75%, with .1."""
    held, narrower = intervals(law, "line", 1000, 4.0, None, 40)
    assert held >= 34
    assert narrower >= 30


@seeded
@may_refuse
@pytest.mark.slow
@pytest.mark.parametrize("law, relation, budget", HARD)
def test_intervals_hold_the_truth_as_often_as_they_say(law, relation, budget):
    """200 tables of 1,000 records. With 95% each, 180 of 200 hold it with probability 0.998; with 85%, with 0.03."""
    held, _ = intervals(law, relation, 1000, *budget, 200)
    assert held >= 180


@seeded
def test_an_interval_is_refused_where_the_parts_show_no_spread_and_says_what_to_do():
    """Nearly all values lie in the first of 8 parts; not so of their logarithms."""
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
def test_an_interval_is_refused_where_one_record_decides():
    """Of a target without a mean, whose distance correlation with anything does not exist."""
    rng = np.random.default_rng(3)
    y = rng.standard_cauchy(1000)
    sent = reports_of(np.arctan(y)[:, np.newaxis], 4.0, bounds=(-2, 2), random_state=0)
    bob = TwoPartyScorer().fit(sent, y)
    with pytest.warns(UserWarning, match="one record contributes more than 15% of the variance"):
        assert np.ravel(bob.scores_interval()).tolist() == [0, 1]
    lower, upper = TwoPartyScorer(target_bounds=(-10, 10)).fit(sent, y).scores_interval()
    assert 0.5 < lower[0] < upper[0] < 1
