"""The ways to choose k features that are compared: a score, computed once, and noise, drawn often."""

import warnings
from functools import cache
from itertools import product

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from benchmarks.selection import rivals
from skdpmic import DPMICScorer, PrivacyLeakWarning
from skdpmic.privacy.mechanisms import GaussianMechanism, LaplaceMechanism, grid_sensitivity
from skdpmic.privacy.sensitivity import mic_r_sensitivity
from skdpmic.privacy.top_k import OneShotTopK

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
DELTA = 1e-6
PRIVATE_SCORES = ("MICr", "covariance", "Kendall", "Spearman", "binned MI")
NOT_PRIVATE = np.inf
_ROUNDING_ERROR = 1e-12  # far above that of each score, far below its sensitivity

# What hides the scores: names of the k best by one-shot noise (release="support"), all scores with Laplace or with
# Gaussian noise, all tables of counts with noise.
SUPPORT, EVEN, GAUSSIAN, COUNTS = "support", "even split", "gaussian", "geometric"


class Scores:
    """Scores without noise of all features of a table, each kept once computed.

    Parameters
    ----------
    table : Table
    seed : int
        For the order of ties.
    """

    def __init__(self, table, seed):
        self.n, self.n_classes = len(table.y), table.n_classes
        self._table = table
        self._keys = np.random.default_rng(seed).random((2, self.n))
        self._known = {}

    def of(self, score, grid=None, n_features=None):
        """Values of the first `n_features`, or of all; `grid` is (B, c) of MICr, by default as without noise."""
        if score == "MICr" and grid is None:
            grid = automatic_grid(self.n, np.inf, self.n_classes)
        wanted = self._table.X.shape[1] if n_features is None else n_features
        known = self._known.get((score, grid), np.empty(0))
        if len(known) < wanted:
            missing = self._compute(self._table.columns(np.arange(len(known), wanted)), score, grid)
            known = self._known[score, grid] = np.concatenate([known, missing])
        return known[:wanted]

    def _compute(self, table, score, grid):
        if score == "MICr":
            return mic_r_scores(table, *grid)
        if score == "covariance":
            return rivals.covariance(table)
        if score == "Kendall":
            return rivals.kendall(table)
        if score == "Spearman":
            return rivals.spearman(table, self._keys)
        return rivals.binned_information(table)


def private_ways(scores, k, d, epsilons, n_features=None):
    """All that are compared to choose k of d features.

    Yields
    ------
    score, mechanism, epsilon
    values : ndarray
        Without noise, of the first `n_features`.
    scale : float
        Of the noise.
    """
    for score, epsilon in product(PRIVATE_SCORES, epsilons):
        for mechanism in (SUPPORT, EVEN, GAUSSIAN) if score == "MICr" else (SUPPORT, EVEN):
            grid = grid_for(score, mechanism, epsilon, k, d, scores.n, scores.n_classes)
            scale = noise_scale(score, mechanism, epsilon, k, d, scores.n, scores.n_classes)
            yield score, mechanism, epsilon, scores.of(score, grid, n_features), scale


def mic_r_scores(table, B, c):
    """The scores that the package adds noise to."""
    return _package_scorer(table, epsilon=np.inf, B=B, c=c).fit(table.X, table.y).scores_


def geometric_scores(table, epsilon, seed):
    """Scores by the package from noisy tables of counts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # of the seed
        scorer = _package_scorer(table, epsilon=epsilon, mechanism="geometric", random_state=seed)
        return scorer.fit(table.X, table.y).scores_


def _package_scorer(table, **parameters):
    classes = None if table.n_classes is None else range(table.n_classes)
    return DPMICScorer(
        bounds=(table.lower, table.upper), target_bounds=table.target_bounds, classes=classes, **parameters
    )


def mutual_information(table):
    """scikit-learn's score, from nearest neighbours."""
    if table.n_classes is None:
        return mutual_info_regression(table.X, table.y, random_state=0)
    return mutual_info_classif(table.X, table.y, random_state=0)


@cache
def automatic_grid(n, epsilon_per_score, n_classes=None):
    """The (B, c) that B="auto" and c="auto" stand for: what a fit on records without any content says."""
    target = {"target_bounds": (0, 1)} if n_classes is None else {"classes": range(n_classes)}
    scorer = DPMICScorer(epsilon=epsilon_per_score, bounds=(0, 1), **target).fit(np.zeros((n, 1)), np.zeros(n, int))
    return scorer.B_, scorer.c_


def grid_for(score, mechanism, epsilon, k, d, n, n_classes=None):
    """The automatic (B, c) of MICr when `d` features share `epsilon`; None for other scores."""
    if score != "MICr":
        return None
    per_score = {
        SUPPORT: lambda: OneShotTopK.epsilon_per_score(epsilon, k),
        EVEN: lambda: epsilon / d,
        GAUSSIAN: lambda: GaussianMechanism.epsilon_per_score(epsilon, DELTA, d),
    }
    return automatic_grid(n, per_score[mechanism](), n_classes)


def noise_scale(score, mechanism, epsilon, k, d, n, n_classes=None):
    """Scale of the noise on each score, from the package's mechanisms."""
    steps = grid_sensitivity(_sensitivity(score, n, n_classes), _ROUNDING_ERROR)
    if mechanism == SUPPORT:
        return OneShotTopK.for_budget(epsilon, k, steps).noise_scale
    if mechanism == EVEN:
        return LaplaceMechanism.for_budget(epsilon, d, steps).noise_scale
    return GaussianMechanism.for_budget(epsilon, DELTA, d, steps).noise_scale


def _sensitivity(score, n, n_classes):
    if score == "MICr":
        return mic_r_sensitivity(n)
    if score == "binned MI":
        return rivals.binned_information_sensitivity(n, n_classes)
    of_score = {
        "covariance": rivals.covariance_sensitivity,
        "Kendall": rivals.kendall_sensitivity,
        "Spearman": rivals.spearman_sensitivity,
    }
    return of_score[score](n)


def choose(values, k, mechanism, scale, random):
    """Indices of the k best with noise, in any order: (n_draws, k), from values of shape (n_draws, n_features).

    A simulation: noise in floating point has the law of the exact noise up to its grid, and takes no time. It is not
    private.
    """
    laws = {SUPPORT: random.exponential, EVEN: random.laplace, GAUSSIAN: random.normal}
    noisy = values + laws[mechanism](scale=scale, size=values.shape) if scale > 0 else values
    return np.argpartition(-noisy, k - 1, axis=1)[:, :k]
