"""The steps before a private one that break its guarantee: they resample rows, or learn from all of them.

A release protects a row of the table that it gets. If an earlier step copies, draws or drops rows depending on others,
or computes a row from all others, one record changes many rows of that table (``docs/theory/threat_model.md``).
"""

import contextlib
import functools
import math
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import get_tags

from skdpmic._utils.arguments import check_interval
from skdpmic._utils.errors import PrivacyLeakWarning, public_messages, warn
from skdpmic._utils.seeding import generators_seeded
from skdpmic.preprocessing.public_encoder import PublicEncoder
from skdpmic.search.cost_of_fits import is_private, private_steps

RESAMPLES, LEARNS = "resamples rows", "may learn from all rows"
_BY_ROW = (PolynomialFeatures, PublicEncoder)  # that are fitted, but map each row by itself
_OF_TARGET = "transformer"  # parameter of TransformedTargetRegressor, which comes before its regressor
_LISTS = ("steps", "transformers", "transformer_list")  # parameters with the parts of a composite


def earlier_steps(candidates):
    """The steps that come before a private one in any of these estimators and break its guarantee.

    Parameters
    ----------
    candidates : iterable of estimators

    Returns
    -------
    dict
        By parameter name, (class name, `RESAMPLES` or `LEARNS`).
    """
    found = {}
    for candidate in candidates:
        _walk(candidate, "", {}, found)
    return found


def refuse_resampling(steps):
    """Raise if a step resamples rows: no epsilon bounds what one record then does."""
    named = [f"{name} ({kind})" for name, (kind, what) in steps.items() if what == RESAMPLES]
    if named:
        raise ValueError(
            f"estimator must have no step that resamples rows before a private step, got {', '.join(named)}: one "
            "record may become many rows, so its cost has no bound. Put the private step first, or resample after it."
        )


def warn_about_learning(steps):
    """Warn about steps that may learn from all rows."""
    if steps:
        warn(
            f"{steps_in_words(steps)} before a private step: one record can then change all rows that the private step "
            "gets, and the guarantee does not hold, at any cost. Put the private step first, unless these steps map "
            "each row by itself.",
            PrivacyLeakWarning,
        )


def steps_in_words(steps):
    """The steps and what they do, as the beginning of a sentence."""
    named = ", ".join(f"{name} ({kind})" for name, (kind, _) in steps.items())
    return f"{named} may learn from all rows"


def _walk(part, path, before, found):
    """Add the steps of `before` to `found` if a private estimator is inside; return what the part itself does."""
    if is_private(part):
        found |= before
        return {}  # what it passes on depends on its release and on each row
    if isinstance(part, functools.partial) or not hasattr(part, "get_params") or isinstance(part, type):
        return {}
    given = part.get_params(deep=False)
    composite = next((name for name in _LISTS if isinstance(given.get(name), list | tuple)), None)
    inside, breaking = before, {}
    for name, step in _parts(given, composite):
        own = _walk(step, f"{path}__{name}".removeprefix("__"), inside, found)
        breaking |= own
        if composite == "steps" or name == _OF_TARGET:  # the others are side by side
            inside = inside | own
    holds_private = any(is_private(value) for value in given.values())
    return breaking if composite or holds_private else _of_step(part, path)


def _parts(given, composite):
    """The estimators inside, by name, in order; those of a list are (name, estimator, ...)."""
    listed = [(str(name), step) for name, step, *_ in given[composite]] if composite else []
    others = [(name, value) for name, value in given.items() if hasattr(value, "get_params") or is_private(value)]
    return listed + sorted(others, key=lambda part: part[0] != _OF_TARGET)


def _of_step(step, path):
    """What a single step does to rows, by its name."""
    kind = type(step).__name__
    if hasattr(step, "fit_resample"):
        return {path or kind: (kind, RESAMPLES)}
    needs_fit = not hasattr(step, "__sklearn_tags__") or get_tags(step).requires_fit
    is_by_row = isinstance(step, _BY_ROW) or not hasattr(step, "transform") or not needs_fit
    return {} if is_by_row else {path or kind: (kind, LEARNS)}


SEED_BYTES = 16

# Rounding of a mean of numbers in [0, 1]: once in the sum, once in the division.
MEAN_ERROR = 2.0**-52


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


def for_a_subset(candidate, n_subsets):
    """The candidate for each subset: with as much private noise as in the refit, and without ledgers."""
    trial = clone(candidate)
    if is_private(trial):
        return _more_epsilon(trial, n_subsets)
    for name, private in private_steps(trial).items():
        trial.set_params(**{name: _more_epsilon(private, n_subsets)})
    return trial


def score_in_subset(trial, X, y, params, subset, scorer, seed):
    """The score of a candidate in one subset, a function of its rows and its own random numbers; NaN if it fails.

    This holds in this process or another one. Threads run one at a time, because they share the global generators.
    """
    with generators_seeded(seed), warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore")  # warnings could reveal data
        return cross_validate(trial, X, y, cv=[subset], scoring=scorer, params=params)["test_score"][0]
    return math.nan


def score_as_number(scorer, *arguments):
    """The score, or an error of this subset only: cross_validate would fail as a whole if a score is no number."""
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


def _more_epsilon(private, factor):
    if isinstance(private, functools.partial):
        changed = {"epsilon": private.keywords["epsilon"] * factor, "ledger": None}
        return functools.partial(private.func, *private.args, **(private.keywords | changed))
    return private.set_params(epsilon=private.epsilon * factor, ledger=None)
