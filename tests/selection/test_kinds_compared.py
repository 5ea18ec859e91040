"""Numbers and labels are ranked fairly: what each kind scores by chance is subtracted, and nothing else changes."""

import math
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest
from skdpmic.privacy.mechanisms import LaplaceMechanism
from skdpmic.privacy.top_k import ExponentialTopK, OneShotTopK
from skdpmic.statistics import chance
from skdpmic.statistics.chance import ChanceScores
from skdpmic.statistics.mic.statistic import MicR
from skdpmic.table.records import Shape
from tests.select_names import SelectNames
from tests.tables import refused

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
    assert ChanceScores.of(measure, Shape(N, scales)).at(measure).tolist() == [0, 0]


@pytest.mark.parametrize("kind", [DPMICScorer, partial(PrivateSelectKBest, 2)], ids=["scores", "names"])
@pytest.mark.parametrize("classes", [[0, 1], [0, 1, 2]])
def test_what_chance_scores_is_simulated_before_the_charge(kind, classes, ledger, monkeypatch):
    """The first simulation fails, and with it the fit: nothing is charged."""
    monkeypatch.setattr(chance, "chance_score", Mock(side_effect=MemoryError))
    given = public(epsilon=1.0, statistic="mtv_r", categories={j: [0, 1] for j in range(4, 8)}, classes=classes)
    with refused(MemoryError, "", ledger):
        kind(ledger=ledger, **given).fit(*independent(0, 2))


def test_offsets_are_subtracted_in_whole_steps_of_the_noise():
    source = np.random.RandomState(0).bytes
    scores, offsets = np.array([0.5, 0.6, 0.4]), np.array([0.0, 0.3, 0.0])
    for mechanism in (OneShotTopK(3, 1), ExponentialTopK(3, 1)):
        assert mechanism.release(scores, source, offsets)[0].tolist() == [0, 2, 1]
        assert type(mechanism)(3, 0).release(scores, source, offsets)[0].tolist() == [0, 2, 1]
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
