"""
Plan your budget before collecting data, and track it
=====================================================

How much ε does a question need? That follows from public numbers: how many rows and columns there are, and how many
columns to choose. The costs of several questions about one table add up. A ``BudgetLedger`` is a file that every fit,
in any process, charges before it draws noise; it refuses a fit that would exceed the limit.

Run it with ``python examples/plan_and_ledger.py``, which saves the pictures below as ``plan.png`` and ``ledger.png``.
"""

import tempfile
from pathlib import Path

import numpy as np

from skdpmic import BudgetError, BudgetLedger, DPMICScorer, PrivateSelectKBest, plan_release
from skdpmic.plotting import LedgerDisplay, PlanDisplay

# %%
# Plan
# ----
# Each row of the plan is one way to release the best 5 of 100 columns such that 80% of them are found, if scores fall
# as on public tables. The cheapest comes first. Planning costs nothing.

plan = plan_release(n_samples=5000, n_features=100, k=5, found=0.8)
print(plan)

# %%
# The picture shows other numbers of rows and other ε, for the cheapest statistic. In the shaded area, 80% are found.

display = PlanDisplay.from_plan(n_features=100, k=5)
display.ax_.set_title("MTVr, the best 5 of 100 columns", fontsize="medium")
display.figure_.savefig("plan.png", dpi=150)

# %%
# Share one budget
# ----------------
# Three questions are asked about the same 5,000 simulated people, with a limit of ε = 1 in total. The third exceeds it.
# ``for_purpose`` records what each charge was for; all charges count towards the same limit.

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
# What was spent on what:

print(*ledger.entries(), sep="\n")
LedgerDisplay.from_ledger(ledger).figure_.savefig("ledger.png", dpi=150)
folder.cleanup()

# %%
# What the guarantee does not cover
# ---------------------------------
# The two choices cost ε = 0.5 and 0.3; planning and the refused fit cost nothing. The ledger's file *is* the budget.
# Deleting it, or restoring an older copy, starts a new budget, and the guarantee is then for the sum of both.
