"""Intervals of TwoPartyScorer hold the distance correlation of the parts, of values of many laws, or are refused."""

import math
import warnings
from functools import cache

import numpy as np
import pytest
from scipy import stats

from skdpmic.two_party import RandomizedResponse, TwoPartyScorer, distance_correlation
from skdpmic.two_party import response_tables as tables
from tests.two_party.sent import may_refuse, reports_of, seeded

pytest.importorskip("pyarrow", reason="reports are tables of Arrow")

LAWS = {  # of a feature, and its public bounds: cut in 4 parts at epsilon 1, in 6 at 2, in 8 at 4
    "uniform": (lambda rng, n: rng.random(n), (0, 1)),
    "log-normal": (lambda rng, n: rng.lognormal(size=n), (0, 20)),
    "log-normal, by its logarithm": (lambda rng, n: rng.lognormal(size=n), (0, 20, "log")),
    "two values": (lambda rng, n: rng.integers(2, size=n), (0, 1)),
    "three values": (lambda rng, n: rng.integers(3, size=n) / 2, (0, 1)),
    "heavy tails": (lambda rng, n: rng.standard_cauchy(n), (-10, 10)),
}
FAST = ("log-normal, by its logarithm", "two values")
RELATED = {  # by the share of values that are smaller, or nearly so
    "line": lambda u, rng: u + 0.25 * rng.standard_normal(len(u)),
    "parabola": lambda u, rng: (1.5 * u - 1) ** 2 + 0.2 * rng.standard_normal(len(u)),
    "independent": lambda u, rng: rng.standard_normal(len(u)),
    "heavy": lambda u, rng: u + rng.standard_t(2, len(u)),
}


def drawn(law, relation, n, rng):
    draw, bounds = LAWS[law]
    x = draw(rng, n).astype(float)
    shares_below = x if "values" in law else stats.rankdata(x) / n
    return x[:, np.newaxis], RELATED[relation](shares_below, rng), bounds


@cache
def truth(law, relation, n_parts, n_target):
    """The distance correlation of centres of parts of 100,000 records, with the target or the centres of its parts."""
    if relation == "independent":
        return 0.0
    x, y, bounds = drawn(law, relation, 100_000, np.random.default_rng(0))
    parts = RandomizedResponse(math.inf, bounds, n_parts=n_parts).fit(x).transform(x)[:, 0].astype(int)
    if n_target is not None:
        y = np.clip(np.floor((y + 1) / 3 * n_target), 0, n_target - 1)
    columns, ones = (distance_correlation.Numbers(parts / n_parts), distance_correlation.Numbers(y)), np.ones(len(y))
    distances = distance_correlation.between_centres(n_parts)
    covariance = distance_correlation.distance_covariance(parts, columns[1], ones, distances).value
    own, spread = (distance_correlation.distance_variance(column, ones).value for column in columns)
    return math.sqrt(covariance / math.sqrt(own * spread))


def intervals(law, relation, n, of_reports, epsilon, repeats):
    """Of how many tables the interval of 95% holds the truth, and how many are narrower than [0, 1]."""
    n_parts = 4 if of_reports < 1.5 else 6 if of_reports < 3 else 8
    n_target = None if epsilon is None else tables.n_target_parts("distance_correlation", epsilon * n)
    expected, held, narrower = truth(law, relation, n_parts, n_target), 0, 0
    target_bounds = None if epsilon is None else (-1, 2)
    for seed in range(repeats):
        x, y, bounds = drawn(law, relation, n, np.random.default_rng([seed, n]))
        bob = TwoPartyScorer(target_bounds=target_bounds, epsilon=epsilon, random_state=seed)
        bob.fit(reports_of(x, of_reports, bounds=bounds, random_state=seed + 1000), y)
        (lower,), (upper,) = bob.scores_interval()
        assert lower <= bob.scores_[0] <= upper
        held += lower <= expected <= upper
        narrower += upper - lower < 1
    return held, narrower


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
@pytest.mark.parametrize("of_reports, epsilon", [(1.0, None), (4.0, None), (2.0, 1.0)])
@pytest.mark.parametrize("relation", RELATED)
@pytest.mark.parametrize("law", LAWS)
def test_intervals_hold_the_truth_as_often_as_they_say(law, relation, of_reports, epsilon):
    """200 tables of 1,000 records. With 95% each, 180 of 200 hold it with probability 0.998; with 85%, with 0.03."""
    held, _ = intervals(law, relation, 1000, of_reports, epsilon, 200)
    assert held >= 180


@seeded
@pytest.mark.parametrize("law", ["uniform", "two values", "three values"])
@pytest.mark.parametrize("epsilon", [None, 1.0])
def test_intervals_say_something_of_values_that_spread(law, epsilon):
    """10 tables of 2,000 records at epsilon = 2."""
    assert intervals(law, "line", 2000, 2.0, epsilon, 10)[1] == 10


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
            assert "in more than one part: more people or a larger epsilon" in str(caught[0].message)
            assert caught[0].filename == __file__


@seeded
def test_an_interval_is_refused_where_one_record_decides():
    """Of a target without a mean, whose distance correlation with anything does not exist."""
    rng = np.random.default_rng(3)
    y = rng.standard_cauchy(1000)
    sent = reports_of(np.arctan(y)[:, np.newaxis], 4.0, bounds=(-2, 2), random_state=0)
    bob = TwoPartyScorer().fit(sent, y)
    with pytest.warns(UserWarning, match="one record bears more than 15% of the variance"):
        assert np.ravel(bob.scores_interval()).tolist() == [0, 1]
    lower, upper = TwoPartyScorer(target_bounds=(-10, 10)).fit(sent, y).scores_interval()
    assert 0.5 < lower[0] < upper[0] < 1
