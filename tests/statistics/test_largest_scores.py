"""The largest score for the target's classes is attained and never exceeded: docs/theory/largest_scores.md.

Exhaustive over all tables of up to eight records, with the class shares of each table.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic.statistics.largest_scores import largest_kendall, largest_mic_r, largest_mtv_r
from skdpmic.statistics.mic.mic_r import ClassTargetScorer, LabelTables, chance_of
from skdpmic.statistics.mic.optimize_axis import entropy_table
from skdpmic.statistics.mtv.counts import CountsScorer
from skdpmic.statistics.mtv.family import UNITS, TargetShares, class_family, public_shares
from skdpmic.statistics.ranks import kendall, mid_ranks
from skdpmic.table.domains import Nominal

TWO_LABELS, NUMBERS = Nominal(2), (0.0, 1.0)
CLASS_COUNTS = [(1, 5), (3, 1, 2), (1, 2, 1, 1)]
MORE_CLASS_COUNTS = [(4, 4), (1, 7), (2, 2, 2), (1, 1, 4), (2, 1, 1, 2)]
NOISE = Fraction(1, 10)
SHARE_ROUNDING = 2**-27  # known shares are multiples of 2**-29


def tables(class_counts, n_codes):
    """All tables with these numbers of records in the classes: uint32 (n_tables, n_classes, n_codes)."""
    rows = [[row for row in product(range(n + 1), repeat=n_codes) if sum(row) == n] for n in class_counts]
    return np.array(list(product(*rows)), dtype=np.uint32)


def family_of(class_counts, scale):
    """The smallest grids, with the shares of these classes: given, or released with noise of this scale."""
    n, n_classes = sum(class_counts), len(class_counts)
    shares = [Fraction(count, n) for count in class_counts]
    released = TargetShares(tuple(range(1, n_classes + 1)), tuple(shares), scale, n)
    known = released if scale else public_shares(shares, n_classes, n_classes)
    margins = [round(share * UNITS) for share in known.shares]
    return class_family(4, 1, n_classes).with_target_shares(known.ends, margins, known.error).sized_by_shares()


def largest_over_tables(scorer, family, class_counts):
    label_scores = scorer.of_tables(tables(class_counts, TWO_LABELS.n_parts), TWO_LABELS)
    return max(label_scores + scorer.of_tables(tables(class_counts, family.n_master + 1), NUMBERS))


@pytest.mark.parametrize("scale", [0, NOISE], ids=["given", "released"])
@pytest.mark.parametrize(
    "class_counts",
    [*CLASS_COUNTS, *(pytest.param(each, marks=pytest.mark.slow) for each in MORE_CLASS_COUNTS)],
    ids=str,
)
def test_the_largest_mtv_r_for_given_classes_is_attained_and_never_exceeded(class_counts, scale):
    family, shares = family_of(class_counts, scale), np.array(class_counts) / sum(class_counts)
    scorer = CountsScorer(sum(class_counts), family)
    expected = pytest.approx(largest_mtv_r(scorer, family, shares), abs=SHARE_ROUNDING)
    assert largest_over_tables(scorer, family, class_counts) == expected


def test_the_largest_mtv_r_for_a_mean_weight_is_attained_and_never_exceeded():
    """Eight records of at most two units each, whose mean weight is 3/8 of that maximum."""
    sums, n, units = (4, 2), 8, 2
    family = family_of(sums, NOISE)
    scorer = CountsScorer(n, family, units)
    largest = largest_mtv_r(scorer, family, np.array(sums) / 6, sum(sums) / (n * units))
    assert largest_over_tables(scorer, family, sums) == pytest.approx(largest, abs=SHARE_ROUNDING)


def test_with_many_classes_the_largest_mtv_r_is_a_bound_that_one_label_per_class_nearly_attains():
    n_classes, n = 7, 70_000
    class_counts = np.array([30, 20, 10, 4, 3, 2, 1]) * n // 70
    family = family_of(class_counts.tolist(), 0)
    scorer = CountsScorer(n, family)
    separate = np.zeros((1, n_classes, Nominal(n_classes).n_parts), dtype=np.uint32)
    separate[0, range(n_classes), range(n_classes)] = class_counts
    missed = largest_mtv_r(scorer, family, class_counts / n) - scorer.of_tables(separate, Nominal(n_classes))[0]
    assert 0 <= missed < 0.01


@pytest.mark.parametrize("n_first", range(1, 5))
def test_the_largest_tau_for_two_classes_is_attained_and_never_exceeded(n_first):
    n, target = 5, mid_ranks(np.arange(5) >= n_first)
    columns = product(range(3), repeat=n)
    largest = max(kendall(mid_ranks(np.array(column)), target) for column in columns)
    assert largest == pytest.approx(largest_kendall(n_first / n, n), abs=1e-12)


@pytest.mark.parametrize(
    "class_counts, correction",
    [
        ((1, 5), "miller-madow"),
        ((1, 2, 1, 1), "miller-madow"),
        ((1, 1, 1, 3), None),
        pytest.param((2, 2, 2), "miller-madow", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_largest_mic_r_for_given_classes_is_attained_and_never_exceeded(class_counts, correction):
    n, n_classes, chance = sum(class_counts), len(class_counts), chance_of(correction)
    scorer = ClassTargetScorer(np.repeat(range(n_classes), class_counts), n_classes, 12, 1, correction)
    scores = [scorer.score(np.array(x, dtype=np.float64), (0.0, 3.0)) for x in product(range(3), repeat=n)]
    label_scores = LabelTables(TWO_LABELS.n_labels, n_classes, chance)
    counts = tables(class_counts, TWO_LABELS.n_parts).transpose(0, 2, 1).astype(np.int64)
    scores += [label_scores.largest_entry(rows, entropy_table(n)) for rows in counts]
    assert max(scores) == pytest.approx(largest_mic_r(np.array(class_counts) / n, n, chance), abs=1e-12)
