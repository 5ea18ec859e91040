"""Make skdpmic/datasets/mic_star.csv: the noise and MIC* of the 189 distributions of skdpmic.datasets.

    python -m benchmarks.make_mic_star [--quick] --output FILE

Deterministic; one to two minutes on two cores, a tenth of that with --quick. The standard deviations are rounded
first, so that each shipped MIC* belongs to the shipped standard deviation.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from tqdm import tqdm

from benchmarks.output import add_output, refuse_to_overwrite, write_csv
from benchmarks.population import mic_star
from skdpmic.datasets import R2_LEVELS, RELATIONSHIPS
from skdpmic.datasets.relationships import generating_points

TARGET = Path(__file__).parents[1] / "skdpmic" / "datasets" / "mic_star.csv"


def tuned_sigma(name, r2):
    """The standard deviation at which the relationship has the given R², in (0, 1)."""
    points, function = generating_points(name), RELATIONSHIPS[name]
    return float(np.exp(brentq(lambda log_sigma: _r2(points, np.exp(log_sigma), function) - r2, *np.log([1e-6, 10.0]))))


def _r2(points, sigma, function):
    """Squared Pearson correlation of F(X) and Y, for (X, Y) of the mixture restricted to the unit square."""
    x, x_mass = _truncated_normals(points[:, 0], sigma)
    y, y_mass = _truncated_normals(points[:, 1], sigma)
    shares = x_mass * y_mass / (x_mass @ y_mass)
    f = function(x)
    f_mean, y_mean = shares @ f.mean(axis=1), shares @ y.mean(axis=1)
    f, y = f - f_mean, y - y_mean
    covariance = shares @ (f.mean(axis=1) * y.mean(axis=1))  # X and Y are independent within a component
    return covariance**2 / ((shares @ (f**2).mean(axis=1)) * (shares @ (y**2).mean(axis=1)))


def _truncated_normals(means, sigma, n_nodes=2000):
    """Normals restricted to [0, 1]: nodes of equal probability, (n_means, n_nodes), and the masses in [0, 1]."""
    below, upto = ndtr(-means / sigma)[:, np.newaxis], ndtr((1 - means) / sigma)[:, np.newaxis]
    nodes = (np.arange(n_nodes) + 0.5) / n_nodes
    return means[:, np.newaxis] + sigma * ndtri(below + (upto - below) * nodes), (upto - below)[:, 0]


def row(name, r2):
    sigma = float(f"{tuned_sigma(name, r2):.9g}")
    return name, r2, sigma, f"{mic_star(generating_points(name), sigma):.6f}"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    add_output(parser, TARGET)
    parser.add_argument("--quick", action="store_true", help="every tenth distribution, which covers all levels of r2")
    options = parser.parse_args(argv)
    if options.quick and options.output == TARGET:
        parser.error("--quick needs --output, as the shipped file has all distributions")
    refuse_to_overwrite(parser, options)

    keys = list(product(RELATIONSHIPS, R2_LEVELS))[:: 10 if options.quick else 1]
    rows = Parallel(n_jobs=options.jobs, return_as="generator")(delayed(row)(*key) for key in keys)
    write_csv(options.output, [["name", "r2", "sigma", "mic_star"], *tqdm(rows, total=len(keys), disable=None)])


if __name__ == "__main__":
    main()
