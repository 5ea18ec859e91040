"""Each record is read independently: replacing one changes no other, whatever odd objects a table holds.

Tables with dates in many units, floats of many widths, numerals, subclasses and enumerations are drawn at random, and
one record is replaced. All other records must be read as the same numbers, to the last bit, at every entry point.
``test_any_container.py`` has typed columns.
"""

import datetime
import enum
import math
from collections import UserList
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import polars
import pytest

from skdpmic import DPMICScorer
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.release import bounds as learnt_bounds
from skdpmic.table.values import read_people
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer
from tests.folding import each
from tests.two_party.sent import reports_of

N, DRAWS = 8, 2


class Numeral(str, enum.Enum):  # noqa: UP042 - as people write it
    HALF = "0.5"


class Colour(str, enum.Enum):  # noqa: UP042
    BLUE = "b"


class Count(enum.IntEnum):
    TWO = 2


class OwnFloat(float):
    pass


class OwnText(str):
    __slots__ = ()


MISSING = [None, math.nan, pandas.NA, np.float32("nan")]
ZONE = datetime.timezone(datetime.timedelta(hours=5))
NUMBERS = [
    *[
        kind(value)
        for kind in (float, np.float16, np.float32, np.longdouble, OwnFloat, str, np.str_)
        for value in (0.5, 0.7)
    ],
    *[Decimal("0.7"), Fraction(1, 3), True, np.bool_(False), 1, np.uint8(1), np.int64(-3), 2**70, -(2.0**1000)],
    *[Numeral.HALF, Count.TWO, b"0.7", np.bytes_(b"0.5"), OwnText("0.7"), np.array(0.7, dtype=np.float32)],
]
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps")
DATES = [
    *[np.datetime64("2010-06-01", unit) for unit in UNITS],
    *[np.datetime64("9999-12-31", unit) for unit in ("D", "s", "us")],
    *[np.datetime64("2010-06-01", (unit, 7)) for unit in ("D", "ns")],
    *[datetime.date(2010, 6, 1), datetime.datetime(2010, 6, 1, 12), datetime.datetime(2010, 6, 1, tzinfo=ZONE)],
    *[pandas.Timestamp("2010-06-01"), pandas.Timestamp("2010-06-01 01:02:03.000000009", tz="Asia/Tokyo")],
]
DURATIONS = [
    *[np.timedelta64(3, unit) for unit in UNITS[2:]],
    *[datetime.timedelta(days=2), pandas.Timedelta("3D"), np.timedelta64(10**6, "W")],
]
TEXTS = ["a", "b", "zebra", "0.5", np.str_("a"), Colour.BLUE, OwnText("a")]
NUMBERED = [1, 2, 7, 1.0, True, Decimal(1), Fraction(2), np.float16(1), np.float32(2), Count.TWO, 2**70]
DAYS = (np.datetime64("2000-01-01"), np.datetime64("2100-01-01"))

ORDERED = {"numbers": NUMBERS, "dates": DATES, "durations": DURATIONS}
POOLS = [NUMBERS, NUMBERS, DATES, DURATIONS, TEXTS, NUMBERED]
NAMES = ["share", "size", "born", "stay", "sex", "site"]
BOUNDS = {
    "share": (0, 1.4),
    "size": (0, 9, "log"),
    "born": DAYS,
    "stay": (np.timedelta64(0, "D"), np.timedelta64(90, "D")),
}
CATEGORIES = {"sex": ["a", "b"], "site": [1, 2]}
TARGETS = {
    "numbers": ([value for value in NUMBERS if not isinstance(value, np.ndarray)], {"target_bounds": (0, 1.4)}),
    "dates": (DATES, {"target_bounds": DAYS}),
    "durations": (DURATIONS, {"target_bounds": BOUNDS["stay"]}),
    "text": (["a", "b", np.str_("a"), Colour.BLUE, OwnText("a")], {"classes": ["a", "b"]}),
    "numbered": ([1, 2, 1.0, True, Decimal(1), Fraction(2), np.float16(1), Count.TWO], {"classes": [1, 2]}),
    "large": ([2**53, 2**53 + 2, float(2**53), np.int64(2**53)], {"classes": [2**53, 2**53 + 2]}),
}


def object_column(values):
    column = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        column[place] = value
    return column


def object_array(rows):
    return np.column_stack([object_column(column) for column in zip(*rows, strict=True)])


CONTAINERS = {
    "list": lambda rows: [list(row) for row in rows],
    "tuple": lambda rows: tuple(map(tuple, rows)),
    "UserList": lambda rows: UserList(map(list, rows)),
    "list of arrays": lambda rows: [object_column(row) for row in rows],
    "object array": object_array,
    "pandas": lambda rows: pandas.DataFrame(object_array(rows), columns=NAMES, dtype=object),
    "polars": lambda rows: polars.DataFrame(
        [polars.Series(n, list(v), dtype=polars.Object) for n, v in zip(NAMES, zip(*rows, strict=True), strict=True)]
    ),
}
COLUMNS = {
    "list": list,
    "tuple": tuple,
    "UserList": UserList,
    "object array": object_column,
    "pandas": lambda values: pandas.Series(object_column(values), dtype=object),
    "polars": lambda values: polars.Series(values, dtype=polars.Object),
}


def random_rows(rng, pools, n):
    return [[pool[rng.integers(len(pool))] for pool in pools] for _ in range(n)]


def narrowed(rng, pools):
    """One or two values from each pool; columns drawn from them often have one type except for a single value."""
    return [[pool[j] for j in rng.integers(len(pool), size=rng.integers(1, 3))] for pool in pools]


def check_same(here, there):
    for a, b in zip(here, there, strict=True):
        assert np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")


def check_other_records(read, pools, container, draws=DRAWS):
    """What `read` makes of all records but the last must not depend on the last."""
    rng = np.random.default_rng(0)
    for _ in range(draws):
        others = random_rows(rng, narrowed(rng, pools), N)
        first, *tables = (
            [column[:N] for column in read(container([*others, last]))] for last in random_rows(rng, pools, 3)
        )
        for table in tables:
            check_same(first, table)


def check_columns(read, pool, draws=DRAWS):
    """`check_other_records` for one column, in every container."""
    for make in COLUMNS.values():
        check_other_records(read, [pool], lambda rows: make([row[0] for row in rows]), draws)  # noqa: B023


def codes(records):
    return [np.asarray(column) for column in records.columns]


def read_fit(X, public):
    return codes(DPMICScorer(classes=[0, 1], **public)._plan().read_table(X, [0, 1] * 4 + [0]))


def read_reports(X, public):
    return RandomizedResponse(math.inf, **public).fit(X).transform(X).T


def read_matrix(X, public):
    return codes(PrivateCorrelation()._plan().read_table(X)) + codes(PrivatePC()._plan().read_table(X))


def read_labels(X, public):
    keys = public["bounds"] | public["categories"]
    return codes(PrivatePC(categories={key: ["a", "b"] for key in keys})._plan().read_table(X))


def read_to_learn_bounds(X, public):
    return [column.values for column in learnt_bounds._read_columns(X, None)[0].values()]


TABLES = {
    "fit": (read_fit, [pool + MISSING for pool in POOLS]),
    "reports": (read_reports, [pool + MISSING for pool in POOLS]),
    **{f"matrix of {name}": (read_matrix, [pool + MISSING] * len(NAMES)) for name, pool in ORDERED.items()},
    "graph of labels": (read_labels, [TEXTS + MISSING] * len(NAMES)),
    "bounds": (read_to_learn_bounds, [NUMBERS + MISSING] * len(NAMES)),
}


def public_of(container):
    """Public facts, keyed by name if the container has names."""
    key_of = {name: name if container in ("pandas", "polars") else j for j, name in enumerate(NAMES)}
    return {
        "bounds": {key_of[name]: entry for name, entry in BOUNDS.items()},
        "categories": {key_of[name]: entry for name, entry in CATEGORIES.items()},
    }


@pytest.mark.parametrize("way", TABLES)
def test_no_record_of_a_table_changes_another(way):
    read, pools = TABLES[way]
    for container in CONTAINERS:
        check_other_records(lambda X: read(X, public_of(container)), pools, CONTAINERS[container])  # noqa: B023


@pytest.mark.parametrize("target", TARGETS)
def test_no_record_of_a_target_changes_another(target):
    (pool, public), X = TARGETS[target], np.zeros((N + 1, 1))
    check_columns(lambda y: [DPMICScorer(bounds=(0, 1), **public)._plan().read_table(X, y).target.values], pool)
    reports, plan = reports_of(X), TwoPartyScorer(**public)._two_party_plan()
    check_columns(lambda y: [plan.read(reports, y)[1].values], pool)


def read_people_together(groups):
    persons = read_people([*groups, "one", "two", "three", "four"], 2, N + 5).persons[:N]  # of at least four
    return [persons[:, np.newaxis] == persons]


READ_ALONE = {
    "people": (read_people_together, TEXTS + NUMBERED + [day for day in DATES if isinstance(day, np.datetime64)]),
    "bounds": (lambda x: read_to_learn_bounds(x, None), NUMBERS + MISSING),
}


@pytest.mark.parametrize("way", READ_ALONE)
def test_no_record_of_a_column_changes_another(way):
    check_columns(*READ_ALONE[way], draws=5)


FAR, NEAR = np.datetime64("9999-12-31"), np.datetime64("2010-06-01")
HALVES = [[0.0]] * 50 + [[1.0]] * 50
LAZY = polars.DataFrame({"a": np.array(HALVES)[:, 0]}).lazy()


@pytest.mark.parametrize("X", [HALVES, LAZY], ids=["list", "lazy"])
def test_the_unit_of_one_date_changes_no_score(X):
    scorer = DPMICScorer(epsilon=math.inf, bounds=(0, 1), target_bounds=DAYS, B=4, c=1, correction=None)
    for unit in UNITS[3:-1]:
        (score,) = scorer.fit(X, [FAR] * 50 + [NEAR] * 49 + [NEAR.astype(f"M8[{unit}]")]).scores_
        assert score == 1


def test_the_unit_of_one_date_of_a_feature_changes_no_score():
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, bounds=DAYS, classes=[0, 1], B=4, c=1)
    for unit in UNITS[3:-1]:
        X = [[FAR]] * 50 + [[NEAR]] * 49 + [[NEAR.astype(f"M8[{unit}]")]]
        assert scorer.fit(X, [0] * 50 + [1] * 50).scores_ == [1]


def test_one_numeral_changes_no_score():
    public = {"bounds": {0: (0, 1.4)}, "categories": {1: ["a", "b"]}, "classes": [0, 1], "B": 4, "c": 1}
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, **public)
    for high, low in ((np.float32(0.7), np.float32(0.5)), (np.float16(0.7), np.float16(0.5))):
        scores = [
            scorer.fit([[high, "a"]] * 50 + [[low, "a"]] * 49 + [[last, "a"]], [0] * 50 + [1] * 50).scores_[0]
            for last in (low, "0.5", 0.5)
        ]
        assert scores == [scores[0]] * 3


def test_rows_may_be_arrays_of_dates():
    rows = [np.array([NEAR, NEAR], dtype="M8[ns]"), *[np.array([FAR, FAR], dtype="M8[D]")] * N]
    scorer = DPMICScorer(bounds=DAYS, target_bounds=(0, 1))
    for column in codes(scorer._plan().read_table(rows, np.zeros(N + 1))):
        assert column.tolist() == [day.astype("M8[s]").astype(float) for day in (NEAR, *[FAR] * N)]


@each("y", [[1, "2"], [1, b"2"], [1, 2j], ["1", "2"], [1, NEAR]])
def test_a_label_of_the_target_must_have_the_type_of_the_classes(y):
    with pytest.raises(ValueError, match="y must hold labels of the same type as classes, "):
        DPMICScorer(bounds=(0, 1), classes=[1, 2])._plan().read_table(np.zeros((4, 1)), y * 2)


def test_a_label_of_the_target_is_compared_exactly():
    scorer = DPMICScorer(bounds=(0, 1), classes=[2**53, 2**53 + 2])
    with pytest.raises(ValueError, match="y must hold only labels that are in classes"):
        scorer._plan().read_table(np.zeros((4, 1)), [2**53, 2**53, 2**53 + 2, 2**53 + 1])
