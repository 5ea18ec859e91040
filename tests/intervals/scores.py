"""Intervals of published scores, shares and correlations, of any statistic and mechanism, for any table."""

import math

import numpy as np
from scipy import stats
from sklearn.base import clone

from skdpmic import DPMICScorer
from skdpmic._utils.texts import SILENT
from skdpmic.correlation import PrivateCorrelation
from skdpmic.privacy.composition import budget_of
from skdpmic.privacy.mechanisms import GRID, MECHANISMS, from_grid, to_grid
from skdpmic.privacy.top_k import OneShotTopK, confidence_among_best
from skdpmic.selection.scoring import read
from skdpmic.selection.selectors import chances_among_best
from skdpmic.statistics.registry import STATISTICS
from tests.intervals.table import Drawn, Row

N_DRAWS = 500


def scorer(setting, random, statistic):
    """A scorer and a table that it can score: numbers or classes, with people or weights if the statistic allows."""
    mechanism = random.choice(list(MECHANISMS))
    options = {"statistic": statistic, "mechanism": mechanism, "epsilon": setting.epsilon, "bounds": (0, 1)}
    options["delta"] = 1e-6 if MECHANISMS[mechanism].needs_delta else 0.0
    X = setting.numbers(random, setting.n_features)
    y = X[:, 0] + 0.3 * setting.numbers(random)
    if random.random() < 0.5:
        options["target_bounds"] = (0, 1.3)
    else:
        n_classes = 2 if statistic == "kendall" else setting.n_classes
        y = np.clip(np.floor(y / 1.3001 * n_classes), 0, n_classes - 1)
        y = np.where((y == 0) & (random.random(len(y)) < 0.95 * setting.has_rare), 1, y)
        options["classes"] = list(range(n_classes))
    beside = {}
    if setting.rows_per_group:
        options["max_rows_per_group"] = setting.rows_per_group
        beside["groups"] = setting.people(random)
    if setting.max_weight and STATISTICS[statistic].takes_weights:
        options["max_weight"] = setting.max_weight
        beside["sample_weight"] = setting.weights(random)
    return DPMICScorer(**options), X, y, beside


def scores_interval(statistics, simultaneous):
    """Noise is drawn many times on the noise-free scores at the shares that one fit learnt.

    For these, neither the order of rows nor a seed makes a difference. MTVr also has the scores of a user who gives the
    released shares and cut.
    """

    def draw(random, setting):
        fit, X, y, beside = scorer(setting, random, random.choice(statistics))
        fit.set_params(random_state=int(random.integers(2**31))).fit(X, y, **beside)
        order = random.permutation(len(X)) if "groups" not in beside else np.arange(len(X))
        again = {name: values[order] for name, values in beside.items()}
        records = read(fit._plan(), X[order], y[order], **again).sampled(SILENT)
        exact = records.scores(fit._null_model.measure, None, random.bytes)
        given = exact if beside else scores_as_released(fit, X, y)
        truth = np.concatenate([exact, given])
        if math.isinf(setting.epsilon):
            return Drawn(*(np.tile(end, 2) for end in fit.scores_interval()), truth, truth, (0, 1))
        noise, noisy = fit._noise, to_grid(exact)
        drawn = np.array([noise._noise(len(exact), random.bytes) for _ in range(N_DRAWS)], dtype=float)
        lower, upper = np.empty((2, N_DRAWS, len(truth)))
        for i, z in enumerate(drawn):
            fit.scores_ = from_grid(noisy + z)
            lower[i], upper[i] = (np.tile(end, 2) for end in fit.scores_interval(simultaneous=simultaneous))
        return Drawn(lower, upper, truth, truth + np.tile(drawn, 2) * GRID, (0, 1))

    return draw


def scores_as_released(fit, X, y):
    """Noise-free scores at the released shares and cut; those of the fit if these cannot be passed as an argument."""
    if not fit._learnt_of_target or len(fit.target_shares_) > 2 or min(fit.target_shares_) <= fit._target_shares.error:
        return read(fit._plan(), X, y).scores(fit._null_model.measure, None, None)
    given = {name: getattr(fit, f"{name}_") for name in ("target_shares", "B", "c") if hasattr(fit, f"{name}_")}
    if fit._target_shares.knots is not None:
        given["target_bounds"] = fit._target_shares.knots
    return clone(fit).set_params(epsilon=math.inf, random_state=None, **given).fit(X, y).scores_


def correlation_interval(random, setting):
    X = setting.numbers(random, max(setting.n_features, 2))
    X[:, 1] += X[:, 0]
    exact = np.asarray(PrivateCorrelation(epsilon=math.inf).fit(X).noisy_correlation_)
    fit = PrivateCorrelation(epsilon=setting.epsilon).fit(X)
    above = np.triu_indices(len(exact), 1)
    if math.isinf(setting.epsilon):
        return Drawn(*(end[above] for end in fit.correlation_interval()), exact[above], exact[above], (-1, 1))
    sums = np.round(exact[above] * fit._mechanism.n_pairs).astype(np.int64)
    lower, upper, noisy = np.empty((3, N_DRAWS, len(sums)))
    for i in range(N_DRAWS):
        noisy[i] = fit._mechanism.release(sums, random.bytes)
        fit.noisy_correlation_ = np.ones_like(exact)
        fit.noisy_correlation_[above] = noisy[i]
        lower[i], upper[i] = (end[above] for end in fit.correlation_interval())
    return Drawn(lower, upper, exact[above], noisy, (-1, 1))


def p_values(random, setting):
    """Independent columns, one fit: the p-values of all features under noise that is independent of one another."""
    setting = setting._replace(n=min(setting.n, 800), epsilon=120 * setting.epsilon, rows_per_group=None)
    X = np.concatenate([setting.numbers(random, 40) for _ in range(3)], axis=1)
    mechanism, delta = [("laplace", 0.0), ("gaussian", 1e-6)][random.integers(2)]
    public = {"bounds": (0, 1), "target_bounds": (0, 1), "delta": delta, "mechanism": mechanism}
    fit = DPMICScorer(statistic=random.choice(["mic_r", "mtv_r"]), epsilon=setting.epsilon, **public)
    return fit.fit(X, setting.numbers(random)).p_values()


def among_best(random, setting):
    """Scores that are uniform, as the prior says."""
    scale, k = 0.3 / setting.epsilon, int(random.integers(1, 6))
    law, rows = stats.laplace(scale=scale), []
    for _ in range(40):
        truths = random.random(20)
        released = np.clip(truths + law.rvs(size=20, random_state=random), 0, 1)
        rows.append([chances_among_best(released, 0.0, law, k), truths >= np.sort(truths)[-k]])
    return np.concatenate(rows, axis=1)


def confidence_of_names(random, setting):
    """Scores as close as the noise, and equal ones; at one rank, because it holds for each separately."""
    k = int(random.integers(2, 5))
    mechanism = OneShotTopK.for_budget(budget_of(setting.epsilon), k, 2**20)
    scores = np.round(random.random(8), 1) * mechanism.scale * GRID * 4
    rank, rows = int(random.integers(k)), []
    for _ in range(400):
        chosen, gaps = mechanism.release(scores, random.bytes)
        stated = confidence_among_best(gaps, mechanism.noise_scale)[rank]
        rows.append([stated, scores[chosen[rank]] >= np.sort(scores)[-k]])
    return np.array(rows, dtype=float).T


NOT_LEARNT = [name for name, statistic in STATISTICS.items() if not statistic.spends_on_target(2)]
LEARNT = [name for name in STATISTICS if name not in NOT_LEARNT]
ROWS = [
    Row("interval", "DPMICScorer.scores_interval", scores_interval(NOT_LEARNT, False)),  # for the noise-free scores
    Row(
        *("interval", "DPMICScorer.scores_interval(simultaneous=True)", scores_interval(NOT_LEARNT, True)),
        simultaneous=True,
    ),
    Row(  # also for the scores at the released shares and cut
        *("interval", "DPMICScorer.scores_interval of MTVr", scores_interval(LEARNT, False)),
        exempt="an interval contains both scores",
    ),
    Row("interval", "PrivateCorrelation.correlation_interval", correlation_interval),  # each separately
    Row("p-value", "DPMICScorer.p_values", p_values),  # that an independent feature scores at least as much: a bound
    Row("chance", "to_frame.among_best of scores", among_best),  # to be among the best k without noise
    Row("chance", "to_frame.among_best of names", confidence_of_names, exempt="a lower bound, at each rank"),
]
