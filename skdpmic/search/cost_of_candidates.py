"""The costs of the candidates of a search: of each in a grid, and of the costliest that can be drawn."""

import itertools
import math
import numbers

import numpy as np
from sklearn.model_selection import ParameterGrid

from skdpmic.search.candidates import candidate_with
from skdpmic.search.cost_of_fits import UNKNOWN, FitCost, cost_of_fit, may_draw_estimators, private_steps

BUDGET = ("epsilon", "delta")  # parameters of a private step whose largest value costs most


def largest(costs):
    """The largest epsilon, delta, number and rho among the candidates, because the choice is unknown."""
    return FitCost(*map(max, zip(*costs, strict=True)))


def alternatives(estimator, grids):
    """Each choice of estimators and other values that are not plain, and the plain or drawn values of its grid.

    Yields
    ------
    estimator : estimator
    others : dict
        Lists of plain values, and distributions.
    """
    now = estimator.get_params()
    for grid in grids:
        lists = {name: values for name, values in grid.items() if not hasattr(values, "rvs")}
        parts = {name: values for name, values in lists.items() if not all(map(_is_plain, [now.get(name), *values]))}
        others = {name: values for name, values in grid.items() if name not in parts}
        for parameters in ParameterGrid(parts):
            yield candidate_with(estimator, parameters), others


def costs_of(estimator, grid, n_features):
    """The cost of each candidate, whose parameters are the entries of the grid."""
    return [cost_of_fit(candidate_with(estimator, parameters), n_features) for parameters in grid]


def costs_at_random(estimator, grids, n_candidates, n_features):
    """The largest cost, once for each candidate that can be drawn."""
    if not any(hasattr(values, "rvs") for grid in grids for values in grid.values()):
        n_candidates = min(n_candidates, len(ParameterGrid(grids)))  # lists are sampled without replacement
    worst = (_worst_with(candidate, others, n_features) for candidate, others in alternatives(estimator, grids))
    return [largest(itertools.chain.from_iterable(worst))] * n_candidates


def _worst_with(estimator, grid, n_features):
    """Costs of candidates with fixed steps, of which one is the costliest that can be drawn.

    Parameters of private steps affect the cost in ways that only the step knows, so all values in lists are tried. If
    one is drawn from a distribution, the cost is at most that of any release with the largest epsilon and delta.
    """
    now, private, tried = estimator.get_params(), private_steps(estimator), {}
    for name, values in grid.items():
        owner, _, own = name.rpartition("__")
        is_drawn = hasattr(values, "rvs")
        if owner not in private:
            is_number = isinstance(now.get(name), numbers.Number)
            if is_drawn and (not _is_plain(now.get(name)) or (may_draw_estimators(values) and not is_number)):
                raise ValueError(f"the cost has no known bound: {name} is drawn from a distribution of estimators.")
        elif not is_drawn:
            tried[name] = values
        else:
            n_features = n_features and UNKNOWN
            if own in BUDGET:
                tried[name] = [_upper_end(name, values)]
    return costs_of(estimator, ParameterGrid(tried), n_features)


def _is_plain(value):
    return value is None or isinstance(value, str | bytes | int | float | np.generic)


def _upper_end(name, distribution):
    end = float(distribution.support()[1]) if hasattr(distribution, "support") else math.inf
    if end == math.inf:
        raise ValueError(f"the cost has no bound: {name} is drawn from a distribution without a known upper end.")
    return end
