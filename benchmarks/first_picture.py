"""True columns found under differential privacy, the picture of the first page: python -m benchmarks.first_picture.

A table holds 5,000 people and 20 columns, three of which affect the target. Each way chooses three columns:

- PrivateSelectKBest, with its defaults.
- Noisy data: Laplace noise on each value, so that each person's row is private at the same epsilon, then SelectKBest.
- The strongest private rival in benchmarks.sets: a set chosen at once by correlations (DP-SIS), or Kendall less
  redundancy.
- SelectKBest on the data itself, without privacy.

    python -m benchmarks.first_picture --report              # print the kept result
    python -m benchmarks.first_picture --picture --output F  # draw the kept result
    python -m benchmarks.first_picture --output F            # measure it again, in a minute
"""

import argparse
import csv
import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from sklearn.feature_selection import SelectKBest, f_regression

from benchmarks.output import add_output, refuse_to_overwrite, table, write_csv
from benchmarks.sets.rivals import kendall_less_redundancy, set_of_correlations
from skdpmic import PrivateSelectKBest

RESULT = Path(__file__).parent / "results" / "first_picture.csv"
N_PEOPLE, N_COLUMNS, TRUE, N_TABLES = 5000, 20, (3, 8, 14), 50
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
TARGET_BOUNDS = (-2.0, 5.0)
PRIVATE, NOISY = "PrivateSelectKBest", "SelectKBest on data with noise"
RIVALS = {"set by correlations": set_of_correlations, "Kendall less redundancy": kendall_less_redundancy}
OPEN = "SelectKBest, no privacy"


def random_table(rng):
    """Columns (n_people, n_columns) from 0 to 1, and a target that rises with three of them."""
    X = rng.random((N_PEOPLE, N_COLUMNS))
    return X, X[:, TRUE].sum(axis=1) + rng.normal(0, 0.5, N_PEOPLE)


def select_privately(X, y, epsilon, rng):
    selector = PrivateSelectKBest(k=len(TRUE), epsilon=epsilon, bounds=(0, 1), target_bounds=TARGET_BOUNDS)
    return selector.fit(X, y).get_support(indices=True)


def select_from_noisy_data(X, y, epsilon, rng):
    """Each of the d + 1 values gets noise for epsilon / (d + 1), so a row as a whole is private at epsilon."""
    scale = (N_COLUMNS + 1) / epsilon
    noisy = X + rng.laplace(0, scale, X.shape)
    lower, upper = TARGET_BOUNDS
    return select(noisy, np.clip(y, lower, upper) + rng.laplace(0, scale * (upper - lower), len(y)))


def select(X, y):
    return SelectKBest(f_regression, k=len(TRUE)).fit(X, y).get_support(indices=True)


@cache
def split_of(seed):
    """A table in the form that the rivals of benchmarks.sets take."""
    import pandas as pd

    X, y = random_table(np.random.default_rng(seed))
    names = [f"x{j}" for j in range(N_COLUMNS)]
    table = SimpleNamespace(
        k=len(TRUE),
        n_classes=None,
        features={"bounds": dict.fromkeys(names, (0, 1))},
        target={"target_bounds": TARGET_BOUNDS},
    )
    return SimpleNamespace(X=pd.DataFrame(X, columns=names), y=y, table=table, known={})


def share_found(chosen):
    return len(set(map(int, chosen)) & set(TRUE)) / len(TRUE)


def measured():
    """Rows of way, epsilon, mean share of the true columns found, and its standard error."""
    shares = {}
    for seed in range(N_TABLES):
        split, rng = split_of(seed), np.random.default_rng([seed, 1])
        X, y = split.X.to_numpy(), split.y
        shares.setdefault((OPEN, ""), []).append(share_found(select(X, y)))
        for epsilon in EPSILONS:
            for way, chosen in [
                (PRIVATE, select_privately(X, y, epsilon, rng)),
                (NOISY, select_from_noisy_data(X, y, epsilon, rng)),
                *((name, rival(split, epsilon, seed)) for name, rival in RIVALS.items()),
            ]:
                shares.setdefault((way, epsilon), []).append(share_found(chosen))
    yield "way", "epsilon", "found", "standard_error"
    for (way, epsilon), of_tables in shares.items():
        yield way, epsilon, f"{np.mean(of_tables):.3f}", f"{np.std(of_tables, ddof=1) / N_TABLES**0.5:.3f}"


def kept():
    """The kept mean shares, by way and epsilon."""
    with open(RESULT, encoding="utf-8", newline="") as file:
        return {(row["way"], row["epsilon"]): float(row["found"]) for row in csv.DictReader(file)}


def strongest_rival(shares):
    return max(RIVALS, key=lambda way: sum(share for (of, _), share in shares.items() if of == way))


def report():
    shares = kept()
    body = [[way, *(f"{shares[way, str(epsilon)]:.0%}" for epsilon in EPSILONS)] for way in (PRIVATE, *RIVALS, NOISY)]
    head = ["way", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)]
    return f"{table(head, body)}\n\n{OPEN}: {shares[OPEN, '']:.0%}"


def draw(path):
    from matplotlib import pyplot as plt

    from benchmarks.style import BLUE, GREY, ORANGE, VERMILION, WIDTH, legible

    shares = kept()
    rival = strongest_rival(shares)
    with legible():
        figure, axes = plt.subplots(figsize=(WIDTH, 3.4))
        axes.axhline(100 * shares[OPEN, ""], color=GREY, linestyle="--", label=OPEN)
        for way, color, marker in ((PRIVATE, BLUE, "o"), (rival, ORANGE, "s"), (NOISY, VERMILION, "^")):
            found = [100 * shares[way, str(epsilon)] for epsilon in EPSILONS]
            label = f"rival: {rival}" if way == rival else way
            axes.plot(EPSILONS, found, color=color, marker=marker, label=label)
        axes.set(xscale="log", xlabel="ε (smaller is more private)", ylabel="true columns found", ylim=(0, 105))
        axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        axes.yaxis.set_major_formatter("{x:.0f}%")
        figure.legend(loc="outside lower center", ncols=1, frameon=False)
        figure.savefig(path)
        plt.close(figure)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--report", action="store_true", help="print the kept result")
    parser.add_argument("--picture", action="store_true", help="draw the kept result")
    add_output(parser, RESULT)
    options = parser.parse_args(argv)
    if options.report:
        print(report())
        return
    refuse_to_overwrite(parser, options)
    if options.picture:
        draw(options.output)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about more noise than signal
        write_csv(options.output, measured())


if __name__ == "__main__":
    main()
