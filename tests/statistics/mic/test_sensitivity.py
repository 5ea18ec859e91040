"""The sensitivities are bounds that are attained, and every testable step of docs/theory/sensitivity.md holds.

Searches at larger n, by hill climbing, are in test_audit_search.py.
"""

import math
from itertools import combinations_with_replacement, permutations, product

import mpmath
import numba
import numpy as np
import pytest

from skdpmic.statistics.mic.mic_r import ClassTargetScorer, mic_r
from skdpmic.statistics.sensitivity import binary_mi_sensitivity, mi_sensitivity, mic_r_sensitivity
from tests.folding import each
from tests.naive import naive_largest_entry, naive_mutual_information
from tests.privacy.searches import class_places, largest_change_of_mic_r, numeric_places

ERROR = 1e-9  # far above the rounding of two scores, far below any gap that matters
compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a search too long for uncompiled code")

# --- The numbers themselves -----------------------------------------------------------------------------------

SPREAD_OF_N = [
    *range(2, 130),
    *range(130, 301, 13),
    999,
    1000,
    4096,
    12_345,
    65_537,
    10**6,
    7_654_321,
    2**27 + 1,
    10**9,
]


def _exact_d(m):
    """d(m) = g(m) - g(m - 1) with g(m) = m log2 m."""
    return m * mpmath.log(m, 2) - ((m - 1) * mpmath.log(m - 1, 2) if m > 1 else 0)


def _exact_entropy(p):
    return -p * mpmath.log(p, 2) - (1 - p) * mpmath.log(1 - p, 2)


def _assert_just_above(value, exact):
    assert exact <= mpmath.mpf(value) <= exact * (1 + mpmath.mpf("1e-12"))


def test_every_sensitivity_is_the_exact_value_rounded_up():
    with mpmath.workdps(50):
        for n in SPREAD_OF_N:
            one = mpmath.mpf(1)
            binary = _exact_d(n * one) / n
            assert abs(binary / _exact_entropy(one / n) - 1) < 1e-30
            _assert_just_above(binary_mi_sensitivity(n), binary)
            _assert_just_above(mi_sensitivity(n), 2 * _exact_d((n + one) / 2) / n)
            _assert_just_above(mic_r_sensitivity(n), binary)


def test_three_parts_cost_nothing_up_to_8_records():
    for n in range(2, 9):
        assert mi_sensitivity(n) / math.log2(3) < binary_mi_sensitivity(n)
    assert mi_sensitivity(9) / math.log2(3) > binary_mi_sensitivity(9)


# --- A fixed grid: steps 1 and 2 of the proof -------------------------------------------------------------------


def _largest_mi_change(n_rows, n_columns, n):
    """The largest change over all tables of n points and all moves of one, and the largest within a row or column."""
    cells = list(product(range(n_rows), range(n_columns)))
    information = {}
    for points in combinations_with_replacement(range(len(cells)), n):
        counts = np.bincount(points, minlength=len(cells))
        information[tuple(counts)] = naive_mutual_information(counts.reshape(n_rows, n_columns).tolist())
    largest = along = 0.0
    for counts, value in information.items():
        for start, end in permutations(range(len(cells)), 2):
            if counts[start] > 0:
                moved = list(counts)
                moved[start] -= 1
                moved[end] += 1
                change = abs(information[tuple(moved)] - value)
                largest = max(largest, change)
                if cells[start][0] == cells[end][0] or cells[start][1] == cells[end][1]:
                    along = max(along, change)
    return largest, along


@each("n_rows, n_columns, n", [(2, 2, 9), (2, 3, 6), (2, 5, 4), (4, 2, 5)])
def test_a_grid_with_two_parts_on_one_side_changes_by_at_most_the_binary_sensitivity(n_rows, n_columns, n):
    largest, _ = _largest_mi_change(n_rows, n_columns, n)
    assert largest == pytest.approx(binary_mi_sensitivity(n), abs=1e-12)


LARGER = [pytest.param(*size, marks=pytest.mark.slow) for size in ((3, 3, 6), (3, 4, 5), (4, 4, 4))]


@pytest.mark.parametrize("n_rows, n_columns, n", [(3, 3, 3), (3, 3, 4), (3, 3, 5), *LARGER])
def test_any_grid_changes_by_at_most_the_general_sensitivity_and_attains_it_at_odd_n(n_rows, n_columns, n):
    largest, along = _largest_mi_change(n_rows, n_columns, n)
    assert largest <= mi_sensitivity(n) + ERROR
    if n % 2 == 1:
        assert largest == pytest.approx(mi_sensitivity(n), abs=1e-12)
    assert along <= binary_mi_sensitivity(n) + ERROR


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
LOG3 = math.log2(3)
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


@pytest.mark.slow
def test_certificate_cases_match_the_plain_double_loop():
    # All u rather than the least, at n where some are feasible: same verdict, same margin.
    n = 130
    g = [m * math.log2(m) if m else 0.0 for m in range(n + 1)]
    d = [0.0, *np.diff(g)]
    margin = math.inf
    for s, a in product(range(1, 30), repeat=2):
        for r in range(a, n + 1):
            for u in range(a, n + a - r + 1):
                if d[r] + d[u] - d[a] - d[s] > LOG3 * d[n]:
                    table = [[a - 1, r - a], [u - a, n - r - u + a + 1]]
                    bound = (g[n] - g[s] - g[n - s]) * LOG3 / (LOG3 - 1)
                    margin = min(margin, n * naive_mutual_information(table) - bound)
    assert margin == pytest.approx(_certificate(n)[2], abs=ERROR)


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


def test_certificate_margins_match_the_information_of_a_table_with_a_lone_record():
    for n in (9, 14, 30):
        for r, u, margin in _isolated_cases(n):
            table = [[0, 0, r - 1], [0, 1, 0], [u - 1, 0, n - r - u + 1]]
            bound = _d(max(r, n + 1 - r)) * LOG3 / (LOG3 - 1)
            assert n * naive_mutual_information(table) - bound == pytest.approx(margin, abs=ERROR)
            # Merging the lone record's row with the first or the last loses at most d(w).
            for merged in ([[0, 1, r - 1], table[2]], [table[0], [u - 1, 1, n - r - u + 1]]):
                lost = n * (naive_mutual_information(table) - naive_mutual_information(merged))
                assert lost <= _d(max(r, n + 1 - r)) + ERROR


# --- All data sets, by exhaustion -----------------------------------------------------------------------------

THREE = (0.1, 0.45, 0.9)  # in halves 0 0 1, in thirds 0 1 2
FOUR = (0.1, 0.45, 0.55, 0.9)  # in thirds 0 1 1 2, in quarters 0 1 2 3
SIX = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95)  # in quarters 0 0 1 2 3 3, in sixths 0 1 2 3 4 5
NUMERIC = [  # B, c, positions, n: three parts on both sides are possible from B = 9 on, four from 16 on
    *[(4, 1, None, 5), (4, 2, None, 4), (8, 1.5, FOUR, 5), (9, 1, FOUR, 7), (9, 1, THREE, 9), (9, 2, SIX, 5)],
    *[(12, 1, FOUR, 7), (16, 1, FOUR, 6)],
]
DISCRETE = [  # n_classes, B, c, n
    *[(2, 8, 1, 8), (3, 8, 2, 5), (3, 9, 1, 9), (3, 9, 2, 5), (3, 12, 1, 10), (3, 15, 1, 5)],
    *[(4, 11, 2, 5), (4, 12, 1, 6), (4, 16, 1, 7)],
]


def check_largest(largest, n, correction, fewest_fixed):
    """The change is exactly the sensitivity; with a correction, it may be smaller by up to the smallest offset."""
    if correction is None:
        assert largest == pytest.approx(mic_r_sensitivity(n), abs=ERROR)
    assert _sensitivity_less_the_smallest_offset(n, fewest_fixed) <= largest <= mic_r_sensitivity(n) + ERROR


@pytest.mark.few
@pytest.mark.parametrize("correction", [None, "miller-madow"])
@each("n, n_classes", [(3, None), (4, 3)])
def test_largest_change_over_all_small_data_sets_is_h_of_1_over_n(correction, n, n_classes):
    places = list(product(FOUR, range(n_classes) if n_classes else FOUR))
    largest = 0
    for others in combinations_with_replacement(places, n - 1):
        x, y = (np.array(values) for values in zip(*others, places[0], strict=True))
        scores = []
        for x[-1], y[-1] in places:
            if n_classes:
                scores.append(ClassTargetScorer(y, n_classes, 9, 1, correction).score(x, (0, 1)))
            else:
                scores.append(mic_r(x, y, bounds=((0, 1), (0, 1)), B=9, c=1, correction=correction))
        largest = max(largest, max(scores) - min(scores))
    check_largest(largest, n, correction, 2 if n_classes else 3)


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("correction", [None, "miller-madow"])
def test_largest_change_over_all_data_sets_is_h_of_1_over_n(correction):
    for B, c, positions, n in NUMERIC:
        largest = largest_change_of_mic_r(n, numeric_places(B, c, positions, correction))
        check_largest(largest, n, correction, int(B // math.isqrt(int(B))))
    for n_classes, B, c, n in DISCRETE:
        largest = largest_change_of_mic_r(n, class_places(n_classes, B, c, correction))
        check_largest(largest, n, correction, 2 if n_classes == 3 else n_classes)


def _sensitivity_less_the_smallest_offset(n, fewest_fixed):
    """The change when one of n records in the same place moves away, on the coarsest grid of two merged parts."""
    return binary_mi_sensitivity(n) - (fewest_fixed - 1) / (2 * n * math.log(2)) - ERROR


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
    assert table_scores[1] - table_scores[0] == pytest.approx(mi_sensitivity(n) / math.log2(3), abs=ERROR)
    assert table_scores[1] - table_scores[0] > mic_r_sensitivity(n) + 1e-6
    for correction in (None, "miller-madow"):
        before, after = (ClassTargetScorer(codes, 3, 12, 1, correction).score(x, (0, 1)) for x, codes in (here, there))
        assert abs(after - before) <= mic_r_sensitivity(n) + ERROR
