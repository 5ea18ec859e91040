"""Target shares on either side of a given cut: as released, they give the scores that a fit's intervals are for."""

import math
from itertools import product

import numpy as np
import pytest

from skdpmic import BudgetLedger, DPMICScorer, DPMICSelector, PrivateSelectKBest, mtv_r
from skdpmic.counting import RangeGridSketch
from skdpmic.statistics.mtv.statistic import MtvRGrids
from skdpmic.table.domains import domain_of
from skdpmic.table.targets import NumericTarget
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
    "whole numbers, log": ((0, 25, "log"), np.round(Y)),
    "whole numbers, knots": ((0, 3, 7, 25), np.round(Y)),
    "dates": ((np.datetime64("2019-12-01"), np.datetime64("2021-01-01")), DATES),
}


def scorer(target_bounds, epsilon=math.inf, **options):
    return DPMICScorer(statistic="mtv_r", epsilon=epsilon, bounds=(0, 1), target_bounds=target_bounds, **options)


def as_released(fit):
    return {name: getattr(fit, f"{name}_") for name in ("target_shares", "target_cut", "B", "c")}


@each("name", RANGES)
def test_a_fit_without_noise_at_the_released_cut_and_shares_has_the_scores_that_intervals_cover(name):
    """Exactly: no record changes sides, and the scores are those of mtv_r. This also holds for a cut in the middle."""
    target_bounds, y = RANGES[name]
    places = set()
    for epsilon, seed in ((0.5, 0), (10.0, 0), (10.0, 1)):
        fit = scorer(target_bounds, epsilon, random_state=seed).fit(X, y)
        given = scorer(target_bounds).set_params(**as_released(fit)).fit(X, y)
        assert given._target_shares.knots == fit._target_shares.knots
        assert (given.target_cut_, given.target_shares_.tolist()) == (fit.target_cut_, fit.target_shares_.tolist())
        lower, upper = fit.scores_interval(1 - 1e-9, simultaneous=True)
        assert np.all((lower <= given.scores_) & (given.scores_ <= upper))
        if name != "dates":
            bounds = (0, 1), target_bounds
            assert given.scores_.tolist() == [mtv_r(x, y, bounds=bounds, **as_released(fit)) for x in X.T]
        places.add(fit._target_shares.knots)
    assert None in places
    assert len(places) > 1 or name.startswith("whole numbers, ")


def test_without_noise_a_cut_and_its_shares_give_the_scores_of_the_fit_that_learnt_them():
    learnt = scorer((0, 25)).fit(X, Y)
    assert 4 < learnt.target_cut_ < 5
    assert scorer((0, 25)).set_params(**as_released(learnt)).fit(X, Y).scores_ == pytest.approx(learnt.scores_)


def test_a_sketch_is_cut_between_its_bins():
    sketch = RangeGridSketch(statistic="mtv_r", bounds=(0, 1), target_bounds=(0, 25), n_features=3, B=32, c=38)
    sketch.update(X, Y)
    fit = scorer(None, 10.0, random_state=0).set_params(bounds=None).fit_sketch(sketch)
    assert fit.target_cut_ in (25 / 8, 25 / 4)
    given = scorer(None).set_params(bounds=None, **as_released(fit)).fit_sketch(sketch)
    lower, upper = fit.scores_interval(1 - 1e-9, simultaneous=True)
    assert np.all((lower <= given.scores_) & (given.scores_ <= upper))
    assert given._target_shares.ends == fit._target_shares.ends
    with pytest.raises(ValueError, match="target_cut must be between two parts of the 8 in which a sketch counts"):
        given.set_params(target_cut=4.0).fit_sketch(sketch)


@pytest.mark.parametrize("make", [DPMICScorer, DPMICSelector, PrivateSelectKBest])
def test_a_given_cut_costs_nothing(make, tmp_path):
    ledger = BudgetLedger(tmp_path / "ledger.db", epsilon=2.0)
    known = {"statistic": "mtv_r", "bounds": (0, 1), "target_bounds": (0, 25), "target_shares": [0.5, 0.5]}
    k = {"k": 1} if make is not DPMICScorer else {}
    plain, at_cut = (make(**k, **known, target_cut=cut, ledger=ledger).fit(X, Y) for cut in (None, 5))
    assert [entry.epsilon for entry in ledger.entries()] == [1.0, 1.0]
    assert [entry.epsilon_of_target for entry in ledger.entries()] == [None, None]
    assert plain.noise_scale_ == at_cut.noise_scale_
    assert at_cut.target_cut_ == at_cut.get_params()["target_cut"] == 5
    assert not hasattr(plain, "target_cut_")


@each("share", [0.5, 0.25])
def test_a_record_moves_a_score_at_a_given_cut_by_at_most_2_over_n(share):
    """Over all tables of three records on 3 by 4 values; attained for equal shares (Theorems 1 and 2, known margin)."""
    domain, n = domain_of((0, 8, "log"), "target_bounds"), 3
    measure = MtvRGrids(8, 2, None).with_target_shares((share, 1 - share), 2.0, domain)
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


BAD = {
    "no shares": ({"target_shares": None}, "target_shares must be the 2 shares of the records below target_cut=5.0"),
    "four shares": ({"target_shares": [0.25] * 4}, "target_shares must be the 2 shares"),
    "outside": ({"target_cut": 25}, "target_cut must be inside target_bounds, and of their type, got 25"),
    "not a number": ({"target_cut": math.nan}, "target_cut must be inside"),
    "text": ({"target_cut": "5"}, "target_cut must be inside"),
    "a date": ({"target_cut": np.datetime64("2020-01-01")}, "target_cut must be inside"),
    "classes": ({"target_bounds": None, "classes": [0, 1]}, "target_cut must be None with classes"),
    "another statistic": ({"statistic": "mic_r"}, "target_shares must be None with statistic='mic_r'"),
}


@each("name", BAD)
def test_a_cut_must_be_inside_the_range_and_have_the_shares_of_its_sides(name, tmp_path):
    change, message = BAD[name]
    ledger = BudgetLedger(tmp_path / "ledger.db", epsilon=1.0)
    known = {"target_shares": [0.5, 0.5], "target_cut": 5.0, "ledger": ledger}
    with pytest.raises(ValueError, match=message):
        scorer((0, 25), 1.0, **known).set_params(**change).fit(X, Y)
    assert ledger.entries() == []
    if not {"classes", "statistic"} & set(change):
        given = {"target_shares": [0.5, 0.5], "target_cut": 5.0} | change
        with pytest.raises(ValueError, match="target_shares must be" if name == "no shares" else message):
            mtv_r(X[:, 0], Y, bounds=((0, 1), (0, 25)), **given)
