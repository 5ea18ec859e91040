"""The gaps that a selector releases: their values, and when there are none."""

import math

import numpy as np
import pytest

from skdpmic import DPMICScorer, PrivateSelectKBest

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
