"""Joint scores of two features: the kernels match the definition, and no record moves a score too far.

The theorem is in docs/theory/joint.md.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic.statistics.mtv import statistic as pairs
from skdpmic.statistics.mtv.counts import ROUNDING_ERROR, CountsScorer
from skdpmic.statistics.mtv.family import UNITS, class_family, numeric_family
from skdpmic.statistics.mtv.statistic import PairCounts, PairScorer, families_of_pairs
from skdpmic.statistics.registry import statistic_named
from skdpmic.statistics.sensitivity import mtv_r_sensitivity
from skdpmic.table.domains import Nominal
from skdpmic.table.values import ClassTarget, NumericTarget
from tests.folding import each
from tests.privacy.searches import UNIT, climb, compiled_only
from tests.statistics.mtv.naive_mtv_r import naive_score_of_cells, naive_score_of_merges

HALVES = (UNITS // 2, UNITS // 2)
FAMILIES = {
    "classes": class_family(8, 1, 4),
    "numbers": numeric_family(8, 1),
    "a known half": numeric_family(8, 1).with_target_shares((4, 8), HALVES),  # the quickest in the middle
    "three known classes": class_family(8, 1, 3).with_target_shares((1, 2, 3), (UNITS // 4, UNITS // 4, UNITS // 2)),
    "two known classes": class_family(8, 1, 2).with_target_shares((1, 2), (UNITS // 8, UNITS - UNITS // 8)),
}
DOMAINS = {"numbers": UNIT, "two labels": Nominal(2), "three labels": Nominal(3), "forty labels": Nominal(40)}


def measure(n, n_classes=None):
    """The measure that estimators use, with equal shares of the target that are public."""
    plain = statistic_named("mtv_r", "miller-madow").measure("auto", "auto", n, 1.0, n_classes)
    return plain.with_target_shares([1 / (n_classes or 2)] * (n_classes or 2)) if (n_classes or 2) < 5 else plain


def column(domain, n, rng, missing=0.1):
    if isinstance(domain, Nominal):
        return rng.integers(domain.n_parts, size=n).astype(np.uint32)
    return np.where(rng.random(n) < missing, np.nan, rng.random(n))


def joint(target, x, s, domain=UNIT, of_s=UNIT):
    return measure(len(x), target.n_classes).scorer_beside(target, s, of_s).score(x, domain)


# --- The definition -------------------------------------------------------------------------------------------------


@pytest.fixture
def few_parts(monkeypatch):
    """So few parts that all grids can be enumerated."""
    monkeypatch.setattr(pairs, "_PARTS", 4)
    monkeypatch.setattr(pairs, "_STRATA", (2,))
    monkeypatch.setattr(pairs, "_COARSE", (2,))
    monkeypatch.setattr(pairs, "_MOST_PIECES", 3)
    monkeypatch.setattr(pairs, "_MOST_LABELS", 12)
    monkeypatch.setattr(pairs, "_MOST_STRATA", 6)


def parts_of(values, domain):
    """The part of each value, and the number of parts."""
    if isinstance(domain, Nominal):
        n = min(domain.n_parts, 12)
        return (values.astype(int) * n // domain.n_parts if domain.n_parts > 12 else values.astype(int)), n
    return np.where(np.isnan(values), 4, np.minimum(np.nan_to_num(values) * 4, 3)).astype(int), 5


def rows_of(merged, strata, own, domain):
    """The positions of records in each row of parts: stratum after stratum, every other one reversed.

    Labels are merged in one way only: regardless of the other feature.
    """
    (part, n_parts), (stratum, n_strata) = merged, strata
    if isinstance(own, Nominal):
        ways = [(np.zeros_like(stratum), 1)]
    elif isinstance(domain, Nominal):
        ways = [(np.zeros_like(stratum), 1)] + ([(stratum, n_strata)] if n_strata <= 6 else [])
    else:
        ways = [(np.where(stratum == 4, 2, stratum // 2), 3)]
    for of_way, n in ways:
        place = np.where(of_way % 2 == 1, n_parts - 1 - part, part)
        yield of_way * n_parts + place, n * n_parts


def cells_of(codes, domains):
    """The cell of each record, and the number of labels to allow for, for all grids with separate cells."""
    labels = [min(domain.n_labels, 12) if isinstance(domain, Nominal) else None for domain in domains]
    for (code, _), n_labels in zip(codes, labels, strict=True):
        if n_labels:
            yield code, n_labels
    (here, _), (there, n_there) = codes
    if all(labels):
        yield here * n_there + there, labels[0] * labels[1]
    elif labels[0]:
        yield here * 3 + np.where(there == 4, 2, there // 2), labels[0] * 2
    elif labels[1]:
        yield np.where(here == 4, 2, here // 2) * n_there + there, labels[1] * 2


def families_of(family):
    """The families of pairs: for a numeric target if there are eight columns, else with a class per column."""
    return families_of_pairs(family, None if family.n_columns == 8 else family.n_columns)


def scorers_of(family, n):
    return [CountsScorer(n, each) for each in families_of(family)]


def readable_score(family, y, x, s, domain, of_s):
    """The mean over three or more classes; for fewer, the largest value over all grids."""
    families = families_of(family)
    return sum(largest_of_all_grids(each, y, x, s, domain, of_s) for each in families) / len(families)


def largest_of_all_grids(family, y, x, s, domain, of_s):
    n, codes, columns, best = len(y), (parts_of(x, domain), parts_of(s, of_s)), y.tolist(), Fraction(0)
    for merged, strata, own, other in ((0, 1, domain, of_s), (1, 0, of_s, domain)):
        for place, n_places in rows_of(codes[merged], codes[strata], own, other):
            best = max(best, naive_score_of_merges(place.tolist(), columns, family, n, n, n_places))
    if isinstance(domain, Nominal) or isinstance(of_s, Nominal):
        for cell, n_labels in cells_of(codes, (domain, of_s)):
            best = max(best, naive_score_of_cells(cell.tolist(), cell.max() + 1, columns, n_labels, family))
    return best


@pytest.mark.parametrize("n_classes", [3, 4, 7, 40])
def test_three_or_more_classes_are_each_against_the_rest_once(n_classes):
    families = families_of_pairs(class_family(8, 1, n_classes), n_classes)
    divisions = [np.array(side.groups) for family in families for side in family.sides]
    alone = [int(np.argmin(np.bincount(groups)[groups])) for groups in divisions]  # the class in the smaller group
    assert len(families) == len(divisions) == n_classes
    assert all(1 in np.bincount(groups) for groups in divisions)
    assert sorted(alone) == list(range(n_classes))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@each("domain", DOMAINS.values())
@each("of_s", [UNIT, Nominal(3), Nominal(40)])
def test_joint_scores_match_the_definition(family, domain, of_s, few_parts):
    rng = np.random.default_rng(1)
    for n in (5, 12):
        y, x, s = rng.integers(family.n_columns, size=n), column(domain, n, rng), column(of_s, n, rng)
        grids = PairCounts(of_s, family)
        counts = grids.count(x, domain, grids.place(y, None, s))
        score = PairScorer(scorers_of(family, n), of_s).score(counts, domain)
        assert abs(Fraction(score) - readable_score(family, y, x, s, domain, of_s)) <= Fraction(ROUNDING_ERROR)


# --- One record ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@each("domain", [UNIT, Nominal(3)])
@each("of_s", [UNIT, Nominal(3)])
def test_hill_climbing_never_exceeds_the_sensitivity(family, domain, of_s):
    n, rng = 12, np.random.default_rng(3)
    grids, scorer = PairCounts(of_s, family), PairScorer(scorers_of(family, n), of_s)

    def values_of(at):
        return np.array([0.1, 0.4, 0.6, 0.9, np.nan]) if at is UNIT else np.arange(at.n_parts, dtype=np.uint32)

    records = list(product(range(family.n_columns), values_of(domain), values_of(of_s)))
    counts_of = []
    for i in rng.permutation(len(records))[:40]:
        y, x, s = (np.array([value]) for value in records[i])
        counts_of.append(grids.count(x, domain, grids.place(y, None, s)))
    allowed = mtv_r_sensitivity(n, knows_target_shares=family.knows_target_shares) + 2 * ROUNDING_ERROR
    heights = [
        climb(seed, n, 10, np.array(counts_of), lambda counts: scorer.score(counts, domain)) for seed in (0, 1, 2)
    ]
    assert 0.3 * allowed < max(heights) <= allowed


def test_a_record_moves_the_score_of_a_known_half_by_two_nths():
    """x and y are in the same half for all records; then one of them moves to the other half of y."""
    n = 40
    x, s = np.repeat([0.25, 0.75], n // 2), np.full(n, 0.5)
    y = np.repeat([0.25, 0.75], n // 2)
    other = y.copy()
    other[0] = 0.75
    scores = [joint(NumericTarget(values, UNIT), x, s) for values in (y, other)]
    assert scores[0] - scores[1] == pytest.approx(2 / n)


# --- What joint scores detect -----------------------------------------------------------------------------------


def sample(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((6, n)), rng


def test_dependence_that_only_two_features_together_show_is_detected():
    X, _ = sample()
    target = ClassTarget(((X[0] < 0.5) ^ (X[1] < 0.5)).astype(int), 2)
    single = measure(4000, 2).scorer(target, None)
    assert max(single.score(x, UNIT) for x in X) < 0.1
    together = [joint(target, x, X[0]) for x in X]
    assert together[1] > 0.95
    assert max(together[2:]) < 0.15  # chance, beside an uninformative feature
    labels = [(x > 0.5).astype(np.uint32) for x in X]
    assert joint(target, labels[1], labels[0], Nominal(2), Nominal(2)) > 0.95
    assert joint(target, labels[1], X[0], Nominal(2), UNIT) > 0.95
    assert joint(target, X[1], labels[0], UNIT, Nominal(2)) > 0.95


def test_copies_and_junk_add_less_than_a_weak_feature():
    """A weak feature with new information adds more than copies, constants, identifiers and rare labels."""
    X, rng = sample()
    y = NumericTarget(np.clip(0.8 * X[0] + 0.15 * X[1] + 0.05 * X[2], 0, 1), UNIT)
    adds = joint(y, X[1], X[0])
    junk = {
        "a copy": (X[0], UNIT),
        "a copy backwards": (1 - X[0], UNIT),
        "a coarse copy": (np.floor(8 * X[0]) / 8 + 0.01, UNIT),
        "a constant": (np.full(4000, 0.5), UNIT),
        "nearly a constant": (np.where(rng.random(4000) < 0.01, 0.9, 0.1), UNIT),
        "nothing": (X[5], UNIT),
        "nearly always missing": (np.where(rng.random(4000) < 0.02, X[5], np.nan), UNIT),
        "an identifier": (np.arange(4000) / 4000, UNIT),
        "an identifier of labels": (np.arange(4000).astype(np.uint32), Nominal(4000)),
        "150 labels": (rng.integers(150, size=4000).astype(np.uint32), Nominal(150)),
        "a rare label": ((rng.random(4000) < 0.005).astype(np.uint32), Nominal(2)),
    }
    for name, (values, domain) in junk.items():
        assert joint(y, values, X[0], domain) < adds - 0.02, name


@each("n_classes", [3, 6])
def test_a_feature_that_separates_the_other_classes_adds_to_one_that_identifies_a_class(n_classes):
    """One feature separates the last class from the rest, the other one the rest from one another."""
    X, _ = sample()
    rest = np.floor((n_classes - 1) * X[1]).astype(int)
    target = ClassTarget(np.where(X[0] > 0.6, n_classes - 1, rest), n_classes)
    alone = joint(target, X[0], X[0])
    assert joint(target, X[1], X[0]) > alone + 0.1
    assert max(joint(target, x, X[0]) for x in (1 - X[0], X[2], X[3])) < alone + 0.02


# --- Counts ---------------------------------------------------------------------------------------------------------


@each("n_classes", [None, 3])
def test_scores_of_a_block_and_of_added_counts_equal_those_of_records_bit_for_bit(n_classes):
    X, rng = sample(500)
    y = NumericTarget(X[0] * X[1], UNIT) if n_classes is None else ClassTarget(rng.integers(3, size=500), 3)
    columns = [*X[2:], (5 * X[1]).astype(np.uint32), np.where(X[0] < 0.1, np.nan, X[1])]
    domains = [*[UNIT] * 4, Nominal(5), UNIT]
    of = measure(500, n_classes)
    for given, at in ((X[0], UNIT), ((4 * X[0]).astype(np.uint32), Nominal(4))):
        scorer = of.scorer_beside(y, given, at)
        expected = [scorer.score(x, domain) for x, domain in zip(columns, domains, strict=True)]
        assert scorer.score_block(columns, domains) == expected
        grids = of.pair_counts(UNIT if n_classes is None else None, at)
        pieces = [slice(0, 3), slice(3, 300), slice(300, 500)]
        of_counts = of.scorer_of_pair_counts(grids, 500)
        for x, domain, score in zip(columns, domains, expected, strict=True):
            counts = sum(grids.count(x[p], domain, grids.place(y.values[p], None, given[p])) for p in pieces)
            assert of_counts.score(counts, domain) == score


def test_records_of_the_largest_weight_score_like_unweighted_records():
    X, _ = sample(400)
    y = NumericTarget((X[0] * X[1] + np.random.default_rng(1).random(400)) / 2, UNIT)
    weighted = y._replace(weights=np.full(400, 256, dtype=np.uint32))
    here, there = (of.scorer_beside(target, X[0], UNIT).score(X[1], UNIT) for of, target in (
        (measure(400), y), (measure(400).of_weights(), weighted)))  # fmt: skip
    assert here <= there <= here + 0.2 < 1  # the offset for chance is smaller if the mean weight is unknown
    nothing = y._replace(weights=np.zeros(400, dtype=np.uint32))
    assert measure(400).of_weights().scorer_beside(nothing, X[0], UNIT).score(X[1], UNIT) == 0
