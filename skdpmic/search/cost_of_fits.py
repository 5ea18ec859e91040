"""What one fit costs, with all private estimators inside what is fitted."""

import functools
import math
from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

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

from skdpmic.budget.filters import Cost
from skdpmic.privacy.parameters import exact
from skdpmic.selection.base import PrivateEstimator
from skdpmic.selection.scorer import DPMICScorer, dp_mic_classif, dp_mic_regression
from skdpmic.two_party.randomized_response import RandomizedResponse

UNIVARIATE = (SelectKBest, SelectPercentile, SelectFpr, SelectFdr, SelectFwe, GenericUnivariateSelect)

# Those that fit each estimator inside them once when they are fitted.
_FITS_EACH_ONCE = (Pipeline, FeatureUnion, ColumnTransformer, TransformedTargetRegressor, *UNIVARIATE)


class FitCost(NamedTuple):
    """Epsilon, delta and rho of one fit, exact (or infinite), and how many private estimators share them."""

    epsilon: Fraction | float = Fraction(0)
    delta: Fraction = Fraction(0)
    n_private: int = 0
    rho: Fraction | float = Fraction(0)


def cost_of_fit(estimator, n_features=None):
    """What one fit of `estimator` costs, with all private estimators inside it.

    Parameters
    ----------
    estimator : estimator or function form
    n_features : int, default=None
        Columns of the table; without it, rho is not computed, and is 0.

    Raises
    ------
    ValueError
        If a private estimator is inside another one that fits it an unknown number of times, or if there is a private
        search inside.
    """
    widths = None if n_features is None else _widths(estimator, n_features)
    return _cost_of_part(estimator, widths)


def _cost_of_part(estimator, widths):
    if is_private(estimator):
        return _own_cost(estimator, widths)
    if isinstance(estimator, RandomizedResponse):
        raise ValueError(
            "cannot tell what a RandomizedResponse inside another estimator costs: not its fits but its transforms are "
            "releases, each of its own. Transform once, by itself."
        )
    if "ledger" in _parameters(estimator):  # a PrivateGridSearch, whose choice is a release, whatever it chooses among
        raise ValueError(
            f"cannot tell what a {type(estimator).__name__} inside another search costs: its choice is a release "
            "of its own. Fit it by itself."
        )
    parts = list(_inside(_parameters(estimator).values()))
    if isinstance(estimator, _FITS_EACH_ONCE):
        return total_cost(_cost_of_part(part, widths) for part in parts)
    if any(_cost_of_part(part, None).n_private for part in parts):
        raise ValueError(
            f"cannot tell how many times {type(estimator).__name__} fits the private estimator in it. Private "
            "estimators are counted inside pipelines, unions, column transformers and univariate selectors."
        )
    return FitCost()


def is_private(candidate):
    """Whether `candidate` is one of this package's estimators, or one of its function forms with its arguments."""
    if isinstance(candidate, functools.partial):
        return candidate.func in (dp_mic_classif, dp_mic_regression)
    return isinstance(candidate, PrivateEstimator)


def private_steps(estimator):
    """Private estimators and function forms in `estimator`, by parameter name; "" is `estimator` itself."""
    return {name: part for name, part in {"": estimator, **estimator.get_params()}.items() if is_private(part)}


UNKNOWN = object()  # of names: whether there are any depends on a step before


def given_the_table(estimator, n_features, names):
    """The private estimators in `estimator` whose number of features follows from that of the table.

    Parameters
    ----------
    estimator : estimator or function form
    n_features : int or None
        Columns of the table.
    names : sequence of str, None or UNKNOWN
        Their names, if they have any.

    Yields
    ------
    private : estimator or function form
    n_features : int or None
        Columns that it will be given.
    names : sequence of str, None or UNKNOWN
    """
    if is_private(estimator):
        yield estimator, n_features, names
    elif isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            if step is not None and not isinstance(step, str):
                yield from given_the_table(step, n_features, names)
                if not isinstance(step, OneToOneFeatureMixin):
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
        for _, transformer, columns in estimator.transformers:
            if isinstance(columns, list) and not any(isinstance(column, bool) for column in columns):
                by_name = all(isinstance(column, str) for column in columns)
                yield from given_the_table(transformer, len(columns), columns if by_name else names and UNKNOWN)


def _widths(estimator, n_features):
    """Numbers of columns that each private estimator in `estimator` is given, by its id; none where that is unknown."""
    widths = defaultdict(set)
    for private, width, _ in given_the_table(estimator, n_features, None):
        widths[id(private)].add(width)
    return widths


def _own_cost(private, widths):
    """Of an estimator, or of a function form, whose cost is among its arguments."""
    given = private.keywords if isinstance(private, functools.partial) else private.get_params(deep=False)
    if "epsilon" not in given:
        raise ValueError(f"epsilon must be among the arguments of functools.partial({private.func.__name__}, ...).")
    epsilon, delta = given["epsilon"], given.get("delta", 0.0)
    rho = Fraction(0) if widths is None else _rho(private, widths.get(id(private)), epsilon, delta)
    return FitCost(epsilon if epsilon == math.inf else exact(epsilon), exact(delta), 1, rho)


def _rho(private, widths, epsilon, delta):
    """What a ledger that adds up zCDP is charged; where the number of columns is not known, at most that."""
    fitted = DPMICScorer(**private.keywords) if isinstance(private, functools.partial) else private
    fitted._check_parameters()
    if widths:
        return max(fitted._cost_for(width).in_zcdp for width in widths)
    # However a release is divided, it is charged by its epsilon, at most as one part, or by epsilon and delta.
    return max(Cost(epsilon).in_zcdp, Cost.concentrated(epsilon, delta).in_zcdp if delta > 0 else 0)


def _parameters(estimator):
    return estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}


def _inside(values):
    """Estimators and functions among parameter values, and inside the lists of steps that some of those are."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _inside(value)
        elif is_private(value) or (hasattr(value, "get_params") and not isinstance(value, type)):
            yield value


def total_cost(costs):
    """The cost of several fits together."""
    return FitCost(*map(sum, zip(FitCost(), *costs, strict=True)))
