"""Scores at the shares and the cut of the target as released are those that a fit's intervals are for."""

import math
from itertools import product

import numpy as np
import pytest

from skdpmic import DPMICScorer, mtv_r
from skdpmic.counting import RangeGridSketch
from skdpmic.statistics.mtv.statistic import MtvRGrids
from skdpmic.table.domains import domain_of
from skdpmic.table.values import NumericTarget
from tests.folding import each

pytestmark = pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning", "ignore:noise:UserWarning")
RNG = np.random.default_rng(0)
X = RNG.random((500, 3))
Y = np.exp(2 * (X[:, 0] + 0.5 * RNG.random(500)))  # 1 to 20
DATES = np.datetime64("2020-01-01") + (1e6 * Y).astype("m8[s]")
RANGES = {
    "linear": ((0, 25), Y),
    "log": ((0, 25, "log"), Y),
    "knots": ((0, 3, 7, 25), Y),
    "whole numbers, on the edges of bins": ((0, 32), np.round(Y)),
    "dates": ((np.datetime64("2019-12-01"), np.datetime64("2021-01-01")), DATES),
}


def scorer(target_bounds, epsilon=math.inf, **options):
    return DPMICScorer(statistic="mtv_r", epsilon=epsilon, bounds=(0, 1), target_bounds=target_bounds, **options)


@each("name", RANGES)
def test_intervals_contain_the_scores_at_the_released_shares_and_cut(name):
    """These are of mtv_r, for the cut as a knot of the target's scale."""
    target_bounds, y = RANGES[name]
    domain = domain_of(target_bounds, "target_bounds")
    values = domain.encode(y.astype("M8[us]").astype(float) / 1e6 if name == "dates" else y)
    for epsilon, seed in ((0.5, 0), (10.0, 0), (10.0, 1)):
        fit = scorer(target_bounds, epsilon, random_state=seed).fit(X, y)
        knots = fit._target_shares.knots or domain.encoded
        assert (fit._target_shares.knots is None) == (epsilon < 1)
        known = {"bounds": ((0, 1), knots), "target_shares": fit.target_shares_, "B": fit.B_, "c": fit.c_}
        lower, upper = fit.scores_interval(1 - 1e-9, simultaneous=True)
        exact = np.array([mtv_r(x, values, **known) for x in X.T])
        assert np.all((lower <= exact) & (exact <= upper))


def test_a_fit_without_noise_to_the_released_knot_and_shares_has_these_scores():
    learnt = scorer((0, 25)).fit(X, Y)
    assert 4 < learnt.target_cut_ < 5
    given = scorer((0, learnt.target_cut_, 25), target_shares=learnt.target_shares_)
    assert given.fit(X, Y).scores_ == pytest.approx(learnt.scores_)


def test_a_sketch_is_cut_between_its_bins():
    sketch = RangeGridSketch(statistic="mtv_r", bounds=(0, 1), target_bounds=(0, 25), n_features=3, B=32, c=38)
    fit = scorer(None, 10.0, random_state=0).set_params(bounds=None).fit_sketch(sketch.update(X, Y))
    assert fit.target_cut_ in (25 / 8, 25 / 4)
    assert fit._target_shares.ends == (8 * fit.target_cut_ / 25, 8)


@each("share", [0.5, 0.25])
def test_a_record_moves_a_score_at_a_cut_by_at_most_2_over_n(share):
    """Over all tables of three records on 3 by 4 values; attained for equal shares (Theorems 1 and 2, known margin)."""
    domain, n = domain_of((0, 2.0, 8), "target_bounds"), 3
    measure = MtvRGrids(8, 2, None).with_target_shares((share, 1 - share))
    records = list(product((0.1, 0.4, 0.9), (0.5, 1.9, 2.0, 7.0)))

    def score(table):
        x, y = np.array(table).T
        return measure.scorer(NumericTarget(domain.encode(y), domain.encoded), None).score(x, (0.0, 1.0))

    scores = {table: score(table) for table in product(records, repeat=n) if list(table) == sorted(table)}
    moves = [
        abs(of_table - scores[tuple(sorted((*table[:i], other, *table[i + 1 :])))])
        for table, of_table in scores.items()
        for i, other in product(range(n), records)
    ]
    assert max(moves) <= 2 / n + 1e-12
    assert (max(moves) == pytest.approx(2 / n)) == (share == 0.5)
