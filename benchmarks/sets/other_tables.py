"""Tables for tuning, and for measuring how fast scores fall: none of the twelve on which results are reported.

Their public description is read from the data and rounded outwards: nothing is released here, and no guarantee is
claimed.
"""

import math

import numpy as np
import pandas
from sklearn.datasets import load_digits

from benchmarks.sets.described import DescribedTable, from_r, n_chosen

_MOST_ROWS = 12_000
_MOST_LABELS = 60  # in a column of labels
# Package, item, target, and columns that follow from the target, come after it or number the rows.
_OF_R = {
    "wages": ("ISLR", "Wage", "wage", ["logwage"]),
    "homes": ("modeldata", "ames", "Sale_Price", []),
    "leavers": ("modeldata", "attrition", "Attrition", []),
    "cells": ("modeldata", "cells", "class", ["case"]),
    "credit": ("modeldata", "credit_data", "Status", []),
    "clubs": ("modeldata", "lending_club", "Class", []),
    "developers": ("modeldata", "stackoverflow", "Salary", []),
    "telephones": ("modeldata", "wa_churn", "churn", []),
    "diamonds": ("ggplot2", "diamonds", "price", []),
    "cuts": ("ggplot2", "diamonds", "cut", []),
    "houses": ("mosaicData", "SaratogaHouses", "price", []),
    "schooling": ("wooldridge", "card", "wage", ["id", "lwage"]),
    "marks": ("wooldridge", "gpa2", "colgpa", []),
    "children": ("wooldridge", "fertil2", "children", ["ceb"]),
    "savings": ("wooldridge", "k401ksubs", "nettfa", []),
    "colleges": ("wooldridge", "twoyear", "lwage", ["id"]),
    "happiness": ("wooldridge", "happiness", "happy", ["vhappy"]),
    "crashes": ("DAAG", "nassCDS", "dead", ["caseid", "weight", "injSeverity"]),
    "hearts": ("DAAG", "monica", "outcome", []),
    "election": ("carData", "BEPS", "vote", []),
    "visits": ("Ecdat", "OFP", "ofp", []),
    "mortgages": ("AER", "HMDA", "deny", []),
    "tests": ("AER", "CollegeDistance", "score", []),
    "smokers": ("causaldata", "nhefs", "wt82_71", ["seqn", "id", "wt82", "death", "yrdth", "modth", "dadth"]),
}


def described_from_r(package, item, target, left_out):
    """A table from an R package, at most 12,000 rows of it."""
    data = from_r(package, item).dropna(subset=target).drop(columns=["rownames", *left_out])
    data = data.sample(min(len(data), _MOST_ROWS), random_state=0).reset_index(drop=True)
    return described(data.drop(columns=target), data[target])


def _digits():
    X, y = load_digits(return_X_y=True, as_frame=True)
    return described(X, y.astype(str))


def described(X, y):
    """A table, and a description of its columns: a range of round numbers, or labels."""
    X = X.loc[:, X.nunique() > 1]
    is_label = {name: not pandas.api.types.is_numeric_dtype(X[name]) or X[name].dtype == bool for name in X}
    labels = {name: sorted(X[name].dropna().astype(str).unique()) for name, is_one in is_label.items() if is_one}
    labels = {name: of for name, of in labels.items() if len(of) <= _MOST_LABELS}
    bounds = {name: _outwards(X[name]) for name, is_one in is_label.items() if not is_one}
    numbers = X[list(bounds)].astype(float)
    codes = {name: pandas.Categorical(X[name].astype(str).where(X[name].notna()), of) for name, of in labels.items()}
    k = n_chosen(len(bounds) + len(labels))
    public = {"bounds": bounds, "categories": labels}
    if pandas.api.types.is_numeric_dtype(y) and y.nunique() > 2:
        y, target = y.to_numpy(float), {"target_bounds": _outwards(y)}
    else:
        y = y.astype(str).to_numpy()
        target = {"classes": sorted(set(y))}
    return DescribedTable(numbers.assign(**codes), y, k, public, target)


def _outwards(column):
    """A range between numbers of one digit that holds at least 98% of the values."""
    lower, upper = np.nanquantile(column.to_numpy(float), [0.01, 0.99])
    unit = 10.0 ** math.floor(math.log10(max(upper - lower, 1e-6)))
    lower, upper = math.floor(lower / unit) * unit, math.ceil(upper / unit) * unit
    return (lower, upper) if lower < upper else (lower, lower + unit)


OTHER_TABLES = {name: lambda given=given: described_from_r(*given) for name, given in _OF_R.items()}
OTHER_TABLES["digits"] = _digits
