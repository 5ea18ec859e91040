"""Columns declared by `range`: each value is the nearest of these integers, and parts are integers or runs of them."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest

from skdpmic import DPMICScorer, PrivateSelectKBest, mic_r
from skdpmic.causal.table_release import N_CELLS, _codes
from skdpmic.models.parts import N_CUT, codes_of, names_of_parts
from skdpmic.release.summary_cells import SummaryCells
from skdpmic.statistics.grids import equal_parts, parts_of_each
from skdpmic.statistics.mtv.statistic import pair_codes
from skdpmic.table.domains import Integers, Knots, ends_of, parts_at_most, to_json
from skdpmic.table.facts import PublicFacts, from_json
from skdpmic.table.records import read_columns
from skdpmic.table.tables import open_table
from tests.folding import each

RANGES = [range(2), range(1, 6), range(-3, 4), range(12), range(21), range(121), range(-(10**6), 10**9)]
HALF = Fraction(1, 2)


def nearest(value, integers):
    """Slow twin: the nearest integer, halves up, by exact fractions; then clipped. None for a missing value."""
    if value is None or value is pandas.NA or value != value:
        return None
    exact = Fraction(value) if not isinstance(value, str) else Fraction(float(value))
    return min(max(math.floor(exact + HALF), integers[0]), integers[-1])


def drawn(integers, n, rng):
    """Floats in and out of the range, halves, neighbours of halves, and missing values."""
    near = rng.integers(integers[0] - 3, integers[-1] + 4, n) + rng.choice([0, 0, -0.5, 0.5, 0.25], n)
    values = np.nextafter(near, near + rng.choice([-1, 0, 1], n))
    values[rng.random(n) < 0.1] = rng.choice([np.nan, 1e300, -1e300, 0.49999999999999994, -0.5, 2.0**53 + 2])
    return values


def column(values, integers):
    """The column as it reaches kernels."""
    (read,) = read_columns(open_table(pandas.DataFrame({"x": values}), "test"), [Integers(integers[0], integers[-1])])
    return read


@each("integers", RANGES)
@each("seed", range(20))
def test_each_value_is_the_nearest_integer_halves_up_then_clipped(integers, seed):
    values = drawn(integers, 100, np.random.default_rng(seed))
    expected = [nearest(value, integers) for value in values.tolist()]
    expected = np.array([np.nan if value is None else value for value in expected])
    np.testing.assert_array_equal(column(values, integers), expected)
    for number in np.flatnonzero(~np.isnan(expected))[:20]:  # by itself, as in the column
        assert column(values[number : number + 1], integers) == expected[number]


TYPED = {
    "int8": np.array([-128, 0, 1, 5, 127], np.int8),
    "uint64": np.array([0, 2**63, 3], np.uint64),
    "bool": np.array([True, False]),
    "float32": np.array([0.5, 1.5, 2.4999998, np.nan], np.float32),
    "nullable": pandas.array([1, None, 9], dtype="Int64"),
    "objects": np.array([Decimal("2.5"), 3, None, 4.4, Fraction(7, 2)], dtype=object),
    "text": np.array(["3.7", "2", None, "1e3"], dtype=object),
}


@each("kind", TYPED)
def test_every_type_of_numbers_is_read_alike(kind):
    values = TYPED[kind]
    expected = [nearest(value, range(1, 6)) for value in values.tolist()]
    np.testing.assert_array_equal(column(values, range(1, 6)), [np.nan if each is None else each for each in expected])


@each("integers", RANGES)
def test_parts_are_runs_of_integers_of_nearly_equal_length_in_every_room(integers):
    """All of a short range, or the integers at the ends of its parts."""
    domain = Integers(integers[0], integers[-1])
    encoded, n = domain.encoded, len(integers)
    assert (domain.bounds, ends_of(encoded), encoded.n_integers) == (integers, (integers[0], integers[-1]), n)
    for most in (2, 6, N_CUT, 11, 48, N_CELLS, 608):
        n_parts = parts_at_most(most, encoded)
        assert n_parts == min(most, n)
        runs = [(int(run[0]), int(run[-1])) for run in domain.runs(n_parts)]
        firsts, lasts = np.array(runs).T
        assert (firsts[0], lasts[-1]) == (integers[0], integers[-1])
        assert (firsts[1:] == lasts[:-1] + 1).all()  # every integer is in one run
        assert np.ptp(lasts - firsts) <= 1
        for of_each in (firsts, lasts):
            assert equal_parts(of_each.astype(float), encoded, n_parts).tolist() == list(range(n_parts))


@each("integers", RANGES[:6])
@each("most", [8, 11, 48, 64, 608])
def test_parts_in_grids_models_graphs_and_summaries_are_those_of_a_slow_twin(integers, most):
    domain, n = Integers(integers[0], integers[-1]), len(integers)
    values = column(drawn(integers, 300, np.random.default_rng(most)), integers)
    n_parts = most if most in (48, 608) else min(most, n)  # joint and single grids may have more parts than integers

    def part(value):
        """By its definition: the number of ends at or below the value."""
        width = n / n_parts
        if value != value:
            return n_parts
        return sum(integers[0] - 0.5 + i * width <= value for i in range(1, n_parts))

    of_room = {
        8: lambda: codes_of(values, domain.encoded),
        48: lambda: pair_codes(values, domain.encoded),
        64: lambda: _codes(values, domain.encoded),
        608: lambda: parts_of_each([values], [domain.encoded], 608)[0][0],
    }
    expected = [part(value) for value in values.tolist()]
    if most == 11:
        raw = drawn(integers, 300, np.random.default_rng(most))
        rounded = [None if value != value else math.floor(Fraction(value) + HALF) for value in raw.tolist()]
        flags = [3 if value in integers else 0 if value is None else 1 + (value > 0) for value in rounded]
        parts = [part if flag == 3 else n_parts for part, flag in zip(expected, flags, strict=True)]
        of_flags, of_parts = SummaryCells(domain).count(raw)
        assert of_flags.tolist() == [flags.count(flag) for flag in range(4)]
        assert of_parts.tolist() == [parts.count(j) for j in range(n_parts + 1)]
    else:
        assert of_room[most]().tolist() == expected


def test_parts_are_named_as_integers_or_runs_of_them():
    assert names_of_parts(Integers(1, 5)) == ["1", "2", "3", "4", "5", "missing"]
    assert names_of_parts(Integers(-4, 7))[:4] == ["-4", "-3 to -2", "-1", "0 to 1"]
    assert names_of_parts(Integers(0, 10**9))[-2:] == ["875000001 to 1000000000", "missing"]
    assert Integers(1, 5).decode(2.73) == 2.5  # a cut between 2 and 3


@each(
    "entry",
    [range(1, 6, 2), range(6, 1, -1), range(5, 5), range(1), range(0, 2**50 + 2), range(-(10**30), 0)],
)
def test_a_range_with_a_step_or_fewer_than_two_integers_is_refused(entry):
    with pytest.raises(ValueError, match="must be a range of two or more integers with step 1, such as"):
        PublicFacts(bounds={0: entry}).domains(1, None)
    with pytest.raises(ValueError, match="target_bounds must be a range of two or more integers"):
        DPMICScorer(bounds=(0, 1), target_bounds=entry).fit(np.random.default_rng(0).random((9, 1)), np.arange(9))


def test_one_range_is_for_all_features_and_lists_are_knots():
    assert PublicFacts(bounds=range(1, 6)).domains(3, None) == [Integers(1, 5)] * 3
    assert PublicFacts(bounds=range(10**9)).domains(1, None) == [Integers(0, 10**9 - 1)]  # is not listed
    assert PublicFacts(bounds={0: [1, 2, 3, 4, 5]}).domains(1, None) == [Knots((1.0, 2.0, 3.0, 4.0, 5.0))]
    with pytest.raises(ValueError, match="bounds of x must be a pair of numbers"):
        mic_r([0, 1], [0, 1], bounds=(range(2), (0, 1)))


def test_a_plain_form_is_read_again_and_others_are_refused():
    assert from_json(to_json(Integers(-1, 3))) == Integers(-1, 3)
    for wrong in (["Integers", 1.5, 3], ["Integers", 3, 1], ["Integers", 0, 2**60], ["Integers", None, 1]):
        with pytest.raises((ValueError, TypeError)):
            from_json(wrong)


LABELS = [
    *[(range(21), True), (list(range(7, 40))[::-1], True), ([*range(30), 40], False), (range(20), False)],
    *[([str(i) for i in range(30)], False), ([0.5 + i for i in range(30)], False), ([-math.inf, *range(30)], False)],
]


@each("labels, warns", LABELS)
def test_many_integers_given_as_labels_are_answered_with_the_line_to_write(labels, warns, recwarn):
    recwarn.clear()
    X = pandas.DataFrame({"age": [labels[i % len(labels)] for i in range(2000)], "b": np.linspace(0, 1, 2000)})
    PrivateSelectKBest(1, bounds={"b": (0, 1)}, categories={"age": labels}, classes=[0, 1]).fit(X, np.arange(2000) % 2)
    found = [str(warning.message) for warning in recwarn if "whose order labels lose" in str(warning.message)]
    assert len(found) == warns
    if warns:
        first, last = min(labels), max(labels)
        assert f"write bounds={{'age': range({first}, {last + 1})}}, or in a codebook, type = \"integer\"" in found[0]
