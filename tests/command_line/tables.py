"""A small table of people in every format that the command line reads, and its codebook."""

import csv

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet

from skdpmic import BudgetLedger, Codebook

CODEBOOK = """\
version = 1

[columns.name]
type = "identifier"

[columns.age]
type = "number"
range = [0, 110]

[columns.admitted]
type = "date"
range = [2020-01-01, 2022-12-31]

[columns.wait]
type = "duration"
range = [0, 48]
unit = "hours"

[columns.ward]
type = "labels"
labels = ["NA", "heart", "births"]

[columns.grade]
type = "labels"
labels = [1, 2, 3]

[columns.smoker]
type = "boolean"

[columns.stay]
type = "number"
range = [0, 60]
"""
SELECT = ["select", "people.csv", "--codebook", "codebook.toml", "--target", "stay", "--k", "2", "--epsilon", "0.5"]
SUMMARY = ["summary", "people.csv", "--codebook", "codebook.toml", "--epsilon", "0.5"]
OTHER_TARGETS = {"number": "stay", "date": "admitted", "duration": "wait", "labels": "ward", "boolean": "smoker"}


def people(n=400, gaps=True):
    """A pandas frame with the types that the codebook states."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": rng.integers(18, 95, n).astype(float),
            "admitted": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.integers(0, 3 * 365, n), unit="D"),
            "wait": pandas.to_timedelta(rng.integers(0, 96, n) / 2, unit="h"),
            "ward": rng.choice(["NA", "heart", "births"], n).astype(object),
            "grade": rng.integers(1, 4, n).astype(float),
            "smoker": pandas.array(rng.random(n) < 0.3, dtype="boolean"),
        }
    )
    stay = 0.3 * frame["age"] + 5 * (frame["ward"] == "heart") + rng.normal(0, 2, n)
    frame["stay"] = stay.clip(0).round(2)
    if gaps:
        for j, name in enumerate(["age", "admitted", "wait", "ward", "grade", "smoker"]):
            frame.loc[rng.random(n) < 0.02 * (j + 1), name] = None
    return frame


def codebook(text=CODEBOOK):
    return Codebook.parse(text)


def write_csv(frame, path, delimiter=","):
    """Write a CSV whose records spell equal values in different ways."""
    spellings = {
        "admitted": lambda day, i: str(day.date()) if i % 2 else f"{day.isoformat()}Z",
        "wait": lambda wait, i: f"{wait / pandas.Timedelta(hours=1)}",
        "smoker": lambda smokes, i: (("no", "yes"), ("0", "1"), ("False", "TRUE"))[i % 3][int(smokes)],
        "grade": lambda grade, i: f"{grade:.{i % 2}f}",
    }
    missing = ("", "NaN", "n/a", " ", "NULL", ".")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(frame.columns)
        for i, record in enumerate(frame.itertuples(index=False)):
            values = zip(frame.columns, record, strict=True)
            writer.writerow(
                missing[i % 6] if pandas.isna(value) else spellings.get(name, lambda value, i: value)(value, i)
                for name, value in values
            )
    return str(path)


def write_parquet(frame, path):
    """Write a Parquet file, which declares types; durations are numbers of their unit."""
    frame = frame.assign(wait=frame["wait"] / pandas.Timedelta(hours=1))
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(frame), path)
    return str(path)


def lay_out(folder, n=60, epsilon=2):
    """Write a table, a codebook and a ledger."""
    write_csv(people(n), folder / "people.csv")
    (folder / "codebook.toml").write_text(CODEBOOK)
    BudgetLedger(folder / "people.db", epsilon=epsilon)


def spent():
    """What was charged to the ledger in the working folder."""
    return BudgetLedger.open("people.db").spent()[0]
