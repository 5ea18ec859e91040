"""
Which habits affect which: a causal graph
=========================================

A survey asks ten things of 8,000 people. Which of them affect which, and what does sick leave depend on? ``PrivatePC``
releases all correlations once, with noise, and draws the causal graph that fits them. The survey here is made up, so
that the truth is known, and the graph can be compared with it.

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
# Each answer is what acts on it, and chance. Four are nobody's effect. Some are skewed, which ranks do not see.

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
# Each fit is a release of its own: an analyst would pay for one of them, and together they cost ε = 1.4. With little
# budget the noise hides edges; it seldom makes any, as each test knows how large it is.

fits = {epsilon: PrivatePC(epsilon=epsilon, delta=1e-6, alpha=0.001).fit(survey) for epsilon in (0.1, 0.3, 1.0)}
edges = (truth | truth.T).to_numpy()
for epsilon, private in fits.items():
    found = private.skeleton_.to_numpy()
    hits, errors = (found & edges).sum() // 2, (found & ~edges).sum() // 2
    turned = (private.cpdag_ & ~private.cpdag_.T & truth.T).to_numpy().sum()
    print(f"epsilon = {epsilon}: {hits} of {edges.sum() // 2} edges, {errors} that are none, {turned} arrows turned")

# %%
# The features that a model needs
# -------------------------------
# The Markov blanket of sick leave is all that helps to predict it. The graph is known already, so this is free.

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
# Thick edges are the surest. A causal graph cannot always say which way an edge points, however large the table is.

figure, axes = plt.subplots(2, 1, figsize=(7, 9), layout="constrained")
GraphDisplay(truth, feature_names=names, title="the truth").plot(axes[0]).ax_.set_xlabel("how the survey was made")
GraphDisplay.from_estimator(private, ax=axes[1]).ax_.set_xlabel(f"from {n:,} people")
plt.savefig("causal.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# The graphs cost ε = 0.1, 0.3 and 1 for a person's whole row of answers. R² is computed from raw rows, and is *not*
# private. That no cause was left out of the survey is an assumption, which no graph can confirm.
