"""
Plan your budget before collecting data, and track it
=====================================================

How much ε does a question take? Public numbers say: rows, columns, how many are to be chosen. When several questions
are asked of one table, their costs add up. A ``BudgetLedger`` is a file that every fit pays into before it draws noise,
in whatever process, and it refuses a fit that would go over the limit.

Run it with ``python examples/plan_and_ledger.py``, which saves the pictures below as ``plan.png`` and ``ledger.png``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skdpmic import BudgetError, BudgetLedger, DPMICScorer, PrivateSelectKBest, plan_release
from skdpmic.plotting import LedgerDisplay, PlanDisplay

# %%
# What will it cost?
# ------------------
# A row of the plan is a way to release the best 5 of 100 columns so that of two columns whose scores are 0.1 apart the
# better one comes first in 97.5% of fits. The cheapest is first. Planning costs nothing.

plan = plan_release(n_samples=5000, n_features=100, k=5, error=0.1)
print(plan)

# %%
# The same for other numbers of rows and other ε, with the cheapest statistic: what lies in the shaded part is usable.

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
PlanDisplay.from_plan(n_features=100, k=5, statistic="mtv_r", ax=ax)
plt.savefig("plan.png", dpi=150)

# %%
# A budget for one table
# ----------------------
# Three questions are asked about the same 5,000 (made-up) people; ε = 1 may be spent in all. The third does not fit.
# ``for_purpose`` writes beside each charge what it was for; the limit holds for all of them together.

rng = np.random.default_rng(0)
X = rng.random((5000, 100))
wage = X[:, 0] + np.sin(6 * X[:, 1]) + X[:, 2] ** 2 + 0.2 * rng.standard_normal(5000)
visits = np.abs(X[:, 3] - 0.5) + X[:, 4] + 0.1 * rng.standard_normal(5000)

folder = tempfile.TemporaryDirectory()
ledger = BudgetLedger(Path(folder.name) / "people.db", epsilon=1)  # in real use: a file beside the table
pay_gap, care = ledger.for_purpose("pay gap"), ledger.for_purpose("care")
shared = {"bounds": (0, 1)}
for_wage = PrivateSelectKBest(k=3, epsilon=0.5, target_bounds=(-1, 3), ledger=pay_gap, **shared)
print("wage:", *np.argsort(for_wage.fit(X, wage).ranking_)[:3])
for_visits = PrivateSelectKBest(k=2, epsilon=0.3, target_bounds=(0, 2), ledger=care, **shared)
print("visits:", *np.argsort(for_visits.fit(X, visits).ranking_)[:2])
try:
    DPMICScorer(epsilon=0.5, target_bounds=(0, 2), ledger=care, **shared).fit(X, visits)
except BudgetError as refused:
    print("refused:", refused)

# %%
# What was spent, on what, and what is left:

print(*ledger.entries(), sep="\n")
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
LedgerDisplay.from_ledger(ledger, ax=ax)
plt.savefig("ledger.png", dpi=150)
folder.cleanup()

# %%
# What the guarantee does not cover
# ---------------------------------
# The two choices cost ε = 0.5 and 0.3; planning and the refused fit cost nothing. The ledger's file *is* the budget:
# deleting it, or restoring an older copy, makes a new one, and what is guaranteed is then the sum of both.
