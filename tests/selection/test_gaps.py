"""The gaps that a selector releases: their values, and when there are none."""

import math
import pickle

import numpy as np
import pytest

from skdpmic import BudgetLedger, DPMICScorer, PrivateSelectKBest

N, D = 300, 6
RNG = np.random.default_rng(0)
X = RNG.random((N, D))
Y = 0.5 * X[:, 2] + 0.3 * X[:, 4] + 0.2 * RNG.random(N)
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}
SINGLE = {"criterion": "single"} | PUBLIC  # joint scores have no gaps


def fitted(k=3, **parameters):
    return PrivateSelectKBest(k, **SINGLE | parameters).fit(X, Y)


def test_without_noise_gaps_are_the_differences_of_the_largest_scores():
    scores = np.sort(DPMICScorer(statistic="mtv_r", epsilon=math.inf, **PUBLIC).fit(X, Y).scores_)[::-1]
    selector = fitted(epsilon=math.inf)
    np.testing.assert_array_equal(selector.gaps_, -np.diff(scores[:3]))
    assert selector.to_frame()["gap"].isna().tolist() == [False, False, True, True, True, True]


def test_gaps_between_features_of_several_kinds_are_of_scores_less_null_scores():
    table = X.copy()
    table[:, 5] = np.floor(table[:, 5] * 3)
    public = {"bounds": {j: (0, 1) for j in range(5)}, "categories": {5: [0, 1, 2]}, "target_bounds": (0, 1)}
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, **public).fit(table, Y)
    selector = PrivateSelectKBest("all", epsilon=math.inf, criterion="single", **public).fit(table, Y)
    assert len(set(scorer.null_scores_)) == 2
    expected = -np.diff(np.sort(scorer.scores_ - scorer.null_scores_)[::-1])
    np.testing.assert_array_equal(selector.gaps_, expected)


def test_with_little_noise_gaps_are_close_to_those_without_noise():
    np.testing.assert_allclose(fitted(epsilon=1e6).gaps_, fitted(epsilon=math.inf).gaps_, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_only_the_one_shot_mechanism_has_gaps_and_a_new_fit_removes_earlier_ones():
    assert fitted(1).gaps_.shape == (0,)
    assert fitted(3).gaps_.shape == (2,)
    assert fitted(1, criterion="joint").mechanism_ == "one-shot"
    selector = fitted(3, delta=1e-6)
    assert (selector.mechanism_, len(selector.gaps_)) == ("one-shot", 2)
    for other in ({"criterion": "joint"}, {"k": 3, "delta": 0.2}, {"k": 4}):
        selector.set_params(**{"criterion": "single", "k": 3} | other).fit(X, Y)
        assert selector.mechanism_ != "one-shot"
        assert not hasattr(selector, "gaps_")
        assert "gap" not in selector.to_frame()


def test_a_smaller_k_after_the_fit_and_pickling_leave_gaps_unchanged():
    selector = fitted(3)
    gaps = selector.gaps_.copy()
    selector.set_params(k=2)
    np.testing.assert_array_equal(selector.gaps_, gaps)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(selector)).gaps_, gaps)
    assert selector.to_frame()["gap"].notna().sum() == 2


def test_chunks_and_people_have_gaps_at_no_extra_charge(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 3.0, max_rows_per_person=2)
    assert len(PrivateSelectKBest(3, ledger=ledger, **PUBLIC).partial_fit(X, Y).publish().gaps_) == 2
    selector = PrivateSelectKBest(2, max_rows_per_group=2, ledger=ledger, **PUBLIC)
    assert len(selector.fit(X, Y, groups=np.arange(N) // 2).gaps_) == 1
    assert [(entry.epsilon, entry.release, entry.k) for entry in ledger.entries()] == [(1, "names", 3), (1, "names", 2)]
    assert ledger.spent() == (3.0, 0.0)
