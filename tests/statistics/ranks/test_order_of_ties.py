"""Each feature has an order of its own for its ties, by keys that do not depend on the data."""

import numpy as np
import pytest
from scipy import stats

from skdpmic.statistics.ranks import kernels
from skdpmic.statistics.ranks.statistic import Chatterjee, DistanceCorrelation
from skdpmic.table.targets import ClassTarget, NumericTarget

UNIT = (0.0, 1.0)
STATISTICS = pytest.mark.parametrize("statistic", [Chatterjee(), DistanceCorrelation()], ids=lambda each: each.name)


def scores_of_two_tied_features(statistic, target, n_tables=300, n=200):
    rng, scores = np.random.default_rng(0), []
    for _ in range(n_tables):
        scorer = statistic.scorer(target(rng, n), rng.bytes)
        features = (rng.random((2, n)) < 0.03).astype(float)
        scores.append([scorer.score_numbered(feature, UNIT, number) for number, feature in enumerate(features)])
    return np.transpose(scores)


TARGETS = {
    "numbers": lambda rng, n: NumericTarget(rng.random(n), UNIT),
    "classes": lambda rng, n: ClassTarget((rng.random(n) < 0.05).astype(int), 2),
}


@STATISTICS
@pytest.mark.parametrize("target", TARGETS)
def test_scores_of_independent_tied_features_do_not_go_together(statistic, target):
    """Of 300 tables of two features, 3% ones each: |r| below 4 / sqrt(300); by one order of ties it is above .6."""
    one, other = scores_of_two_tied_features(statistic, TARGETS[target])
    assert abs(stats.spearmanr(one, other)[0]) < 4 / np.sqrt(300)


@STATISTICS
def test_with_one_order_of_ties_for_all_they_would(statistic, monkeypatch):
    monkeypatch.setattr(kernels, "keys_of_feature", lambda keys, number: keys)
    one, other = scores_of_two_tied_features(statistic, TARGETS["numbers"])
    assert stats.spearmanr(one, other)[0] > 0.6


def test_keys_of_features_are_as_good_as_drawn_anew():
    """Ranks of 2,000 records by 40 features' keys: no pair's Kendall's tau beyond 5 standard deviations; all differ."""
    n, n_features = 2000, 40
    keys = np.random.default_rng(1).integers(2**64, size=n, dtype=np.uint64)
    each = np.array([kernels.keys_of_feature(keys, number) for number in range(n_features)])
    assert len(np.unique(each)) == n * n_features
    ranks = np.argsort(np.argsort(each, axis=1), axis=1)
    correlation = np.corrcoef(np.vstack([ranks, np.argsort(np.argsort(keys))]))
    assert np.abs(correlation - np.eye(n_features + 1)).max() < 5 / np.sqrt(n)


def test_keys_are_those_of_the_last_step_of_splitmix64():
    """From a plain computation in Python's integers."""

    def mixed(state):
        state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ (state >> 27)) * 0x94D049BB133111EB % 2**64
        return state ^ (state >> 31)

    keys = np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64)
    for number in (0, 1, 70_000):
        expected = [mixed((int(key) + (number + 1) * 0x9E3779B97F4A7C15) % 2**64) for key in keys]
        assert kernels.keys_of_feature(keys, number).tolist() == expected


@STATISTICS
def test_the_order_depends_on_no_value_of_the_data(statistic):
    """Records are put in one order, whatever the value that they share, and whoever else is in the table."""
    keys = np.random.default_rng(0).integers(2**64, size=50, dtype=np.uint64)
    of_feature = kernels.keys_of_feature(keys, 3)
    order = np.argsort(of_feature)
    assert np.argsort(kernels.strict_ranks(np.full(50, 7.0), of_feature)).tolist() == order.tolist()
    values = np.full(50, -1.0)
    values[11] = 5.0
    ascending = np.argsort(kernels.strict_ranks(values, of_feature)).tolist()
    assert ascending == [record for record in order if record != 11] + [11]


@STATISTICS
def test_without_ties_keys_say_nothing(statistic):
    rng = np.random.default_rng(0)
    target = NumericTarget(rng.random(100), UNIT)
    scorer, x = statistic.scorer(target, rng.bytes), rng.random(100)
    assert len({scorer.score_numbered(x, UNIT, number) for number in range(5)}) == 1
