"""The private estimators inside an estimator, and the privacy cost of one fit of them all."""

import functools
import inspect
import math
from bisect import bisect_left
from collections import UserList
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sklearn
from sklearn.base import OneToOneFeatureMixin, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.feature_selection import (
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
)
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object

from skdpmic._utils.arguments import is_whole
from skdpmic._utils.private_estimator import PrivateEstimator, about_numbered_labels
from skdpmic._utils.texts import BudgetError, PrivacyLeakWarning, quoted, require, warn
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.preprocessing.public_encoder import PublicEncoder
from skdpmic.privacy.composition import Cost, check_epsilon, epsilon_of, exact, rho_for
from skdpmic.privacy.top_k import MOST_CUBE_NOISE
from skdpmic.selection.selectors import DPMICScorer, PrivateSelectKBest, dp_mic_classif, dp_mic_regression
from skdpmic.two_party.randomized_response import RandomizedResponse

UNIVARIATE = (SelectKBest, SelectPercentile, SelectFpr, SelectFdr, SelectFwe, GenericUnivariateSelect)
COMPOSITES = (Pipeline, FeatureUnion, ColumnTransformer)  # of named steps, each fitted once
_N_EPSILONS = 4097
UNKNOWN = object()  # a number of columns, or their names, that depends on an earlier step


# --- The parts of an estimator, and what reaches them -----------------------------------------------------------------


class Place(NamedTuple):
    """A part of an estimator, and what reaches it in a fit."""

    name: str  # of the parameter that holds it; "" for the estimator itself
    part: Any
    n_features: Any  # of the table that it gets; or UNKNOWN
    names: Any  # of these; None if there are none, or UNKNOWN
    prefix: str | None = ""  # of its arguments of `fit`, without routing; None if it gets none
    before: Mapping[str, tuple[str, str]] = {}  # earlier steps that break its guarantee, as in `earlier_steps`
    host: Any = None  # the innermost estimator around it that may fit it any number of times
    is_fitted: bool = False  # whether it is what was fitted, if that is a copy

    def inside(self, name, part, **changed):
        """The place of a part of this one, which gets the same unless it is changed."""
        return self._replace(name=f"{self.name}__{name}".removeprefix("__"), part=part, **changed)


def places_in(estimator, n_features=UNKNOWN, names=UNKNOWN, **more):
    """The places of an estimator and of all parts of it, for a table with these columns."""
    yield from _from(Place("", estimator, n_features, names, **more))


def private_places(*of, **more):
    """The places of the private estimators and function forms, and of private searches; arguments as above."""
    return [place for place in places_in(*of, **more) if is_private(place.part) or is_choice(place.part)]


def _from(place):
    yield place
    if has_parameters(place.part) and not is_private(place.part):
        for inner in _inside(place):
            yield from _from(inner)


def _inside(place):
    """The places of the parts of an estimator that is not private."""
    part = place.part
    if isinstance(part, Pipeline):
        yield from _in_turn(place)
    elif isinstance(part, FeatureUnion):
        yield from (place.inside(name, step) for name, step in part.transformer_list)
    elif isinstance(part, ColumnTransformer):
        place, given = place._replace(prefix=None), [*part.transformers, ("remainder", part.remainder, slice(None))]
        for name, step, columns in getattr(part, "transformers_", given) if place.is_fitted else given:
            n_features, names = _columns_of(place, name, columns)
            yield place.inside(name, step, n_features=n_features, names=names)
    elif isinstance(part, UNIVARIATE):
        yield place.inside("score_func", part.score_func, names=None, prefix=None)  # it gets an array
    elif isinstance(part, TransformedTargetRegressor):
        of_target = place.inside("transformer", part.transformer, n_features=UNKNOWN, prefix=None)
        yield of_target
        yield place.inside("regressor", part.regressor, before=place.before | _effects(of_target))
    elif is_choice(part):
        for inner in [getattr(part, "best_estimator_", None)] if place.is_fitted else candidates_of(part):
            yield place.inside("estimator", inner, prefix=None, host=part)
    else:
        hidden = {"n_features": UNKNOWN, "names": UNKNOWN, "prefix": None, "host": part}
        for name, value in part.get_params(deep=False).items():
            yield from (place.inside(name, inner, **hidden) for inner in _estimators_among([value]))


def _in_turn(place):
    """The places of the steps of a pipeline."""
    for name, step in place.part.steps:
        inner = place.inside(name, step, prefix=None if place.prefix is None else f"{place.prefix}{name}__")
        yield inner
        place = place._replace(before=place.before | _effects(inner))
        if has_parameters(step):
            n_features = place.n_features if _has_one_column_for_each(step) else UNKNOWN
            place = place._replace(n_features=n_features, names=UNKNOWN)


def _has_one_column_for_each(step):
    """Whether the output has as many columns as the input; TargetEncoder overrides the names, and may have more."""
    return getattr(type(step), "get_feature_names_out", None) is OneToOneFeatureMixin.get_feature_names_out


def _columns_of(place, transformer, columns):
    """The number and the names of the columns of a transformer; raise unless they are there, as far as is known."""
    n_features, names = place.n_features, place.names
    columns = columns.data if isinstance(columns, UserList) else columns  # the remainder's in 1.6, which warn when read
    asked = list(columns) if np.ndim(columns) else [columns]
    at, named = [each for each in asked if is_whole(each)], [each for each in asked if isinstance(each, str)]
    missing = [] if n_features is UNKNOWN else [each for each in at if not -n_features <= each < n_features]
    missing += [] if names is UNKNOWN else [each for each in named if each not in (names or [])]
    if missing:
        raise ValueError(f"columns of the transformer {quoted(transformer)} must be in the table, got {missing}.")
    if not isinstance(columns, list) or not columns or len(columns) not in (len(at), len(named)):
        return UNKNOWN, UNKNOWN  # slices, functions and masks may depend on the table
    if named:
        return len(columns), columns
    return len(columns), names if names in (None, UNKNOWN) else [names[each] for each in columns]


def _estimators_among(values):
    """Estimators, functions and distributions among values, including those in lists of steps and grids of searches."""
    for value in values:
        if _is_collection(value):
            inside = value.values() if isinstance(value, Mapping) else getattr(value, "flat", value)
            yield from _estimators_among(inside)
        elif is_private(value) or has_parameters(value) or may_draw_estimators(value):
            yield value


def _is_collection(value):
    if isinstance(value, np.ndarray):
        return value.dtype == object
    return isinstance(value, Mapping | Sequence | Set) and not isinstance(value, str | bytes | range)


def is_private(candidate):
    """Whether `candidate` is an estimator of this package, or a partial of one of its function forms."""
    if isinstance(candidate, functools.partial):
        return candidate.func in (dp_mic_classif, dp_mic_regression)
    return isinstance(candidate, PrivateEstimator) and candidate._plan is not None


def is_choice(candidate):
    """Whether `candidate` is a PrivateGridSearch, whose choice is a release itself."""
    return isinstance(candidate, PrivateEstimator) and "param_grid" in arguments_of(candidate)


def has_parameters(value):
    """Whether this is an estimator, and not a class."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def may_draw_estimators(values):
    """Whether these are drawn, and not known to be numbers: distributions of scipy.stats draw only numbers."""
    is_drawn = hasattr(values, "rvs") and not isinstance(values, type)
    return is_drawn and not any(kind.__module__.startswith("scipy.stats") for kind in type(values).__mro__)


def as_estimator(private):
    """A private estimator itself; for a function form, the scorer it fits."""
    if not isinstance(private, functools.partial):
        return private
    inspect.signature(private).bind(None, None)  # a TypeError if an argument other than X and y is missing
    return DPMICScorer(**private.keywords)


def arguments_of(part):
    """The parameters of an estimator, or of a function form; of anything else, none."""
    if isinstance(part, functools.partial):
        return part.keywords
    return part.get_params(deep=False) if has_parameters(part) else {}


# --- Candidates of a search -------------------------------------------------------------------------------------------


def checked_grid(param_grid):
    """The candidates of `param_grid`, if there are any."""
    if isinstance(param_grid, Iterator):
        kind = type(param_grid).__name__
        raise ValueError(f"param_grid must be a dict or a list of dicts, got a {kind}, which is read only once.")
    grid = list(ParameterGrid(param_grid))
    require(grid, "param_grid must be a dict, or a list of at least one dict", param_grid)
    return grid


def check_has_choice(grid):
    """Raise if there is a single candidate: nothing would be chosen, at the cost of a choice."""
    if len(grid) == 1:
        raise ValueError(
            f"param_grid must have two candidates or more, got {quoted(grid)}: nothing would be chosen, at a cost of "
            "epsilon. Set these parameters by set_params, and fit the estimator by itself."
        )


def candidates_of(search):
    """The candidates of a private search, none of which may hold another one, which would charge in every subset."""
    candidates = [candidate_with(search.estimator, parameters) for parameters in checked_grid(search.param_grid)]
    places = (place for candidate in candidates for place in places_in(candidate))
    inside = [place.name or "estimator" for place in places if is_choice(place.part)]
    require(not inside, f"estimator must hold no {type(search).__name__} inside a {type(search).__name__}", inside)
    return candidates


def candidate_with(estimator, parameters):
    """A new estimator with these parameters."""
    return clone(estimator).set_params(**clone(parameters, safe=False))


def for_a_subset(candidate, n_features, n_rows, n_samples):
    """The candidate for this many of all rows: with no less private noise than in the refit, and without ledgers."""
    trial = clone(candidate)
    for place in private_places(trial, n_features):
        changed = _for_rows(place, n_rows, n_samples)
        trial = trial.set_params(**{place.name: changed}) if place.name else changed
    return trial


def _for_rows(place, n_rows, n_samples):
    """A step whose noise is smaller by the factor of the rows; with delta, rho grows by its square."""
    private, factor = place.part, n_samples / n_rows
    given = arguments_of(private)
    epsilon, delta = float(given["epsilon"]), given.get("delta", 0.0)
    more = epsilon * factor
    if 0 < delta and epsilon < math.inf:
        more = epsilon_of(factor**2 * rho_for(epsilon, delta), delta)
        if isinstance(private, PrivateSelectKBest):
            more = _epsilon_of_names(place, n_rows, n_samples, more)
    changed = {"epsilon": more, "ledger": None}
    if isinstance(private, functools.partial):
        return functools.partial(private.func, *private.args, **(private.keywords | changed))
    return private.set_params(**changed)


def _epsilon_of_names(place, n_rows, n_samples, most):
    """An epsilon up to `most` at which names have no less noise than in the refit; the largest of many.

    Names come from the mechanism with the least noise, which may be another one at a larger epsilon.
    """
    plan, factor = place.part._plan(), n_samples / n_rows
    enough = MOST_CUBE_NOISE * factor * plan.epsilon  # for any number of columns: noise falls by at most the rest
    if place.n_features is UNKNOWN:
        return enough

    there = plan.release(place.n_features, n_samples, plan.facts.n_classes)

    def has_less_noise(epsilon):
        here = replace(plan, epsilon=epsilon).release(place.n_features, n_rows, plan.facts.n_classes)
        return here.epsilon_per_feature > factor * there.epsilon_per_feature

    possible = np.linspace(enough, most, _N_EPSILONS).tolist()
    return possible[max(bisect_left(possible, True, key=has_less_noise) - 1, 0)]


# --- Costs ------------------------------------------------------------------------------------------------------------


class FitCost(NamedTuple):
    """Exact epsilon, delta and rho of one fit (or infinity), and the number of private estimators that share them."""

    epsilon: Fraction | float = Fraction(0)
    delta: Fraction = Fraction(0)
    n_private: int = 0
    rho: Fraction | float = Fraction(0)


def cost_of_fit(estimator, n_features=UNKNOWN):
    """The cost of one fit of `estimator`, including all private estimators inside it.

    Parameters
    ----------
    estimator : estimator
    n_features : int, default=UNKNOWN
        Number of columns of the table. With it, costs are those of the releases.

    Returns
    -------
    FitCost

    Raises
    ------
    ValueError
        If the cost has no known bound.
    """
    return total_cost(cost for place in places_in(estimator, n_features) for cost in _costs_at(place))


def _costs_at(place):
    """The cost of a private estimator, in a list; of anything else, none, or an error if its cost is not known."""
    part, kind = place.part, type(place.part).__name__
    if may_draw_estimators(part):
        raise ValueError(
            f"the cost has no known bound: a {kind} may draw private estimators. Pass a list of values, or a "
            "distribution of scipy.stats, which draws numbers."
        )
    if isinstance(part, RandomizedResponse):
        raise ValueError(
            "cannot compute the cost of a RandomizedResponse inside another estimator: each of its transforms is a "
            "separate release, its fits are not. Call transform once, outside of other estimators."
        )
    if not (is_private(part) or is_choice(part)) or is_choice(place.host):  # which counts its refit
        return []
    if place.host is not None:
        raise ValueError(
            about_numbered_labels(place.host)
            or f"cannot tell how many times {type(place.host).__name__} fits the private estimator inside it. Private "
            "estimators are counted inside pipelines, unions, column transformers and univariate selectors."
        )
    if is_choice(part):
        return [_cost_of_choice(part, place.n_features)]
    return [largest_cost(map(cost_of, _possible_costs(place)))]


def _cost_of_choice(search, n_features):
    """The cost of the choice of a private search, and of its costliest refit, because the choice is unknown."""
    check_epsilon(search.epsilon)
    costs = [cost_of_fit(candidate, n_features) for candidate in candidates_of(search)]
    check_has_choice(checked_grid(search.param_grid))
    return total_cost([cost_of(Cost(search.epsilon)), *([largest_cost(costs)] if search.refit else [])])


def _possible_costs(place):
    """The cost of a private estimator; if its number of columns is unknown, costs of which one is not exceeded."""
    given = arguments_of(place.part)
    if "epsilon" not in given:
        raise ValueError(f"epsilon must be among the arguments of functools.partial({place.part.func.__name__}, ...).")
    if place.n_features is not UNKNOWN:
        return [as_estimator(place.part)._plan().cost(place.n_features)]
    epsilon, delta = given["epsilon"], given.get("delta", 0.0)
    return [Cost(epsilon, delta, Cost(epsilon).in_zcdp), *([Cost.concentrated(epsilon, delta)] if delta > 0 else [])]


def cost_of(release):
    """The cost of one release, exactly."""
    epsilon = release.epsilon if release.epsilon == math.inf else exact(release.epsilon)
    return FitCost(epsilon, exact(release.delta), 1, release.in_zcdp)


def largest_cost(costs):
    """The largest epsilon, delta, number and rho."""
    return FitCost(*map(max, zip(*costs, strict=True)))


def total_cost(costs):
    """The total cost of several fits."""
    return FitCost(*map(sum, zip(FitCost(), *costs, strict=True)))


def check_refits_fit_in(ledger, choice, private_of_each):
    """Raise a BudgetError if a ledger could not pay for the refit of a candidate after the choice, which is then lost.

    Parameters
    ----------
    ledger : BudgetLedger or None
        That of the choice.
    choice : LedgerEntry
    private_of_each : list of list of Place
        The private steps of each candidate.
    """
    for places in private_of_each:
        charges = [(ledger, choice), *((as_estimator(each.part).ledger, _least_charge(each)) for each in places)]
        for each in {ledger for ledger, _ in charges if ledger is not None}:
            entries = each.entries()
            for entry in (entry for ledger, entry in charges if ledger == each):
                try:
                    each.limits.check(entry, entries, each.path)
                except BudgetError as error:
                    raise BudgetError(f"{error} This counts the choice as spent, which is not made.") from None
                entries.append(entry)


def _least_charge(place):
    """What a fit of a private step charges; where its number of columns depends on an earlier step, its epsilon."""
    estimator = as_estimator(place.part)
    if place.n_features is UNKNOWN:
        return LedgerEntry(type(estimator).__name__, float(estimator.epsilon), rho=0.0)
    return LedgerEntry(type(estimator).__name__, *estimator._plan().cost(place.n_features)[:3])


# --- Steps before a private one ---------------------------------------------------------------------------------------

RESAMPLES, LEARNS = "resamples rows", "may learn from all rows"
_BY_ROW = (PolynomialFeatures, PublicEncoder)  # that are fitted, but map each row separately


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
    before = [place.before for candidate in candidates for place in private_places(candidate)]
    return {name: step for steps in before for name, step in steps.items()}


def checked_earlier_steps(candidates):
    """The steps of `earlier_steps`, of which none may resample rows: no epsilon bounds what one record then does."""
    steps = earlier_steps(candidates)
    if resampling := [f"{name} ({kind})" for name, (kind, what) in steps.items() if what == RESAMPLES]:
        raise ValueError(
            f"estimator must have no step that resamples rows before a private step, got {', '.join(resampling)}: one "
            "record may become many rows, so its cost has no bound. Put the private step first, or resample after it."
        )
    if steps:
        warn(
            f"{steps_in_words(steps)} before a private step: one record can then change all rows that the private step "
            "gets, and the guarantee does not hold, at any cost. Put the private step first, unless these steps map "
            "each row by itself.",
            PrivacyLeakWarning,
        )
    return steps


def steps_in_words(steps):
    """The steps and what they do, as the beginning of a sentence."""
    named = ", ".join(f"{name} ({kind})" for name, (kind, _) in steps.items())
    return f"{named} may learn from all rows"


def _effects(place):
    """What a step does to the rows that later ones get, as in `earlier_steps`."""
    step, kind = place.part, type(place.part).__name__
    if is_private(step) or not has_parameters(step):
        return {}  # what it passes on depends on its release and on each row
    inside = list(_inside(place))
    if isinstance(step, COMPOSITES) or any(is_private(inner.part) for inner in inside):
        return {name: effect for inner in inside for name, effect in _effects(inner).items()}
    if hasattr(step, "fit_resample"):
        return {place.name: (kind, RESAMPLES)}
    return {place.name: (kind, LEARNS)} if hasattr(step, "transform") and _learns(step) else {}


def _learns(step):
    return not isinstance(step, _BY_ROW) and (not hasattr(step, "__sklearn_tags__") or get_tags(step).requires_fit)


def ordinary_steps(fitted):
    """The steps that are not private and hold no private one: whether they may have learnt, by their texts."""
    return {
        f"{place.name} ({type(place.part).__name__})": _learns(place.part)
        for place in places_in(fitted, is_fitted=True)
        if has_parameters(place.part)
        and not isinstance(place.part, (PrivateEstimator, *COMPOSITES))
        and (place.host is None or is_choice(place.host))
        and not any(is_private(inner.part) for inner in _inside(place))
    }


# --- Arguments of `fit` -----------------------------------------------------------------------------------------------

_BESIDE = {"groups": "max_rows_per_group", "sample_weight": "max_weight"}


def fit_arguments(private):
    """The names of the arguments that `fit` of an estimator must be passed, because private steps in it need them."""
    is_routed, names = sklearn.get_config()["enable_metadata_routing"], []
    for place in private:
        for argument, limit in _BESIDE.items():
            if getattr(as_estimator(place.part), limit, None) is not None:
                name = argument if is_routed else f"{place.prefix or ''}{argument}"
                asked = get_routing_for_object(place.part).fit.requests.get(argument) if is_routed else None
                names.append(asked if isinstance(asked, str) else name)
    return list(dict.fromkeys(names))
