"""
Features that say the same thing: redundancy
============================================

Six months of one payment record say the same thing six times, so the k best single features may be k copies of one.
With ``redundancy=1``, what a feature shares with those chosen before it is taken off its score. The table here is made
up, so that the truth is known: six habits decide a loss; three of them were asked about six times each, three once.

Run it with ``python examples/redundancy.py``, which saves the picture below as ``redundancy.png``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from skdpmic import PrivateSelectKBest

# %%
# The table
# ---------
# 10,000 people, 41 columns: 18 are copies (with some noise) of three habits, 3 are the other habits, 20 are nothing.

rng = np.random.default_rng(0)
n = 10_000
habits = rng.random((6, n))
columns = {
    f"habit {i}, month {month}": habits[i] + 0.05 * rng.standard_normal(n) for i in range(3) for month in range(6)
}
columns |= {f"habit {i}": habits[i] for i in range(3, 6)}
columns |= {f"nothing {i}": rng.random(n) for i in range(20)}
names, X = np.array(list(columns)), np.column_stack(list(columns.values()))
weights = np.array([1.2, 1.0, 0.9, 0.8, 0.7, 0.6])
loss = weights @ np.abs(2 * habits - 1) + 0.2 * rng.standard_normal(n)  # too little and too much are both bad
train, test = slice(None, n // 2), slice(n // 2, None)

# %%
# Two choices at ε = 1
# --------------------
# Names are published in the order in which they were chosen, so one fit with ``k=8`` has the choices of all smaller k.

chosen = {}
for redundancy in (0, 1):
    selector = PrivateSelectKBest(k=8, redundancy=redundancy, epsilon=1, bounds=(0, 1), target_bounds=(0, 6))
    selector.fit(X[train], loss[train])
    chosen[redundancy] = np.argsort(selector.ranking_)[: selector.k]
    print(f"redundancy={redundancy}: {'; '.join(names[chosen[redundancy]])}")

# %%
# What a model makes of them
# --------------------------
# The best single features are copies of the strongest habit. Chosen in turn, each brings something new.


def r2(features):
    model = make_pipeline(SplineTransformer(), LinearRegression())
    return model.fit(X[train][:, features], loss[train]).score(X[test][:, features], loss[test])


figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
sizes = range(1, 9)
for redundancy, colour in ((1, "tab:blue"), (0, "tab:orange")):
    values = [r2(chosen[redundancy][:k]) for k in sizes]
    ax.plot(sizes, values, "o-", color=colour, label=f"redundancy={redundancy}, private at ε = 1")
    print(f"redundancy={redundancy}: R2 {values[-1]:.2f} with eight features")
ax.axhline(r2([0, 6, 12, 18, 19, 20]), color="grey", linestyle="--", label="one column of each habit (the truth)")
ax.set_ylim(0, 1)
ax.set_xlabel("features chosen")
ax.set_ylabel("R² on people not seen before")
ax.set_title("41 columns, 5,000 people: complementary features")
ax.legend(loc="lower right")
plt.savefig("redundancy.png", dpi=150)

# %%
# What this does not protect
# --------------------------
# Each choice costs ε = 1 for its names and their order; the two together cost 2. R² is computed from raw rows, and is
# *not* private. Where no columns are alike, redundancy costs accuracy: use it if the questionnaire says that some are.
#
# Redundancy prefers columns unlike the chosen ones, so junk (nearly constant columns, rare labels, identifiers) is
# preferred, even without noise: leave such columns out.
