"""The privacy cost of one fit, including all private estimators inside the fitted object."""

import functools
import inspect
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.feature_selection import (
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
)
from sklearn.pipeline import FeatureUnion, Pipeline

from skdpmic._utils.numbered_labels import about_numbered_labels
from skdpmic._utils.private_estimator import PrivateEstimator
from skdpmic._utils.readable import is_position
from skdpmic._utils.texts import quoted
from skdpmic.budget.filters import Cost
from skdpmic.privacy.parameters import check_epsilon, exact
from skdpmic.selection.scorer import DPMICScorer, dp_mic_classif, dp_mic_regression
from skdpmic.two_party.randomized_response import RandomizedResponse

UNIVARIATE = (SelectKBest, SelectPercentile, SelectFpr, SelectFdr, SelectFwe, GenericUnivariateSelect)

# Meta-estimators that fit each inner estimator exactly once.
_FITS_EACH_ONCE = (Pipeline, FeatureUnion, ColumnTransformer, TransformedTargetRegressor, *UNIVARIATE)


class FitCost(NamedTuple):
    """Exact epsilon, delta and rho of one fit (or infinity), and the number of private estimators that share them."""

    epsilon: Fraction | float = Fraction(0)
    delta: Fraction = Fraction(0)
    n_private: int = 0
    rho: Fraction | float = Fraction(0)


def cost_of_fit(estimator, n_features=None):
    """The cost of one fit of `estimator`, including all private estimators inside it.

    Parameters
    ----------
    estimator : estimator or function form
    n_features : int or UNKNOWN, default=None
        Number of columns of the table; if None, rho is not computed and is 0. With UNKNOWN, the cost is that of the
        costliest release with the same epsilon and delta.

    Raises
    ------
    ValueError
        If a private estimator is inside another estimator that fits it an unknown number of times, or if there is a
        private search inside.
    """
    return _cost_of_part(estimator, None if n_features is None else widths_in(estimator, n_features))


def _cost_of_part(estimator, widths):
    if may_draw_estimators(estimator):
        raise ValueError(
            f"the cost has no known bound: a {type(estimator).__name__} may draw private estimators. Pass a list of "
            "values, or a distribution of scipy.stats, which draws numbers."
        )
    if is_private(estimator):
        return _own_cost(estimator, widths)
    if isinstance(estimator, RandomizedResponse):
        raise ValueError(
            "cannot compute the cost of a RandomizedResponse inside another estimator: each of its transforms is a "
            "separate release, its fits are not. Call transform once, outside of other estimators."
        )
    if "ledger" in _parameters(estimator):  # a PrivateGridSearch: its choice is itself a release
        raise ValueError(
            f"cannot compute the cost of a {type(estimator).__name__} inside another search: its choice is a separate "
            "release. Fit it by itself."
        )
    parts = list(_inside(_parameters(estimator).values()))
    if isinstance(estimator, _FITS_EACH_ONCE):
        return total_cost(_cost_of_part(part, widths) for part in parts)
    if any(_cost_of_part(part, None).n_private for part in parts):
        raise ValueError(
            about_numbered_labels(estimator)
            or f"cannot tell how many times {type(estimator).__name__} fits the private estimator inside it. Private "
            "estimators are counted inside pipelines, unions, column transformers and univariate selectors."
        )
    return FitCost()


def is_private(candidate):
    """Whether `candidate` is an estimator of this package, or a partial of one of its function forms."""
    if isinstance(candidate, functools.partial):
        return candidate.func in (dp_mic_classif, dp_mic_regression)
    return isinstance(candidate, PrivateEstimator) and candidate._plan is not None


def private_steps(estimator):
    """Private estimators and function forms in `estimator`, by parameter name; "" is `estimator` itself."""
    return {name: part for name, part in {"": estimator, **estimator.get_params()}.items() if is_private(part)}


UNKNOWN = object()  # names whose existence depends on an earlier step


def given_the_table(estimator, n_features, names):
    """The private estimators in `estimator` whose number of features is determined by that of the table.

    Parameters
    ----------
    estimator : estimator or function form
    n_features : int or None
        Number of columns of the table.
    names : sequence, None or UNKNOWN
        Labels of the columns, if any.

    Yields
    ------
    private : estimator or function form
    n_features : int or None
        Number of columns it gets.
    names : sequence of str, None or UNKNOWN
    """
    if is_private(estimator):
        yield estimator, n_features, names
    elif isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            if step is not None and not isinstance(step, str):
                yield from given_the_table(step, n_features, names)
                if not _has_one_column_for_each(step):
                    return
                names = UNKNOWN
    elif isinstance(estimator, FeatureUnion):
        for _, transformer in estimator.transformer_list:
            yield from given_the_table(transformer, n_features, names)
    elif isinstance(estimator, UNIVARIATE):
        yield from given_the_table(estimator.score_func, n_features, None)  # as an array
    elif isinstance(estimator, TransformedTargetRegressor):
        yield from given_the_table(estimator.regressor, n_features, names)
    elif isinstance(estimator, ColumnTransformer):
        for name, transformer, columns in estimator.transformers:
            listed = columns if isinstance(columns, list) else []  # others, and masks, may depend on the table
            _check_are_there(name, columns, n_features, names)
            if listed and all(isinstance(column, str) for column in listed):
                yield from given_the_table(transformer, len(listed), listed)
            elif listed and all(map(is_position, listed)):
                yield from given_the_table(transformer, len(listed), _at(names, listed))


def _check_are_there(transformer, columns, n_features, names):
    """Raise unless the columns of a transformer are in the table, as far as that is known."""
    asked = list(columns) if np.ndim(columns) else [columns]
    missing = []
    if is_position(n_features):
        missing += [column for column in asked if is_position(column) and not -n_features <= column < n_features]
    if names is not UNKNOWN:
        missing += [column for column in asked if isinstance(column, str) and column not in (names or [])]
    if missing:
        raise ValueError(f"columns of the transformer {quoted(transformer)} must be in the table, got {missing}.")


def _has_one_column_for_each(step):
    """Whether the output has as many columns as the input; TargetEncoder overrides the names, and may have more."""
    return getattr(type(step), "get_feature_names_out", None) is OneToOneFeatureMixin.get_feature_names_out


def _at(names, columns):
    """The names of columns given by number."""
    are_known = names not in (None, UNKNOWN)
    return [names[column] for column in columns] if are_known else names and UNKNOWN


def widths_in(estimator, n_features):
    """Numbers of columns of each private estimator in `estimator`, by id, except those for which they are unknown."""
    places = Counter(map(id, private_steps(estimator).values()))  # one object may be used in several
    widths = defaultdict(list)
    for private, width, _ in given_the_table(estimator, n_features, UNKNOWN):
        if width not in (None, UNKNOWN):
            widths[id(private)].append(width)
    return {private: set(known) for private, known in widths.items() if len(known) == places[private]}


def as_estimator(private):
    """A private estimator itself; for a function form, the scorer it fits."""
    if not isinstance(private, functools.partial):
        return private
    inspect.signature(private).bind(None, None)  # a TypeError if an argument other than X and y is missing
    return DPMICScorer(**private.keywords)


def _own_cost(private, widths):
    """The cost of an estimator, or of a function form, from its arguments."""
    given = private.keywords if isinstance(private, functools.partial) else private.get_params(deep=False)
    if "epsilon" not in given:
        raise ValueError(f"epsilon must be among the arguments of functools.partial({private.func.__name__}, ...).")
    whole = Cost(given["epsilon"], given.get("delta", 0.0))
    if widths is None:
        return _largest_cost([whole])._replace(rho=Fraction(0))
    plan = as_estimator(private)._plan()
    return _largest_cost([plan.cost(width) for width in widths.get(id(private), ())] or _at_most(*whole[:2]))


def _at_most(epsilon, delta):
    """Costs that are not exceeded however a release with this budget is split, on any number of columns."""
    return [Cost(epsilon, delta, Cost(epsilon).in_zcdp), *([Cost.concentrated(epsilon, delta)] if delta > 0 else [])]


def _largest_cost(costs):
    """The largest epsilon, delta and rho, as the cost of one fit."""
    epsilon = max(cost.epsilon for cost in costs)
    delta, rho = max(exact(cost.delta) for cost in costs), max(cost.in_zcdp for cost in costs)
    return FitCost(epsilon if epsilon == math.inf else exact(epsilon), delta, 1, rho)


def _parameters(estimator):
    return estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}


def _inside(values):
    """Estimators and functions among parameter values, including those in lists of steps and in grids of searches."""
    for value in values:
        if _is_collection(value):
            yield from _inside(value.values() if isinstance(value, Mapping) else getattr(value, "flat", value))
        elif is_private(value) or _has_parameters(value) or may_draw_estimators(value):
            yield value


def _is_collection(value):
    if isinstance(value, np.ndarray):
        return value.dtype == object
    return isinstance(value, Mapping | Sequence | Set) and not isinstance(value, str | bytes | range)


def _has_parameters(value):
    return hasattr(value, "get_params") and not isinstance(value, type)


def may_draw_estimators(values):
    """Whether these are drawn, and not known to be numbers: distributions of scipy.stats draw only numbers."""
    is_drawn = hasattr(values, "rvs") and not isinstance(values, type)
    return is_drawn and not any(kind.__module__.startswith("scipy.stats") for kind in type(values).__mro__)


def parts_of(estimator):
    """The estimator and all estimators inside it, by parameter name; of those in a grid, by the name of the grid."""
    given = estimator.get_params() if _has_parameters(estimator) else {}
    named = {"": estimator} | {name: value for name, value in given.items() if not _is_collection(value)}
    yield from named.items()
    seen = set(map(id, named.values()))
    for name, value in given.items():
        for part in (part for part in _inside([value]) if id(part) not in seen):
            yield from ((f"{name}__{inner}".removesuffix("__"), of_part) for inner, of_part in parts_of(part))


def cost_of_choice(epsilon, n_features=None):
    """The cost of the choice of a private search, as that of one release; `n_features` as for a fit."""
    check_epsilon(epsilon)
    cost = _largest_cost([Cost(epsilon)])
    return cost if n_features is not None else cost._replace(rho=Fraction(0))


def total_cost(costs):
    """The total cost of several fits."""
    return FitCost(*map(sum, zip(FitCost(), *costs, strict=True)))
