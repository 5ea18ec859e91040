"""Formatting of numbers, costs and names for figures, notebooks and tables."""

import math

import numpy as np


def names_of(estimator):
    """A name for each feature of a fitted estimator; features without names are numbered."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"feature {j}" for j in range(estimator.n_features_in_)] if names is None else [str(name) for name in names]


def in_short(number, digits=3):
    """A number with this many significant digits, in decimal notation."""
    if number == math.inf:
        return "∞"
    return np.format_float_positional(number, precision=digits, fractional=False, trim="-")


def budget(epsilon, delta=0.0):
    """A cost as text."""
    return f"ε = {in_short(epsilon, 6)}" + (f", δ = {delta:.2g}" if delta else "")


def counted(number, what):
    """A number of things, as text."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def shortened(text, most_letters):
    """The beginning of a text that is too long, with an ellipsis."""
    return text if len(text) <= most_letters else text[: most_letters - 1] + "…"
