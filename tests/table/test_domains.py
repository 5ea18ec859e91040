"""Public bounds and labels, as a user writes them, become domains, which encode each value independently."""

import datetime
import math

import numpy as np
import pandas
import polars
import pytest

from skdpmic.table.domains import (
    Knots,
    Labels,
    LogRange,
    Order,
    Range,
    domain_of,
)
from skdpmic.table.facts import PublicFacts, labels_of
from skdpmic.table.normal_form import ColumnSource
from skdpmic.table.values import check_classes
from tests.folding import each

DAY = 86_400.0
ENTRIES = [
    ((0, 5), Range(0.0, 5.0)),
    ([np.int8(0), 5.0], Range(0.0, 5.0)),
    ((-3, 5, "log"), LogRange(-3.0, 5.0)),
    ((0, 1, 4), Knots((0.0, 1.0, 4.0))),
    ((datetime.date(1970, 1, 2), datetime.date(1970, 1, 4)), Range(DAY, 3 * DAY, "dates")),
    ((pandas.Timestamp("1970-01-02"), np.datetime64("1970-01-03", "D")), Range(DAY, 2 * DAY, "dates")),
    ((datetime.datetime(1970, 1, 1, 12), pandas.Timestamp("1970-01-03", tz="UTC")), Range(DAY / 2, 2 * DAY, "dates")),
    (tuple(polars.Series([datetime.date(1970, 1, day) for day in (1, 2, 5)])), Knots((0.0, DAY, 4 * DAY), "dates")),
]


@each("entry, domain", ENTRIES)
def test_an_entry_of_bounds_becomes_an_axis(entry, domain):
    assert domain_of(entry, "bounds") == domain


NOT_A_RANGE = r"b must be \(lower, upper\), \(lower, upper, 'log'\), three or more"
REFUSED = {
    NOT_A_RANGE: [
        3,
        "ab",
        (),
        (1,),
        (1, 2, "ln"),
        (1, "log"),
        (0, "1"),
        {0, 1},
        (0, None),
        ((0, 1), (2, 3)),
        (0, pandas.NaT),
    ],
    "b must be finite with lower < upper, as must upper - lower, got": [
        *[(1, 1), (2, 1), (0, math.nan), (0, math.inf), (-1e308, 1e308), (2, 1, "log")],
    ],
    "b must be finite with increasing numbers": [
        *[(0, 1, 1), (0, 2, 1), (0, math.nan, 2), (0, 1, math.inf), (-1e308, 0, 1e308)],
    ],
    r"got \('2020-01-01', '2021-01-01'\): pass dates as objects, for instance pd.Time": [("2020-01-01", "2021-01-01")],
}


@each("message", REFUSED)
def test_an_entry_that_is_not_a_range_is_refused(message):
    for entry in REFUSED[message]:
        with pytest.raises(ValueError, match=message):
            domain_of(entry, "b")


VALUES = np.array([-1e9, -3.0, -0.5, 0.0, 0.5, 1.0, 2.5, 4.0, 7.0, 1e9, math.nan])


def test_logarithms_keep_sign_and_order():
    domain = LogRange(-3.0, 7.0)
    expected = [math.copysign(math.log1p(abs(value)), value) for value in VALUES[:-1]]
    np.testing.assert_allclose(domain.encode(VALUES)[:-1], expected, rtol=1e-15)
    assert np.isnan(domain.encode(VALUES)[-1])
    np.testing.assert_allclose(domain.encoded, (-math.log(4), math.log(8)), rtol=1e-15)


def test_knots_are_one_apart():
    domain = Knots((0.0, 1.0, 4.0))
    assert domain.encoded == (0.0, 2.0)
    np.testing.assert_allclose(domain.encode(VALUES)[:-1], [0, 0, 0, 0, 0.5, 1, 1.5, 2, 2, 2])
    assert np.isnan(domain.encode(VALUES)[-1])


@each("domain", [Range(0.0, 4.0), LogRange(-3.0, 7.0), Knots((0.0, 1.0, 4.0)), Order()])
def test_each_value_is_encoded_independently_wherever_it_stands(domain):
    """Compiled loops take several values at once, and the last ones of an array alone."""
    values = np.append(np.random.default_rng(0).normal(size=67) * 10.0 ** np.arange(-33, 34), VALUES)
    alone = np.concatenate([domain.encode(values[i : i + 1]) for i in range(len(values))])
    for first in range(20):
        assert np.array_equal(domain.encode(values[first:]), alone[first:], equal_nan=True)
    for strided in (np.repeat(values, 3)[::3], np.stack([values] * 5, axis=1)[:, 2]):
        assert np.array_equal(domain.encode(strided), alone, equal_nan=True)


# --- Labels ----------------------------------------------------------------------------------------------------------


@each("labels", [["a"], [], "ab", None, 3, ["a", "a"], ["a", 1], [1, True], {"a", "b"}, [["a"]]])
def test_bad_labels_are_refused(labels):
    with pytest.raises(ValueError, match="categories of feature 'sex' must be a list or array of at least 2 distinct"):
        labels_of(labels, "categories of feature 'sex'")


@pytest.mark.parametrize("missing", [None, math.nan, pandas.NA, pandas.NaT, np.datetime64("NaT", "us")])
def test_a_missing_value_is_not_a_label(missing):
    for labels in (["a", "b", missing], [1, missing, 2]):
        with pytest.raises(ValueError, match="categories of feature 'sex' must hold labels only, got a missing value"):
            labels_of(labels, "categories of feature 'sex'")
        with pytest.raises(ValueError, match="classes must hold labels only, got a missing value"):
            check_classes(labels)


# --- All features -----------------------------------------------------------------------------------------------------

NAMES = ["age", "sex", "pay"]
AXES = [Range(0.0, 99.0), Labels(("f", "m")), LogRange(0.0, 1e6)]


def test_types_declare_labels_unless_an_entry_overrides_them():
    declared = {0: ColumnSource("numbers", None, (0.0, 1.0)), 1: ColumnSource("text", None, ("f", "m"))}
    flag = Labels((0.0, 1.0))
    assert PublicFacts({"pay": (0, 9)}, None).domains(3, NAMES, declared) == [flag, AXES[1], Range(0.0, 9.0)]
    assert PublicFacts({"pay": (0, 9), "age": (0, 1)}, None).domains(3, NAMES, declared)[0] == Range(0.0, 1.0)
    assert PublicFacts((0, 9), None).domains(3, NAMES, declared) == [Range(0.0, 9.0), AXES[1], Range(0.0, 9.0)]
    assert PublicFacts({"pay": (0, 9)}, {"sex": ["m", "f"]}).domains(3, NAMES, declared)[1] == Labels(("m", "f"))


@each(
    "bounds, categories, names, message",
    [
        (None, None, NAMES, "bounds must have an entry for every feature"),
        (None, {"sex": ["f", "m"]}, NAMES, r"not in categories, got none for \['age', 'pay'\]"),
        ({"age": (0, 9)}, None, NAMES, r"not in categories, got none for \['sex', 'pay'\]"),
        ({"age": (0, 9), "Pay": (0, 1)}, None, NAMES, r"bounds must have entries for features of X only.*\['Pay'\]"),
        ((0, 1), {"gender": ["f", "m"]}, NAMES, r"categories must have entries for features of X only.*\['gender'\]"),
        ((0, 1), {1: ["f", "m"]}, NAMES, r"of X only, got others, \[1\]\. Features with names are given by name\."),
        ({"age": (0, 9)}, {"age": ["f", "m"]}, NAMES, r"in bounds or in categories, got both for \['age'\]"),
        ({"age": (0, 9)}, None, None, "bounds is a dict by feature name, but X has no feature names"),
        ((0, 1), {"sex": ["f", "m"]}, None, "categories is a dict by feature name, but X has no feature names"),
        (
            (0, 1),
            ["f", "m"],
            NAMES,
            r"categories must be a dict by name of a feature, .*, such as \{'age': ...\}, got \['f', 'm'\]",
        ),
        ({"age": (9, 0)}, None, NAMES, "bounds of feature 'age' must be finite with lower < upper"),
        ({0: (9, 0)}, None, None, "bounds of feature 0 must be finite with lower < upper"),
    ],
)
def test_entries_that_do_not_describe_the_features_are_refused_by_name(bounds, categories, names, message):
    with pytest.raises(ValueError, match=message):
        PublicFacts(bounds, categories).domains(3, names)
