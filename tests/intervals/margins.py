"""Intervals of learnt shares, and margins of what plans, names and plots show."""

import math
from fractions import Fraction

import numpy as np

from skdpmic.planning.plan import plan_release
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GRID, MECHANISMS, CubeLaw
from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.top_k import mechanism_of_names
from skdpmic.statistics.mtv.released_shares import CountBudget, release_shares, shares_interval
from skdpmic.table.values import WEIGHT_UNITS
from tests.intervals.table import Drawn, Row
from tests.privacy.laws import cube_vectors

N_DRAWS = 500


def target_shares(weighted):
    """Shares of 2 to 4 classes, of records or of weights."""

    def draw(random, setting):
        n_classes = int(random.integers(2, 5))
        labels = setting._replace(n_classes=n_classes).labels(random)
        each, units = setting.rows_per_group or 1, WEIGHT_UNITS if weighted else 1
        epsilon = math.inf if math.isinf(setting.epsilon) else Fraction(setting.epsilon)
        weights = random.integers(0, units + 1, setting.n) if weighted else np.ones(setting.n, dtype=np.int64)
        sums = np.bincount(labels, weights, n_classes).astype(np.int64)
        budget = CountBudget(setting.n, epsilon, each, units, random.bytes)
        drawn = [release_shares(sums, budget) for _ in range(N_DRAWS)]
        lower, upper = np.transpose([shares_interval(shares, 0.95) for shares in drawn], (1, 0, 2))
        estimate = np.array([[float(share) for share in shares.shares] for shares in drawn])
        return Drawn(lower, upper, sums / sums.sum(), estimate, (0, 1))

    return draw


def margin_of_names(random, setting):
    """The difference of the noise on two scores, by the mechanism that a plan chooses."""
    delta, k, n = float(random.choice([0.0, 1e-6])), int(random.integers(1, 6)), int(random.choice([6, 40]))
    kind = mechanism_of_names(setting.epsilon, delta, k, n)
    budget = budget_of(setting.epsilon, delta) if kind.needs_delta else budget_of(setting.epsilon)
    mechanism = kind.for_budget(budget, k, 2**20, n)
    margin = mechanism.half_width(0.95)
    if mechanism.scale == 0:
        return Drawn(np.array([-margin]), np.array([margin]), 0.0, np.array([0.0]))
    if isinstance(mechanism.law, CubeLaw):
        noise = cube_vectors(mechanism.law, N_DRAWS * 4, random)[:, :2].T
    else:
        noise = mechanism.law.rvs(size=(2, N_DRAWS * 4), random_state=random)
    difference = (noise[0] - noise[1])[:, np.newaxis]
    return Drawn(difference - margin, difference + margin, 0.0, difference)


def error_of_plan(random, setting):
    """The noise on one score of the release of the first row of a plan that publishes scores."""
    if math.isinf(setting.epsilon):
        return None
    rows = plan_release(n_samples=setting.n, n_features=setting.n_features, epsilon=setting.epsilon)
    row = next(row for row in rows if row.release == "scores" and row.mechanism in MECHANISMS)
    kind, scale = MECHANISMS[row.mechanism], row.noise_scale / GRID
    if row.mechanism == "k-norm":
        scale /= kind(1, setting.n_features).noise_scale / GRID
        noise = kind(round(scale), setting.n_features).law.rvs(2000, random)
    else:
        noise = discrete_laplace(round(scale), 2000, random.bytes) * GRID
    noise = np.asarray(noise, dtype=float)[:, np.newaxis]
    return Drawn(noise - row.error, noise + row.error, 0.0, noise)


ROWS = [
    Row("interval", "DPMICScorer.target_shares_interval", target_shares(False)),  # for the shares of the records
    Row(
        *("interval", "DPMICScorer.target_shares_interval of weights", target_shares(True)),
        exempt="ratios of sums of weights, the total of which is private",
    ),
    Row("interval", "GapsDisplay.noise_margin", margin_of_names),  # for the difference of two scores
    Row("interval", "ReleaseRow.error", error_of_plan),  # for the noise on one score
]
