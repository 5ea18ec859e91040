"""
Two parties without a trusted curator: one has the features, the other the target
=================================================================================

A laboratory has measured 20,000 people; a registry knows how severely each of them fell ill. The laboratory may not
share its measurements, and no third party is trusted with both tables. The laboratory therefore reports each person's
measurements with randomised response, and the registry scores the columns from these noisy reports.

Run it with ``python examples/two_parties.py``, which saves the picture below as ``two_parties.png``. It needs pyarrow.
The two parties run as separate processes, and only the file ``reports.feather`` passes from one to the other.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from pyarrow import feather

from skdpmic import BudgetLedger
from skdpmic.two_party import RandomizedResponse, TwoPartyScorer

# %%
# The laboratory
# --------------
# Bounds and labels are public. They come from a textbook, never from the table. ``transform`` is called once and costs
# each person ε = 6 for all four measurements: two of them, chosen at random, are reported at ε = 3 each.

PUBLIC = {
    "bounds": {"iron": (0, 40), "glucose": (2, 20, "log"), "pressure": (80, 200)},
    "categories": {"blood type": ["0", "A", "B", "AB"]},
}


def laboratory(folder):
    ledger = BudgetLedger(folder / "laboratory.db", epsilon=6)
    measurements = pd.read_parquet(folder / "measured.parquet")
    alice = RandomizedResponse(epsilon=6.0, **PUBLIC, ledger=ledger).fit(measurements)
    reports = alice.transform(measurements)
    feather.write_feather(alice.to_arrow(reports), folder / "reports.feather", compression="uncompressed")
    print(f"laboratory: reported {alice.columns_per_record_} of {alice.n_features_in_} columns a person, ", end="")
    print(f"each at ε = {alice.epsilon_per_column_:g}; spent {ledger.spent()[0]:g}")


# %%
# The registry
# ------------
# The registry needs its own column and the file of reports, which records how they were made. The first scores are for
# the registry's own use. The second ones cost ε = 1 for the severity of each person's illness, and can be published.


def registry(folder):
    severity = pd.read_parquet(folder / "known.parquet")["severity"]
    own = TwoPartyScorer().fit(folder / "reports.feather", severity)
    ledger = BudgetLedger(folder / "registry.db", epsilon=1)
    published = TwoPartyScorer(target_bounds=(0, 10), epsilon=1.0, ledger=ledger)
    published.fit(folder / "reports.feather", severity)
    columns = {"own": own, "published": published}
    result = pd.DataFrame({name: bob.scores_ for name, bob in columns.items()}, index=own.feature_names_in_)
    for name, bob in columns.items():
        result[f"{name}, from"], result[f"{name}, to"] = bob.scores_interval()
    result.to_parquet(folder / "scores.parquet")
    print(f"registry: severity depends on {' and '.join(result.index[result['own, from'] > 0.1])}; ", end="")
    print(f"spent {ledger.spent()[0]:g} to publish")


if sys.argv[1:2] in (["laboratory"], ["registry"]):  # the process of one party
    {"laboratory": laboratory, "registry": registry}[sys.argv[1]](Path(sys.argv[2]))
    sys.exit()

# %%
# Two processes
# -------------
# The table is simulated, so the truth is known: too little iron, too much iron and high glucose make an illness more
# severe; the other two columns do not matter.

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
    reports = feather.read_table(Path(folder) / "reports.feather")

# %%
# These are the first four reports: numbers of bins, some of them true and some random. Where a value is missing, the
# person's two reports are on other columns.

print(reports.slice(0, 4).to_pandas().astype("Int64").to_string())

# %%
# What the registry learns
# ------------------------
# The black lines are the scores that a party with both tables would compute. The 95% intervals allow for the noise, but
# not for the loss from reporting only one of eight bins, so a line can lie above its interval.

without_noise = RandomizedResponse(epsilon=float("inf"), n_parts=200, **PUBLIC).fit(measured)
as_they_are = without_noise.to_arrow(without_noise.transform(measured))
truth = TwoPartyScorer().fit(as_they_are, severity).scores_

figure, ax = plt.subplots(figsize=(5, 4.8), layout="constrained")
places = np.arange(len(scores))
for name, shift, color, marker in (("own", -0.12, "#0072B2", "o"), ("published", 0.12, "#E69F00", "s")):
    lower, upper = scores[f"{name}, from"], scores[f"{name}, to"]
    ends = [scores[name] - lower, upper - scores[name]]
    label = {"own": "for the registry's own use", "published": "published at ε = 1"}[name]
    ax.errorbar(places + shift, scores[name], ends, fmt=marker, color=color, capsize=4, label=label, clip_on=False)
ax.hlines(truth, places - 0.3, places + 0.3, color="black", label="from both tables, without privacy")
ax.set_xticks(places, scores.index)
ax.set_ylim(0, 1)
ax.set_xlabel("the laboratory's measurements")
ax.set_ylabel("distance correlation with severity")
ax.set_title("20,000 people, reported at ε = 6 each; bars: 95% intervals", fontsize="medium")
ax.legend()
plt.savefig("two_parties.png", dpi=150)

# %%
# What the guarantee does not cover
# ---------------------------------
# The reports protect a person's measurements from everybody, including the registry, at ε = 6 in total; another
# ``transform`` would cost another 6. They do not hide who is in the table, or that the rows of the two tables belong to
# the same people. The scores for the registry's own use are *not* private: they are computed from severities without
# noise. ``truth`` is only for comparison and is not private either.
