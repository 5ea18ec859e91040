"""The arguments that `fit` of a whole estimator must pass on to private steps inside it: groups and sample_weight."""

import inspect

import sklearn
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing

from skdpmic.search.cost_of_fits import as_estimator, is_private, private_steps
from skdpmic.table.people import check_given_together
from skdpmic.table.targets import check_weights, check_weights_given

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
