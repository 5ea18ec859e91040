"""The sensitivities are bounds that are attained, and every testable step of docs/theory/sensitivity.md holds.

Searches at larger n, by hill climbing, are in test_audit_search.py.
"""

import math

import mpmath
import numba
import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import ClassTargetScorer, NumericTargetScorer
from skdpmic.statistics.sensitivity import binary_mi_sensitivity, mi_sensitivity, mic_r_sensitivity
from tests.folding import each
from tests.naive import naive_largest_entry
from tests.privacy.searches import (
    ERROR,
    LOG3,
    MM,
    UNIT,
    all_tables,
    compiled_only,
    information,
    largest_change,
    scores_of_tables,
)

# --- The numbers themselves -----------------------------------------------------------------------------------

SPREAD_OF_N = [*range(2, 130), *range(130, 301, 13), 999, 1000, 4096, 12_345, 65_537, 10**6, 2**27 + 1, 10**9]


def test_every_sensitivity_is_the_exact_value_rounded_up():
    def d(m):
        return m * mpmath.log(m, 2) - (m - 1) * mpmath.log(m - 1, 2)

    with mpmath.workdps(50):
        for n in SPREAD_OF_N:
            binary, general = ((parts * d(mpmath.mpf(n - 1 + parts) / parts) / n) for parts in (1, 2))
            p = mpmath.mpf(1) / n
            assert abs(binary / (-p * mpmath.log(p, 2) - (1 - p) * mpmath.log(1 - p, 2)) - 1) < 1e-30
            for value, exact in (
                (binary_mi_sensitivity(n), binary), (mi_sensitivity(n), general), (mic_r_sensitivity(n), binary)
            ):  # fmt: skip
                assert exact <= mpmath.mpf(value) <= exact * (1 + mpmath.mpf("1e-12"))


# --- A fixed grid: steps 1 and 2 of the proof -------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (4, 2), (3, 3), (3, 4)])
@pytest.mark.combinations
def test_no_table_of_up_to_8_records_changes_by_more_than_the_sensitivity_of_a_fixed_grid(shape, n):
    tables, moves = all_tables(shape, n)
    largest = largest_change(information(tables), moves)
    if min(shape) == 2:
        assert largest == pytest.approx(binary_mi_sensitivity(n), abs=ERROR)
    else:
        assert largest <= mi_sensitivity(n) + ERROR
        assert n % 2 == 0 or largest == pytest.approx(mi_sensitivity(n), abs=ERROR)


# --- Three parts, both indices change: step 5, n >= 125 ---------------------------------------------------------
#
# Suppose that M(D) - M(D') > h(1/n) with a best grid of three optimised parts. In the letters of the notes, the
# point is on D' in a cell of a points, a row of r and a column of u (including itself), and on D in a row of s. Then
# there are integers with
#     (i)   d(r) + d(u) - d(a) - d(s) > log2(3) d(n),      a <= r, a <= u, r + u - a <= n, and
#     (ii)  n I(x; R, U) <= n h(s/n) log2(3) / (log2(3) - 1),
# where n I(x; R, U) is the 2x2 table of total n with cell x = a - 1 and margins R = r - 1, U = u - 1. The certificate
# says that no integers satisfy both.
#
# Which s and a: d(r), d(u) <= d(n), so (i) needs 2 d(n) - d(s) - d(a) > log2(3) d(n). As d increases, both loops may
# stop at the first s (at a = 1) or a that fails.
#
# Why the least u is enough. Fix s, a, r. As d increases, (i) holds for u from some least u* on, and the other
# constraints say a <= u <= n + a - r; if max(u*, a) > n + a - r there is nothing to check. Let U be real. Then
#     d/dU n I(x; R, U) = log2[ (U - x)(n - U) / (U (n - R - U + x)) ],
# which is > 0 exactly if (U - x)(n - U) > U (n - R - U + x), that is R U > x n. So n I falls until independence
# (R U = x n, where it is 0), and increases from there on. If R U > x n at the least u, then n I is larger still at
# every larger feasible u, while the right side of (ii) does not depend on u: the least u is the worst. That R U > x n
# is an exact test of integers and is part of the certificate: a case that fails it leaves the certificate open.
#
# Rounding. Both sides add up fewer than 20 terms, each below 20,000 log2(20,000) < 3e5 and off by less than 2**-50 of
# that: in all less than 20 * 3e5 * 2**-50 * 3 < 2e-8. SLACK is far above it. It widens (i), so that rounding can only
# add cases, and (ii) counts as refuted only by a margin of more than SLACK.
SLACK = 1e-6


@numba.njit
def _certificate(n):
    """The number of cases, how many lie before independence, and the least n I - n h(s/n) log3 / (log3 - 1)."""
    g = np.zeros(n + 1)
    d = np.zeros(n + 1)
    for m in range(2, n + 1):
        g[m] = m * np.log2(m)
        d[m] = g[m] - g[m - 1]
    n_cases = n_before_independence = 0
    margin = np.inf
    for s in range(1, n + 1):
        if 2 * d[n] - d[s] - d[1] <= LOG3 * d[n] - SLACK:
            break
        bound = (g[n] - g[s] - g[n - s]) * LOG3 / (LOG3 - 1)  # n h(s/n) = g(n) - g(s) - g(n - s)
        for a in range(1, n + 1):
            if 2 * d[n] - d[s] - d[a] <= LOG3 * d[n] - SLACK:
                break
            u = n + 1  # the least u that meets (i) falls as r grows
            for r in range(a, n + 1):
                while u > 1 and d[u - 1] > LOG3 * d[n] + d[s] + d[a] - d[r] - SLACK:
                    u -= 1
                least_u = max(u, a)
                if least_u > n + a - r:
                    continue
                x, R, U = a - 1, r - 1, least_u - 1
                n_cases += 1
                if R * U <= x * n:
                    n_before_independence += 1
                n_mi = g[x] + g[R - x] + g[U - x] + g[n - R - U + x] - g[R] - g[n - R] - g[U] - g[n - U] + g[n]
                margin = min(margin, n_mi - bound)
    return n_cases, n_before_independence, margin


@pytest.mark.slow
@compiled_only
def test_the_certificate_closes_for_every_n_from_125_on_and_for_none_below():
    found = {n: _certificate(n) for n in [*range(2, 1050), 2000, 5000, 20_000]}
    for n, (n_cases, n_before_independence, margin) in found.items():
        assert (n_before_independence == 0 and margin > SLACK and n_cases > 0) == (n >= 125)
    assert min(found[n][2] for n in range(125, 1000)) > 0.016
    assert all(found[n][0] == 0 for n in range(2, 9))  # here three parts are no worse than two


@each("n", [1000, 1001, 1500, 10**4, 10**6, 10**9])
def test_inequalities_of_the_proof_on_paper_hold_from_1000_on(n):
    with mpmath.workdps(50):
        log3, log_e = mpmath.log(3, 2), mpmath.log(mpmath.e, 2)
        # ru > kappa n a s, from log m <= d(m) <= log m + log e and d(n) >= log n + (1 - 1/n) log e
        kappa = mpmath.exp(log3 * (1 - mpmath.mpf(1) / n) - 2) * mpmath.mpf(n) ** (log3 - 1)
        assert kappa >= mpmath.mpf("0.659") * mpmath.mpf(n) ** (log3 - 1)
        assert kappa - 1 >= 35
        t = mpmath.mpf(1) / 35
        assert (1 - t + t * mpmath.log(t)) * log_e >= 1.25
        assert log3 / (log3 - 1) <= 2.71
        assert 1.25 * (kappa - 1) > 2.71 * (mpmath.log(n, 2) + log_e)


# --- Three parts, both indices change: step 6, 9 <= n <= 124 ----------------------------------------------------
#
# Suppose that M(D) - M(D') > h(1/n) with a best grid of three optimised parts. For these n the record is then alone
# in its cell (i, j) on D', whose row and column hold r and u records, and alone in its row and column on D; and
#     (i)   d(r) + d(u) > log2(3) d(n),      r + u <= n + 1, and
#     (iii) d(n) + T <= d(w) log2(3) / (log2(3) - 1),      w = max(r, n + 1 - r),
# where T is n - 1 times the information of the 2x2 table of the other n - 1 records: cell 0, margins r - 1 and u - 1.
# The certificate says that no integers satisfy both. All r and u are tried.


def _g(m):
    return m * math.log2(m) if m > 0 else 0.0


def _d(m):
    return _g(m) - _g(m - 1)


def _isolated_cases(n):
    """All r, u with (i), and the left side of (iii) minus the right one."""
    for r in range(1, n + 1):
        for u in range(1, n + 2 - r):
            if _d(r) + _d(u) > LOG3 * _d(n) - SLACK:
                rest = _g(n - r - u + 1) + _g(n - 1) - _g(n - r) - _g(n - u)
                yield r, u, _d(n) + rest - _d(max(r, n + 1 - r)) * LOG3 / (LOG3 - 1)


def test_from_9_to_124_records_only_a_record_alone_in_its_cell_row_and_column_matters():
    assert all(2 * _d(n / 2 + 1) - _d(2) < LOG3 * _d(n) - SLACK for n in range(9, 125))
    assert 2 * _d(300 / 2 + 1) - _d(2) > LOG3 * _d(300)  # and not for every n


@pytest.mark.slow
def test_certificate_of_the_lone_record_closes_for_every_n_from_9_to_124():
    for n in range(9, 125):
        margins = [margin for _, _, margin in _isolated_cases(n)]
        assert len(margins) > 0
        assert min(margins) > 1.5
    # Without the d(n) bits of the lone record itself, it would not close.
    assert min(margin - _d(9) for _, _, margin in _isolated_cases(9)) < 0


# --- All data sets, by exhaustion -----------------------------------------------------------------------------

THREE = (0.1, 0.45, 0.9)  # in halves 0 0 1, in thirds 0 1 2
FOUR = (0.1, 0.45, 0.55, 0.9)  # in thirds 0 1 1 2, in quarters 0 1 2 3
FIVE = (0.05, 0.2, 0.4, 0.6, 0.95)  # in quarters 0 0 1 2 3, in sixths 0 1 2 3 5
EXHAUSTED = [  # number of classes, B, c, places of the feature, n; three numeric parts are possible from B = 9 on
    *[(None, 4, 1, FOUR, 4), (None, 8, 1.5, FOUR, 5), (None, 9, 1, THREE, 4)],
    *[(None, 9, 1, THREE, 9), (None, 9, 1, FOUR, 7), (None, 9, 2, FOUR, 6), (None, 9, 2, FIVE, 4)],
    *[(None, 12, 1, FOUR, 7), (None, 16, 1, FOUR, 6)],
    *[(2, 8, 1, FOUR, 8), (3, 9, 1, THREE, 4), (3, 9, 1, THREE, 9), (3, 9, 2, FOUR, 5), (3, 12, 1, FOUR, 10)],
    *[(4, 12, 1, THREE, 6), (4, 16, 1, FOUR, 6)],
]


@compiled_only
@pytest.mark.parametrize("correction", [None, MM])
@pytest.mark.parametrize(
    "n_classes, B, c, places, n", [pytest.param(*case, marks=[pytest.mark.slow] * (case[-1] > 4)) for case in EXHAUSTED]
)
def test_largest_change_over_all_data_sets_is_h_of_1_over_n(correction, n_classes, B, c, places, n):
    """With a correction, it may be smaller, by up to the smallest offset."""

    def scorer_of(y):
        if n_classes is None:
            return NumericTargetScorer(y, UNIT, B, c, correction=correction)
        return ClassTargetScorer(y, n_classes, B, c, correction)

    targets = places if n_classes is None else range(n_classes)
    tables, moves = all_tables((len(places), len(targets)), n)
    largest = largest_change(scores_of_tables(tables, places, targets, scorer_of), moves)
    if correction is None:
        assert largest == pytest.approx(mic_r_sensitivity(n), abs=ERROR)
    fewest_fixed = {None: int(B // math.isqrt(B)), 3: 2}.get(n_classes, n_classes)
    of_two = (fewest_fixed - 1) / (2 * n * math.log(2))
    assert mic_r_sensitivity(n) - of_two - ERROR <= largest <= mic_r_sensitivity(n) + ERROR


def _three_classes_at_their_worst(n):
    """Features and codes of two neighbours on which one table of all classes changes most.

    Class 0 is on both sides of class 1, so two parts carry little information. The last record, the only one of class
    0 in the part of class 1, moves to a separate part and to class 2.
    """
    half = (n - 1) // 2
    x = np.repeat([0.1, 0.6, 0.4, 0.4], [half // 2, half - half // 2, half, 1])
    codes = np.repeat([0, 0, 1, 0], [half // 2, half - half // 2, half, 1])
    return (x, codes), (np.append(x[:-1], 0.9), np.append(codes[:-1], 2))


@pytest.mark.parametrize("n", [9, 11, 25, 101, 125, 1001, 99_999])
def test_without_each_class_against_the_rest_three_classes_would_exceed_the_sensitivity(n):
    here, there = _three_classes_at_their_worst(n)
    table_scores = []
    for x, codes in (here, there):
        counts = np.zeros((4, 3), dtype=int)
        np.add.at(counts, ((4 * x).astype(int), codes), 1)
        table_scores.append(naive_largest_entry(counts.tolist(), 4))
    assert table_scores[1] - table_scores[0] == pytest.approx(mi_sensitivity(n) / LOG3, abs=ERROR)
    assert table_scores[1] - table_scores[0] > mic_r_sensitivity(n) + 1e-6
    for correction in (None, MM):
        before, after = (ClassTargetScorer(codes, 3, 12, 1, correction).score(x, (0, 1)) for x, codes in (here, there))
        assert abs(after - before) <= mic_r_sensitivity(n) + ERROR
