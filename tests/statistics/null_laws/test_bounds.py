"""Bounds for MICr and MTVr count every grid of the definitions, and hold for all exact distributions of few records."""

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy.special import gammaln

from skdpmic.statistics.mic.tail_bounds import mic_r_bound
from skdpmic.statistics.mtv.family import Family, Side, class_family, numeric_family
from skdpmic.statistics.mtv.statistic import mtv_r_bound
from skdpmic.statistics.null_laws import (
    ScoreBound,
    log_division_tail,
    log_information_tail,
    log_variation_tail,
)
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.domains import UNIT, Integers, Nominal
from skdpmic.table.values import ClassTarget, NumericTarget
from tests.naive import naive_closed_sizes, naive_groupings_of_classes, naive_groupings_of_labels, naive_two_groups
from tests.statistics.mtv.naive_mtv_r import naive_weights
from tests.statistics.null_laws.test_tails import all_tables, exact_tail

# --- Every grid is counted --------------------------------------------------------------------------------------------


def merges(n_parts, k, n_orders):
    return n_orders * [cuts for cuts in combinations(range(1, n_parts), k - 1)]


def naive_mic_r_tails(scores, n, grids, correction):
    """The sum of the tails of all grids; all merges of one table into k parts count at most as much as the table.

    Parameters
    ----------
    grids : iterable
        For each table and k: the number of grids, rows and columns of a grid and of the table, degrees of freedom of
        a grid, and the smaller number of parts, by which an entry is normalised.
    """
    chance = 0.0 if correction is None else 1 / (2 * math.log(2))
    total = np.zeros(len(scores))
    for n_grids, size, finest, degrees, fewest in grids:
        nats = math.log(2) * (n * scores * math.log2(fewest) + chance * degrees)
        of_merges = n_grids * np.exp(log_information_tail(nats, *size))
        total += np.minimum(of_merges, np.exp(log_information_tail(nats, *finest)))
    return total


def mic_r_grids_of_numbers(B, c):
    """The feature, which may have missing values, is merged against the target, and vice versa."""
    sizes = naive_closed_sizes(B)
    n_master = max(2, math.floor(c * max(k for _, k in sizes)))
    for n_fixed, k_max in sizes:
        for k in range(2, k_max + 1):
            degrees, fewest = (k - 1) * (n_fixed - 1), min(k, n_fixed)
            with_missing, without = merges(n_master + 1, k, 2), merges(n_master, k, 1)
            yield len(with_missing), (k, n_fixed), (n_master + 1, n_fixed), degrees, fewest
            yield len(without), (k, n_fixed + 1), (n_master, n_fixed + 1), degrees, fewest


def mic_r_grids_of_classes(B, c, n_classes):
    k_max = max(math.floor(B / n_classes), 2)
    n_master = max(2, math.floor(c * k_max))
    for groups, degrees in naive_groupings_of_classes(n_classes):
        n_groups = max(groups) + 1
        for k in range(2, min(k_max, n_master + 1) + 1):
            n_grids = len(merges(n_master + 1, k, 2))
            yield n_grids, (k, n_groups), (n_master + 1, n_groups), (k - 1) * degrees, min(k, n_groups)


def degrees_in_two(n_rows, n_columns):
    return (math.sqrt(n_columns - 1) + math.sqrt(4 / 9 * max(min(n_rows, 14) - 2, 0))) ** 2


def mic_r_grids_of_labels(B, c, n_labels):
    k_max = max(2, min(math.floor(B / n_labels), math.isqrt(int(B))))
    n_master = max(2, math.floor(c * k_max))
    for groups, degrees in naive_groupings_of_labels(n_labels):
        n_groups = max(groups) + 1
        for k in range(2, min(k_max, n_master) + 1):
            n_grids = len(merges(n_master, k, 1))
            yield n_grids, (k, n_groups), (n_master, n_groups), (k - 1) * degrees, min(k, n_groups)
    n_columns = min(max(math.floor(B / 5), 2), 48)
    n_grids = len([groups for groups in naive_two_groups(n_labels + 2, n_columns) if any(groups)])
    yield n_grids, (2, n_columns), (n_labels + 2, n_columns), degrees_in_two(n_labels, n_columns), 2


def mic_r_grids_of_labels_and_classes(n_labels, n_classes):
    for (rows, degrees), (columns, others) in product(
        naive_groupings_of_labels(n_labels), naive_groupings_of_classes(n_classes)
    ):
        size = max(rows) + 1, max(columns) + 1
        yield 1, size, size, degrees * others, min(size)
    sides = [(n_labels + 2, n_classes, degrees_in_two(n_labels, n_classes))]
    if n_labels > 14 or n_classes > 64:
        sides.append((n_classes, n_labels + 2, degrees_in_two(n_classes, n_labels)))
    for n_rows, n_columns, degrees in sides:
        n_grids = len([groups for groups in naive_two_groups(n_rows, n_columns) if any(groups)])
        yield n_grids, (2, n_columns), (n_rows, n_columns), degrees, 2


MIC_R = {
    "numbers": ((None, None, 20.0, 3.0), lambda: mic_r_grids_of_numbers(20, 3)),
    "numbers, more": ((None, None, 50.0, 2.0), lambda: mic_r_grids_of_numbers(50, 2)),
    "two classes": ((None, 2, 12.0, 2.0), lambda: mic_r_grids_of_classes(12, 2, 2)),
    "three classes": ((None, 3, 12.0, 3.0), lambda: mic_r_grids_of_classes(12, 3, 3)),
    "two labels": ((2, None, 16.0, 3.0), lambda: mic_r_grids_of_labels(16, 3, 2)),
    "three labels": ((3, None, 30.0, 2.0), lambda: mic_r_grids_of_labels(30, 2, 3)),
    "labels, classes": ((3, 2, 12.0, 2.0), lambda: mic_r_grids_of_labels_and_classes(3, 2)),
    "labels, three classes": ((2, 3, 12.0, 2.0), lambda: mic_r_grids_of_labels_and_classes(2, 3)),
    "many labels": ((17, 4, 12.0, 2.0), lambda: mic_r_grids_of_labels_and_classes(17, 4)),
}


def assert_counts_all_grids(bound, naive):
    """At every point, the tail of the bound equals that of all grids."""
    tails = np.minimum(naive, 1.0)
    tails[0] = 1.0
    np.testing.assert_allclose(bound.tails, np.minimum.accumulate(tails), rtol=1e-9, atol=1e-300)
    assert ((bound.tails > 1e-6) & (bound.tails < 0.5)).sum() > 5  # where it matters


@pytest.mark.parametrize(
    ("kind", "correction"),
    [(kind, "miller-madow") for kind in MIC_R] + [(kind, None) for kind in MIC_R if "numbers" not in kind],
)
def test_mic_r_counts_every_grid_of_the_definition(kind, correction):
    (n_labels, n_classes, B, c), grids = MIC_R[kind]
    of_labels = UNIT if n_labels is None else Nominal(n_labels)
    bound = mic_r_bound(300, of_labels, n_classes, B, c, correction)
    assert_counts_all_grids(bound, naive_mic_r_tails(bound.scores, 300, grids(), correction))


def naive_mtv_r_tails(scores, n, family, weight_of=None):
    """Numbers, some of them missing: the number of merges of each weight, times the number of sets of their parts."""
    fewest = min(side.size for side in family.sides)
    total = np.zeros(len(scores))
    weight_of = weight_of or naive_weights(family)[0]
    heaviest = 2 if family.by_place else 1
    for groups, k_max, size, *_ in family.sides:
        n_groups, limit = len(set(groups)), heaviest * (k_max - 1)
        weights = Counter(
            sum(weight_of[cut] for cut in cuts)
            for n_cuts in (range(1, limit + 1) if n_groups == 2 else [1])
            for cuts in combinations(weight_of, n_cuts)
        )
        for weight, n_merges in weights.items():
            if weight > limit:
                continue
            penalty = family.penalty * (math.sqrt(weight * (size - 1) / n) - math.sqrt((fewest - 1) / n))
            tv = 0.5 * scores + penalty
            tail = log_division_tail(tv, n) if n_groups == 2 else log_variation_tail(tv, n, 2, n_groups)
            total += np.minimum(2 * n_merges * (2 if n_groups == 2 else 1) * np.exp(tail), 1.0)
    return total


def naive_weights_between_integers(n_integers, family):
    """The least weight of a cut at each place between integers, and before missing values."""
    parts = [int((i + 0.5) * family.n_master / n_integers) for i in range(n_integers)]
    weights, _ = naive_weights(family)
    ends = [*parts, family.n_master]
    return {i: min(weights[cut] for cut in range(ends[i - 1] + 1, ends[i] + 1)) for i in range(1, n_integers + 1)}


def naive_mtv_r_tails_of_labels(scores, n, n_labels, family):
    fewest = min(side.size for side in family.sides)
    total = np.zeros(len(scores))
    for groups, _, size, *_ in family.sides:
        n_groups = len(set(groups))
        size = size if n_groups == 2 else n_groups
        penalty = family.penalty * (math.sqrt((max(n_labels, 2) - 1) * (size - 1) / n) - math.sqrt((fewest - 1) / n))
        for n_rows in [n_labels + 2] + ([2] if n_labels == 2 and n_groups > 2 else []):
            tv = (0.5 if min(n_rows, n_groups) == 2 else 0.75) * scores + 0.53 * penalty
            total += np.exp(log_variation_tail(tv, n, n_rows, n_groups))
    return total


FAMILIES = {
    "numeric": numeric_family(8.0, 2.0),
    "two classes": class_family(12.0, 1.5, 2),
    "five classes": class_family(8.0, 2.0, 5),
    "for groups": replace(class_family(8.0, 2.0, 5), penalty=0.75 * math.sqrt(2)),
    "more parts than master parts": Family(4, 2, (Side((0, 0, 1, 1), 5), Side((0, 1, 2, 3), 2, 4)), penalty=0.1),
}


@pytest.mark.parametrize("kind", FAMILIES)
def test_mtv_r_counts_every_grid_of_the_definition(kind):
    family = FAMILIES[kind]
    bound = mtv_r_bound(300, UNIT, family)
    assert_counts_all_grids(bound, naive_mtv_r_tails(bound.scores, 300, family))
    for n_integers in range(2, family.n_master):  # a few are counted too often
        bound = mtv_r_bound(300, Integers(1, n_integers).encoded, family)
        naive = naive_mtv_r_tails(bound.scores, 300, family, naive_weights_between_integers(n_integers, family))
        assert (bound.tails[1:] >= np.minimum(naive, 1.0)[1:] * (1 - 1e-9)).all()
    for n_labels in (1, 2, 6):
        bound = mtv_r_bound(300, Nominal(n_labels), family)
        assert_counts_all_grids(bound, naive_mtv_r_tails_of_labels(bound.scores, 300, n_labels, family))


# --- No exact tail exceeds them ---------------------------------------------------------------------------------------

X_VALUES = {
    "numbers": (np.array([0.1, 0.9, np.nan]), UNIT),
    "integers": (np.array([0, 1, 2.0]), Integers(0, 2).encoded),
    "flags": (np.array([0, 1, np.nan]), Integers(0, 1).encoded),
    "labels": (np.array([0, 1, 3], np.uint32), Nominal(2)),
}
MARGINS = [(0.5, 0.5, 0.0), (0.5, 0.25, 0.25), (1 / 3, 1 / 3, 1 / 3), (0.9, 0.1, 0.0), (0.98, 0.01, 0.01)]


@pytest.mark.parametrize("n", [8, pytest.param(16, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_classes", [None, 2])
@pytest.mark.parametrize("kind", X_VALUES)
@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r"])
@pytest.mark.combinations
def test_no_exact_tail_of_few_records_exceeds_the_bound(statistic, kind, n_classes, n):
    """All tables of n records with three values of x and two of y, for many marginal distributions."""
    measure = statistic_named(statistic, "miller-madow").measure(4.0, 1.0, n, 1.0, n_classes)
    values, scale = X_VALUES[kind]
    tables = all_tables(n, 3, 2)
    scores = np.empty(len(tables))
    for i, table in enumerate(tables):
        x = np.repeat(values, table.sum(axis=1))
        y = np.repeat(np.tile([0, 1], 3), table.ravel())
        target = NumericTarget(y * 0.8 + 0.1, UNIT) if n_classes is None else ClassTarget(y, 2)
        scores[i] = measure.scorer(target, None).score(x, scale)
    law = measure.null_law(n, scale)
    assert isinstance(law, ScoreBound)
    log_ways = gammaln(n + 1) - gammaln(tables + 1).sum(axis=(1, 2))
    for p, q in product(MARGINS, [(0.5, 0.5), (0.2, 0.8), (0.03, 0.97)]):
        cells = np.outer(p, q)
        possible = ~((tables > 0) & (cells == 0)).any(axis=(1, 2))
        log = log_ways + (tables * np.log(np.where(cells > 0, cells, 1.0))).sum(axis=(1, 2))
        least, exact = exact_tail(scores[possible] - 1e-12, np.exp(log[possible]))
        assert math.isclose(exact[0], 1, rel_tol=1e-9)
        assert (law.p_values(np.maximum(least, 0), None) >= exact - 1e-12).all()
    if n == 16:  # then the bound is not vacuous
        assert law.p_values(np.array([1.0]), None) < (1 if kind == "labels" else 0.2)


@pytest.mark.parametrize("statistic", ["mic_r", "mtv_r"])
@pytest.mark.parametrize("n_classes", [None, 3])
@pytest.mark.combinations
def test_the_fewer_integers_the_smaller_the_p_values(statistic, n_classes):
    """More integers than master parts are numbers."""
    measure = statistic_named(statistic, "miller-madow").measure("auto", "auto", 2000, 1.0, n_classes)
    scores = np.linspace(0.02, 0.2, 10)
    kinds = [Integers(0, n - 1).encoded for n in (2, 5, 21, 121, 10**5)]
    tails = np.array([measure.null_law(2000, kind).p_values(scores, None) for kind in [*kinds, UNIT]])
    assert (tails[:-1] <= 1.1 * tails[1:] + 1e-20).all()  # a score counts as the next point of its own bound
    np.testing.assert_array_equal(tails[-2], tails[-1])
    of_levels = (tails[-1] < 0.1) & (tails[-1] > 1e-12)  # in deeper tails, grids that integers leave alone count most
    assert of_levels.any()
    assert (tails[0] < 0.5 * tails[-1])[of_levels].all()
    assert (tails[0] < 0.05 * tails[-1])[of_levels].any()
