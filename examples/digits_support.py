"""
Many features, few rows: publish the names only
===============================================

There are 64 pixels and 1,797 handwritten digits. If the score of every pixel is published, 64 numbers share the budget.
``PrivateSelectKBest`` publishes only the names of the best ten, and its noise grows with ten instead. The pixels stand
for any table with many columns and few people.

Run it with ``python examples/digits_support.py``, which saves the picture below as ``digits_support.png``.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from skdpmic import DPMICSelector, PrivateSelectKBest

# %%
# Two ways to keep ten pixels
# ---------------------------
# The image format is public: grey levels from 0 to 16, and ten digits. The noise on each score depends only on ε, k and
# the numbers of rows, columns and classes.

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
warnings.filterwarnings("ignore", "noise will exceed the signal")  # true at small epsilon, as the picture shows

public = {"k": 10, "statistic": "mtv_r", "bounds": (0, 16), "classes": range(10)}
selectors = {"the names of ten pixels": PrivateSelectKBest(**public), "the scores of all 64": DPMICSelector(**public)}


def chosen_pixels(selector, epsilon):
    """Mask of the ten pixels that a new fit chooses."""
    return selector.set_params(epsilon=epsilon).fit(X_train, y_train).get_support()


def accuracy(mask):
    model = KNeighborsClassifier().fit(X_train[:, mask], y_train)
    return model.score(X_test[:, mask], y_test)


# %%
# Twenty fits at each ε show how often each pixel is chosen, and how accurate a model on the ten pixels is. Bars are two
# standard errors. In the small pictures, the darkest pixels are chosen by every fit at ε = 1, white ones by none.

epsilons = [0.1, 0.3, 1, 3, 10]
choices = {
    label: {epsilon: np.array([chosen_pixels(selector, epsilon) for _ in range(20)]) for epsilon in epsilons}
    for label, selector in selectors.items()
}

figure = plt.figure(figsize=(5, 7.4), layout="constrained")
axes = list(figure.subplot_mosaic([["curves", "curves"], ["names", "scores"]], height_ratios=(1.6, 1)).values())
for label, color, marker in zip(selectors, ("#0072B2", "#E69F00"), "os", strict=True):
    accuracies = np.array([[accuracy(mask) for mask in choices[label][epsilon]] for epsilon in epsilons])
    mean, error = accuracies.mean(axis=1), 2 * accuracies.std(axis=1) / 20**0.5
    axes[0].errorbar(epsilons, mean, error, color=color, marker=marker, capsize=3, label=label)
    print(f"epsilon = 1, {label}: accuracy {accuracies[epsilons.index(1)].mean():.2f}")
best = SelectKBest(lambda X, y: mutual_info_classif(X, y, random_state=0), k=10).fit(X_train, y_train).get_support()
axes[0].axhline(accuracy(best), color="black", linestyle="--", label="ten by mutual information, not private")
axes[0].axhline(accuracy(np.full(64, True)), color="grey", linestyle=":", label="all 64 pixels")
axes[0].axhline(0.1, color="grey", linestyle="-.", label="a guess: one of ten digits")
axes[0].set_xscale("log")
axes[0].set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
axes[0].minorticks_off()
axes[0].set_ylim(0, 1)
axes[0].set_xlabel("ε of one choice")
axes[0].set_ylabel("accuracy of nearest neighbours")
axes[0].set_title("Ten of 64 pixels (bars: two standard errors)")
figure.legend(loc="outside lower center", frameon=False)
for ax, label, title in zip(axes[1:], selectors, ("names only", "all scores"), strict=True):
    ax.imshow(choices[label][1].mean(axis=0).reshape(8, 8), cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(f"{title}, ε = 1")
    ax.set_xlabel("dark: chosen often")
plt.savefig("digits_support.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# These digits are public. On a sensitive table *each* of these 200 fits would spend its ε, so only one should be made.
# Accuracy is computed from raw rows and is not private.
