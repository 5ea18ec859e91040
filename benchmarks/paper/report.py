"""The tables on the paper's experiments: python -m benchmarks.paper.report prints benchmarks/paper/results/report.md.

They come from the CSV files beside it.
"""

from bisect import bisect_left

import numpy as np
import pandas as pd

from benchmarks.output import print_or_write, table
from benchmarks.paper.mechanisms import EPSILONS, MECHANISMS, TUNED_N, Pair, laplace_scale, settings
from benchmarks.paper.tables import RESULTS, as_markdown
from benchmarks.store import seed_of
from skdpmic.datasets import load_mic_star, relationship
from skdpmic.statistics.sensitivity import mic_r_sensitivity

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
        "`python -m benchmarks.paper.tables`, [tables.csv](tables.csv), with standard errors",
        as_markdown(known["tables"].to_dict("records")).strip(),
        "## 189 distributions (Figures 2 and 4)",
        "By `benchmarks/paper/synthetic.py` of commit 2a2d595, [synthetic.csv](synthetic.csv). Median over the "
        "distributions of the unsigned error against MIC\\*, reproduced / shipped:",
        errors_table(known["synthetic"]),
        "Median bias as shipped, and the least and the largest:",
        bias_table(known["synthetic"]),
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


def errors_table(rows):
    """Median unsigned errors against MIC*."""
    known = rows.set_index(["epsilon", "n", "mechanism", "noise"])["error_median"]
    body = [
        [f"{epsilon:g}", f"{n:,}", *(_both(known, epsilon, n, mechanism) for mechanism in MECHANISMS)]
        for epsilon in EPSILONS
        for n in TUNED_N
    ]
    return table(["ε", "n", *MECHANISMS], body)


def _both(known, *key):
    return " / ".join(f"{known[(*key, noise)]:.2g}" for noise in ("paper", "shipped"))


def bias_table(rows):
    """Bias of the shipped mechanisms."""
    known = rows[rows["noise"] == "shipped"].set_index(["epsilon", "n", "mechanism"])
    names = ["bias_median", "bias_min", "bias_max"]
    body = [
        [f"{epsilon:g}", f"{n:,}"]
        + ["{:.2g} ({:.2g} to {:.2g})".format(*known.loc[(epsilon, n, of), names]) for of in MECHANISMS]
        for epsilon in EPSILONS
        for n in TUNED_N
    ]
    return table(["ε, bias", "n", *MECHANISMS], body)


def sampling_table(sizes=(1000, 5000)):
    """The error of sampling alone, without privacy."""
    mic_star, body = load_mic_star(), []
    for n in sizes:
        size = settings("MICr-Lap", "shipped", n, 1.0)
        off = [sample(*key, n).mic_r(*size) - mic_star[key] for key in mic_star]
        body.append([f"{n:,}", f"{np.median(np.abs(off)):.3f}", f"{np.median(off):.3f}"])
    return table(["n, without noise", "median unsigned error", "median bias"], body)


def sample(name, r2, n):
    """A pair of columns from one of the distributions."""
    points = relationship(name, r2).sample(n, seed_of((name, r2, n, 0)))
    return Pair(points[:, 0].copy(), points[:, 1].copy(), ((0, 1), (0, 1)))


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
        return mic_r_sensitivity(n) / epsilon if noise == "shipped" else laplace_scale("MICr-Lap", noise, n, epsilon)

    return bisect_left(range(10**7), -error, lo=4, key=lambda n: -size(n))


def main(argv=None):
    """Print the report, or write it to a file."""
    print_or_write(__doc__.splitlines()[0], markdown, argv)


if __name__ == "__main__":
    main()
