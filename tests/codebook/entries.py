"""Codebook entries in every form with what they mean, and wrong entries with their error messages."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas

from skdpmic.codebook.codebook import ColumnEntry

DAY, LATER = datetime.date(2020, 1, 1), datetime.date(2025, 12, 31)
NOON = datetime.datetime(2020, 1, 1, 12)
DAYS = datetime.timedelta(days=1)


def duration(longest, unit):
    return ColumnEntry("duration", (0 * DAYS, longest), unit=unit)


ENTRIES = [
    ((0, 110), ColumnEntry("number", (0, 110))),
    ((0, 1e6, "log"), ColumnEntry("number", (0, 1e6, "log"))),
    ((10, 20, 25, 30, 60), ColumnEntry("number", (10, 20, 25, 30, 60))),
    ((Decimal("0.5"), Fraction(3, 2)), ColumnEntry("number", (0.5, 1.5))),
    ((DAY, NOON), ColumnEntry("date", (DAY, NOON))),
    ((pandas.Timestamp(DAY), pandas.Timestamp(NOON)), ColumnEntry("date", (DAY, NOON))),
    ((np.datetime64("2020"), np.datetime64("2020-01-01T12", "ns")), ColumnEntry("date", (DAY, NOON))),
    ((DAY, pandas.Timestamp("2020-01-01 14:00", tz="Europe/Rome")), ColumnEntry("date", (DAY, NOON + DAYS / 24))),
    ((DAY, datetime.datetime.max), ColumnEntry("date", (DAY, datetime.datetime.max))),
    ((0 * DAYS, 90 * DAYS), duration(90 * DAYS, "days")),
    ((0 * DAYS, pandas.Timedelta(hours=36)), duration(1.5 * DAYS, "hours")),
    ((np.timedelta64(0, "s"), np.timedelta64(1500, "ms")), duration(DAYS / 57600, "seconds")),
    ((0 * DAYS, np.timedelta64(10**9, "ns")), duration(DAYS / 86400, "seconds")),
    ((0 * DAYS, np.timedelta64(100_000_000, "D")), duration(100_000_000 * DAYS, "days")),
    ([2, 1.5], ColumnEntry("labels", labels=(2, 1.5))),
    ([np.str_("f"), np.str_("m")], ColumnEntry("labels", labels=("f", "m"))),
    ("boolean", ColumnEntry("boolean")),
    ("identifier", ColumnEntry("identifier")),
    ({"range": [0, 110]}, ColumnEntry("number", (0, 110))),
    ({"range": [0, 9], "scale": "log", "unit": "mg/l"}, ColumnEntry("number", (0, 9, "log"), unit="mg/l")),
    ({"type": "number", "knots": [1, 2, 9], "description": "x"}, ColumnEntry("number", (1, 2, 9), description="x")),
    ({"type": "date", "range": [DAY, NOON]}, ColumnEntry("date", (DAY, NOON))),
    ({"type": "date", "knots": [DAY, NOON, LATER]}, ColumnEntry("date", (DAY, NOON, LATER))),
    ({"type": "duration", "range": [0, 2], "unit": "weeks"}, duration(14 * DAYS, "weeks")),
    ({"type": "duration", "range": [0, np.int64(2)], "unit": "days"}, duration(2 * DAYS, "days")),
    ({"range": [0 * DAYS, 2 * DAYS], "unit": "hours"}, duration(2 * DAYS, "hours")),
    ({"type": "duration", "range": [0, np.timedelta64(2, "D")], "unit": "hours"}, duration(2 * DAYS, "hours")),
    ({"labels": ["f", "m"], "range": []}, ColumnEntry("labels", labels=("f", "m"))),
    ({"type": "boolean", "description": ""}, ColumnEntry("boolean")),
    ({"type": "identifier", "range": [], "unit": ""}, ColumnEntry("identifier")),
    ({"type": "", "range": [0, 110], "scale": "", "knots": []}, ColumnEntry("number", (0, 110))),
    (ColumnEntry("number", (0, 1)), ColumnEntry("number", (0, 1))),
]

WRONG = [
    ((0,), "the range of column 'x' must be"),
    ((0, math.inf), "finite"),
    (("a", "b"), "the range of column 'x' must be"),
    ((0, DAY), "the range of column 'x' must be"),
    ((DAY, np.datetime64("400000-01-01")), "years 1 to 9999"),
    ((0 * DAYS, np.timedelta64(10**9, "D")), "within years 1 to 9999, as in Python"),
    (["f"], "the labels of column 'x' must be a list or array of at least 2"),
    (["f", None], "the labels of column 'x' must"),
    (["f", ["m"]], "the labels of column 'x' must be"),
    ({"range": [0, [1]]}, "the range of column 'x' must be"),
    ({"type": "duration", "range": [0, [1]], "unit": "days"}, "the range of column 'x' must hold numbers of days"),
    ("number", "column 'x' must be a tuple"),
    (5, "column 'x' must be a tuple"),
    ({}, "column 'x' must have a type, range, knots or labels, got none"),
    ({"rang": [0, 1]}, r"column 'x' must be among .*, got \['rang'\]\."),
    ({"range": [0, 1], "knots": [0, 1, 2]}, "got range and knots"),
    ({"range": [0, 1, 2]}, "use knots for three or more"),
    ({"range": [0, 1, "log"]}, "the range of column 'x' must be"),
    ({"knots": [0, 1]}, "use range for two"),
    ({"knots": [0, 1, "log"]}, "without quotes"),
    ({"range": 5}, "the range of column 'x' must be a list"),
    ({"range": ["2020-01-01", "2021-01-01"]}, "the range of column 'x' must hold numbers or dates without quotes"),
    ({"range": [0, 1], "scale": "logarithmic"}, "the scale of column 'x' must be 'linear' or 'log'"),
    ({"range": [DAY, LATER], "scale": "log"}, "must be numbers with 'log'"),
    ({"type": "numbers", "range": [0, 1]}, "the type of column 'x' must be one of"),
    ({"type": "date", "range": [0, 1]}, "the type of column 'x' must be 'number' with these values, got 'date'"),
    ({"type": "number", "labels": [0, 1]}, "the type of column 'x' must be 'labels'"),
    ({"type": "identifier", "range": [0, 1]}, "the type of column 'x' must be 'number'"),
    ({"type": "number", "range": []}, "column 'x' must have range or knots, got range left blank"),
    ({"type": ""}, "column 'x' must have a type, range, knots or labels, got type left blank"),
    ({"type": "duration", "range": [0, 1]}, "the unit of column 'x', a duration, must be one of .*, got None"),
    ({"type": "duration", "range": [0, 1], "unit": "years"}, "the unit of column 'x', a duration, .*, got 'years'"),
    ({"type": "duration", "range": [0, math.nan], "unit": "days"}, "must hold numbers of days"),
    ({"type": "duration", "range": [0, DAY], "unit": "days"}, "the range of column 'x' must"),
    ({"range": [0, 1], "unit": 5}, "the unit of column 'x' must be a str"),
    ({"range": [0, 1], "description": ["a"]}, "the description of column 'x' must be a str"),
]
