"""Numbers and labels are ranked fairly: what each kind scores by chance is subtracted, and nothing else changes."""

import math

import numpy as np
import pytest

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest
from skdpmic.privacy.mechanisms import LaplaceMechanism
from skdpmic.privacy.top_k import ExponentialTopK, OneShotTopK
from skdpmic.statistics.chance import chance_score, chance_scores
from skdpmic.statistics.mic.statistic import MicR
from skdpmic.table.domains import Nominal
from skdpmic.table.records import Shape
from skdpmic.table.targets import ClassTarget, NumericTarget
from tests.select_names import SelectNames

N, TABLES = 500, 60


def public(**parameters):
    return {"epsilon": math.inf, "bounds": {j: (0, 1) for j in range(4)}, "classes": [0, 1]} | parameters


def independent(seed, n_labels):
    """Four numeric features, four nominal features, and classes, all independent."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random((N, 4)), rng.integers(0, n_labels, (N, 4))])
    return X, rng.integers(0, 2, N)


@pytest.mark.parametrize("statistic, n_labels", [("mic_r", 2), ("mic_r", 12), ("mtv_r", 2), ("mtv_r", 12)])
def test_useless_features_of_both_kinds_score_the_same_on_average(statistic, n_labels):
    """240 features of each kind and the 24 simulated ones agree within 4 standard errors; alpha = 1e-4."""
    scorer = DPMICScorer(statistic=statistic, **public(categories={j: range(n_labels) for j in range(4, 8)}))
    scores = np.array([scorer.fit(*independent(seed, n_labels)).scores_ for seed in range(TABLES)])
    numbers, labels = scores[:, :4].ravel(), scores[:, 4:].ravel()
    error = math.sqrt((numbers.var() + labels.var()) * (1 / len(numbers) + 1 / 24))
    adjusted = scores - scorer.null_scores_
    assert abs(adjusted[:, :4].mean() - adjusted[:, 4:].mean()) < 4 * error
    if (statistic, n_labels) == ("mic_r", 2):
        assert numbers.mean() - labels.mean() > 8 * error


# --- A nominal feature scores as much as the best numeric coding of its labels ---------------------------------------

LABELS = 14


def labels_with_effects(seed, n):
    """A feature of 14 labels, each with its own effect on the target; and the target as numbers and in five classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(LABELS, size=n)
    y = rng.normal(size=LABELS)[codes] + 0.7 * rng.normal(size=n)
    return codes, {"numbers": y, "classes": np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y)}


def best_coding(codes, y):
    """The labels as numbers 0 ... 13, in the order of their mean targets, which depends on the data."""
    means = [y[codes == label].mean() for label in range(LABELS)]
    return np.argsort(np.argsort(means))[codes].astype(float)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_a_nominal_feature_of_14_labels_scores_within_a_hundredth_of_the_best_coding(kind):
    n, coded = 10_000, (0.0, LABELS - 1.0)
    measure = MicR("miller-madow").measure("auto", "auto", n, math.inf, None if kind == "numbers" else 5)
    by_chance = chance_score(measure, Nominal(LABELS), n) - chance_score(measure, (0.0, 1.0), n)
    differences = []
    for seed in range(20):
        codes, targets = labels_with_effects(seed, n)
        y = targets[kind]
        target = NumericTarget(y, (-4.0, 4.0)) if kind == "numbers" else ClassTarget(y, 5)
        scorer = measure.scorer(target, None)
        of_labels = scorer.score(codes.astype(np.uint32), Nominal(LABELS))
        differences.append(of_labels - scorer.score(best_coding(codes, y), coded))
    assert abs(np.mean(differences)) < 0.01
    assert abs(np.mean(differences) - by_chance) < 0.01


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_one_hot_columns_cost_as_much_as_14_features_and_each_scores_less(kind):
    target = {"target_bounds": (-4, 4)} if kind == "numbers" else {"classes": range(5)}
    for seed in range(5):
        codes, targets = labels_with_effects(seed, 2000)

        def fitted(X, categories, epsilon, y=targets[kind]):
            return DPMICScorer(epsilon=epsilon, categories=categories, **target).fit(X, y)

        feature = codes[:, np.newaxis], {0: range(LABELS)}
        columns = np.eye(LABELS, dtype=int)[codes], {j: [0, 1] for j in range(LABELS)}
        assert fitted(*columns, 1.0).noise_scale_ == pytest.approx(LABELS * fitted(*feature, 1.0).noise_scale_)
        assert fitted(*columns, math.inf).scores_.max() < fitted(*feature, math.inf).scores_[0]


# --- What is subtracted -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [DPMICSelector, SelectNames])
def test_features_are_ranked_by_scores_less_chance(kind):
    X, y = independent(0, 2)
    given = public(categories={j: [0, 1] for j in range(4, 8)})
    scorer = DPMICScorer(**given).fit(X, y)
    adjusted = scorer.scores_ - scorer.null_scores_
    assert len(set(scorer.null_scores_)) == 2
    selector = kind(k="all", **given).fit(X, y)
    assert np.argsort(selector.ranking_).tolist() == np.argsort(-adjusted, kind="stable").tolist()
    assert selector.null_scores_.tolist() == scorer.null_scores_.tolist()


def test_nothing_is_subtracted_if_all_features_are_of_one_kind():
    X, y = independent(0, 2)
    scorer = DPMICScorer(**public()).fit(X[:, :4], y)
    assert scorer.null_scores_.tolist() == [0] * 4
    scorer = DPMICScorer(**public(bounds=None, categories={j: [0, 1] for j in range(4)})).fit(X[:, 4:], y)
    assert scorer.null_scores_.tolist() == [0] * 4
    ranks = DPMICScorer(**public(statistic="kendall", categories={j: [0, 1] for j in range(4, 8)})).fit(X, y)
    assert ranks.null_scores_.tolist() == [0] * 8


def test_what_is_subtracted_depends_on_public_numbers_only():
    given = public(categories={j: [0, 1] for j in range(4, 8)})
    first, second = (DPMICScorer(**given).fit(*independent(seed, 2)).null_scores_.tolist() for seed in (0, 1))
    assert first == second
    measure = MicR("miller-madow").measure("auto", "auto", N, 1.0, 2)
    scales = [(0.0, 9.0), (0.0, 1.0)]
    assert chance_scores(measure, Shape(N, scales)).tolist() == [0, 0]


def test_offsets_are_subtracted_in_whole_steps_of_the_noise():
    source = np.random.RandomState(0).bytes
    scores, offsets = np.array([0.5, 0.6, 0.4]), np.array([0.0, 0.3, 0.0])
    for mechanism in (OneShotTopK(3, 1), ExponentialTopK(3, 1)):
        assert mechanism.release(scores, source, offsets).tolist() == [0, 2, 1]
        assert type(mechanism)(3, 0).release(scores, source, offsets).tolist() == [0, 2, 1]
    for scale in (0, 1):
        released, order = LaplaceMechanism(scale).release(scores, source, offsets)
        np.testing.assert_allclose(released, scores, atol=1e-9)
        assert order.tolist() == [0, 2, 1]


# --- Rare classes -----------------------------------------------------------------------------------------------------


def found(true, junk, share, n_tables, n=4000):
    """The fraction found of five true columns of one kind among fifteen of another; `share` of records are positive."""
    kept = []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = rng.random((n, 20))
        is_flag = np.array([true == "flags"] * 5 + [junk == "flags"] * 15)
        X[:, is_flag] = X[:, is_flag] < 0.3
        z = ((X[:, :5] - X[:, :5].mean(axis=0)) / X[:, :5].std(axis=0)).sum(axis=1) + 9 * rng.standard_normal(n)
        flags = {j: [0, 1] for j in np.flatnonzero(is_flag).tolist()}
        given = {"bounds": {j: (0, 1) for j in range(20) if j not in flags}, "categories": flags, "classes": [0, 1]}
        selector = PrivateSelectKBest(5, epsilon=1, **given).fit(X, z > np.quantile(z, 1 - share))
        kept.append((selector.get_support(indices=True) < 5).mean())
    return np.mean(kept)


@pytest.mark.slow
def test_for_a_rare_class_neither_numbers_nor_labels_are_favoured():
    """Means of 20 tables, with standard errors of .03 to .05; chance scores of equal classes would give .02 and .96."""
    assert found("numbers", "flags", 0.06, 20) > 0.35
    assert 0.45 < found("flags", "numbers", 0.06, 20) < 0.8
    assert found("numbers", "flags", 0.5, 20) > 0.85
