"""Greedy choices, exactly: all small tables, what the real code makes of them, and all outcomes' probabilities."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from skdpmic.privacy.mechanisms import to_grid
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.release.kinds import GreedyFeatures
from skdpmic.statistics.mic.sensitivity import mic_r_sensitivity
from skdpmic.statistics.mtv.sensitivity import mtv_r_sensitivity
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.nominal import Nominal
from skdpmic.table.records import Records
from skdpmic.table.shape import Shape
from skdpmic.table.targets import ClassTarget, NumericTarget
from tests.privacy.auditing import largest_log_ratio
from tests.privacy.test_greedy import by_permute_and_flip

UNIT = (0.0, 1.0)
ERROR = 1e-9  # far above the rounding of some scores, far below any gap that matters


def measure_of(name, n, correction=None, n_classes=None):
    return statistic_named(name, correction).measure(4, 1, n, 1.0, n_classes)


# --- How far one record moves what a feature is worth: all tables on a few places -------------------------------------


def scores_of_all(measure, n, feature, target):
    """M of each possible feature with each possible target, in grid steps: by the first n - 1 records, and the last.

    `feature` and `target` are a scale and its places. A target that is no feature has None for its scale.
    """
    (scale, places), (target_scale, target_places) = feature, target
    kind = np.uint32 if isinstance(scale, Nominal) else np.float64
    features = np.array(list(product(places, repeat=n)), dtype=kind)
    scores = []
    for values in product(target_places, repeat=n):
        if target_scale is None:
            column = np.array(values)
            of_classes = getattr(measure, "n_classes", None) is not None
            target = ClassTarget(column.astype(np.int64), measure.n_classes) if of_classes else None
            scorer = measure.scorer(target or NumericTarget(column.astype(float), UNIT), None)
        else:
            kind = np.uint32 if isinstance(target_scale, Nominal) else np.float64
            scorer = measure.scorer_against(np.array(values, dtype=kind), target_scale, None)
        scores.append([scorer.score(x, scale) for x in features])
    steps = to_grid(np.array(scores).T).astype(np.int64)
    return steps.reshape(len(places) ** (n - 1), len(places), len(target_places) ** (n - 1), len(target_places))


def largest_change(of_target, of_features, redundancy):
    """Over all tables and replacements of the last record, by any other one: the largest change of the worth of f.

    The largest and the least M(f, y) and M(f, s) are taken for each last record of f, as those of y and s are free.
    """
    alpha = Fraction(str(redundancy))
    high, low = of_target.max(axis=3), of_target.min(axis=3)  # (others of f, last of f, others of y)
    most, least = 0, 0  # sums over the features s
    for i, scores in enumerate(of_features):
        shape = (*scores.shape[:2], *(-1 if i == axis else 1 for axis in range(len(of_features))))
        most, least = most + scores.max(axis=3).reshape(shape), least + scores.min(axis=3).reshape(shape)

    def overlap(total):
        return total * alpha.numerator // (alpha.denominator * len(of_features))

    largest = 0
    for y in range(high.shape[2]):
        of_y = (slice(None), slice(None), *([None] * len(of_features)))
        best = (high[:, :, y][of_y] - overlap(least)).max(axis=1)
        worst = (low[:, :, y][of_y] - overlap(most)).min(axis=1)
        largest = max(largest, int((best - worst).max()))
    return largest


BINARY = UNIT, (0.1, 0.9)
LABELS = Nominal(1), (0, 1, 2)  # one label, others, and missing
WITH_MISSING = UNIT, (0.1, 0.9, np.nan)
CLASSES = None, (0, 1)
ATTAINED = {
    "mtv_r": mtv_r_sensitivity,  # (1 + redundancy) 4 (n - 1) / n**2
    "mic_r": mic_r_sensitivity,  # (1 + redundancy) h(1 / n)
}


@pytest.mark.parametrize("n_chosen", [1, 2])
@pytest.mark.parametrize("redundancy", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("name", ATTAINED)
@pytest.mark.combinations
def test_the_worth_of_a_feature_moves_by_one_plus_redundancy_times_the_sensitivity_and_no_further(
    name, n, redundancy, n_chosen
):
    measure = measure_of(name, n)
    scores = scores_of_all(measure, n, BINARY, (None, BINARY[1]))
    largest = largest_change(scores, [scores] * n_chosen, redundancy)
    steps = measure.steps(Shape(n, [UNIT]))
    assert largest <= steps + math.ceil(Fraction(str(redundancy)) * steps)
    assert largest == pytest.approx((1 + redundancy) * ATTAINED[name](n) * 2**30, abs=1 + redundancy + 2**30 * ERROR)


@pytest.mark.parametrize("redundancy", [0.5, 2.0])
def test_two_features_move_apart_by_nearly_twice_as_much_so_noise_is_for_that(redundancy):
    n, size = 4000, 80
    measure, columns = measure_of("mtv_r", n), np.full((4, n), 0.1)  # f, g, y, s
    columns[[0, 2], 1 : 1 + size] = columns[[1, 3], 1 + size : 1 + 2 * size] = 0.9

    def apart(of_features, of_targets):
        columns[:2, 0], columns[2:, 0] = of_features, of_targets
        with_y, with_s = (measure.scorer(NumericTarget(target, UNIT), None) for target in columns[2:])
        f, g = (with_y.score(x, UNIT) - redundancy * with_s.score(x, UNIT) for x in columns[:2])
        return f - g

    moved = apart(0.9, 0.9) - apart(0.1, 0.9)
    assert 0.97 < moved / (2 * (1 + redundancy) * mtv_r_sensitivity(n)) <= 1


MIXED = {  # a feature, the target, and a feature that was chosen
    "numbers with classes, missing values": (WITH_MISSING, CLASSES, WITH_MISSING),
    "labels with numbers": (LABELS, (None, BINARY[1]), BINARY),
    "numbers, with labels chosen": (BINARY, (None, BINARY[1]), LABELS),
    "labels with classes, labels chosen": (LABELS, CLASSES, LABELS),
    "classes, with numbers chosen": (BINARY, CLASSES, WITH_MISSING),
}


@pytest.mark.parametrize("redundancy", [0.5, 2.0])
@pytest.mark.parametrize("case", MIXED)
@pytest.mark.parametrize(
    "name, correction", [("mtv_r", None), ("mic_r", None), ("mic_r", "miller-madow"), ("kendall", None)]
)
@pytest.mark.combinations
def test_features_and_targets_of_all_kinds_move_it_by_no_more_than_the_largest_sensitivity(
    name, correction, case, redundancy
):
    n, (feature, target, chosen) = 3, MIXED[case]
    measure = measure_of(name, n, correction, 2 if target is CLASSES else None)
    against = measure.with_feature_as_target(chosen[0], n, 1.0)
    shape = Shape(n, [feature[0], chosen[0]])
    steps = max(each.steps(shape) for each in (measure, against))
    of_target, of_chosen = scores_of_all(measure, n, feature, target), scores_of_all(against, n, feature, chosen)
    largest = largest_change(of_target, [of_chosen], redundancy)
    assert steps / 4 < largest <= steps + math.ceil(Fraction(str(redundancy)) * steps)


# --- The published list: all tables of three features and a target ----------------------------------------------------


class Scripted(OneShotTopK):
    """The choice of one feature, but for its noise: chooses as it is told, and notes what each was worth."""

    def __init__(self, places):
        super().__init__(1, 0)
        self.places, self.worths = iter(places), []

    def choose(self, adjusted, source):
        self.worths.append(dict(enumerate(adjusted.tolist())))
        return next(self.places)


def law_of_ranking(way, measure, table, scale):
    """Probability of each ranking that the release publishes of a table; the first three columns are features."""
    columns = np.array(table, dtype=float).T
    records = Records(columns[:3], [UNIT] * 3, NumericTarget(columns[3], UNIT))
    mechanism = way.mechanism(measure, records.shape)
    outcomes = {}
    for first, second in product(range(3), range(2)):
        mechanism._one_choice = script = Scripted((first, second))
        released = way.draw(records, measure, mechanism, None, None)
        chances = [by_permute_and_flip(adjusted, scale) for adjusted in script.worths]
        outcomes[tuple(released["ranking_"].tolist())] = chances[0][first] * chances[1][second]
    assert sum(outcomes.values()) == pytest.approx(1)
    return outcomes


def losses(name, n, redundancy, epsilon, scales):
    """For each scale of the noise, the largest privacy loss over all neighbours of n records."""
    measure, way = measure_of(name, n), GreedyFeatures(epsilon, 0.0, 2, redundancy)
    kinds = list(product((0.1, 0.9), repeat=4))
    largest = dict.fromkeys(scales, 0.0)
    for rest in combinations_with_replacement(kinds, n - 2):
        tables = [(kinds[0], *rest, last) for last in kinds]  # in a grid of halves, either end of a column is as good
        for scale in scales:
            laws = [law_of_ranking(way, measure, table, scale) for table in tables]
            for i, here in enumerate(laws):
                for there in laws[:i]:
                    largest[scale] = max(largest[scale], largest_log_ratio(here, there))
    return [largest[scale] for scale in scales]


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTAINED)
def test_no_ranking_of_a_small_table_is_more_than_exp_epsilon_likelier_for_a_neighbour(name):
    epsilon, redundancy, n = 1.0, 4.0, 3
    way, measure = GreedyFeatures(epsilon, 0.0, 2, redundancy), measure_of(name, n)
    scale = way.mechanism(measure, Shape(n, [UNIT] * 3)).scale
    without_redundancy = OneShotTopK.for_budget(epsilon, 2, measure.steps(Shape(n, [UNIT]))).scale
    loss, of_half, of_two_best = losses(name, n, redundancy, epsilon, (scale, scale / 2, without_redundancy))
    assert epsilon / 2 < loss <= epsilon
    assert of_half > epsilon
    assert of_two_best > epsilon
