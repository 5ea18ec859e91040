"""How often intervals of two parties hold the truth: python -m benchmarks.two_party_intervals [--tables 200].

For each law of a feature, relation to the target and epsilon, of tables of 1,000 records: how many of the intervals of
95% hold the distance correlation of the parts, and how many say anything, that is, are narrower than [0, 1].
"""

import argparse
import math
import warnings
from functools import cache
from itertools import product

import numpy as np
from scipy import stats
from tqdm import tqdm

from skdpmic.two_party import RandomizedResponse, TwoPartyScorer, distance_correlation
from skdpmic.two_party import response_tables as tables

BUDGETS = ((1.0, None), (4.0, None), (2.0, 1.0))  # epsilon of the reports, and of the published target
LAWS = {  # of a feature, and its public bounds: cut in 4 parts at epsilon 1, in 6 at 2, in 8 at 4
    "uniform": (lambda rng, n: rng.random(n), (0, 1)),
    "log-normal": (lambda rng, n: rng.lognormal(size=n), (0, 20)),
    "log-normal, by its logarithm": (lambda rng, n: rng.lognormal(size=n), (0, 20, "log")),
    "two values": (lambda rng, n: rng.integers(2, size=n), (0, 1)),
    "three values": (lambda rng, n: rng.integers(3, size=n) / 2, (0, 1)),
    "heavy tails": (lambda rng, n: rng.standard_cauchy(n), (-10, 10)),
}
RELATED = {  # by the share of values that are smaller, or nearly so
    "line": lambda u, rng: u + 0.25 * rng.standard_normal(len(u)),
    "parabola": lambda u, rng: (1.5 * u - 1) ** 2 + 0.2 * rng.standard_normal(len(u)),
    "independent": lambda u, rng: rng.standard_normal(len(u)),
    "heavy": lambda u, rng: u + rng.standard_t(2, len(u)),
}


def drawn(law, relation, n, rng):
    draw, bounds = LAWS[law]
    x = draw(rng, n).astype(float)
    shares_below = x if "values" in law else stats.rankdata(x) / n
    return x[:, np.newaxis], RELATED[relation](shares_below, rng), bounds


def _reports(x, epsilon, bounds, seed):
    alice = RandomizedResponse(epsilon, bounds, random_state=seed).fit(x)
    return alice.to_arrow(alice.transform(x))


@cache
def truth(law, relation, n_parts, n_target):
    """The distance correlation of centres of parts of 100,000 records, with the target or the centres of its parts."""
    if relation == "independent":
        return 0.0
    x, y, bounds = drawn(law, relation, 100_000, np.random.default_rng(0))
    parts = RandomizedResponse(math.inf, bounds, n_parts=n_parts).fit(x).transform(x)[:, 0].astype(int)
    if n_target is not None:
        y = np.clip(np.floor((y + 1) / 3 * n_target), 0, n_target - 1)
    columns, ones = (distance_correlation.Numbers(parts / n_parts), distance_correlation.Numbers(y)), np.ones(len(y))
    distances = distance_correlation.between_centres(n_parts)
    covariance = distance_correlation.distance_covariance(parts, columns[1], ones, distances).value
    own, spread = (distance_correlation.distance_variance(column, ones).value for column in columns)
    return math.sqrt(covariance / math.sqrt(own * spread))


def intervals(law, relation, n, of_reports, epsilon, repeats):
    """In how many tables the 95% interval holds the truth, and how many intervals are narrower than [0, 1]."""
    n_parts = 4 if of_reports < 1.5 else 6 if of_reports < 3 else 8
    n_target = None if epsilon is None else tables.n_target_parts("distance_correlation", epsilon * n)
    expected, held, narrower = truth(law, relation, n_parts, n_target), 0, 0
    target_bounds = None if epsilon is None else (-1, 2)
    for seed in range(repeats):
        x, y, bounds = drawn(law, relation, n, np.random.default_rng([seed, n]))
        bob = TwoPartyScorer(target_bounds=target_bounds, epsilon=epsilon, random_state=seed)
        bob.fit(_reports(x, of_reports, bounds, seed + 1000), y)
        (lower,), (upper,) = bob.scores_interval()
        assert lower <= bob.scores_[0] <= upper
        held += lower <= expected <= upper
        narrower += upper - lower < 1
    return held, narrower


def main():
    """Print a row for each law, relation and pair of epsilons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    n_tables = parser.parse_args().tables
    warnings.simplefilter("ignore")  # of seeds, and of intervals that are refused
    print("| feature | target | epsilon of reports | epsilon of the target | hold the truth | say something |")
    print("| --- | --- | --- | --- | --- | --- |")
    for law, relation, (of_reports, epsilon) in tqdm([*product(LAWS, RELATED, BUDGETS)], desc="intervals"):
        held, narrower = intervals(law, relation, 1000, of_reports, epsilon, n_tables)
        tqdm.write(f"| {law} | {relation} | {of_reports} | {epsilon or 'not published'} | {held} | {narrower} |")


if __name__ == "__main__":
    main()
