"""``criterion="joint"``: what a feature adds to those chosen before it, at nearly the noise of single scores."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpmic import PrivateSelectKBest
from skdpmic.release.kinds import BestFeatures, JointFeatures
from tests.folding import each

N = 4000
UNIT = {"bounds": (0, 1), "target_bounds": (0, 1), "target_shares": (0.5, 0.5)}
joint = partial(PrivateSelectKBest, criterion="joint", epsilon=math.inf)


def sample(d, seed=0, n=N):
    rng = np.random.default_rng(seed)
    return rng.random((n, d)), rng


def chosen(selector):
    return selector.get_support(indices=True).tolist()


# --- What it chooses ------------------------------------------------------------------------------------------------


def test_copies_come_after_features_that_add_something():
    X, _ = sample(9)
    y = np.clip((X[:, 0] + 0.7 * X[:, 1] + 0.4 * X[:, 2] + 0.2 * X[:, 3]) / 2.3, 0, 1)
    X[:, 4], X[:, 5], X[:, 6] = X[:, 0], 1 - X[:, 0], X[:, 1] ** 2
    assert chosen(joint(k=4, **UNIT).fit(X, y))[-2:] != [5, 6]
    taken = chosen(joint(k=4, **UNIT).fit(X, y))
    assert len({0, 4, 5} & set(taken)) == len({1, 6} & set(taken)) == 1
    assert {2, 3} <= set(taken)
    single = PrivateSelectKBest(k=4, criterion="single", epsilon=math.inf, **UNIT).fit(X, y)
    assert chosen(single) == [0, 1, 4, 5] or {0, 4, 5} <= set(chosen(single))


def test_two_features_that_are_informative_only_together_are_both_found():
    """Each is informative only once the other is chosen."""
    X, _ = sample(8)
    y = ((X[:, 2] < 0.5) ^ (X[:, 5] < 0.5)).astype(int)
    X[:, 2] = np.where(np.arange(N) % 10 == 0, y * 0.9, X[:, 2])  # a little more than nothing
    public = {"bounds": (0, 1), "classes": [0, 1], "target_shares": (0.5, 0.5)}
    assert chosen(joint(k=2, **public).fit(X, y)) == [2, 5]


@pytest.mark.slow
@each("seed", [0, 1, 2])
def test_junk_is_never_preferred_to_features_that_add_something(seed):
    X, rng = sample(3, seed)
    y = np.clip((X[:, 0] + 0.5 * X[:, 1] + 0.3 * X[:, 2]) / 1.8, 0, 1)
    frame = pd.DataFrame(X, columns=["first", "second", "third"]).assign(
        constant=0.5,
        rare=(rng.random(N) < 0.01).astype(float),
        noise=rng.random(N),
        copy=X[:, 0],
        number=np.arange(N) / N,
        gap=np.where(rng.random(N) < 0.97, np.nan, rng.random(N)),
        code=rng.integers(200, size=N).astype(str),
        label=np.where(rng.random(N) < 0.005, "rare", "usual"),
    )
    numbers = ["first", "second", "third", "constant", "rare", "noise", "copy", "number", "gap"]
    public = {
        "bounds": dict.fromkeys(numbers, (0, 1)),
        "categories": {"code": [str(i) for i in range(200)], "label": ["rare", "usual"]},
        "target_bounds": (0, 1),
    }
    taken = set(joint(k=3, **public).fit(frame, y).get_feature_names_out())
    assert {"second", "third"} < taken
    assert taken & {"first", "copy"}


# --- Its cost -------------------------------------------------------------------------------------------------------


@each("delta", [0.0, 1e-6])
@each("k", [2, 5, 30])
@each("n_kept", [0, 1, 4])
@each("learns", [False, True])
def test_the_parts_of_a_joint_release_cost_no_more_than_the_budget(delta, k, n_kept, learns):
    release = JointFeatures(0.7, delta, k, n_kept, spends_on_target=learns)
    n_own, of_target = n_kept + k - 1, release.epsilon_of_target
    own, choices = n_own * release._epsilon_of_single, release._choice_budget.epsilon
    if not release.cost.delta:
        assert of_target + own + choices == Fraction(7, 10)
        rho = release.cost.rho
        of_target = of_target**2 / 2
        exact = of_target + (Fraction(own) / n_own) ** 2 / 2 * n_own + (Fraction(choices) / k) ** 2 / 2 * k
        assert exact <= Fraction(rho) <= exact * (1 + Fraction(1, 10**9))
    steps = 10**6  # `own` is split evenly among n_own numbers
    assert release.noise_for(steps)._own_scale == math.ceil(Fraction(steps * n_own) / Fraction(own))
    single = BestFeatures(0.7, delta, k, spends_on_target=learns)
    ratio = release.noise_for(10**6).scale / single.noise_for(10**6).scale
    assert ratio == pytest.approx(10 / 9 if not release.cost.delta else math.sqrt(10 / 9), rel=1e-3)


@pytest.mark.slow
def test_joint_noise_is_a_ninth_larger_than_that_of_single_scores(ledger):
    X, _ = sample(6)
    selector = PrivateSelectKBest(k=3, epsilon=1, criterion="joint", ledger=ledger, **UNIT).fit(X, X[:, 0])
    single = PrivateSelectKBest(k=3, epsilon=1, criterion="single", **UNIT).fit(X, X[:, 0])
    assert selector.noise_scale_ == pytest.approx(single.noise_scale_ * 10 / 9, rel=1e-6)
    assert (selector.criterion_, selector.mechanism_) == ("joint", "permute-and-flip")
    assert not hasattr(selector, "gaps_")
    assert ledger.spent() == selector.privacy_spent_ == (1.0, 0.0)
    assert selector.plan(N, 6)[0].noise_scale == selector.noise_scale_


@pytest.mark.slow
def test_auto_is_joint_if_public_numbers_alone_imply_little_noise():
    X, _ = sample(12)
    auto = partial(PrivateSelectKBest, **UNIT)
    assert auto(k=5, epsilon=0.6).fit(X, X[:, 0]).criterion_ == "joint"
    assert auto(k=5, epsilon=0.5).fit(X, X[:, 0]).criterion_ == "single"
    assert auto(k=1, epsilon=0.6).fit(X, X[:, 0]).criterion_ == "single"
    assert auto(k=5, epsilon=0.6, statistic="kendall", target_shares=None).fit(X, X[:, 0]).criterion_ == "single"
    assert auto(k=5, epsilon=0.6).fit(X[:500], X[:500, 0]).criterion_ == "single"
    assert auto(k=5, epsilon=0.6).fit(pl.DataFrame(X).lazy(), X[:, 0]).criterion_ == "joint"
    assert auto(k=5, epsilon=0.6).partial_fit(X, X[:, 0]).publish().criterion_ == "single"
    few, many = (auto(k=5, epsilon=epsilon).plan(100_000, 10)[0] for epsilon in (0.05, 0.1))
    assert (few.mechanism, many.mechanism) == ("k-norm", "permute-and-flip")  # the cube has far less noise than .01
    plan = auto(k=5, epsilon=0.6).plan(N, 12)[0]
    assert plan.noise_scale == auto(k=5, epsilon=0.6).fit(X, X[:, 0]).noise_scale_


# --- All kinds of records ---------------------------------------------------------------------------------------------


def test_all_passes_see_the_rows_that_were_drawn_for_each_person():
    """People have one to five rows, of which two count; rows that were not drawn would lead to another column."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(1000), rng.integers(1, 6, size=1000))
    X = rng.random((len(groups), 5))
    X[:, 3] = X[:, 1]
    y = (X[:, 1] + 0.6 * X[:, 4]) / 1.6
    order = rng.permutation(len(groups))
    selector = joint(k=3, max_rows_per_group=2, **UNIT).fit(X[order], y[order], groups=groups[order])
    taken = np.argsort(selector.ranking_)[:2].tolist()
    assert taken in ([1, 4], [3, 4])


def test_what_each_kind_of_feature_adds_by_chance_is_subtracted():
    """Beside a weak feature, a code of 150 labels adds more by chance than a weak signal really adds."""
    rng, public = np.random.default_rng(0), {"bounds": (0, 1), "categories": {2: [str(i) for i in range(150)]}}
    X = np.empty((N, 3), dtype=object)
    X[:, 0], X[:, 1], X[:, 2] = rng.random(N), rng.random(N), rng.integers(150, size=N).astype(str)
    y = np.clip(0.5 + 0.2 * (X[:, 0].astype(float) - 0.5) + 0.12 * (X[:, 1].astype(float) - 0.5), 0, 1)
    y = np.clip(y + 0.1 * rng.standard_normal(N), 0, 1)
    assert chosen(joint(k=2, target_bounds=(0, 1), **public).fit(X, y)) == [0, 1]


# --- Refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["both", None, 1, ["joint"]])
def test_the_criterion_must_be_one_of_three(bad):
    X, _ = sample(3)
    with pytest.raises(ValueError, match="criterion must be one of"):
        PrivateSelectKBest(k=2, criterion=bad, **UNIT).fit(X, X[:, 0])


@each("statistic", ["mic_r", "kendall"])
def test_only_mtv_r_scores_features_jointly(statistic, ledger):
    X, _ = sample(3)
    make = partial(PrivateSelectKBest, k=2, ledger=ledger, bounds=(0, 1), target_bounds=(0, 1))
    with pytest.raises(ValueError, match=f"criterion must be 'single' or 'auto' with statistic='{statistic}', got 'j"):
        make(criterion="joint", statistic=statistic).fit(X, X[:, 0])
    assert ledger.spent() == (0, 0)


@each("method", ["partial_fit", "publish", "fit_sketch", "empty_sketch"])
def test_methods_that_count_records_only_once_are_unavailable(method):
    with pytest.raises(AttributeError) as raised:
        getattr(PrivateSelectKBest(k=2, criterion="joint", **UNIT), method)
    assert "fit takes a LazyFrame or a dask collection" in str(raised.value.__cause__)
    assert hasattr(PrivateSelectKBest(k=2, criterion="auto", **UNIT), method)
