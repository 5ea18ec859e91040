"""The steps of an estimator that are priced, and those that are private by the accounting of another library."""

import functools

from skdpmic.search.cost_of_fits import parts_of, private_steps

_PRIVATE = {"epsilon", "accountant"}  # parameters of private estimators in diffprivlib and other libraries


def priced_steps(candidates):
    """The distinct names of this package's private estimators."""
    return _names(private_steps(candidate) for candidate in candidates)


def unpriced_steps(candidates):
    """Parts that look private and belong to another library: distinct descriptions by name."""
    found = {}
    for candidate in candidates:
        parts = parts_of(candidate)
        found |= {name or _kind(part): _described(part) for name, part in parts if _is_private_elsewhere(part)}
    return found


def _names(steps):
    return tuple(dict.fromkeys(name or _kind(part) for of_one in steps for name, part in of_one.items()))


def _kind(part):
    return part.func.__name__ if isinstance(part, functools.partial) else type(part).__name__


def _described(part):
    return f"{_kind(part)} of {_maker(part).__module__.partition('.')[0]}"


def _is_private_elsewhere(part):
    """Whether a part has a parameter of private estimators, and is not from scikit-learn (whose SVR has an epsilon)."""
    if isinstance(part, functools.partial):
        given = part.keywords
    elif hasattr(part, "get_params") and not isinstance(part, type):
        given = part.get_params(deep=False)
    else:
        return False
    return not _PRIVATE.isdisjoint(given) and _maker(part).__module__.partition(".")[0] not in ("sklearn", "skdpmic")


def _maker(part):
    """The owner of the parameters of a part: a function, or the base class that defines the constructor."""
    if isinstance(part, functools.partial):
        return part.func
    return next(kind for kind in type(part).__mro__ if "__init__" in vars(kind))
