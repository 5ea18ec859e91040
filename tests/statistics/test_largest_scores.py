"""No feature has more than the largest score for its target's classes, and one has it: docs/theory/largest_scores.md.

All tables of up to eight records are gone through, with the shares of the classes that they have.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic.statistics.largest_scores import largest_kendall, largest_mic_r, largest_mtv_r
from skdpmic.statistics.mic.label_tables import LabelTables
from skdpmic.statistics.mic.mic_r import ClassTargetScorer, chance_of
from skdpmic.statistics.mic.optimize_axis import entropy_table
from skdpmic.statistics.mtv.counts import CountsScorer
from skdpmic.statistics.mtv.family import class_family
from skdpmic.statistics.mtv.target_shares import TargetShares, public_shares
from skdpmic.statistics.ranks.kernels import kendall, mid_ranks
from skdpmic.table.domains import Nominal

TWO_LABELS, NUMBERS = Nominal(2), (0.0, 1.0)
SOME_CLASSES = [(1, 5), (3, 1, 2), (1, 2, 1, 1)]
MORE_CLASSES = [(4, 4), (1, 7), (2, 2, 2), (1, 1, 4), (2, 1, 1, 2)]
NOISE = Fraction(1, 10)
AS_GIVEN = 2**-27  # known shares are multiples of 2**-29


def tables(of_classes, n_codes):
    """All tables of counts with these numbers of records in each class: uint32 (n_tables, n_classes, n_codes)."""
    rows = [[row for row in product(range(n + 1), repeat=n_codes) if sum(row) == n] for n in of_classes]
    return np.array(list(product(*rows)), dtype=np.uint32)


def family_of(of_classes, scale):
    """The smallest grids with the shares of these classes: given, or released with noise of this scale."""
    n, n_classes = sum(of_classes), len(of_classes)
    shares = [Fraction(of_class, n) for of_class in of_classes]
    released = TargetShares(tuple(range(1, n_classes + 1)), tuple(shares), scale, n)
    known = released if scale else public_shares(shares, n_classes)
    return known.of(class_family(4, 1, n_classes)).sized_by_shares()


def largest_of_all(scorer, family, of_classes):
    of_labels = scorer.of_tables(tables(of_classes, TWO_LABELS.n_parts), TWO_LABELS)
    return max(of_labels + scorer.of_tables(tables(of_classes, family.n_master + 1), NUMBERS))


@pytest.mark.parametrize("scale", [0, NOISE], ids=["given", "released"])
@pytest.mark.parametrize(
    "of_classes", [*SOME_CLASSES, *(pytest.param(each, marks=pytest.mark.slow) for each in MORE_CLASSES)], ids=str
)
def test_no_table_of_these_classes_has_more_than_the_largest_mtv_r_and_one_has_it(of_classes, scale):
    family, shares = family_of(of_classes, scale), np.array(of_classes) / sum(of_classes)
    scorer = CountsScorer(sum(of_classes), family)
    expected = pytest.approx(largest_mtv_r(scorer, family, shares), abs=AS_GIVEN)
    assert largest_of_all(scorer, family, of_classes) == expected


def test_no_table_of_weights_has_more_than_the_largest_mtv_r_for_their_mean_and_one_has_it():
    """Of eight records of up to two units, with a mean weight of 3/8 of that."""
    sums, n, units = (4, 2), 8, 2
    family = family_of(sums, NOISE)
    scorer = CountsScorer(n, family, units)
    largest = largest_mtv_r(scorer, family, np.array(sums) / 6, sum(sums) / (n * units))
    assert largest_of_all(scorer, family, sums) == pytest.approx(largest, abs=AS_GIVEN)


def test_of_many_classes_the_largest_mtv_r_is_a_bound_that_one_label_for_each_hardly_misses():
    n_classes, n = 7, 70_000
    of_classes = np.array([30, 20, 10, 4, 3, 2, 1]) * n // 70
    family = family_of(of_classes.tolist(), 0)
    scorer = CountsScorer(n, family)
    apart = np.zeros((1, n_classes, Nominal(n_classes).n_parts), dtype=np.uint32)
    apart[0, range(n_classes), range(n_classes)] = of_classes
    missed = largest_mtv_r(scorer, family, of_classes / n) - scorer.of_tables(apart, Nominal(n_classes))[0]
    assert 0 <= missed < 0.01


@pytest.mark.parametrize("n_first", range(1, 5))
def test_no_column_has_more_than_the_largest_tau_of_two_classes_and_one_has_it(n_first):
    n, target = 5, mid_ranks(np.arange(5) >= n_first)
    columns = product(range(3), repeat=n)
    largest = max(kendall(mid_ranks(np.array(column)), target) for column in columns)
    assert largest == pytest.approx(largest_kendall(n_first / n, n), abs=1e-12)


@pytest.mark.parametrize(
    "of_classes, correction",
    [
        ((1, 5), "miller-madow"),
        ((1, 2, 1, 1), "miller-madow"),
        ((1, 1, 1, 3), None),
        pytest.param((2, 2, 2), "miller-madow", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_no_table_of_these_classes_has_more_than_the_largest_mic_r_and_one_has_it(of_classes, correction):
    n, n_classes, chance = sum(of_classes), len(of_classes), chance_of(correction)
    of_numbers = ClassTargetScorer(np.repeat(range(n_classes), of_classes), n_classes, 12, 1, correction)
    scores = [of_numbers.score(np.array(x, dtype=np.float64), (0.0, 3.0)) for x in product(range(3), repeat=n)]
    of_labels = LabelTables(TWO_LABELS.n_labels, n_classes, chance)
    counts = tables(of_classes, TWO_LABELS.n_parts).transpose(0, 2, 1).astype(np.int64)
    scores += [of_labels.largest_entry(rows, entropy_table(n)) for rows in counts]
    assert max(scores) == pytest.approx(largest_mic_r(np.array(of_classes) / n, n, chance), abs=1e-12)


def test_of_nine_classes_the_largest_mic_r_is_a_bound_that_is_hardly_above_that_of_eight():
    eight = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    nine = np.append(eight - 1e-9 / 8, 1e-9)
    assert 0 <= largest_mic_r(nine, 10**6, 0) - largest_mic_r(eight, 10**6, 0) < 0.01
    one = [0.9, *[0.0125] * 8]
    assert largest_mic_r(one, 100, chance_of("miller-madow")) == pytest.approx(largest_mic_r([0.9, 0.1], 100, 0))
