"""A table is read row by row or refused: dates as dates, no masked values, unique column names."""

import datetime
import math
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pandas
import polars
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from skdpmic import (
    DPMICScorer,
    DPMICSelector,
    PrivateGridSearch,
    characteristic_matrix,
    dp_mic_classif,
    dp_mic_regression,
    mic_cross,
    mic_e,
    mic_pairs,
    mic_r,
    private_score,
)
from skdpmic.counting import RangeGridSketch
from skdpmic.table.domains import seconds
from skdpmic.table.normal_form import open_column
from skdpmic.table.values import as_numbers
from tests.folding import each
from tests.select_names import SelectNames

N = 40
PUBLIC = {"bounds": (0, 1e18), "target_bounds": (0, 1e18)}
BOTH = {"bounds": ((0, 1e18), (0, 1e18))}
RNG = np.random.default_rng(0)
X, Y = RNG.random((N, 2)), RNG.random(N)
LABELS = {"bounds": (0, 1e18), "classes": [False, True]}


def empty_sketch():
    return RangeGridSketch(B=9, n_features=2, **PUBLIC)


# Everything that reads X and y and may charge a ledger.
READERS = {
    "scorer": lambda X, y, ledger: DPMICScorer(ledger=ledger, **PUBLIC).fit(X, y),
    "geometric": lambda X, y, ledger: DPMICScorer(mechanism="geometric", ledger=ledger, **PUBLIC).fit(X, y),
    "classes": lambda X, y, ledger: DPMICScorer(ledger=ledger, **LABELS).fit(X, np.asarray(y) if y is Y else y),
    "selector": lambda X, y, ledger: SelectNames(k=1, ledger=ledger, **PUBLIC).fit(X, y),
    "partial_fit": lambda X, y, ledger: DPMICScorer(ledger=ledger, **PUBLIC).partial_fit(X, y).publish(),
    "sketch": lambda X, y, ledger: empty_sketch().update(X, y),
    "function": lambda X, y, ledger: dp_mic_regression(X, y, epsilon=1, ledger=ledger, **PUBLIC),
    "function of classes": lambda X, y, ledger: dp_mic_classif(X, y, epsilon=1, ledger=ledger, **LABELS),
    "search": lambda X, y, ledger: PrivateGridSearch(
        make_pipeline(DPMICSelector(**PUBLIC), Ridge()), {"dpmicselector__k": [1, 2]}, ledger=ledger
    ).fit(X, y),
    "search in a nested pipeline": lambda X, y, ledger: PrivateGridSearch(
        make_pipeline("passthrough", make_pipeline(None, DPMICSelector(k=1, **PUBLIC)), Ridge()),
        {"ridge__alpha": [1, 2]},
        ledger=ledger,
    ).fit(X, y),
    "search of a score function": lambda X, y, ledger: PrivateGridSearch(
        make_pipeline(SelectKBest(partial(dp_mic_regression, epsilon=1, **PUBLIC)), Ridge()),
        {"selectkbest__k": [1, 2]},
        ledger=ledger,
    ).fit(X, y),
}
PAIR_READERS = {
    "mic_r": lambda x, y, ledger: mic_r(x, y, **BOTH),
    "mic_e": lambda x, y, ledger: mic_e(x, y),
    "characteristic_matrix": lambda x, y, ledger: characteristic_matrix(x, y),
    "private mic_r": lambda x, y, ledger: private_score(x, y, epsilon=1, ledger=ledger, **BOTH),
    "private mic_r, geometric": lambda x, y, ledger: private_score(
        x, y, mechanism="geometric", epsilon=1, ledger=ledger, **BOTH
    ),
    "private mic_e": lambda x, y, ledger: private_score(x, y, statistic="mic_e", epsilon=1, ledger=ledger),
    "private mtv_r": lambda x, y, ledger: private_score(x, y, statistic="mtv_r", epsilon=1, ledger=ledger, **BOTH),
    "private kendall": lambda x, y, ledger: private_score(x, y, statistic="kendall", epsilon=1, ledger=ledger),
}


def assert_refused(read, *data, ledger, error, match):
    with pytest.raises(error, match=match) as caught:
        read(*data, ledger)
    assert "2023" not in str(caught.value)  # the year of every date below
    assert ledger.spent() == (0.0, 0.0)


# --- Dates --------------------------------------------------------------------------------------------------------

SECONDS = pandas.Series(pandas.date_range("2023-03-01", periods=N, freq="3601s"))
DURATIONS = SECONDS - SECONDS[0]
DATE_COLUMNS = {
    "datetime64": SECONDS,
    "datetime64 of days": pandas.Series(SECONDS.to_numpy().astype("M8[s]")),
    "time zone": SECONDS.dt.tz_localize("UTC"),
    "timedelta64": DURATIONS,
    "period": SECONDS.dt.to_period("D"),
    "timestamps": SECONDS.astype(object),
    "timedeltas": DURATIONS.astype(object),
    "dates": SECONDS.dt.date,
    "times": SECONDS.dt.time,
    "numpy scalars": pandas.Series(list(SECONDS.to_numpy()), dtype=object),
    "one date among numbers": pandas.Series([1.0] * (N - 1) + [np.datetime64("2023-03-01", "ns")], dtype=object),
    "categories": SECONDS.astype("category"),
    "polars Date": polars.Series(SECONDS.dt.date.tolist()),
    "polars Datetime": polars.Series([moment.to_pydatetime() for moment in SECONDS]),
    "polars Duration": polars.Series([datetime.timedelta(seconds=3601 * i) for i in range(N)]),
    "polars Time": polars.Series(SECONDS.dt.time.tolist()),
}


def frame_with(column):
    if isinstance(column, polars.Series):
        return polars.DataFrame({"visits": Y, "admitted": column})
    return pandas.DataFrame({"visits": Y, "admitted": column})


IN_X = (
    r"got (dates|durations|categorical values|other values) in \['admitted'\], which must be numbers"
    r"|column ('admitted'|1) of X must hold numbers, all of one kind, got at least one other value"
    "|X must be an array or a pandas dataframe of numbers of one type for a private score function"
)
IN_Y = "y must hold (real )?numbers|classes and y must hold labels of one type|Unknown label type"
MASKED, MASKED_Y = np.ma.array(X, mask=X > 0.5), np.ma.array(Y, mask=Y > 0.5)
HIDDEN = r"must not be a masked array, whose hidden values would be read: pass {}.filled\(value\)"
REFUSED = {  # table, target and error
    "dates": (frame_with(SECONDS), Y, ValueError, IN_X),
    "a target of dates": (X, SECONDS, ValueError, IN_Y),
    "a masked array": (MASKED, Y, TypeError, HIDDEN.format("X")),
    "masked rows": (list(MASKED), Y, TypeError, HIDDEN.format("X")),
    "nothing hidden": (np.ma.array(X), Y, TypeError, HIDDEN.format("X")),
    "a masked target": (X, MASKED_Y, TypeError, "y must not be a masked array"),
    "repeated names": (
        pandas.DataFrame(X, columns=["age", "age"]),
        Y,
        ValueError,
        r"X must have distinct column names, got several named \['age'\]",
    ),
    "no columns": (pandas.DataFrame(index=range(N)), Y, ValueError, r"Found array with 0 feature\(s\)"),
    "no columns of Polars": (polars.DataFrame(), Y[:0], ValueError, r"Found array with 0 feature\(s\)"),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
@pytest.mark.combinations
def test_every_table_reader_refuses_what_it_cannot_read_row_by_row(read, case, ledger):
    table, target, error, match = case
    assert_refused(read, table, target, ledger=ledger, error=error, match=match)


@pytest.mark.parametrize("column", DATE_COLUMNS.values(), ids=DATE_COLUMNS)
def test_dates_of_every_type_are_refused_where_bounds_are_numbers(column, ledger):
    assert_refused(READERS["scorer"], frame_with(column), Y, ledger=ledger, error=ValueError, match=IN_X)
    assert_refused(READERS["scorer"], X, column, ledger=ledger, error=ValueError, match=IN_Y)


@pytest.mark.parametrize("read", PAIR_READERS.values(), ids=PAIR_READERS)
@pytest.mark.parametrize("column", [*DATE_COLUMNS.values(), MASKED_Y, list(MASKED_Y)])
@pytest.mark.combinations
def test_every_pair_reader_refuses_dates_and_masked_columns(read, column, ledger):
    advice = ".*subtract a public date and divide by"
    match = f"x must (hold (numbers, got dates or durations{advice}|real numbers, got other values)|not be a masked)"
    error = (ValueError, TypeError)  # real numbers: Polars times
    assert_refused(read, column, Y, ledger=ledger, error=error, match=match)
    assert_refused(read, Y, column, ledger=ledger, error=error, match="y" + match.removeprefix("x"))


@each("column", [*DATE_COLUMNS.values(), MASKED])
def test_pair_functions_name_the_columns_that_hold_dates_and_masked_tables(column):
    table = column if column is MASKED else frame_with(column)
    match = "column 'admitted' of X must hold (numbers, got dates|real numbers, got other)|X must not be a masked array"
    for call in (lambda: mic_pairs(table), lambda: mic_cross(table, X)):
        with pytest.raises((ValueError, TypeError), match=match):
            call()


NOT_DATES = ("times", "one date among numbers", "polars Time")  # and these are not durations
ORDERED_DATES = {name: column for name, column in DATE_COLUMNS.items() if name not in (*NOT_DATES, "period")}
FROM, TO = pandas.Timestamp("2023-03-01"), pandas.Timestamp("2023-03-03")


def bounds_of(name):
    is_duration = any(word in name for word in ("timedelta", "Duration"))
    return (pandas.Timedelta(0), TO - FROM) if is_duration else (FROM, TO)


def seconds_in(column):
    """Seconds since the first value, computed by pandas."""
    values = pandas.Series(column.to_list()) if isinstance(column, polars.Series) else column.astype(object)
    return np.array([pandas.Timedelta(value - values[0]).total_seconds() for value in values])


@pytest.mark.parametrize("name", ORDERED_DATES)
def test_dates_of_every_type_score_like_their_seconds(name):
    column, public = ORDERED_DATES[name], {"epsilon": math.inf, "target_bounds": (0, 1), "B": 9}
    frame, bounds = frame_with(column), {"visits": (0, 1), "admitted": bounds_of(name)}
    numbers = np.c_[Y, seconds_in(column)]
    expected = DPMICScorer(bounds=(np.zeros(2), np.array([1, 172_800])), **public).fit(numbers, X[:, 0])
    assert DPMICScorer(bounds=bounds, **public).fit(frame, X[:, 0]).scores_.tolist() == expected.scores_.tolist()
    assert expected.scores_.min() > 0
    object_bounds = {"visits": (0, 1), "admitted": [bound.to_numpy() for bound in bounds_of(name)]}
    chunks = DPMICScorer(bounds=object_bounds, **public).partial_fit(frame[:9], X[:9, 0])
    assert chunks.partial_fit(frame[9:], X[9:, 0]).publish().scores_.tolist() == expected.scores_.tolist()


@each("name", ORDERED_DATES)
def test_date_targets_score_like_their_seconds(name):
    column, public = ORDERED_DATES[name], {"epsilon": math.inf, "bounds": (0, 1), "B": 9}
    expected = DPMICScorer(target_bounds=(0, 172_800), **public).fit(X, seconds_in(column)).scores_
    assert DPMICScorer(target_bounds=bounds_of(name), **public).fit(X, column).scores_.tolist() == expected.tolist()


@pytest.mark.parametrize("name", NOT_DATES)
def test_other_values_are_refused_where_bounds_are_dates(name, ledger):
    scorer = DPMICScorer(bounds={"visits": (0, 1), "admitted": (FROM, TO)}, target_bounds=(0, 1), ledger=ledger)
    with pytest.raises(ValueError, match=r"'admitted'.*must (hold|be) dates"):
        scorer.fit(frame_with(DATE_COLUMNS[name]), Y)
    assert ledger.spent() == (0.0, 0.0)


def test_times_with_another_zone_are_the_same_instants():
    zone = datetime.timezone(datetime.timedelta(hours=-7))
    there = np.array([moment.to_pydatetime().astimezone(zone) for moment in DATE_COLUMNS["time zone"]], dtype=object)
    public = {"epsilon": math.inf, "target_bounds": (0, 1), "B": 9}
    expected = DPMICScorer(bounds=(FROM, TO), **public).fit(SECONDS.to_frame(), X[:, 0]).scores_
    bounds = FROM.to_pydatetime(), TO.tz_localize("UTC").to_pydatetime().astimezone(zone)
    assert DPMICScorer(bounds=bounds, **public).fit(there[:, None], X[:, 0]).scores_.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "missing", [None, np.datetime64("NaT", "us"), pandas.NaT], ids=["None", "NaT", "NaT of pandas"]
)
@pytest.mark.parametrize("public", [{"statistic": "kendall"}, {"bounds": (0, 1), "target_bounds": (FROM, TO)}])
def test_a_missing_date_in_a_target_is_refused(public, missing, ledger):
    dates = DATE_COLUMNS["dates"].astype(object).to_numpy(copy=True)
    dates[7] = missing
    with pytest.raises(ValueError, match=r"Input (y )?contains NaN"):
        DPMICScorer(ledger=ledger, **public).fit(X, dates)
    assert ledger.spent() == (0.0, 0.0)


def test_dates_and_durations_in_one_column_are_refused_where_both_have_an_order(ledger):
    for others in (DATE_COLUMNS["dates"], Y.astype(object)):
        column = np.where(np.arange(N) < 9, others, DATE_COLUMNS["timedeltas"])
        with pytest.raises(ValueError, match="column 0 of X must hold numbers or dates or durations, all of one kind"):
            DPMICScorer(statistic="kendall", ledger=ledger).fit(column[:, None], Y)
    assert ledger.spent() == (0.0, 0.0)


def test_missing_dates_have_their_own_bin():
    dates = SECONDS.where(np.arange(N) % 2 == 0)
    public = {"epsilon": math.inf, "target_bounds": (0, 1), "B": 9}
    expected = DPMICScorer(bounds=(0, 172_800), **public).fit(((dates - FROM) / pandas.Timedelta("1s")).to_frame(), Y)
    scores = DPMICScorer(bounds=(FROM, TO), **public).fit(dates.to_frame("admitted"), Y).scores_
    assert scores.tolist() == expected.scores_.tolist()


def test_dask_workers_score_dates():
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.dataframe")
    frame, y = frame_with(SECONDS), dask.array.from_array(Y, chunks=20)
    scorer = DPMICScorer(epsilon=math.inf, bounds={"visits": (0, 1), "admitted": (FROM, TO)}, target_bounds=(0, 1), B=9)
    expected = scorer.fit(frame, Y).scores_.tolist()
    with dask.config.set(scheduler="synchronous"):
        assert scorer.fit(dask.dataframe.from_pandas(frame, npartitions=2), y).scores_.tolist() == expected


def test_one_row_with_nanoseconds_does_not_change_the_scores_of_others():
    """pandas infers the unit from all rows: one row with nanoseconds would multiply the others by 10**9."""
    texts = [f"2023-03-01 00:00:{second:02d}.{7 * second:06d}" for second in range(N)]
    finer = [*texts[:-1], texts[-1] + "001"]
    read = []
    for rows in (texts, finer):
        dates = pandas.to_datetime(pandas.Series(rows), format="ISO8601")
        read.append(as_numbers(open_column(dates).read("at"), ("dates",), "at"))
    assert read[0][:-1].tolist() == read[1][:-1].tolist()
    assert 0 <= read[1][-1] - read[0][-1] < 1e-6


@each("value", [0, 1, -1, 2**40 + 1, -(2**40) - 1, 1_700_000_000])
def test_an_instant_has_the_same_seconds_in_every_unit(value):
    whole = np.array([value]).astype("M8[s]")
    units = ("s", "ms", "us", "2s", "500ms") if abs(value) > 2**34 or value % 2 else ("s", "ms", "us", "ns", "2s")
    same = [whole.astype(f"M8[{unit}]") for unit in units if unit != "2s" or value % 2 == 0]
    assert {float(seconds(array)[0]) for array in same} == {float(value)}
    parts = np.array([value * 10 + 3]).astype("M8[100ms]")
    assert {float(seconds(parts.astype(f"M8[{unit}]"))[0]) for unit in ("ms", "us", "100ms")} == {value + 3 / 10}


DATE_BOUNDS = {
    "timestamps": (pandas.Timestamp("2023-01-01"), pandas.Timestamp("2024-01-01")),
    "datetimes": (datetime.date(2023, 1, 1), datetime.date(2024, 1, 1)),
    "datetime64": (np.datetime64("2023-01-01", "ns"), np.datetime64("2024-01-01", "ns")),
    "an array": np.array(["2023-01-01", "2024-01-01"], dtype="M8[ns]"),
    "durations": (np.timedelta64(1, "D"), np.timedelta64(2, "D")),
}


@pytest.mark.parametrize("bounds", DATE_BOUNDS.values(), ids=DATE_BOUNDS)
def test_date_bounds_are_refused_for_columns_of_numbers(bounds, ledger):
    frame = pandas.DataFrame(X, columns=["a", "b"])
    by_name = {"a": (0, 1), "b": bounds}
    refused = {
        r"got numbers in \['a', 'b'\], which must be (dates|durations)": {"bounds": bounds},
        r"got numbers in \['b'\], which must be (dates|durations)": {"bounds": by_name},
        "y must hold real numbers, or dates with target_bounds of dates, got numbers": {"target_bounds": bounds},
    }
    for match, change in refused.items():
        estimator = DPMICScorer(ledger=ledger, **PUBLIC | change)
        for fit in (estimator.fit, estimator.partial_fit):
            with pytest.raises(ValueError, match=match):
                fit(frame, Y)
    match = r"must be a pair of numbers \(lower, upper\)"
    for both in (((0, 1), bounds), (bounds, (0, 1))):
        with pytest.raises(ValueError, match=match):
            private_score(X[:, 0], Y, epsilon=1, bounds=both, ledger=ledger)
    assert ledger.spent() == (0.0, 0.0)


# --- Dataframes ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("dispatch", [False, True])
def test_arrays_of_any_namespace_score_like_numpy_arrays(dispatch):
    pytest.importorskip("array_api_strict")
    code = f"""
import math
import numpy as np
import array_api_strict as xp
from sklearn import config_context
from skdpmic import DPMICSelector, mic_r
X = np.random.default_rng(0).random((40, 3))
y = X[:, 1] ** 2
selector = DPMICSelector(k=1, epsilon=math.inf, bounds=(0, 1), target_bounds=(0, 1), B=9)
expected = selector.fit(X, y).scores_.tolist()
try:
    config_context(array_api_dispatch={dispatch}).__enter__()
except ImportError:  # older versions of scikit-learn need another library
    raise SystemExit
A, b = xp.asarray(X), xp.asarray(y)
assert selector.partial_fit(A, b, n_expected=40).publish().scores_.tolist() == expected
assert selector.fit(A, b).scores_.tolist() == expected
assert np.asarray(selector.transform(A)).tolist() == X[:, [1]].tolist()
assert mic_r(A[:, 1], b, bounds=((0, 1), (0, 1)), B=9, correction="miller-madow") == expected[1]
print("as numpy")
"""
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("as numpy", "")
