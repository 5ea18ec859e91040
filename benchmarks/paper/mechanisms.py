"""The three mechanisms of the paper, each with the paper's noise and as this package ships it.

"The paper" is Lazarsfeld, Johnson and Adeniran, "Differentially Private Maximal Information Coefficients", ICML 2022.
A mechanism is a function of a pair, epsilon, the number of runs and a seed, and returns that many outputs.
"""

import math
import warnings
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from benchmarks.published_geometric import published_scores_not_dp
from skdpmic import PrivacyLeakWarning, mic_e, mic_r, private_score
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GRID, LaplaceMechanism, grid_sensitivity
from skdpmic.privacy.noise import discrete_laplace, entropy_source
from skdpmic.statistics.mic.statistic import default_B, default_c, default_parts
from skdpmic.statistics.sensitivity import mic_e_sensitivity, mic_r_sensitivity

MECHANISMS = ("MICe-Lap", "MICr-Lap", "MICr-Geom")
NOISES = ("paper", "shipped")
METHODS = tuple(product(MECHANISMS, NOISES))
EPSILONS = (1.0, 0.1)
MEASURES = ("bias", "variance", "error")
SIMULATED = ("MICr-Geom", "shipped")  # a run takes 0.01 to 0.2 s, so there are fewer of them

# Table 2 of the paper: n, which are also those of Figures 2 and 4, and (c, B) of each mechanism and epsilon.
TUNED_N = (25, 250, 500, 1000, 5000, 10000)
TUNED = {
    ("MICr-Geom", 1.0): ((2, 12), (1, 40), (1, 40), (1, 60), (1, 150), (1, 150)),
    ("MICr-Geom", 0.1): ((2, 6), (2, 10), (2, 20), (2, 40), (1, 40), (1, 80)),
    ("MICr-Lap", 1.0): ((5, 8), (5, 40), (5, 60), (5, 80), (5, 150), (5, 150)),
    ("MICr-Lap", 0.1): ((5, 6), (5, 40), (5, 80), (5, 100), (5, 125), (5, 150)),
}


class Pair:
    """Two columns with their public bounds, and the scores that several mechanisms share."""

    def __init__(self, x, y, bounds):
        self.x, self.y, self.bounds = x, y, bounds
        self.n = len(x)
        self._mic_r = {}

    @cached_property
    def mic_e(self):
        """MICe(n^0.6, 15), the paper's reference for errors on real data."""
        return mic_e(self.x, self.y)

    @cached_property
    def mic_e_of_ranks(self):
        """MICe as the package's MICe-Lap computes it, for five random orders of equal values, if there are any."""
        has_ties = any(len(np.unique(values)) < self.n for values in (self.x, self.y))
        orders = range(5 if has_ties else 1)
        options = {"statistic": "mic_e", "epsilon": math.inf}
        return np.array([without_warning(private_score, self.x, self.y, random_state=i, **options) for i in orders])

    def mic_r(self, B, c):
        if (B, c) not in self._mic_r:
            self._mic_r[B, c] = mic_r(self.x, self.y, bounds=self.bounds, B=B, c=c)
        return self._mic_r[B, c]


# --- B, c and the scale of Laplace noise: functions of public numbers ---------------------------------------------


def settings(mechanism, noise, n, epsilon):
    """B and c of a mechanism. The paper's are linear in n between the entries of its Table 2, constant outside.

    For shipped MICr-Geom, the number of its table's parts takes the place of c.
    """
    if mechanism == "MICe-Lap":
        return n**0.6, 15.0
    if noise == "paper":
        c, B = (float(np.interp(n, TUNED_N, column)) for column in zip(*TUNED[mechanism, epsilon], strict=True))
        return B, c
    if mechanism == "MICr-Geom":
        return default_B(n, epsilon), float(default_parts(n, epsilon))
    return default_B(n, epsilon), default_c(n, epsilon)


def configuration(data_set, n, method, epsilon, runs):
    """What a result depends on; it includes B and c, so that results are computed anew if the defaults change."""
    mechanism, noise = method
    B, c = settings(mechanism, noise, n, epsilon)
    of_method = {"mechanism": mechanism, "noise": noise, "B": round(B, 3), "c": round(c, 3)}
    return data_set | {"epsilon": epsilon} | of_method | {"runs": runs}


def laplace_scale(mechanism, noise, n, epsilon):
    if noise == "shipped":
        sensitivity = mic_e_sensitivity(n, n**0.6) if mechanism == "MICe-Lap" else mic_r_sensitivity(n)
        return LaplaceMechanism.for_budget(budget_of(epsilon), 1, grid_sensitivity(sensitivity, 0)).noise_scale
    if mechanism == "MICe-Lap":
        return n**0.6 * (2 * math.log2(n) + 4.8) / n / epsilon
    return (4 * math.log2(n) + 6) / n / epsilon


# --- Outputs ------------------------------------------------------------------------------------------------------


def outputs(pair, mechanism, noise, epsilon, runs, seed):
    """Outputs of `runs` runs of a mechanism on one pair: shape (runs,), in [0, 1]."""
    B, c = settings(mechanism, noise, pair.n, epsilon)
    if (mechanism, noise) == SIMULATED:
        return shipped_geometric(pair, epsilon, runs, seed)
    if mechanism == "MICr-Geom":
        return published_scores_not_dp(pair.x, pair.y, pair.bounds, epsilon, B, c, runs, seed)
    if mechanism == "MICr-Lap":
        score = pair.mic_r(B, c)
    else:
        score = pair.mic_e if noise == "paper" else np.resize(pair.mic_e_of_ranks, runs)
    draw = np.random.RandomState(seed)
    scale = laplace_scale(mechanism, noise, pair.n, epsilon)
    added = draw.laplace(scale=scale, size=runs) if noise == "paper" else draw.choice(exact_laplace(scale), runs)
    return np.clip(score + added, 0, 1)


def shipped_geometric(pair, epsilon, runs, seed):
    source = np.random.RandomState(seed)
    options = {"mechanism": "geometric", "epsilon": epsilon, "bounds": pair.bounds, "random_state": source}
    return np.array([without_warning(private_score, pair.x, pair.y, **options) for _ in range(runs)])


@lru_cache(maxsize=32)
def exact_laplace(scale, size=100_000):
    """A pool of the package's own noise from which runs draw; drawing a few values at a time is ten times as slow."""
    return (
        discrete_laplace(round(scale / GRID), size, entropy_source(np.random.RandomState(0))).astype(np.float64) * GRID
    )


def without_warning(function, *arguments, **options):
    """Call a mechanism without its warning about the seed; the noise protects nobody here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        return function(*arguments, **options)


# --- Errors -------------------------------------------------------------------------------------------------------


def errors(released, truth):
    """Bias (mean signed error), variance and mean unsigned error of several outputs, as the paper reports them."""
    return {
        "bias": np.mean(released - truth),
        "variance": np.var(released, ddof=1),
        "error": np.abs(released - truth).mean(),
    }
