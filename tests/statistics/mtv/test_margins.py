"""MTVr with a known target margin changes by at most 2/n: docs/theory/known_margin.md, in exact numbers."""

from fractions import Fraction

import numpy as np
import pytest

from skdpmic.statistics.mtv.counts import ROUNDING_ERROR, CountsScorer
from skdpmic.statistics.mtv.family import UNITS, numeric_family
from skdpmic.statistics.sensitivity import mtv_r_sensitivity
from skdpmic.table.domains import Nominal
from tests.folding import each
from tests.privacy.searches import ERROR, UNIT, all_tables, compiled_only, largest_change
from tests.statistics.mtv.naive_mtv_r import scores_of_joins
from tests.statistics.mtv.test_sensitivity import CLIMBED, known, shares_reached_by_climbing

SHARES = {
    "a half": (1, 1),
    "a third": (1, 2),
    "a quarter": (3, 1),
    "a tenth": (1, 9),
    "three classes": (1, 1, 2),
    "three uneven classes": (1, 3, 8),
    "four classes": (1, 2, 3, 4),
}


def largest(n, n_rows, shares, m=1, **options):
    """The largest change of the score over all data sets of n records and all replacements of m of them."""
    tables, moves = all_tables((n_rows, len(shares)), n)
    return largest_change(scores_of_joins(tables, shares=shares, **options), moves, m)


@pytest.mark.parametrize("shares", SHARES.values(), ids=SHARES)
@each("n_rows", [2, 3])
def test_with_enough_records_the_largest_change_over_all_data_sets_is_exactly_two_nths(shares, n_rows):
    enough = 1 + -(-(sum(shares) - min(shares)) // min(shares))
    for n in range(2, 11 if len(shares) == n_rows == 2 else 6):
        change = largest(n, n_rows, shares)
        assert change <= 2 / n + ERROR
        assert 2 / n <= mtv_r_sensitivity(n, knows_target_shares=True)
        if len(shares) == 2:
            assert (change == pytest.approx(2 / n, abs=ERROR)) == (n >= enough)


def test_a_share_read_from_the_data_moves_the_score_nearly_twice_as_far():
    for n in (4, 6, 8):
        tables, moves = all_tables((2, 2), n)
        of_class = tables.sum(axis=1).max(axis=1) / n
        scores = scores_of_joins(tables) / (2 * of_class)  # the normaliser of the share of the records
        assert largest_change(scores, moves) == pytest.approx(4 / (n + 2), abs=ERROR)


def test_other_divisions_at_full_weight_would_move_too_far():
    assert largest(6, 2, (1, 1), half=1.0) > 2 / 6 + ERROR


@each("m", [2, 3])
def test_m_records_move_the_score_by_at_most_m_times_as_much(m):
    for n in (4, 6):
        assert largest(n, 2, (1, 1), m) == pytest.approx(min(2 * m / n, 1), abs=ERROR)
        assert mtv_r_sensitivity(n, n_replaced=m, knows_target_shares=True) >= min(2 * m / n, 1)


# --- The kernels ------------------------------------------------------------------------------------------------


def margins(n_pieces, seed):
    """Random shares of pieces, in whole units."""
    shares = np.random.default_rng(seed).dirichlet(np.full(n_pieces, 2.0))
    units = np.maximum((shares * UNITS).astype(np.int64), 1)
    units[0] += UNITS - units.sum()
    return tuple(units.tolist())


KNOWN = {
    name: family.with_target_shares(range(1, family.n_columns + 1), margins(family.n_columns, 1))
    for name, family in CLIMBED.items()
}
KNOWN["a half, others at half weight"] = known(numeric_family(16, 1), UNITS // 2)
KNOWN["a quarter, others at half weight"] = numeric_family(16, 1).with_target_shares(
    (1, 8), (UNITS // 4, UNITS - UNITS // 4)
)


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("family", KNOWN.values(), ids=KNOWN)
def test_hill_climbing_never_exceeds_two_nths(family):
    for n in (10, 500):
        assert max(shares_reached_by_climbing(family, n, n_steps=30)) > 0.5
    for n_labels in (2, 3):
        assert max(shares_reached_by_climbing(family, 60, n_steps=20, scale=Nominal(n_labels))) > 0.3


@pytest.mark.parametrize("is_missing", [False, True])
@each("n", [4, 1000, 10**6])
def test_kernels_attain_two_nths_at_a_known_half(n, is_missing):
    family = known(numeric_family(32, 38), UNITS // 2)
    scorer = CountsScorer(n, family)
    one = 0  # the part of the records in the lower half of the target; the others are in the last part, or missing
    last, other = family.n_columns * (family.n_master + 1) - 2 + is_missing, family.n_master - 1 + is_missing
    tables = np.zeros((2, family.n_columns * (family.n_master + 1)), dtype=np.uint32)
    tables[:, one], tables[:, last] = n // 2, n // 2 - 1
    tables[0, last] += 1
    tables[1, other] = 1
    scores = [Fraction(scorer.score(table, UNIT)) for table in tables]
    assert abs(scores[0] - 1) <= Fraction(ROUNDING_ERROR)
    assert abs(scores[0] - scores[1] - Fraction(2, n)) <= 2 * Fraction(ROUNDING_ERROR)


def test_a_side_is_known_if_each_piece_of_known_share_lies_within_one_of_its_groups():
    family = numeric_family(8, 2).with_target_shares((2, 4, 6, 8), (1, 2, 3, UNITS - 6))
    known = {side.groups: side.margins for side in family.sides if side.margins}
    assert known == {
        (0, 0, 1, 1, 1, 1, 1, 1): (1, UNITS - 1),
        (0, 0, 0, 0, 1, 1, 1, 1): (3, UNITS - 3),
        (0, 0, 0, 0, 0, 0, 1, 1): (6, UNITS - 6),
        (0, 0, 1, 1, 0, 0, 1, 1): (4, UNITS - 4),
        (0, 0, 1, 1, 1, 1, 0, 0): (UNITS - 5, 5),
    }
    assert family.knows_target_shares
    assert not numeric_family(8, 2).knows_target_shares
