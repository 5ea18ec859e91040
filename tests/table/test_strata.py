"""Strata of records: one for each public label, one for all other labels, one for missing labels."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skdpmic.table.targets import read_strata
from tests.folding import each

nan = float("nan")


def codes(strata, categories):
    return read_strata(strata, categories, len(strata)).tolist()


TEXT, NUMBERS = ["b", "a", "zoo", None, "b"], [2, 1, 7, None, 2]


@each(
    "strata, categories",
    [
        *[(TEXT, ["a", "b"]), (np.array(TEXT, dtype=object), np.array(["a", "b"]))],
        *[(NUMBERS, [1, 2]), ([2, True, 7.5, nan, 2.0], (1, 2)), ([True, False, 2, None, True], [False, True])],
        *[(np.array(NUMBERS, dtype=np.float32), np.array([1, 2])), (pd.Series(NUMBERS, dtype="Int64"), [1, 2])],
        *[(pd.Series(TEXT), ["a", "b"]), (pd.Series(TEXT).astype("category"), ["a", "b"])],
        *[(pl.Series(TEXT), ["a", "b"]), (pl.Series(NUMBERS), [1, 2])],
    ],
)
def test_codes_are_positions_in_the_categories_then_other_then_missing(strata, categories):
    assert codes(strata, categories) == [1, 0, 2, 3, 1]


def test_one_record_decides_no_stratum_but_its_own():
    # One text in a list must not turn all its numbers into text, nor may one missing label.
    for others in ([1, 2, 2, 1], [1.0, 2.0, 2.0, 1.0], [np.int64(1), np.float32(2), 2, True]):
        for last in (1, None, nan, 10**300, Decimal("1.1"), np.longdouble(2), np.datetime64("NaT", "us")):
            assert codes([*others, last], [1, 2])[:4] == [0, 1, 1, 0]
        for last in ("1", b"1", 1j, (1,), np.datetime64(1, "D")):
            with pytest.raises(ValueError, match="strata must hold numbers, like categories, got at least one value"):
                codes([*others, last], [1, 2])


@each(
    "strata, categories, message",
    [
        ([8675, 1], ["a"], "categories must be a list or array of at least 2 distinct labels"),
        ([8675, 1, 1], [1, 2], "strata must have the same length as x and y, got 3 and 2"),
        ([[8675], [1]], [1, 2], r"strata must be 1-dimensional, got an array of shape \(2, 1\)"),
        (np.ma.array([8675, 1], mask=[0, 1]), [1, 2], "strata must not be a masked array"),
        (8675, [1, 2], r"strata must be 1-dimensional, got an array of shape \(\)"),
        (np.array(["2020-01-01", "8675-01-01"], dtype="M8[D]"), [1, 2], "strata must hold numbers, .* got dates"),
        ([[8675], 1], [1, 2], "strata must hold numbers, like categories, got at least one value of another type"),
    ],
)
def test_what_is_refused_is_not_quoted(strata, categories, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        read_strata(strata, categories, 2)
    assert "8675" not in str(caught.value)
