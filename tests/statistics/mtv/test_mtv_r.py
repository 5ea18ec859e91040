"""MTVr matches its definition: the kernels agree with all merges in exact fractions, up to the rounding error."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from skdpmic import mtv_r
from skdpmic.statistics.mtv.counts import (
    MOST_RECORDS,
    ROUNDING_ERROR,
    CountsScorer,
    longest_of_one_cut,
    longest_on_lines,
    running_counts,
    walk_of_columns,
)
from skdpmic.statistics.mtv.family import UNITS, Cuts, Family, Side, class_family, numeric_family
from skdpmic.table.domains import Nominal
from tests.folding import each
from tests.statistics.mtv.naive_mtv_r import (
    class_scorer,
    naive_mtv_r,
    naive_part,
    naive_score,
    naive_score_of_codes,
    numeric_scorer,
)

UNIT, ALIKE = (0.0, 1.0), Cuts()
FAMILIES = {
    "default, small": numeric_family(8, 2),
    "no penalty": Family(4, 8, (Side((0, 0, 1, 1), 4), Side((0, 1, 1, 0), 3)), penalty=0.0),
    "even sides": Family(4, 8, (Side((0, 0, 1, 1), 3), Side((0, 1, 2, 3), 2, 4)), penalty=0.25),
    "all columns apart": Family(4, 4, (Side((0, 1, 2, 3), 2, 3),), penalty=0.1, by_place=True),
    "other sizes": Family(4, 8, (Side((0, 1, 0, 1), 4, 3.5), Side((0, 1, 2, 3), 2, 2.5)), penalty=0.1, by_place=True),
    "more parts than master parts": Family(2, 2, (Side((0, 1), 5),), penalty=0.0),
    "known halves": numeric_family(8, 2).with_target_shares((4, 8), (UNITS // 2, UNITS // 2)),
    "known quarters": numeric_family(6, 2).with_target_shares(
        (2, 4, 6, 8), tuple(UNITS // 16 * i for i in (1, 5, 7, 3))
    ),
    "known, all columns apart": Family(
        4, 5, (Side((0, 1, 2, 3), 2, 3), Side((0, 0, 1, 1), 3)), penalty=0.1, by_place=True
    ).with_target_shares(
        (1, 2, 3, 4), (UNITS // 3, UNITS // 2, UNITS // 9, UNITS - UNITS // 3 - UNITS // 2 - UNITS // 9)
    ),
    "columns that do not divide": Family(3, 7, (Side((0, 1, 2), 2), Side((0, 1, 0), 2)), penalty=0.0),
}


def columns_of(kind, n, rng):
    """Two columns of numbers of one kind."""
    if kind == "independent":
        return rng.random((2, n))
    if kind == "dependent":
        x = rng.random(n)
        return x, (2 * x - 1) ** 2 + 0.1 * rng.standard_normal(n)
    if kind == "tied":
        return rng.integers(4, size=(2, n)) / 4
    if kind == "some missing":
        x = np.where(rng.random(n) < 0.3, np.nan, rng.random(n))
        return x, np.where((x >= 0.5) ^ (rng.random(n) < 0.2), 0.2, 0.8)
    if kind == "constant":
        return np.full(n, 0.3), rng.random(n)
    if kind == "in one place":
        return np.full(n, 0.3), np.full(n, 0.9)
    if kind == "outside":
        return 3 * rng.standard_normal((2, n))
    return rng.random(n) ** 8, 1 - rng.random(n) ** 8  # skewed: many empty master parts


SIZES = [2, 3, 7, 40]
KINDS = ["independent", "dependent", "tied", "constant", "in one place", "outside", "skewed", "some missing"]


@pytest.mark.few
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@each("kind, n", [(kind, SIZES[(i + j) % 4]) for i, kind in enumerate(KINDS) for j in (0, 2)])
def test_score_equals_that_of_all_merges_in_exact_fractions(family, kind, n):
    x, y = columns_of(kind, n, np.random.default_rng(n))
    score = numeric_scorer(y, UNIT, family).score(x, UNIT)
    exact = naive_mtv_r(x.tolist(), y.tolist(), UNIT, UNIT, family)
    assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)


@pytest.mark.few
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n", [2, 3, 40])
@pytest.mark.combinations
def test_score_against_classes_equals_that_of_all_merges_in_exact_fractions(n_classes, n):
    rng = np.random.default_rng(n)
    family = class_family(4 * n_classes, 1.0, n_classes)
    family = Family(n_classes, 8, family.sides, penalty=0.1, by_place=True)
    codes, x = rng.integers(n_classes, size=n), rng.random(n)
    score = class_scorer(codes, family).score(x, UNIT)
    exact = naive_score([naive_part(v, *UNIT, 8) for v in x], codes.tolist(), family)
    assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)


# --- The longest paths ------------------------------------------------------------------------------------------


def walk_against(counts, groups, margins):
    """The walk against groups of columns, each with its share, or with that of the table if all are 0."""
    in_group = np.array([counts[:-1][groups == group].sum(axis=0) for group in range(len(margins))])
    return walk_of_columns(np.vstack([in_group, counts[-1]]), margins)


def plain_lengths(walk, cost_of, most):
    """The recursion of OptimizeAxis, by cost instead of the number of parts, term by term."""
    end = walk.shape[1] - 1
    distance = np.abs(walk[:, :, None] - walk[:, None, :]).sum(axis=0)
    best = np.zeros((most + 1, end + 1), dtype=np.int64)  # the longest path to a cut here, at no more than this cost
    for cost in range(most + 1):
        for t in range(1, end + 1):
            spent = cost - (cost_of[t] if t < end else 0)
            earlier = [best[spent, s] if s else 0 for s in range(t)] if spent >= 0 else []
            best[cost, t] = max((length + distance[s, t] for s, length in enumerate(earlier)), default=-(10**18))
    return best[:, end].tolist()


def plain_lengths_of_one_cut(walk, cost_of, most):
    """The longest paths with no cut, or with one that costs at most 0 ... `most`."""
    end = walk.shape[1] - 1
    lengths = np.abs(walk).sum(axis=0) + np.abs(walk[:, [-1]] - walk).sum(axis=0)
    return [max(lengths[t] for t in range(end + 1) if t == end or cost_of[t] <= cost) for cost in range(most + 1)]


def counts_of(table):
    """Running counts of one feature."""
    counts, n_used, _ = running_counts(table[np.newaxis])
    n_steps = int(n_used[0]) + 1
    return counts[0, : (len(table) + 1) * n_steps].reshape(-1, n_steps)


def lines_of(counts, groups, margins, most, *least, cheaper=(), cuts=ALIKE):
    """The longest paths along the lines of one feature."""
    points = np.array(cheaper, dtype=np.int64).reshape(1, -1)
    n_used = np.array([counts.shape[1] - 1])
    return longest_on_lines(counts.reshape(1, -1), n_used, points, cuts, groups, margins, most, *least)[0]


def random_cuts(n_steps, rng):
    """Random costs of cuts, the points where cuts are cheaper, and the cost at each point."""
    costs, points = (3, 2, 3, 2), np.sort(rng.integers(0, n_steps, 4))
    cost_of = np.full(n_steps, 4)
    for point, cost in zip(points, costs, strict=True):
        cost_of[point] = min(cost_of[point], cost)
    return Cuts((0, 0, 0, 0), costs, 4, 2), points, cost_of


@pytest.mark.few
@each("n_columns", [2, 3, 4, 8])
@pytest.mark.parametrize("n_master, n", [(1, 5), (2, 30), (3, 30), (40, 30), (60, 5000)])
@each("most", [4, 7, 16, 33])
def test_longest_paths_match_the_plain_recursion(n_columns, n_master, n, most):
    rng = np.random.default_rng(n_master)
    shares = rng.random(n_columns * n_master) ** 3
    table = rng.multinomial(n, shares / shares.sum()).reshape(n_columns, n_master).astype(np.uint32)
    counts, alone = counts_of(table), np.arange(n_columns)
    assert counts.shape[1] == np.count_nonzero(table.sum(axis=0)) + 1
    assert not counts[:, 0].any()
    assert counts[:, -1].tolist() == [*table.sum(axis=1), n]
    cuts, points, cost_of = random_cuts(counts.shape[1], rng)
    alike = np.ones(counts.shape[1], dtype=int)
    for margins in (np.zeros(n_columns, dtype=np.int64), rng.integers(1, 100, n_columns)):
        walk = walk_of_columns(counts, margins)
        assert margins.any() or not walk[:, -1].any()
        assert longest_of_one_cut(walk, points, cuts).tolist() == plain_lengths_of_one_cut(walk, cost_of, 4)
        assert longest_of_one_cut(walk, (), Cuts()).tolist() == plain_lengths(walk, alike, 1)
        for groups in (alone % 2, (alone >= n_columns // 2).astype(int)):
            of_groups = np.bincount(groups, margins, minlength=2).astype(np.int64)
            two = walk_against(counts, groups, of_groups)
            line = np.array([[of_groups[1], of_groups.sum()]])
            by_place = lines_of(counts, groups[None], line, most, cheaper=points, cuts=cuts)
            assert by_place.tolist() == [plain_lengths(two, cost_of, most)]
            assert lines_of(counts, groups[None], line, most).tolist() == [plain_lengths(two, alike, most)]


@pytest.mark.few
@each("n_master, n", [(1, 3), (5, 12), (30, 30)])
@each("n_columns", [2, 5])
def test_the_points_of_edges_are_where_cuts_at_the_edges_divide_the_records(n_columns, n_master, n):
    rng = np.random.default_rng(n)
    table = rng.multinomial(n, np.full(n_columns * n_master, 1 / (n_columns * n_master))).astype(np.uint32)
    table = table.reshape(1, n_columns, n_master)
    counts, n_used, points = running_counts(table, range(n_master + 1))
    of_all = counts[0, n_columns * (n_used[0] + 1) : (n_columns + 1) * (n_used[0] + 1)]
    assert of_all[points[0]].tolist() == [table[:, :, :edge].sum() for edge in range(n_master + 1)]


def test_a_walk_counts_the_records_of_a_group_less_its_share_of_all():
    counts = counts_of(np.array([[1, 0, 2, 0], [0, 0, 3, 4]], dtype=np.uint32))
    assert counts.tolist() == [[0, 1, 3, 3], [0, 0, 3, 7], [0, 1, 6, 10]]
    assert walk_of_columns(counts, np.array([0, 0])).tolist() == [[0, 7, 12, 0], [0, -7, -12, 0]]
    assert walk_of_columns(counts, np.array([1, 3])).tolist() == [[0, 3, 6, 2], [0, -3, -6, -2]]


def along_line(line):
    """Counts of two columns, whose walk follows the line if the share of the second is a half."""
    counts = np.stack([np.zeros_like(line), line, np.zeros_like(line)])
    return counts, np.array([[1, 2]]), np.stack([-2 * line, 2 * line])


def test_the_longest_paths_are_found_along_lines_that_pause_and_turn():
    for steps in ([0, 0, 0], [1, 1, -2], [1, 0, -1], [0, 1, 0, 1, -1, 0, 0, 2, -3], [3, -2, 0, 0, -2, 1], [1, -1] * 6):
        counts, margins, walk = along_line(np.concatenate([[0], np.cumsum(steps)]))
        found = lines_of(counts, np.array([[0, 1]]), margins, 7)
        assert found.tolist() == [plain_lengths(walk, np.ones(walk.shape[1], dtype=int), 7)]


def test_the_longest_paths_are_found_along_all_short_lines_wherever_they_end():
    for n_steps in (1, 2, 3, 4):
        for steps in product([-2, -1, 0, 1, 2], repeat=n_steps):
            counts, margins, walk = along_line(np.cumsum([0, *steps]))
            found = lines_of(counts, np.array([[0, 1]]), margins, 5)
            assert found.tolist() == [plain_lengths(walk, np.ones(walk.shape[1], dtype=int), 5)]


@pytest.mark.few
@each("cheaper", [(), (1, 2), (2, 3), (2, 4)])
@each("per_unit", [1, 3, 9, 25])
def test_skipping_steps_that_cannot_pay_for_two_more_cuts_keeps_the_largest_difference(cheaper, per_unit):
    cuts = Cuts((0,) * len(cheaper), (3, 2)[: len(cheaper)], 4, 2) if cheaper else Cuts((), (), 4, 2)
    offsets = np.sqrt(np.maximum(np.arange(17), 2)) * per_unit
    of_two = 6 if cheaper else 8
    least = np.array([int(4 * (offsets[of_two:] - offsets[:-of_two]).min())])
    is_shorter, rng = False, np.random.default_rng(per_unit)
    for n_steps in (2, 4, 6, 12, 25):
        for _ in range(60):
            counts, margins, walk = along_line(np.cumsum([0, *rng.integers(-9, 10, n_steps)]))
            points = (
                np.sort(rng.integers(0, n_steps + 1, len(cheaper))) if n_steps > 4 else np.minimum(cheaper, n_steps)
            )
            cost_of = np.full(n_steps + 1, 4)
            for point, cost in zip(points, cuts.costs, strict=True):
                cost_of[point] = min(cost_of[point], cost)
            (found,) = lines_of(counts, np.array([[0, 1]]), margins, 16, least, cheaper=points, cuts=cuts)
            lengths = np.array(plain_lengths(walk, cost_of, 16))
            assert (found / 8 - offsets).max() == (lengths / 8 - offsets).max()
            assert found[0] == lengths[0]
            assert (found <= lengths).all()
            is_shorter |= (found < lengths).any()
    assert is_shorter or per_unit == 1


def test_lengths_are_exact_up_to_the_largest_number_of_records():
    n = MOST_RECORDS
    rng = np.random.default_rng(0)
    for table in (
        np.array([[n // 2, 0, 0], [0, n - n // 2, 0], [0, 0, 0]]),
        np.array([[n // 3, 0, 0], [0, n // 3, 0], [0, 0, n - 2 * (n // 3)]]),
        np.array([[0, n // 2, 0], [n // 4, 0, 0], [0, 0, n - n // 2 - n // 4]]),
        rng.multinomial(n, rng.dirichlet(np.ones(9))).reshape(3, 3),
    ):
        cells = [[int(v) for v in row] for row in table]
        columns, parts = [sum(row) for row in cells], [sum(row) for row in zip(*cells, strict=True)]
        counts = counts_of(table.astype(np.uint32))
        for units, margins in ((n, columns), (UNITS, [1, UNITS - 2, 1]), (UNITS, [UNITS - 2, 1, 1])):
            known = np.array(margins) if units == UNITS else np.zeros(3, dtype=np.int64)
            largest = sum(abs(units * cells[j][t] - parts[t] * margins[j]) for j in range(3) for t in range(3))
            if not table[:, 2].any():
                assert longest_of_one_cut(walk_of_columns(counts, known), (), Cuts())[-1] == largest
            first = 2 * sum(abs(units * cells[0][t] - parts[t] * margins[0]) for t in range(3))
            line = np.array([[known[1:].sum(), known.sum()]])
            assert lines_of(counts, np.array([[0, 1, 1]]), line, 2)[0, 2] == first
    with pytest.raises(ValueError, match=r"at most 2,147,483,647 records, got n_samples=2,147,483,648"):
        CountsScorer(n + 1, numeric_family(32, 32))


# --- The public function ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"B": 3}, r"B must be a number >= 4 or an exponent in \(0, 1\), got 3"),
        ({"c": 0}, r"c must be a number > 0, got 0"),
        ({"bounds": ((1, 0), (0, 1))}, r"bounds of x must be finite with lower < upper"),
        ({"x": [0.0, np.nan]}, r"x must be finite"),
        ({"x": [0.0]}, r"x and y must have the same length, got 1 and 2"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        mtv_r(**({"x": [0.0, 1.0], "y": [0.0, 1.0], "bounds": (UNIT, UNIT)} | arguments))


# --- Missing values and nominal features ---------------------------------------------------------------------------


def some_missing(x, how, rng):
    is_missing = {"all": np.full(len(x), True), "some": rng.random(len(x)) < 0.3, "low ones": x < np.median(x)}[how]
    return np.where(is_missing, np.nan, x)


@pytest.mark.few
@pytest.mark.parametrize("family", [FAMILIES["even sides"], FAMILIES["columns that do not divide"]])
@each("how", ["all", "some", "low ones"])
@pytest.mark.parametrize("kind", KINDS)
@each("n", [2, 7, 30])
@pytest.mark.combinations
def test_missing_values_are_a_part_after_or_before_all_others(family, how, kind, n):
    rng = np.random.default_rng(n)
    x, y = columns_of(kind, n, rng)
    x = some_missing(x, how, rng)
    score = numeric_scorer(y, UNIT, family).score(x, UNIT)
    exact = naive_mtv_r(x.tolist(), y.tolist(), UNIT, UNIT, family)
    assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)


def test_missing_values_may_be_joined_to_low_or_to_high_ones():
    family = Family(2, 32, (Side((0, 1), 2),), penalty=0.0)
    x = np.arange(400) / 400
    for of_half in (0, 1):
        is_missing = (x >= 0.5) == of_half
        assert numeric_scorer(x, UNIT, family).score(np.where(is_missing & (np.arange(400) % 2), np.nan, x), UNIT) == 1


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("n_labels", [1, 2, 3, 6])
@each("n", [2, 3, 40])
@pytest.mark.combinations
def test_score_of_a_nominal_feature_equals_its_definition_in_exact_fractions(family, n_labels, n):
    rng = np.random.default_rng(n)
    for kind in ("labels alone", "all codes", "one code", "dependent"):
        codes, y = rng.integers(n_labels + 2 * (kind == "all codes"), size=n), rng.random(n)
        if kind == "one code":
            codes[:] = n_labels + 1
        if kind == "dependent":
            codes = (y * (n_labels + 2)).astype(int)
        score = numeric_scorer(y, UNIT, family).score(codes.astype(np.uint32), Nominal(n_labels))
        columns = [naive_part(value, *UNIT, family.n_columns) for value in y]
        exact = naive_score_of_codes(codes.tolist(), columns, n_labels, family)
        assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_labels", [1, 2, 3, 6])
def test_score_of_a_nominal_feature_against_classes_equals_its_definition_in_exact_fractions(n_classes, n_labels):
    rng = np.random.default_rng(0)
    family = class_family(32, 10, n_classes)
    for dependent in (False, True):
        classes = rng.integers(n_classes, size=60)
        codes = np.minimum(classes, n_labels + 1) if dependent else rng.integers(n_labels + 2, size=60)
        score = class_scorer(classes, family).score(codes.astype(np.uint32), Nominal(n_labels))
        exact = naive_score_of_codes(codes.tolist(), classes.tolist(), n_labels, family)
        assert abs(Fraction(score) - exact) <= Fraction(ROUNDING_ERROR)
    assert score > 0.3


def test_no_score_exceeds_one_even_if_eight_parts_are_predicted_exactly():
    """Eight parts against eight have a total variation of 7/8, more than the normaliser of 3/4."""
    codes = np.arange(4000) % 8
    assert class_scorer(codes, class_family(512, 64, 8)).score(codes.astype(np.uint32), Nominal(8)) == 1


def with_a_step_back(w, n=10_000):
    """Counts of two classes along four parts: up, w records back, up again, and down; no value is missing."""
    return np.array([[[3 * n // 10, 0, n // 5, 0, 0], [0, w, 0, n // 2 - w, 0]]], dtype=np.uint32)


@each("times", [1, 16])
def test_a_step_back_is_skipped_only_where_it_cannot_pay(times):
    """With a threshold 16 times too large, some steps that pay would be skipped."""
    side = Side((0, 1), 16, margins=(UNITS // 2, UNITS // 2))
    scorer, plain = (CountsScorer(10_000, Family(2, 4, (side,))) for _ in range(2))
    for each_, factor in ((scorer, times), (plain, 0)):
        per_length, offsets, least = each_._of_bisections
        each_._of_bisections = per_length, offsets, factor * least
    same = [scorer.of_rows(with_a_step_back(w)) == plain.of_rows(with_a_step_back(w)) for w in range(0, 400, 3)]
    assert all(same) == (times == 1)
