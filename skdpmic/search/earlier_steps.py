"""The steps before a private one that break its guarantee: they resample rows, or learn from all of them.

A release protects a row of the table that it gets. If an earlier step copies, draws or drops rows depending on others,
or computes a row from all others, one record changes many rows of that table (``docs/theory/threat_model.md``).
"""

import functools

from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import get_tags

from skdpmic._utils.errors import PrivacyLeakWarning, warn
from skdpmic.preprocessing.public_encoder import PublicEncoder
from skdpmic.search.cost_of_fits import is_private

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
