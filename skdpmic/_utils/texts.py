"""Formatting of numbers, costs and names for figures, notebooks and tables."""

import html
import json
import math
import unicodedata

import numpy as np

_ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # controls, marks of format, lone surrogates, line separators


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


def escaped(text, but=""):
    """Text from others in one line, in which nothing acts on a screen.

    A name, a purpose or a card may hold control characters, which rename a window or begin a line of their own, and
    marks that reverse the order of what follows. Each is written as its number, as in JSON.

    Parameters
    ----------
    text : str
    but : str, default=""
        Characters to leave, such as the line breaks of a text of our own.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter in but or unicodedata.category(letter) not in _ACTING else json.dumps(letter)[1:-1]
        for letter in text
    )


def in_html(text):
    """Text from others for a page: escaped for the screen, and for HTML."""
    return html.escape(escaped(text))


def shortened(text, most_letters):
    """The beginning of a text that is too long, with an ellipsis."""
    return text if len(text) <= most_letters else text[: most_letters - 1] + "…"
