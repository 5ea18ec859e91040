"""``keep``: columns to keep are in the output at no cost; only joint scores look at them."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest

from skdpmic import BudgetLedger, PrivateSelectKBest, search_cost
from skdpmic.counting import RangeGridSketch
from tests.folding import each

N = 3000
UNIT = {"bounds": (0, 1), "target_bounds": (0, 1), "target_shares": (0.5, 0.5)}


def table(d=6, seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    return X, np.clip((X[:, 1] + 0.6 * X[:, 4]) / 1.6, 0, 1)


def frame():
    X, y = table()
    return pd.DataFrame(X, columns=list("abcdef")), y


single = partial(PrivateSelectKBest, criterion="single", epsilon=math.inf)


def test_kept_columns_are_in_the_output_and_k_others_are_chosen():
    X, y = table()
    selector = single(k=2, keep=[5, 0], **UNIT).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 4, 5]
    np.testing.assert_array_equal(selector.transform(X), X[:, [0, 1, 4, 5]])
    assert selector.ranking_[[0, 5]].tolist() == [0, 0]
    assert sorted(selector.ranking_[[1, 4]]) == [1, 2]
    assert set(selector.ranking_[[2, 3]]) == {3}
    assert selector.set_params(k=1).get_support(indices=True).tolist() == [0, 1, 5]


@pytest.mark.slow
@each("criterion", ["single", "joint"])
@each("delta", [0, 1e-6])
def test_kept_columns_cost_nothing_and_leave_the_noise_unchanged(criterion, delta, tmp_path):
    X, y = table()
    ledger = BudgetLedger(tmp_path / f"{criterion}{delta}", epsilon=4, delta=1e-3)
    make = partial(PrivateSelectKBest, 2, epsilon=1, delta=delta, criterion=criterion, ledger=ledger, **UNIT)
    with_none, with_two = make().fit(X, y), make(keep=[0, 5]).fit(X, y)
    assert with_two.privacy_spent_ == with_none.privacy_spent_
    assert [entry.epsilon for entry in ledger.entries()] == [1, 1]
    assert with_two.noise_scale_ == with_none.noise_scale_
    assert search_cost(make(keep=[0, 5])).epsilon == 1
    plan = make(keep=[0, 5]).plan(N, 6)[0]
    assert plan.noise_scale == with_two.noise_scale_
    hard = {"epsilon": 0.1, "delta": 0}
    assert make(keep=[0, 5], **hard).plan(N, 6)[0].found > make(**hard).plan(N, 6)[0].found  # fewer candidates


# --- Which columns are read -----------------------------------------------------------------------------------------


class Untouched:
    """A cell that raises if anything but its type is read."""

    def __eq__(self, other):
        raise AssertionError("a kept column was looked at")

    __hash__ = __float__ = __str__ = __repr__ = __bool__ = __lt__ = __eq__


def test_single_scores_do_not_look_at_kept_columns():
    X, y = frame()
    X["who"] = [Untouched() for _ in range(N)]
    public = {"bounds": dict.fromkeys("abcdef", (0, 1)), "target_bounds": (0, 1)}
    selector = PrivateSelectKBest(1, keep=["who"], epsilon=50, **public).fit(X, y)
    assert selector.criterion_ == "single"
    assert selector.get_feature_names_out().tolist() == ["b", "who"]
    with pytest.raises(ValueError, match="got none for"):
        PrivateSelectKBest(1, epsilon=50, **public).fit(X, y)


def test_joint_scores_measure_what_others_add_to_kept_columns():
    """A marker is informative only beside the treatment, which is uninformative alone."""
    rng = np.random.default_rng(0)
    treated, X = rng.random(N) < 0.5, rng.random((N, 6))
    X[:, 0] = treated
    y = np.where(treated == (X[:, 4] > 0.5), 0.6, 0.4) + 0.05 * rng.standard_normal(N)
    assert PrivateSelectKBest(1, keep=[0], epsilon=math.inf, **UNIT).fit(X, y).get_support(indices=True)[1] == 4
    public = {"bounds": {j: (0, 1) for j in range(1, 6)}, "target_bounds": (0, 1)}
    with pytest.raises(ValueError, match=r"bounds must have an entry for every feature .* got none for"):
        PrivateSelectKBest(1, keep=[0], criterion="joint", epsilon=math.inf, **public).fit(X, y)
    assert PrivateSelectKBest(1, keep=[0], epsilon=math.inf, **public).fit(X, y).criterion_ == "single"


# --- Records outside memory -----------------------------------------------------------------------------------------


def test_a_sketch_of_all_columns_is_accepted_and_one_without_a_candidate_refused():
    X, y = frame()
    public = {"statistic": "mtv_r", "B": 32, "feature_names": list(X)}
    sketch = RangeGridSketch(**public, bounds=(0, 1), target_bounds=(0, 1)).update(X, y)
    selector = PrivateSelectKBest(1, keep=["a"], epsilon=20, bounds=(0, 1), target_bounds=(0, 1))
    assert selector.fit_sketch(sketch).get_feature_names_out().tolist() == ["a", "b"]
    others = {"bounds": dict.fromkeys("bcdef", (0, 1)), "target_bounds": (0, 1)}
    partly = PrivateSelectKBest(1, keep=["a"], epsilon=20, **others).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"keep must include \['a'\], which the sketch did not count"):
        PrivateSelectKBest(1, epsilon=20, target_bounds=(0, 1)).fit_sketch(partly._sketch)
    assert partly.publish().get_feature_names_out().tolist() == ["a", "b"]


# --- Refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ("a", "keep must be a list of distinct names or numbers of features"),
        ([0, 0], "keep must be a list of distinct names or numbers"),
        ([0.5], "keep must be a list of distinct names or numbers"),
        ([True], "keep must be a list of distinct names or numbers"),
        (None, "keep must be a list of distinct names or numbers"),
        ([9], "keep"),
        (["nobody"], "keep"),
        (frame()[0].columns.tolist(), "keep must leave at least one feature to choose, got all 6"),
    ],
)
def test_bad_columns_leave_the_estimator_and_the_ledger_unchanged(keep, message, ledger):
    X, y = frame()
    selector = PrivateSelectKBest(1, keep=keep, ledger=ledger, **UNIT)
    before = vars(selector).copy()
    with pytest.raises(ValueError, match=message):
        selector.fit(X, y)
    assert vars(selector) == before
    assert ledger.entries() == []
