"""The tables on the paper's experiments: python -m benchmarks.paper.report prints benchmarks/paper/results/report.md.

They come from the CSV files beside it.
"""

import math
from bisect import bisect_left
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.output import print_or_write, table
from benchmarks.store import seed_of
from skdpmic import mic_r
from skdpmic.datasets import load_mic_star, relationship
from skdpmic.statistics.mic.statistic import default_B, default_c
from skdpmic.statistics.sensitivity import mic_r_sensitivity

RESULTS = Path(__file__).parent / "results"
MECHANISMS, MEASURES = ("MICe-Lap", "MICr-Lap", "MICr-Geom"), ("bias", "variance", "error")
BUDGETS, ERRORS = (10.0, 1.0, 0.1, 0.01, 0.001), (0.05, 0.02)
OF_TEXT = {
    "bias_median": "median bias",
    "bias_min": "least bias",
    "bias_max": "largest bias",
    "variance_median": "median variance",
}


def markdown():
    """The whole report."""
    known = {name: pd.read_csv(RESULTS / f"{name}.csv") for name in ("tables", "synthetic")}
    parts = [
        "# The paper's experiments: all results",
        "`python -m benchmarks.paper.report` prints this from the CSV files beside it. **Paper** is the number printed "
        "in the paper, **reproduced** has its noise, B and c, **shipped** is what the package does "
        "(`correction=None`, automatic B and c).",
        "## Real data (Tables 1 and 3): paper / reproduced / shipped",
        "By `benchmarks/paper/tables.py` of commit 64ec2246, [tables.csv](tables.csv), with standard errors.",
        *(part for of_epsilon in known["tables"].groupby("epsilon", sort=False) for part in real_table(*of_epsilon)),
        "## 189 distributions (Figures 2 and 4)",
        "By `benchmarks/paper/synthetic.py` of commit 2a2d595, [synthetic.csv](synthetic.csv). Median over the "
        "distributions of the unsigned error against MIC\\*, reproduced / shipped:",
        by_distribution(known["synthetic"], "ε", _errors),
        "Median bias as shipped, and the least and the largest:",
        by_distribution(known["synthetic"], "ε, bias", _bias),
        "Without any noise, one sample of each distribution (computed here): median unsigned error and median bias of "
        "MICr with the automatic B and c.",
        sampling_table(),
        "What the paper's text says of Figure 2 (ε = 1):",
        text_table(known["synthetic"]),
        "## The least n at which the noise on one score is small",
        "Mean size of the noise of a shipped MICr-Lap score, and in brackets the n that the paper's noise needs:",
        least_n_table(),
    ]
    return "\n\n".join(parts) + "\n"


def real_table(epsilon, rows):
    """The numbers of Tables 1 and 3 at one epsilon, each as paper / reproduced / shipped."""
    body = []
    for names, group in rows.groupby(["collection", "mechanism"], sort=False):
        numbers = group[["paper", "reproduced", "shipped"]].itertuples(index=False)
        body.append([*names, *(" / ".join("--" if np.isnan(x) else f"{x:.2g}" for x in row) for row in numbers)])
    return f"epsilon = {epsilon:g}", table(["collection", "mechanism", *MEASURES], body)


def by_distribution(rows, title, shown):
    """A row for each epsilon and n, with what is shown of each mechanism's numbers with both noises."""
    body = []
    rows = rows.sort_values("epsilon", ascending=False, kind="stable")
    for (epsilon, n), of_cell in rows.groupby(["epsilon", "n"], sort=False):
        known = of_cell.set_index(["mechanism", "noise"])
        cells = (shown(known.loc[(mechanism, "paper")], known.loc[(mechanism, "shipped")]) for mechanism in MECHANISMS)
        body.append([f"{epsilon:g}", f"{n:,}", *cells])
    return table([title, "n", *MECHANISMS], body)


def _errors(paper, shipped):
    """Median unsigned errors against MIC*."""
    return f"{paper['error_median']:.2g} / {shipped['error_median']:.2g}"


def _bias(_, shipped):
    return "{:.2g} ({:.2g} to {:.2g})".format(*shipped[["bias_median", "bias_min", "bias_max"]])


def sampling_table(sizes=(1000, 5000)):
    """The error of sampling alone, without privacy."""
    mic_star, body = load_mic_star(), []
    for n in sizes:
        off = [score_of_sample(*key, n) - mic_star[key] for key in mic_star]
        body.append([f"{n:,}", f"{np.median(np.abs(off)):.3f}", f"{np.median(off):.3f}"])
    return table(["n, without noise", "median unsigned error", "median bias"], body)


def score_of_sample(name, r2, n):
    """MICr of a sample of one of the distributions, with the automatic B and c of epsilon = 1."""
    x, y = relationship(name, r2).sample(n, seed_of((name, r2, n, 0))).T.copy()
    return mic_r(x, y, bounds=((0, 1), (0, 1)), B=default_B(n, 1.0), c=default_c(n, 1.0))


def text_table(rows):
    """The numbers of Figure 2 in the paper's text, beside ours."""
    rows = rows[rows["epsilon"] == 1].set_index(["n", "mechanism", "noise"])
    body = []
    for (n, mechanism), name in [(key[:2], name) for key in rows.index if key[2] == "paper" for name in OF_TEXT]:
        paper, ours = rows.loc[(n, mechanism, "paper")], rows.loc[(n, mechanism, "shipped")]
        if pd.notna(paper[f"paper_{name}"]):
            numbers = (paper[f"paper_{name}"], paper[name], ours[name])
            body.append([f"{n:,}", mechanism, OF_TEXT[name], *(f"{number:.2g}" for number in numbers)])
    return table(["n", "mechanism", "number", "paper", "reproduced", "shipped"], body)


def least_n_table():
    """The least n from which the noise of a score stays below an error."""
    body = []
    for epsilon in BUDGETS:
        pairs = ([_least_n(noise, epsilon, error) for noise in ("shipped", "paper")] for error in ERRORS)
        cells = ("{:,} ({:,})".format(*pair) for pair in pairs)
        body.append([f"{epsilon:g}", *cells])
    return table(["ε for one score", *(f"noise below {error:g}" for error in ERRORS)], body)


def _least_n(noise, epsilon, error):
    def size(n):
        return (mic_r_sensitivity(n) if noise == "shipped" else (4 * math.log2(n) + 6) / n) / epsilon

    return bisect_left(range(10**7), -error, lo=4, key=lambda n: -size(n))


def main(argv=None):
    """Print the report, or write it to a file."""
    print_or_write(__doc__.splitlines()[0], markdown, argv)


if __name__ == "__main__":
    main()
