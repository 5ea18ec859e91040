"""Ties are ordered separately in each feature, by keys that do not depend on the data."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from skdpmic.statistics.ranks import kernels
from skdpmic.statistics.ranks.statistic import Chatterjee, DistanceCorrelation
from skdpmic.statistics.sensitivity import group_sensitivity
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
def test_scores_of_independent_tied_features_are_uncorrelated(statistic, target):
    """300 tables of two features with 3% ones: |r| is below 4 / sqrt(300). With one shared order, it is above .6."""
    one, other = scores_of_two_tied_features(statistic, TARGETS[target])
    assert abs(stats.spearmanr(one, other)[0]) < 4 / np.sqrt(300)


@STATISTICS
def test_with_one_shared_order_of_ties_the_scores_would_be_correlated(statistic, monkeypatch):
    monkeypatch.setattr(kernels, "keys_of_feature", lambda keys, number: keys)
    one, other = scores_of_two_tied_features(statistic, TARGETS["numbers"])
    assert stats.spearmanr(one, other)[0] > 0.6


def test_keys_are_the_output_of_the_last_step_of_splitmix64():
    """The expected keys are computed with Python integers."""

    def mixed(state):
        state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ (state >> 27)) * 0x94D049BB133111EB % 2**64
        return state ^ (state >> 31)

    keys = np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64)
    for number in (0, 1, 70_000):
        expected = [mixed((int(key) + (number + 1) * 0x9E3779B97F4A7C15) % 2**64) for key in keys]
        assert kernels.keys_of_feature(keys, number).tolist() == expected


@STATISTICS
def test_the_order_of_ties_does_not_depend_on_the_data(statistic):
    """The order of tied records depends neither on their value nor on the other records."""
    keys = np.random.default_rng(0).integers(2**64, size=50, dtype=np.uint64)
    of_feature = kernels.keys_of_feature(keys, 3)
    order = np.argsort(of_feature)
    assert np.argsort(kernels.strict_ranks(np.full(50, 7.0), of_feature)).tolist() == order.tolist()
    values = np.full(50, -1.0)
    values[11] = 5.0
    ascending = np.argsort(kernels.strict_ranks(values, of_feature)).tolist()
    assert ascending == [record for record in order if record != 11] + [11]


# --- People: docs/theory/people.md ------------------------------------------------------------------------------------


def score_of(statistic, x, y, keys, keys_of_target):
    return statistic.score(kernels.strict_ranks(x, keys), kernels.strict_ranks(y, keys_of_target))


@STATISTICS
def test_over_all_keys_the_distribution_of_scores_does_not_depend_on_the_order_of_rows(statistic):
    """All pairs of orders of 4 tied records, in three row orders: so keys may belong to people instead of positions."""
    x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([2.0, 1.0, 2.0, 2.0])
    orders = [np.array(order) for order in permutations(range(4))]
    distributions = {
        frozenset(Counter(score_of(statistic, x[rows], y[rows], *keys) for keys in product(orders, repeat=2)).items())
        for rows in orders[::10]
    }
    assert len(distributions) == 1


def replaced_person(rng, n, m):
    """Two tables of n rows with ties, and keys by person. The m rows of one person and their positions differ."""
    others, keys = rng.integers(4, size=(2, n - m)).astype(float), rng.permutation(2 * n).reshape(2, n)
    for _ in range(2):
        x, y = (np.r_[column, rng.integers(4, size=m)] for column in others)
        places = np.insert(np.arange(n - m), np.sort(rng.integers(n - m + 1, size=m)), np.arange(n - m, n))
        yield x[places], y[places], *keys[:, places]


@STATISTICS
def test_with_keys_by_person_a_person_moves_a_score_no_further_than_m_records(statistic):
    rng, n, m, largest = np.random.default_rng(2), 40, 2, 0.0
    allowed = group_sensitivity(statistic.sensitivity_of(n), m)
    for _ in range(200):
        here, there = (score_of(statistic, *table) for table in replaced_person(rng, n, m))
        largest = max(largest, abs(here - there))
    assert 0.2 * allowed < largest <= allowed


@STATISTICS
def test_with_keys_by_position_a_person_would_move_a_score_over_nearly_its_whole_range(statistic):
    """A constant feature, whose keys have the order of the target until two rows move from the start to the end."""
    n, m = 400, 2
    keys = np.random.default_rng(3).permutation(n)
    y = keys.astype(float)
    moved = np.r_[y[m:], y[:m]]
    scores = [score_of(statistic, np.zeros(n), column, keys, np.arange(n)) for column in (y, moved)]
    assert scores[0] - scores[1] > 0.8 > 10 * group_sensitivity(statistic.sensitivity_of(n), m)


@STATISTICS
def test_without_ties_keys_make_no_difference(statistic):
    rng = np.random.default_rng(0)
    target = NumericTarget(rng.random(100), UNIT)
    scorer, x = statistic.scorer(target, rng.bytes), rng.random(100)
    assert len({scorer.score_numbered(x, UNIT, number) for number in range(5)}) == 1
