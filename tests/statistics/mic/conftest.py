"""Pairs of columns of real tables, with scores from other software: tests/golden/README.md."""

import csv

import pytest

from tests.golden.definitions import FOLDER, table


@pytest.fixture(params=["of scikit-learn", "of the paper"])
def real_pairs(request):
    """A function that yields x, y and a row of the golden values of a statistic."""
    if request.param == "of scikit-learn":
        return lambda statistic: _with_columns(FOLDER / f"{statistic}.csv", _column_of_scikit_learn)
    pandas, folder = pytest.importorskip("pandas"), request.getfixturevalue("paper_data")
    tables = {name: pandas.read_csv(folder / f"{name}.csv") for name in ("baseball", "Spellman")}
    return lambda statistic: _with_columns(FOLDER / f"{statistic}_of_paper.csv", lambda name, x: tables[name][x])


def _column_of_scikit_learn(name, number):
    return table(name)[:, int(number)]


def _with_columns(path, column):
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            x, y = (row[key] if key in row else row[f"{key}col"] for key in ("x", "y"))
            yield column(row["dataset"], x), column(row["dataset"], y), row
