"""The privacy cost of one fit, including all private estimators inside the fitted object."""

import functools
import inspect
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import sklearn
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
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing

from skdpmic._utils.errors import PrivacyLeakWarning, warn
from skdpmic._utils.private_estimator import PrivateEstimator, about_numbered_labels
from skdpmic._utils.readable import is_position
from skdpmic._utils.texts import quoted
from skdpmic.budget.filters import Cost
from skdpmic.preprocessing.public_encoder import PublicEncoder
from skdpmic.privacy.composition import check_epsilon, exact
from skdpmic.selection.scoring import DPMICScorer, dp_mic_classif, dp_mic_regression
from skdpmic.table.people import check_given_together
from skdpmic.table.targets import check_weights, check_weights_given
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
        Number of columns of the table; if None, rho is not that of the release. With UNKNOWN, the cost is that of the
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
    given = arguments_of(estimator)
    if "ledger" in given:  # a PrivateGridSearch: its choice is itself a release
        raise ValueError(
            f"cannot compute the cost of a {type(estimator).__name__} inside another search: its choice is a separate "
            "release. Fit it by itself."
        )
    parts = list(_inside(given.values()))
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


def arguments_of(part):
    """The parameters of an estimator, or of a function form; of anything else, none."""
    if isinstance(part, functools.partial):
        return part.keywords
    return part.get_params(deep=False) if has_parameters(part) else {}


def _own_cost(private, widths):
    """The cost of an estimator, or of a function form, from its arguments."""
    given = arguments_of(private)
    if "epsilon" not in given:
        raise ValueError(f"epsilon must be among the arguments of functools.partial({private.func.__name__}, ...).")
    whole = Cost(given["epsilon"], given.get("delta", 0.0))
    if widths is None:
        return _largest_cost([whole])
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


def _inside(values):
    """Estimators and functions among parameter values, including those in lists of steps and in grids of searches."""
    for value in values:
        if _is_collection(value):
            yield from _inside(value.values() if isinstance(value, Mapping) else getattr(value, "flat", value))
        elif is_private(value) or has_parameters(value) or may_draw_estimators(value):
            yield value


def _is_collection(value):
    if isinstance(value, np.ndarray):
        return value.dtype == object
    return isinstance(value, Mapping | Sequence | Set) and not isinstance(value, str | bytes | range)


def has_parameters(value):
    """Whether this is an estimator, and not a class."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def may_draw_estimators(values):
    """Whether these are drawn, and not known to be numbers: distributions of scipy.stats draw only numbers."""
    is_drawn = hasattr(values, "rvs") and not isinstance(values, type)
    return is_drawn and not any(kind.__module__.startswith("scipy.stats") for kind in type(values).__mro__)


def parts_of(estimator):
    """The estimator and all estimators inside it, by parameter name; of those in a grid, by the name of the grid."""
    given = estimator.get_params() if has_parameters(estimator) else {}
    named = {"": estimator} | {name: value for name, value in given.items() if not _is_collection(value)}
    yield from named.items()
    seen = set(map(id, named.values()))
    for name, value in given.items():
        for part in (part for part in _inside([value]) if id(part) not in seen):
            yield from ((f"{name}__{inner}".removesuffix("__"), of_part) for inner, of_part in parts_of(part))


def cost_of_choice(epsilon):
    """The cost of the choice of a private search, as that of one release."""
    check_epsilon(epsilon)
    return _largest_cost([Cost(epsilon)])


def total_cost(costs):
    """The total cost of several fits."""
    return FitCost(*map(sum, zip(FitCost(), *costs, strict=True)))


RESAMPLES, LEARNS = "resamples rows", "may learn from all rows"
_BY_ROW = (PolynomialFeatures, PublicEncoder)  # that are fitted, but map each row separately
_TARGET_TRANSFORMER = "transformer"  # parameter of TransformedTargetRegressor, which comes before its regressor
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


def checked_earlier_steps(candidates):
    """The steps of `earlier_steps`, of which none may resample rows: no epsilon bounds what one record then does."""
    steps = earlier_steps(candidates)
    resampling = [f"{name} ({kind})" for name, (kind, what) in steps.items() if what == RESAMPLES]
    if resampling:
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


def _walk(part, path, before, found):
    """Add the steps of `before` to `found` if a private estimator is inside; return what the part itself does."""
    if is_private(part):
        found |= before
        return {}  # what it passes on depends on its release and on each row
    if not has_parameters(part):
        return {}
    given = part.get_params(deep=False)
    composite = next((name for name in _LISTS if isinstance(given.get(name), list | tuple)), None)
    inside, breaking = before, {}
    for name, step in _parts(given, composite):
        own = _walk(step, f"{path}__{name}".removeprefix("__"), inside, found)
        breaking |= own
        if composite == "steps" or name == _TARGET_TRANSFORMER:  # the others are side by side
            inside = inside | own
    holds_private = any(is_private(value) for value in given.values())
    return breaking if composite or holds_private else _effect_on_rows(part, path)


def _parts(given, composite):
    """The estimators inside, by name, in order; those of a list are (name, estimator, ...)."""
    listed = [(str(name), step) for name, step, *_ in given[composite]] if composite else []
    others = [(name, value) for name, value in given.items() if hasattr(value, "get_params") or is_private(value)]
    return listed + sorted(others, key=lambda part: part[0] != _TARGET_TRANSFORMER)


def _effect_on_rows(step, path):
    """What a single step does to rows, by its name."""
    kind = type(step).__name__
    if hasattr(step, "fit_resample"):
        return {path or kind: (kind, RESAMPLES)}
    needs_fit = not hasattr(step, "__sklearn_tags__") or get_tags(step).requires_fit
    is_by_row = isinstance(step, _BY_ROW) or not hasattr(step, "transform") or not needs_fit
    return {} if is_by_row else {path or kind: (kind, LEARNS)}


_BESIDE = {"groups": ("max_rows_per_group", check_given_together), "sample_weight": ("max_weight", check_weights_given)}


def fit_arguments(estimator):
    """The names of the arguments that `fit` of an estimator must be passed, because private steps inside need them."""
    needed = [name or argument for name, argument, limit, _ in _taken(estimator) if limit is not None]
    return tuple(dict.fromkeys(needed))


def check_fit_arguments(candidates, params, n_samples):
    """Raise if arguments of `fit` do not reach a step, or a private step lacks one or takes no such argument."""
    for name, value in params.items():
        if name.rpartition("__")[2] == "sample_weight":
            check_weights(value, n_samples)
    for candidate in candidates:
        if _are_routed():
            mapping = MethodMapping().add(caller="fit", callee="fit")
            router = MetadataRouter(owner=type(candidate).__name__).add(estimator=candidate, method_mapping=mapping)
            _route(router, {"estimator": candidate}, "fit", params)
        else:
            for name in params:
                if not _takes(candidate, name):
                    raise ValueError(f"fit got an argument {name} that no step takes: name a step and its argument.")
        for name, argument, limit, check in _taken(candidate):
            try:
                check(params.get(name), limit)
            except ValueError as error:
                hint = f" Here, it is the argument {name} of fit." if name not in (None, argument) else ""
                raise ValueError(f"{error}{hint}") from None


def _taken(estimator):
    """(name in `fit` or None, argument, limit, check) of each argument that a private step takes or would refuse."""
    for private, prefix in _prefixes(estimator, ""):
        for argument, (parameter, check) in _BESIDE.items():
            limit = getattr(as_estimator(private), parameter, None)
            if _are_routed():
                asked = get_routing_for_object(private).fit.requests.get(argument)
                yield (argument if asked is True else asked or None), argument, limit, check
            else:
                yield (None if prefix is None else prefix + argument), argument, limit, check


def _prefixes(part, prefix):
    """Each private step, and the beginning of the names of its arguments without routing; None if it gets none."""
    if is_private(part):
        yield part, prefix
    elif isinstance(part, Pipeline):
        for name, step in part.steps:
            yield from _prefixes(step, None if prefix is None else f"{prefix}{name}__")
    elif isinstance(part, FeatureUnion):  # passes all on to each
        for _, step in part.transformer_list:
            yield from _prefixes(step, prefix)
    elif isinstance(part, TransformedTargetRegressor):
        yield from _prefixes(part.regressor, prefix)
    elif hasattr(part, "get_params"):
        yield from ((private, None) for private in private_steps(part).values())


def _route(router, parts, method, params):
    """Raise scikit-learn's errors about arguments that nothing asks for, at every depth."""
    for name, by_method in process_routing(router, method, **params).items() if params else ():
        part = parts.get(name)
        if isinstance(get_routing_for_object(part), MetadataRouter):
            for inner, passed in by_method.items():
                _route(part, part.get_params(), inner, passed)


def _takes(part, name):
    """Whether `fit` takes an argument of this name, without routing."""
    if isinstance(part, Pipeline):
        step, _, own = name.partition("__")
        return bool(own) and _takes(dict(part.steps).get(step), own)
    if isinstance(part, FeatureUnion):
        return all(_takes(step, name) for _, step in part.transformer_list if not isinstance(step, str))
    if isinstance(part, ColumnTransformer) or not hasattr(part, "fit"):
        return False
    given = inspect.signature(part.fit).parameters
    return name in given or any(kind.kind is kind.VAR_KEYWORD for kind in given.values())


def _are_routed():
    return sklearn.get_config()["enable_metadata_routing"]
