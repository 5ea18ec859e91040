"""
Which habits affect which: a causal graph
=========================================

A survey asks 8,000 people ten questions. Which answers affect which, and what does sick leave depend on? ``PrivatePC``
releases all correlations once, with noise, and infers the causal graph from them. The survey is simulated, so the graph
can be compared with the true one.

Run it with ``python examples/causal.py``, which saves the picture below as ``causal.png``.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import QuantileTransformer

from skdpmic.causal import PrivatePC
from skdpmic.plotting import GraphDisplay

# %%
# The survey
# ----------
# Each answer is a sum of its causes plus noise; four have no cause. Two are skewed, which does not change ranks.

causes = {
    "age": {},
    "children": {},
    "workload": {},
    "coffee": {"workload": 0.6},
    "sleep": {"children": -0.5, "coffee": -0.5},
    "sport": {"age": -0.4, "workload": -0.4},
    "weight": {"sport": -0.5},
    "stress": {"workload": 0.5, "sleep": -0.5},
    "sick leave": {"stress": 0.5, "weight": 0.5},
    "hobbies": {},
}
names, rng, n = list(causes), np.random.default_rng(0), 8_000
answers = {}
for name, by in causes.items():
    answers[name] = sum(effect * answers[cause] for cause, effect in by.items()) + rng.normal(size=n)
truth = pd.DataFrame([[name in causes[effect] for effect in names] for name in names], index=names, columns=names)
survey = pd.DataFrame(answers)
survey["weight"], survey["sick leave"] = np.exp(4.3 + 0.1 * survey["weight"]), np.exp(survey["sick leave"])

# %%
# The graph, at three budgets
# ---------------------------
# Each fit is a separate release. An analyst would pay for one of them; all three cost ε = 1.4. With a small budget the
# noise hides edges. It seldom adds any, because each test allows for the noise.

fits = {epsilon: PrivatePC(epsilon=epsilon, delta=1e-6, alpha=0.001).fit(survey) for epsilon in (0.1, 0.3, 1.0)}
edges = (truth | truth.T).to_numpy()
for epsilon, private in fits.items():
    found = private.skeleton_.to_numpy()
    hits, errors = (found & edges).sum() // 2, (found & ~edges).sum() // 2
    turned = (private.cpdag_ & ~private.cpdag_.T & truth.T).to_numpy().sum()
    print(f"epsilon = {epsilon}: {hits} of {edges.sum() // 2} edges, {errors} false ones, {turned} arrows reversed")

# %%
# The features that a model needs
# -------------------------------
# The Markov blanket of sick leave has everything that helps to predict it. It follows from the graph, so it is free.

private = fits[1.0]
blanket = private.markov_blanket("sick leave").tolist()
ranks = QuantileTransformer(output_distribution="normal").set_output(transform="pandas").fit_transform(survey)
train, test, others = slice(None, n // 2), slice(n // 2, None), [name for name in names if name != "sick leave"]
print("blanket of sick leave:", ", ".join(blanket))
for features, label in ((blanket, "its Markov blanket"), (others, "all nine others")):
    model = LinearRegression().fit(ranks[features][train], ranks["sick leave"][train])
    print(f"R2 {model.score(ranks[features][test], ranks['sick leave'][test]):.2f}  {label}")

# %%
# The picture
# -----------
# Thicker edges are more certain. For some edges, no amount of data reveals the direction.

figure, axes = plt.subplots(2, 1, figsize=(5, 9), layout="constrained")
GraphDisplay(truth, feature_names=names, title="the true graph").plot(axes[0]).ax_.set_xlabel("as simulated")
GraphDisplay.from_estimator(private, ax=axes[1]).ax_.set_xlabel(f"from {n:,} people")
plt.savefig("causal.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# The graphs cost ε = 0.1, 0.3 and 1 for a person's whole row of answers. R² is computed from raw rows and is *not*
# private. The graph is causal only if the survey left out no common cause, which the data cannot confirm.
