"""Which rows belong to which person, and which of them count: the same number for everybody."""

import datetime
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skdpmic.table.values import read_people
from tests.folding import each


def row_counts(persons, m):
    """How often each row counts, by person."""
    people = read_people(persons, m, len(persons))
    rows = people.rows()
    assert len(rows) == people.n_samples == m * len(set(persons))
    assert (np.diff(rows) >= 0).all()
    times = np.bincount(rows, minlength=len(persons))
    return {person: times[[label == person for label in persons]].tolist() for person in persons}


# --- Which rows count -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3, 5, 6, 12])
def test_everybody_counts_for_the_same_number_of_rows_spread_evenly_over_their_own(m):
    persons = [person for person, n_own in zip("abcdef", [1, 2, 3, 4, 6, 25], strict=True) for _ in range(n_own)]
    np.random.default_rng(m).shuffle(persons)
    for times in row_counts(persons, m).values():
        assert sum(times) == m
        assert max(times) - min(times) <= 1


@pytest.mark.few
@pytest.mark.parametrize("n_own, m", [(5, 2), (2, 3), (4, 3)])
def test_which_rows_count_is_as_if_drawn_uniformly_by_label(n_own, m):
    """Chi-square test over all sets of rows, for 600 people with labels of each kind; alpha = 1e-4 each."""
    sets = list(combinations(range(n_own), m % n_own))
    for labels in (range(600), [f"p{i}" for i in range(600)], [("a", i) for i in range(600)]):
        seen = Counter(tuple(times) for times in row_counts([*labels] * n_own, m).values())
        assert stats.chisquare([*seen.values(), *[0] * (len(sets) - len(seen))]).pvalue > 1e-4


def test_which_rows_count_follows_from_a_label_and_the_order_of_its_own_rows():
    """The rows of one person change in number, and all in place. It is the same in every process."""
    persons = np.repeat([10, 11, 12, 13, 14, 15], [3, 1, 4, 2, 5, 3])
    changed = np.random.default_rng(0).permutation(np.r_[persons[persons != 12], [12] * 9])
    here, there = row_counts(persons.tolist(), 2), row_counts(changed.tolist(), 2)
    assert all(here[person] == there[person] for person in (10, 11, 13, 14, 15))
    same = row_counts(persons.astype(float).tolist(), 2), row_counts(list(map(Fraction, persons.tolist())), 2)
    assert here == same[0] == same[1]
    assert row_counts([f"{i}" for i in persons], 2)["14"] == [1, 0, 0, 0, 1]


def test_keys_are_the_same_in_every_process_and_container():
    """Python hashes bytes, text and dates differently in each process."""
    labels = [b"a", DAY, ("a", b"a"), 7, "a"]
    assert (read_people(labels, 1, len(labels)).keys % 1000).tolist() == [737, 598, 461, 890, 343]
    here, *others = (read_people(dates, 1, 4).keys.tolist() for dates in (DAYS, DAYS.astype("M8[ns]"), DAYS.tolist()))
    assert others == [here, here]


# --- Labels ---------------------------------------------------------------------------------------------------------

DAYS = np.array(["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"], dtype="M8[s]")


WRONG = {
    "a number": (5, "1-dimensional"),
    "a text": ("abcde", "a value for each row, got a str"),
    "a set": ({1, 2, 3, 4, 5}, "1-dimensional"),
    "a dict": (dict.fromkeys(range(5)), "1-dimensional"),
    "an iterator": (iter(range(5)), "1-dimensional"),
    "a column": (np.arange(5)[:, None], "1-dimensional"),
    "a scalar array": (np.array(5), "1-dimensional"),
    "too few": (range(4), "one label for each row of X, 5, got 4"),
    "too many": (range(6), "one label for each row of X, 5, got 6"),
    "three persons": ([1, 2, 3, 3, 3], "at least 4 labels, one per person, got 3"),
}


@each("name", WRONG)
def test_anything_but_a_column_of_labels_is_refused(name):
    groups, message = WRONG[name]
    with pytest.raises(ValueError, match=f"groups must (be|have|hold) {message}"):
        read_people(groups, 2, 5)


def test_labels_that_cannot_be_compared_are_refused_without_being_quoted():
    with pytest.raises(TypeError, match="groups must hold hashable labels") as caught:
        read_people([["secret"], 2, 3, 4, 5], 2, 5)
    assert caught.value.__context__ is None
    with pytest.raises(TypeError, match="groups must hold hashable labels"):
        read_people([np.array([1, 2])] * 5, 2, 5)
    with pytest.raises(TypeError, match="groups must not be a masked array"):
        read_people(np.ma.array(range(5), mask=[1, 0, 0, 0, 0]), 2, 5)
    with pytest.raises(TypeError, match="groups must be in memory"):
        read_people(pytest.importorskip("dask.array").arange(5), 2, 5)


DAY = datetime.datetime(2020, 1, 1)
SCALARS = [
    *[DAY, DAY.date(), np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns"), pd.Timestamp(DAY)],
    *[DAY.replace(tzinfo=datetime.UTC), pd.Timestamp(DAY, tz="UTC"), np.datetime64("2020"), pd.Period("2020-01-01")],
    *[pd.Timestamp(DAY) + pd.Timedelta(1, "ns"), np.datetime64("2020-01-01", "ns") + 1, np.longdouble(0.1) + 2**-60],
    *[datetime.timedelta(1), np.timedelta64(1, "D"), np.timedelta64(24, "h"), pd.Timedelta("1D")],
    *[0.1, np.float32(0.1), np.float16(0.1), np.longdouble(0.1), Decimal("0.1"), Fraction(1, 10)],
    *[2**53, 2**53 + 1, 2.0**53, np.int64(2**53 + 1), np.float64(2**53), Decimal(2**53 + 1), True, 1, np.bool_(True)],
    *["a", np.str_("a"), b"a", np.bytes_(b"a"), ("a", 1), ("a", True), (np.str_("a"), 1.0), frozenset([1]), "1", 1.0],
    *[(DAY, 0.1), (pd.Timestamp(DAY), 0.1), (np.datetime64("2020-01-01"), 0.1), (math.nan,), (np.nan,), 10**400, 1j],
]


def test_no_label_decides_whether_two_others_are_of_one_person():
    """Also in tuples, as a codebook makes of several columns; and equality is an equivalence."""
    rng = np.random.default_rng(0)
    distinct = ["one", "two", "three", "four"]

    def together(labels):
        persons = read_people([*labels, *distinct], 1, len(labels) + 4).persons
        return persons[: len(labels), None] == persons[: len(labels)]

    alone = np.array([[together([a, b])[0, 1] for b in SCALARS] for a in SCALARS])
    assert (alone == alone.T).all()
    assert ((alone @ alone > 0) == alone).all()
    for _ in range(20):
        order = rng.permutation(len(SCALARS))
        np.testing.assert_array_equal(together([SCALARS[i] for i in order]), alone[np.ix_(order, order)])
    number_of = {(type(label), repr(label)): i for i, label in enumerate(SCALARS)}
    same = [(DAY, pd.Timestamp(DAY)), (DAY, np.datetime64("2020-01-01")), (2**53 + 1, Decimal(2**53 + 1)), (True, 1.0)]
    other = [(2**53 + 1, 2.0**53), (0.1, np.float32(0.1)), ("a", b"a"), ("1", 1), (0.1, Decimal("0.1"))]
    same, other = [*same, SCALARS[9:11]], [*other, (DAY, SCALARS[9]), (0.1, SCALARS[11])]  # with more digits
    for pairs, expected in ((same, True), (other, False)):
        for pair in pairs:
            assert alone[tuple(number_of[type(label), repr(label)] for label in pair)] == expected, pair
