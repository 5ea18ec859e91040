"""The trials of a private search: the subsets of rows on which candidates are tried, and their scores."""

import contextlib
import functools
import math
import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.utils.parallel import Parallel, delayed

from skdpmic._utils.arguments import check_interval, is_auto, is_whole
from skdpmic._utils.errors import public_messages
from skdpmic._utils.seeding import generators_seeded
from skdpmic._utils.texts import quoted
from skdpmic.privacy.composition import epsilon_of, rho_for
from skdpmic.privacy.top_k import MOST_CUBE_NOISE
from skdpmic.search.cost_of_fits import private_steps, widths_in
from skdpmic.selection.select_k_best import PrivateSelectKBest

SEED_BYTES = 16
_HALVINGS = 12  # of an interval of epsilons

# Rounding of a mean of numbers in [0, 1]: once in the sum, once in the division.
MEAN_ERROR = 2.0**-52


def checked_n_subsets(n_subsets, n_samples, reader, has_private):
    """The number of subsets, with "auto" resolved; a ValueError if there are too many or too few.

    What a private step finds in few rows is left to chance at any epsilon: half as many subsets are twice as large.
    """
    most = n_samples // 4
    if most < 2:
        raise ValueError(f"Found array with {n_samples} sample(s) while a minimum of 8 is required by {reader}.")
    usual = max(math.isqrt(n_samples) // (1 + has_private), 2)
    asked = min(usual, most) if is_auto(n_subsets) else n_subsets
    if not is_whole(asked) or not 2 <= asked <= most:
        raise ValueError(
            f"n_subsets must be 'auto' or an int in [2, n_samples // 4] = [2, {most}] with n_samples={n_samples}, "
            f"got {quoted(n_subsets)}."
        )
    return int(asked)


def assign_subsets(n_samples, n_subsets, test_size, random_bytes):
    """Row positions of disjoint subsets, each as (training rows, test rows), drawn independently of the data."""
    order = np.random.RandomState(int.from_bytes(random_bytes(4), "little")).permutation(n_samples)
    subsets = []
    for rows in np.array_split(order, n_subsets):
        n_test = _n_test(len(rows), test_size)
        subsets.append((rows[n_test:], rows[:n_test]))
    return subsets


def _n_test(n_rows, test_size):
    return min(max(round(test_size * n_rows), 2), n_rows - 2)  # R squared requires two


def training_sizes(n_samples, n_subsets, test_size):
    """The possible numbers of training rows in a subset."""
    return {n_rows - _n_test(n_rows, test_size) for n_rows in (n_samples // n_subsets, -(-n_samples // n_subsets))}


def mean_over_subsets(scores, bounds):
    """Means of the clipped scores, as shares of their range; one record changes each by at most 1 / n_subsets."""
    lower, upper = check_interval(bounds, "score_bounds")
    clipped = np.clip(np.nan_to_num(scores, nan=lower), lower, upper)
    shares = np.clip((clipped - lower) / (upper - lower), 0.0, 1.0)
    return np.array([math.fsum(row) / len(row) for row in shares])


def for_a_subset(candidate, n_samples, n_rows, n_features):
    """The candidate for this many of all rows: with as much private noise as in the refit, and without ledgers."""
    trial, factor, sizes = clone(candidate), n_samples / n_rows, (n_rows, n_samples)
    widths = widths_in(trial, n_features)
    for name, private in private_steps(trial).items():
        changed = _more_budget(private, factor, widths.get(id(private), ()), sizes)
        trial = trial.set_params(**{name: changed}) if name else changed
    return trial


def trial_scores(fits, n_subsets, arguments, scorer, seeds, n_jobs, progress):
    """Scores of shape (n_candidates, n_subsets) of trials in subsets; NaN if one fails, and an error if all do."""
    X, y, params = arguments
    scores = Parallel(n_jobs=n_jobs, return_as=progress.return_as)(
        delayed(score_in_subset)(trial, X, y, params, subset, scorer, seed)
        for (trial, subset), seed in zip(fits, seeds, strict=True)
    )
    scores = np.array(list(progress.track(scores, len(seeds), "fits")))
    if np.isnan(scores).all():
        trial, subset = fits[0]
        why = failure_reason(trial, X, y, params, subset, scorer, seeds[0])
        raise ValueError(
            f"no candidate could be fitted and scored in any of the {n_subsets} subsets of the data. {why}Fit the "
            "estimator by itself to see more. The subsets may also be too small for it, or lack a class: try a smaller "
            "n_subsets."
        )
    return scores.reshape(-1, n_subsets)


def score_in_subset(trial, X, y, params, subset, scorer, seed):
    """The score of a candidate in one subset, a function of its rows and its own random numbers; NaN if it fails.

    This holds in this process or another one. Threads run one at a time, because they share the global generators.
    """
    with generators_seeded(seed), warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore")  # warnings could reveal data
        return cross_validate(trial, X, y, cv=[subset], scoring=scorer, params=params)["test_score"][0]
    return math.nan


def score_as_number(scorer, *arguments):
    """The score, or an error of this subset only: cross_validate would fail as a whole if a score is not a number."""
    return float(scorer(*arguments))


def failure_reason(trial, X, y, params, subset, scorer, seed):
    """A description of a fit's error that does not quote data."""
    try:
        with generators_seeded(seed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cross_validate(trial, X, y, cv=[subset], scoring=scorer, params=params, error_score="raise")
    except Exception as error:
        return "".join(f"{message}. " for message in public_messages(error))
    return ""


def _more_budget(private, factor, widths, sizes):
    """A step with noise smaller by this factor; with delta, of which noise depends on rho, the square grows.

    Names chosen with delta come from the mechanism with the least noise, which may be another one at a larger epsilon.
    """
    given = private.keywords if isinstance(private, functools.partial) else private.get_params(deep=False)
    epsilon, delta = float(given["epsilon"]), given.get("delta", 0.0)
    more = epsilon * factor
    if 0 < delta and epsilon < math.inf:
        of_rho = epsilon_of(factor**2 * rho_for(epsilon, delta), delta)
        is_of_names = isinstance(private, PrivateSelectKBest)
        more = _epsilon_of_names(private._plan(), factor, of_rho, widths, sizes) if is_of_names else of_rho
    changed = {"epsilon": more, "ledger": None}
    if isinstance(private, functools.partial):
        return functools.partial(private.func, *private.args, **(private.keywords | changed))
    return private.set_params(**changed)


def _epsilon_of_names(plan, factor, most, widths, sizes):
    """An epsilon with no less noise on the choice of names than the plan's, up to this factor; the largest found."""

    def has_less_noise(epsilon, width):
        here, there = (
            replace(plan, epsilon=each).release(width, n, plan.facts.n_classes)
            for each, n in zip((epsilon, plan.epsilon), sizes, strict=True)
        )
        return here.epsilon_per_feature > factor * there.epsilon_per_feature

    enough = MOST_CUBE_NOISE * factor * plan.epsilon  # for any width: other mechanisms gain less than epsilon grows
    for _ in range(_HALVINGS if widths else 0):
        middle = (enough + most) / 2
        if any(has_less_noise(middle, width) for width in widths):
            most = middle
        else:
            enough = middle
    return enough
