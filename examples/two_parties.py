"""
Two parties who trust nobody: one holds the features, the other the target
==========================================================================

A laboratory has measured 20,000 people; a registry knows how badly each of them fell ill. The laboratory may not hand
over its measurements, and there is nobody whom both would trust with their data. So each person's measurements are
reported with noise of their own, by randomised response, and the registry finds out what matters from the reports.

Run it with ``python examples/two_parties.py``, which saves the picture below as ``two_parties.png``. It needs pyarrow.
The two parties are processes of their own, and all that goes from one to the other is the file ``reports.parquet``.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from skdpmic import BudgetLedger
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

# %%
# The laboratory
# --------------
# What is public comes from a textbook, never from the table: ranges and labels. ``transform`` is called once, and
# costs ε = 6 for each person with all four measurements: each reports two of them, chosen at random, at 3 each.

PUBLIC = {
    "bounds": {"iron": (0, 40), "glucose": (2, 20, "log"), "pressure": (80, 200)},
    "categories": {"blood type": ["0", "A", "B", "AB"]},
}


def laboratory(folder):
    ledger = BudgetLedger(folder / "laboratory.db", epsilon=6)
    measurements = pd.read_parquet(folder / "measured.parquet")
    alice = RandomizedResponse(epsilon=6.0, **PUBLIC, ledger=ledger).fit(measurements)
    reports = alice.transform(measurements)
    pq.write_table(alice.to_arrow(reports), folder / "reports.parquet")
    print(f"laboratory: reported {alice.columns_per_record_} of {alice.n_features_in_} columns a person, ", end="")
    print(f"each at ε = {alice.epsilon_per_column_:g}; spent {ledger.spent()[0]:g}")


# %%
# The registry
# ------------
# It needs the file of reports, which says how they were made, and its own column. The first scores are for the
# registry alone. The second ones cost ε = 1 for the severity of each person's illness, and may be published.


def registry(folder):
    severity = pd.read_parquet(folder / "known.parquet")["severity"]
    own = TwoPartyScorer().fit(folder / "reports.parquet", severity)
    ledger = BudgetLedger(folder / "registry.db", epsilon=1)
    published = TwoPartyScorer(target_bounds=(0, 10), epsilon=1.0, ledger=ledger)
    published.fit(folder / "reports.parquet", severity)
    columns = {"own": own, "published": published}
    result = pd.DataFrame({name: bob.scores_ for name, bob in columns.items()}, index=own.feature_names_in_)
    for name, bob in columns.items():
        result[f"{name}, from"], result[f"{name}, to"] = bob.scores_interval()
    result.to_parquet(folder / "scores.parquet")
    print(f"registry: what matters is {' and '.join(result.index[result['own, from'] > 0.1])}; ", end="")
    print(f"spent {ledger.spent()[0]:g} to publish")


if sys.argv[1:2] in (["laboratory"], ["registry"]):  # a process of one party
    {"laboratory": laboratory, "registry": registry}[sys.argv[1]](Path(sys.argv[2]))
    sys.exit()

# %%
# Two processes
# -------------
# The table is made up, so that the truth is known: too little and too much iron are both bad, high glucose is bad, and
# the other two columns do not matter.

rng = np.random.default_rng(0)
n = 20_000
measured = pd.DataFrame(
    {
        "iron": rng.normal(20, 7, n).clip(0, 40),
        "glucose": rng.gamma(9, 0.6, n) + 1,
        "pressure": rng.normal(130, 18, n),
        "blood type": rng.choice(["0", "A", "B", "AB"], n, p=[0.4, 0.4, 0.12, 0.08]),
    }
)
measured.loc[rng.random(n) < 0.05, "glucose"] = np.nan  # was not measured
harm = 0.28 * abs(measured["iron"] - 20) + 0.5 * (measured["glucose"].fillna(6) - 4).clip(0) + rng.normal(0, 0.5, n)
severity = harm.clip(0, 10)

with tempfile.TemporaryDirectory() as folder:
    measured.to_parquet(Path(folder) / "measured.parquet")  # in the laboratory
    severity.to_frame("severity").to_parquet(Path(folder) / "known.parquet")  # in the registry
    for party in ("laboratory", "registry"):
        command = [sys.executable, sys.argv[0], party, folder]
        print(subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout, end="")
    scores = pd.read_parquet(Path(folder) / "scores.parquet")
    reports = pq.read_table(Path(folder) / "reports.parquet")

# %%
# What went from one to the other: the numbers of parts, most of them right, some not, and none that anyone can be held
# to. Where there is nothing, the lot fell on other columns.

print(reports.slice(0, 4).to_pandas().astype("Int64").to_string())

# %%
# What the registry knows
# -----------------------
# Next to it, what a party would find that has both tables. Intervals hold that in 19 of 20 cases, but for what is lost
# by telling only in which of eight parts a value lies.

without_noise = RandomizedResponse(epsilon=float("inf"), n_parts=200, **PUBLIC).fit(measured)
as_they_are = without_noise.to_arrow(without_noise.transform(measured))
truth = TwoPartyScorer().fit(as_they_are, severity).scores_

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
places = np.arange(len(scores))
for name, shift, colour in (("own", -0.12, "tab:blue"), ("published", 0.12, "tab:orange")):
    lower, upper = scores[f"{name}, from"], scores[f"{name}, to"]
    ends = [scores[name] - lower, upper - scores[name]]
    label = {"own": "for the registry alone", "published": "published at ε = 1"}[name]
    ax.errorbar(places + shift, scores[name], ends, fmt="o", color=colour, capsize=4, label=label)
ax.hlines(truth, places - 0.3, places + 0.3, color="black", label="from both tables, without privacy")
ax.set_xticks(places, scores.index)
ax.set_ylim(-0.02, 1)
ax.set_xlabel("what the laboratory measured")
ax.set_ylabel("distance correlation with severity")
ax.set_title("20,000 people, each protected at ε = 6 before anything is sent")
ax.legend()
plt.savefig("two_parties.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# Reports protect a person's measurements against everybody, the registry included, at ε = 6 in sum; another
# ``transform`` would cost as much again. They do not hide who is in the table, nor that the rows of the two tables
# belong to the same people. The scores for the registry alone are *not* private: they are computed from severities
# without noise. ``truth`` is shown for comparison, and is not private either.
