"""How often two-party intervals cover the truth: python -m benchmarks.two_party_intervals [--tables 200].

For each distribution of a feature, relation to the target and epsilon, over tables of 1,000 records: how many of the
95% intervals cover the distance correlation of the parts, and how many are informative, that is, narrower than [0, 1].
"""

import argparse
import math
import warnings
from functools import cache
from itertools import product

import numpy as np
from scipy import stats
from tqdm import tqdm

from skdpmic.two_party import RandomizedResponse, TwoPartyScorer, distance_correlation, two_party_scorer

BUDGETS = ((1.0, None), (4.0, None), (2.0, 1.0))  # epsilon of the reports, and of the published target
DISTRIBUTIONS = {  # of a feature, and its public bounds: cut into 4 parts at epsilon 1, 6 at 2, 8 at 4
    "uniform": (lambda rng, n: rng.random(n), (0, 1)),
    "log-normal": (lambda rng, n: rng.lognormal(size=n), (0, 20)),
    "log-normal, by its logarithm": (lambda rng, n: rng.lognormal(size=n), (0, 20, "log")),
    "two values": (lambda rng, n: rng.integers(2, size=n), (0, 1)),
    "three values": (lambda rng, n: rng.integers(3, size=n) / 2, (0, 1)),
    "heavy tails": (lambda rng, n: rng.standard_cauchy(n), (-10, 10)),
}
RELATED = {  # from the share of smaller values, or nearly that
    "line": lambda u, rng: u + 0.25 * rng.standard_normal(len(u)),
    "parabola": lambda u, rng: (1.5 * u - 1) ** 2 + 0.2 * rng.standard_normal(len(u)),
    "independent": lambda u, rng: rng.standard_normal(len(u)),
    "heavy": lambda u, rng: u + rng.standard_t(2, len(u)),
}


def drawn(distribution, relation, n, rng):
    draw, bounds = DISTRIBUTIONS[distribution]
    x = draw(rng, n).astype(float)
    shares_below = x if "values" in distribution else stats.rankdata(x) / n
    return x[:, np.newaxis], RELATED[relation](shares_below, rng), bounds


def _reports(x, epsilon, bounds, seed):
    alice = RandomizedResponse(epsilon, bounds, random_state=seed).fit(x)
    return alice.to_arrow(alice.transform(x))


@cache
def truth(distribution, relation, n_parts, n_target):
    """The distance correlation of centres of parts with the target or the centres of its parts; 100,000 records."""
    if relation == "independent":
        return 0.0
    x, y, bounds = drawn(distribution, relation, 100_000, np.random.default_rng(0))
    parts = RandomizedResponse(math.inf, bounds, n_parts=n_parts).fit(x).transform(x)[:, 0].astype(int)
    if n_target is not None:
        y = np.clip(np.floor((y + 1) / 3 * n_target), 0, n_target - 1)
    columns, ones = (distance_correlation.Numbers(parts / n_parts), distance_correlation.Numbers(y)), np.ones(len(y))
    distances = distance_correlation.part_distances(n_parts, n_parts)
    covariance = distance_correlation.distance_covariance(parts, columns[1], ones, distances).value
    own, spread = (distance_correlation.distance_variance(column, ones).value for column in columns)
    return math.sqrt(covariance / math.sqrt(own * spread))


def intervals(distribution, relation, n, of_reports, epsilon, repeats):
    """The number of tables whose 95% interval covers the truth, and the number of intervals narrower than [0, 1]."""
    n_parts = 4 if of_reports < 1.5 else 6 if of_reports < 3 else 8
    n_target = None if epsilon is None else two_party_scorer.n_target_parts("distance_correlation", epsilon * n)
    expected, covered, narrower = truth(distribution, relation, n_parts, n_target), 0, 0
    target_bounds = None if epsilon is None else (-1, 2)
    for seed in range(repeats):
        x, y, bounds = drawn(distribution, relation, n, np.random.default_rng([seed, n]))
        bob = TwoPartyScorer(target_bounds=target_bounds, epsilon=epsilon, random_state=seed)
        bob.fit(_reports(x, of_reports, bounds, seed + 1000), y)
        (lower,), (upper,) = bob.scores_interval()
        assert lower <= bob.scores_[0] <= upper
        covered += lower <= expected <= upper
        narrower += upper - lower < 1
    return covered, narrower


def main():
    """Print a row for each distribution, relation and pair of epsilons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    n_tables = parser.parse_args().tables
    warnings.simplefilter("ignore")  # about seeds, and about intervals that are refused
    print("| feature | target | epsilon of reports | epsilon of the target | cover the truth | informative |")
    print("| --- | --- | --- | --- | --- | --- |")
    for distribution, relation, (of_reports, epsilon) in tqdm(
        [*product(DISTRIBUTIONS, RELATED, BUDGETS)], desc="intervals"
    ):
        covered, narrower = intervals(distribution, relation, 1000, of_reports, epsilon, n_tables)
        tqdm.write(
            f"| {distribution} | {relation} | {of_reports} | {epsilon or 'not published'} | {covered} | {narrower} |"
        )


if __name__ == "__main__":
    main()
