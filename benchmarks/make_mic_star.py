"""Make skdpmic/datasets/mic_star.csv: the noise and MIC* of the 189 distributions of skdpmic.datasets.

    python benchmarks/make_mic_star.py [--quick --output FILE]

Deterministic; one to two minutes on two cores, a quarter of that with --quick. The standard deviations are rounded
first, so that each shipped MIC* belongs to the shipped standard deviation.
"""

import argparse
import csv
from itertools import product
from pathlib import Path

from joblib import Parallel, delayed
from tqdm import tqdm

from benchmarks.population import mic_star
from skdpmic.datasets import R2_LEVELS, RELATIONSHIPS
from skdpmic.datasets.relationships import generating_points, tuned_sigma

TARGET = Path(__file__).parents[1] / "skdpmic" / "datasets" / "mic_star.csv"


def row(name, r2):
    sigma = float(f"{tuned_sigma(name, r2):.9g}")
    return name, r2, sigma, f"{mic_star(generating_points(name), sigma):.6f}"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, default=TARGET)
    parser.add_argument("--quick", action="store_true", help="every fourth distribution, which has all levels of r2")
    options = parser.parse_args(argv)
    if options.quick and options.output == TARGET:
        parser.error("--quick needs --output, as the shipped file has all distributions")

    keys = list(product(RELATIONSHIPS, R2_LEVELS))[:: 4 if options.quick else 1]
    rows = Parallel(n_jobs=options.jobs, return_as="generator")(delayed(row)(*key) for key in keys)
    with open(options.output, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "r2", "sigma", "mic_star"])
        writer.writerows(tqdm(rows, total=len(keys), disable=None))


if __name__ == "__main__":
    main()
