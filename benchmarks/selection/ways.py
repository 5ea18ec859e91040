"""The ways to choose k features that are compared: a score, computed once, and noise, drawn often."""

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from benchmarks.selection.statistics import STATISTICS, target_of
from benchmarks.store import seed_of
from skdpmic import DPMICScorer, PrivacyLeakWarning
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GRID, GaussianMechanism, KNormMechanism, LaplaceMechanism, grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import OneShotTopK
from skdpmic.release.kinds import TARGET_SHARE

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
DELTA = 1e-6
NOT_PRIVATE = np.inf
_TARGETS = 24_000  # over the records of a table: how many draws there are of what is learnt about its target
_ROUNDING_ERROR = 1e-12  # far above that of each score, far below its sensitivity

# What hides the scores: names of the k best with one-shot noise (PrivateSelectKBest); all scores with Laplace noise,
# with noise in a cube or with Gaussian noise; all tables of counts with noise.
SUPPORT, EVEN, CUBE, GAUSSIAN, COUNTS = "support", "even split", "k-norm", "gaussian", "geometric"
REFERENCES = "references"  # whatever is not a private statistic: scores of scikit-learn, and other choices

# --- Scores -----------------------------------------------------------------------------------------------------------


class Scores:
    """Noise-free scores of one statistic, for all features of a table; those on each grid are computed once.

    Parameters
    ----------
    table : Table
    statistic : str
        A key of STATISTICS.
    seed : int
        For the order of equal values, and for what is learnt about the target.
    n_targets : int, default=None
        How often the latter is drawn: by default up to 8 times, less often for tables with many records.
    """

    def __init__(self, table, statistic, seed, n_targets=None):
        self.n, self.n_classes = len(table.y), table.n_classes
        self._table = table._replace(X=np.asfortranarray(table.X))
        self._statistic = STATISTICS[statistic]
        self._n_targets = int(np.clip(_TARGETS // self.n, 1, 8)) if n_targets is None else n_targets
        self._keys, self._seed = np.random.default_rng(seed).random((2, self.n)), seed
        self._known = {}
        self.of_target = TARGET_SHARE if learns(self._grid(1.0)) else Fraction(0)  # share of epsilon

    def of(self, epsilon_per_score, n_features=None, epsilon_of_target=np.inf):
        """Scores of the first `n_features`, or of all, on the grid for this epsilon per score: (n_features,).

        If something is learnt about the target with noise, it is drawn several times: (n_draws, n_features).
        """
        grid = self._grid(epsilon_per_score)
        if not learns(grid):
            return self._on(grid, n_features)
        scores = [self._on(learnt, n_features) for learnt in self._learnt(grid, epsilon_of_target)]
        return scores[0] if len(scores) == 1 else np.array(scores)

    def _learnt(self, measure, epsilon):
        """The measure, with what epsilon reveals about the target, drawn several times."""
        n_draws = 1 if epsilon == np.inf else self._n_targets
        target, bounds = target_of(self._table), self._table.target_bounds
        counts, source = measure.target_counts(target), entropy_source(seed_of((self._seed, str(epsilon))) % 2**32)
        public = len(target.values), bounds, epsilon, source
        return [measure.release_target_shares(counts, *public) for _ in range(n_draws)]

    def _on(self, grid, n_features):
        wanted = self._table.X.shape[1] if n_features is None else n_features
        known = self._known.get(grid, np.empty(0))
        if len(known) < wanted:
            missing = self._table.columns(slice(len(known), wanted))
            known = self._known[grid] = np.concatenate([known, self._statistic.scores(missing, grid, self._keys)])
        return known[:wanted]

    def sensitivity(self, epsilon_per_score):
        """How far one record can move each of them."""
        return self._statistic.sensitivity(self.n, self.n_classes, self._grid(epsilon_per_score))

    def _grid(self, epsilon_per_score):
        return self._statistic.grid(self.n, epsilon_per_score, self.n_classes)


def learns(grid):
    """Whether a grid is a measure that first has something to learn about the target."""
    return getattr(grid, "spends_on_target", False)


def geometric_scores(table, epsilon, seed):
    """Scores of MICr by the package from noisy tables of counts."""
    classes = None if table.n_classes is None else range(table.n_classes)
    public = {"bounds": (table.lower, table.upper), "target_bounds": table.target_bounds, "classes": classes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # about the seed
        scorer = DPMICScorer(epsilon=epsilon, mechanism="geometric", random_state=seed, **public)
        return scorer.fit(table.X, table.y).scores_


def mutual_information(table):
    """scikit-learn's score, from nearest neighbours."""
    if table.n_classes is None:
        return mutual_info_regression(table.X, table.y, random_state=0)
    return mutual_info_classif(table.X, table.y, random_state=0)


# --- Noise ------------------------------------------------------------------------------------------------------------


def private_ways(scores, k, d, epsilons, n_features=None, mechanisms=(SUPPORT, GAUSSIAN, CUBE, EVEN)):
    """All ways to hide one statistic in a choice of k of d features.

    Yields
    ------
    mechanism, epsilon
    values : ndarray
        Noise-free scores of the first `n_features`; a row for each draw of what is learnt about the target.
    scale : float
        Scale of the noise.
    """
    for mechanism, epsilon in product(mechanisms, epsilons):
        budget = budget_of_way(mechanism, epsilon)
        of_target = budget.part(scores.of_target).epsilon if scores.of_target else 0
        rest = budget.part(1 - scores.of_target)
        per_score = epsilon_per_score(mechanism, rest, k, d)
        scale = noise_scale(mechanism, rest, k, d, scores.sensitivity(per_score))
        yield mechanism, epsilon, scores.of(per_score, n_features, of_target), scale


def trial_scores(values, columns):
    """The scores of each trial's columns, (n_trials, d); if there are several draws of them, trials take turns."""
    values = np.atleast_2d(values)
    return values[np.arange(len(columns))[:, None] % len(values), columns]


def budget_of_way(mechanism, epsilon):
    """The budget of a mechanism, which has a delta only if it needs one."""
    return budget_of(epsilon, DELTA if mechanism == GAUSSIAN else 0.0)


def epsilon_per_score(mechanism, budget, k, d):
    """What an automatic grid depends on: the epsilon of each of `d` scores that share a budget."""
    if mechanism == SUPPORT:
        return OneShotTopK.epsilon_per_score(budget, k)
    return _OF_SCORES[mechanism].epsilon_per_score(budget, d)


def noise_scale(mechanism, budget, k, d, sensitivity):
    """Scale of the noise on each score, from the package's mechanisms."""
    steps = grid_sensitivity(sensitivity, _ROUNDING_ERROR)
    if mechanism == SUPPORT:
        return OneShotTopK.for_budget(budget, k, steps).noise_scale
    return _OF_SCORES[mechanism].for_budget(budget, d, steps).scale * GRID


_OF_SCORES = {EVEN: LaplaceMechanism, CUBE: KNormMechanism, GAUSSIAN: GaussianMechanism}


def noise_of(seed, mechanism, epsilon):
    """The source of noise: the same for all statistics, so that their differences depend less on chance."""
    return np.random.default_rng([seed, seed_of((mechanism, epsilon))])


def choose(values, k, mechanism, scale, random):
    """Indices of the k best with noise, in any order: (n_draws, k), from values of shape (n_draws, n_features).

    This is a simulation: noise in floating point has the distribution of the exact noise up to its grid, and takes no
    time. It is not private. Without noise, equal scores are in random order.
    """

    def in_cube(scale, size):
        return random.gamma(size[1] + 1, scale, (size[0], 1)) * random.uniform(-1, 1, size)

    samplers = {SUPPORT: random.exponential, EVEN: random.laplace, CUBE: in_cube, GAUSSIAN: random.normal}
    scale, sample = (scale, samplers[mechanism]) if scale > 0 else (_ROUNDING_ERROR, random.normal)
    return np.argpartition(-values - sample(scale=scale, size=values.shape), k - 1, axis=1)[:, :k]
