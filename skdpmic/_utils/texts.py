"""Formatting of numbers, costs and names for figures, notebooks and tables."""

import html
import math
import re
import shutil
import textwrap
import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

import numpy as np

_CONTROL_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # controls, format marks, lone surrogates, separators
_UP, _DOWN = (Context(prec=6, rounding=rounding) for rounding in (ROUND_CEILING, ROUND_FLOOR))
_OF_A_FLOAT = Context(prec=15)  # without the rounding of floats: 0.3 for 0.1 + 0.2
_SCALAR = re.compile(  # of numpy, as repr writes it: np.float64(1.0), np.str_('a'), np.longdouble('1.0'), np.True_
    r"""np\.(?:c?longdouble\('([^']*)'\)|(?!datetime|timedelta)[a-z]+\d*_?\(((?:'[^']*'|"[^"]*"|[^()'"])*)\)|(True|False)_)"""
)
_MOST_LETTERS, _MOST_VALUES = 200, 20  # of a parameter in a message
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def names_of(estimator):
    """A name for each feature of a fitted estimator; features without names are numbered."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"feature {j}" for j in range(estimator.n_features_in_)] if names is None else [str(name) for name in names]


def in_short(number, digits=3):
    """A number with this many significant digits, in decimal notation."""
    if number == math.inf:
        return "∞"
    return np.format_float_positional(number, precision=digits, fractional=False, trim="-")


def quoted(value):
    """A parameter as Python code for a message: scalars of numpy as those of Python; of data, no more than its type.

    A table, a column or a long list may be data that was passed in the wrong place, so that no value of it is quoted.
    """
    shape = getattr(value, "shape", ())
    if len(shape) and not (isinstance(value, np.ndarray) and value.size <= _MOST_VALUES):
        return f"{type(value).__name__} of shape {tuple(shape)}"
    if isinstance(value, list | tuple | set) and len(value) > _MOST_VALUES:
        return f"a {type(value).__name__} of {len(value):,} values"
    try:
        text = as_python(value)
    except Exception:  # such as an int of more than 4,300 digits
        return type(value).__name__
    return text if len(text) <= _MOST_LETTERS else f"{text[:160]}... ({len(text) - 160} characters more)"


def as_python(value):
    """A value as Python code, with scalars of numpy as those of Python, which is what users wrote."""
    return _SCALAR.sub(lambda scalar: scalar[scalar.lastindex], repr(value))


def budget(epsilon, delta=0.0):
    """A cost as text, rounded up to six digits, so that no guarantee is stated to be stronger than it is."""
    return _budget(cost_rounded_up(epsilon), cost_rounded_up(delta))


def budget_left(epsilon, delta):
    """What is left of a budget as text, rounded down to six digits, so that a cost as stated fits."""
    return _budget(*(float(_DOWN.create_decimal(repr(float(number)))) for number in (epsilon, delta)))


def cost_rounded_up(cost):
    """A number that is part of a cost, with six digits."""
    return float(_OF_A_FLOAT.create_decimal(repr(float(cost))).normalize(_UP))


def _budget(epsilon, delta):
    return f"ε = {in_short(epsilon, 6)}" + (f", δ = {delta:g}" if delta else "")


def counted(number, what):
    """A number of things, as text."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def escaped(text, but="", written=None):
    """Untrusted text in one line, with nothing that acts on a terminal.

    A name, a purpose or a card may contain control characters, which can rename a window or start a new line, and
    marks that reverse the order of the text after them. Each is written as its number, as in TOML and Python.

    Parameters
    ----------
    text : str
    but : str, default=""
        Characters to keep, such as the line breaks of our own text.
    written : callable, default=None
        How a character is written, in another format.
    """
    if text.isprintable():
        return text
    written = written or _as_number
    acts = (letter not in but and unicodedata.category(letter) in _CONTROL_CATEGORIES for letter in text)
    return "".join(written(letter) if act else letter for letter, act in zip(text, acts, strict=True))


def _as_number(letter):
    number = ord(letter)
    return _SHORT.get(letter) or (f"\\u{number:04x}" if number < 2**16 else f"\\U{number:08x}")


def in_html(text):
    """Untrusted text for a page: escaped for the terminal, and for HTML."""
    return html.escape(escaped(text))


def wrapped(text, width=None):
    """A text whose lines are broken between words, by default for the width of the terminal, or 80 without one."""
    width = shutil.get_terminal_size().columns if width is None else width
    breaking = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False, replace_whitespace=False)
    return "\n".join(line if len(line) <= width else breaking.fill(line) for line in text.split("\n"))


def shortened(text, most_letters):
    """The beginning of a text that is too long, with an ellipsis."""
    return text if len(text) <= most_letters else text[: most_letters - 1] + "…"


def told_apart(texts):
    """Texts of which none is repeated: later ones are numbered."""
    given, names = set(texts), []
    for text in texts:
        name, number = text, 1
        while name in names or (number > 1 and name in given):
            number += 1
            name = f"{text} ({number})"
        names.append(name)
    return names


_GAP = "  "
_MIN_WIDTH = 20  # letters of a column whose cells are broken


def aligned(titles, rows, to_the_right=()):
    """A table as text, whatever its cells contain. The last column is broken between words to fit the terminal.

    Parameters
    ----------
    titles : sequence of str
    rows : sequence of sequences of str
    to_the_right : collection of str
        Titles of the columns of numbers.
    """
    lines = [[escaped(cell) for cell in row] for row in (titles, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    before = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
    room = max(shutil.get_terminal_size().columns - before, _MIN_WIDTH)
    places = [str.rjust if title in to_the_right else str.ljust for title in titles]
    if widths[-1] > room and titles[-1] not in to_the_right:
        lines = [[*line[:-1], wrapped(line[-1], room).replace("\n", "\n" + " " * before)] for line in lines]
    return "\n".join(
        _GAP.join(put(cell, width) for put, cell, width in zip(places, line, widths, strict=True)).rstrip()
        for line in lines
    )


def html_facts(facts):
    """Names and their texts as a table of two columns."""
    rows = "".join(f'<tr><th scope="row">{in_html(name)}</th><td>{in_html(text)}</td></tr>' for name, text in facts)
    return f"<table><tbody>{rows}</tbody></table>"


def html_rows(titles, rows, kinds=None, marked=()):
    """A table with titles.

    Parameters
    ----------
    titles : sequence of str
    rows : sequence of sequences of str
    kinds : sequence of str, default=None
        Classes of style of the columns; "text" by default.
    marked : collection of int
        Numbers of the highlighted rows.
    """
    kinds = kinds or ["text"] * len(titles)
    head = "".join(map(_cell, ["th"] * len(titles), kinds, titles))
    body = "".join(
        ('<tr class="chosen">' if i in marked else "<tr>")
        + "".join(map(_cell, ["td"] * len(titles), kinds, row))
        + "</tr>"
        for i, row in enumerate(rows)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag, kind, text):
    scope = ' scope="col"' if tag == "th" else ""
    return f'<{tag}{scope} class="{kind}">{in_html(text)}</{tag}>'
