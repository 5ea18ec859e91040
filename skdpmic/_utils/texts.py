"""What users read: numbers, costs, names and tables as text; progress; errors and warnings, which quote no value."""

import html
import importlib
import inspect
import math
import re
import shutil
import textwrap
import time
import unicodedata
import warnings
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
    rows = (zip(places, line, widths, strict=True) for line in lines)
    return "\n".join(_GAP.join(put(cell, width) for put, cell, width in row).rstrip() for row in rows)


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


# --- Errors and warnings ----------------------------------------------------------------------------------------------

ONLY_COMPLETE = "keep only rows with a target, such as X[y.notna()] and y[y.notna()]; their number is then public."
NO_MISSING = (
    "A target must be complete: make 'unknown' a separate class (beside numbers or booleans, a further number in "
    f"classes), or {ONLY_COMPLETE}"
)
TO_NUMBERS = (
    "Numbers with ',' between thousands or '%' are converted by pd.to_numeric(column.str.replace('[,%]', '', "
    "regex=True), errors='coerce'), which makes other text missing; labels of features require categories, those of a "
    "target require classes instead of target_bounds."
)
_ADVICE = {
    "Expected 2D array": "Reshape your data with .reshape(-1, 1) for one feature, .reshape(1, -1) for one sample.",
    **dict.fromkeys(("contains NaN", "boolean value of NA", "NAType"), NO_MISSING),
    "could not convert string": TO_NUMBERS,
}


def require(is_so, must, value):
    """Raise a ValueError, which says what a parameter must be and what it is, unless that is so."""
    if not is_so:
        raise ValueError(f"{must}, got {quoted(value)}.")


def require_type(is_so, must, value):
    """Raise a TypeError, which says what a parameter must be and of which type it is, unless that is so."""
    if not is_so:
        raise TypeError(f"{must}, got {type(value).__name__}.")


def imported(library, otherwise):
    """A library that need not be installed; an ImportError that says `otherwise` if it is not."""
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ImportError(otherwise) from error


def without_data(function, *arguments, **options):
    """``function(*arguments, **options)``, with errors replaced by ones that quote no value of the data.

    The new error is raised after the first one has been handled, so that neither its `__context__` nor its `__cause__`
    keeps the values in the first one, nor its traceback the frames that contain them.
    """
    try:
        return function(*arguments, **options)
    except MemoryError:
        raise
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        message = _public_message(error)
    raise kind(message)


def without_data_of(name, function, *arguments):
    """``function(*arguments)``, with errors replaced by ones that name the column and quote no value of it."""
    try:
        return without_data(function, *arguments)
    except (TypeError, ValueError) as error:
        kind, message = type(error), f"{error} Found in {name}."
    raise kind(message)


def read_by_engine(name, read, *arguments, **options):
    """``read(*arguments, **options)`` by a library that reads `name`; only the type of its errors is passed on.

    The message of a failed query, cast or file may quote a value, in unpredictable form.
    """
    try:
        return read(*arguments, **options)
    except (MemoryError, ImportError):
        raise
    except BaseException as error:
        kind = type(error).__name__
        if not isinstance(error, Exception) and kind != "PanicException":  # of Polars, which is none either
            raise
    raise ValueError(
        f"{name} could not be read: the library that holds it failed with {kind}. Its message is not shown, because it "
        f"may quote values: read {name} without this package to see it."
    )


def _public_message(error):
    text = str(error)
    if text.startswith("The feature names should match"):
        return text  # lists names, which are compared before any value is read
    known = public_messages(error)
    if not known:
        return f"the data must be numbers, or labels in y, got other values ({type(error).__name__})."
    advice = [words for phrase, words in _ADVICE.items() if phrase in known[0]]
    return " ".join([f"{known[0]}.", *advice])


def public_messages(error):
    """The known phrases in an error message, which contain no data."""
    text = str(error).partition("\n")[0]
    begins = re.match("|".join(MESSAGES), text)  # elsewhere, what varies in them could be a value that is quoted
    return [begins.group()] if begins else re.findall("|".join(PHRASES), text)


def is_invalid_parameter(error):
    """Whether scikit-learn raised this for an invalid parameter; the message describes the allowed values."""
    return type(error).__name__ == "InvalidParameterError" and type(error).__module__.startswith("sklearn.")


_INTERNAL_CALLERS = {"skdpmic", "sklearn", "joblib", "contextlib"}


class PrivacyLeakWarning(UserWarning):
    """Warns that a parameter breaks the privacy guarantee, such as a seed.

    Examples
    --------
    >>> import warnings
    >>> from skdpmic import PrivacyLeakWarning, PrivateSelectKBest
    >>> selector = PrivateSelectKBest(k=1, epsilon=1, bounds=(0, 1), target_bounds=(0, 1), random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PrivacyLeakWarning)
    ...     try:
    ...         selector.fit([[0.1, 0], [0.2, 1], [0.3, 0], [0.4, 1]], [0, 0, 1, 1])
    ...     except PrivacyLeakWarning:
    ...         print("refused")
    refused
    """


class BudgetError(RuntimeError):
    """Raised if a privacy cost is refused because the total would exceed the limit of the :class:`BudgetLedger`.

    Examples
    --------
    >>> import tempfile
    >>> from skdpmic import BudgetError, BudgetLedger
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = BudgetLedger(folder + "/patients.db", epsilon=1.0)
    ...     try:
    ...         ledger.charge("mean age", 1.5)
    ...     except BudgetError:
    ...         print("refused")
    refused
    """


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the user's line: the innermost call from outside of this package and scikit-learn."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INTERNAL_CALLERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


_SHAPE = r"\([\d, ]*\)"
# What users see most of scikit-learn, numpy, pandas and Python; none of it depends on a value of the data.
# tests/_utils/test_messages_of_others.py raises each of them, to notice rewordings.
MESSAGES = (  # how they begin
    rf"Found array with \d+ (?:sample|feature)\(s\) \(shape={_SHAPE}\) while a minimum of \d+ is required(?: by \w+)?",
    r"Found array with dim \d+",
    r"Found input variables with inconsistent numbers of samples: \[[\d, ]*\]",
    r"Input (?:[Xy] )?contains (?:NaN|infinity or a value too large for dtype\('float\d+'\))",
    r"X has \d+ features, but \w+ is expecting \d+ features as input",
    rf"y should be a 1d array, got an array of shape {_SHAPE} instead",
    r"Unknown label type: [a-z]+(?:-[a-z]+)?",
)
PHRASES = (  # anywhere in them
    r"Sparse data was passed(?: for [Xy])?, but dense data is required\. Use '\.toarray\(\)'",
    r"Feature names are only supported if all input features have string names",
    r"The feature names should match those that were passed during fit",
    r"requires y to be passed, but the target y is None",
    r"(?:Complex data not supported|boolean value of NA is ambiguous|could not convert string to float)",
    r"Expected 2D array, got (?:1D|scalar) array instead",
    r"(?:int too large to convert to float|float\(\) argument must be a string or a real number(?:, not 'NAType')?)",
    r"setting an array element with a sequence",
    r"y must hold only labels that are in classes",  # of this package
)


# --- Progress of long computations, for estimators with `verbose` -----------------------------------------------------
#
# Messages contain the numbers of columns, pairs or fits done and in total, and the elapsed time: public numbers and
# time.

_MOST_LINES = 10  # per pass with verbose=1


class Progress:
    """Progress messages of a fit.

    Parameters
    ----------
    name : str
        Name at the start of each line.
    verbose : int, default=0
        0 prints nothing, 1 about ten lines in each pass over the columns, more prints a line at every step.
    """

    def __init__(self, name, verbose=0):
        self._name, self._verbose = name, verbose
        self._start, self._n_passes = time.monotonic(), 0

    @property
    def return_as(self):
        """How joblib returns results: as a generator if they are counted."""
        return "generator" if self._verbose else "list"

    def track(self, results, total, unit, size=None):
        """Yield the results, and print a line occasionally.

        Parameters
        ----------
        results : iterable
        total : int
            Number of units in all results.
        unit : str
            Name of the units, in the plural.
        size : callable, default=None
            Number of units in a result; None counts one per result.
        """
        if not self._verbose:
            yield from results
            return
        self._n_passes += 1
        title = f"[{self._name}] " + ("" if self._n_passes == 1 else f"pass {self._n_passes}: ")
        done = 0
        for result in results:
            before, done = done, done + (1 if size is None else size(result))
            if self._verbose > 1 or before * _MOST_LINES // total < done * _MOST_LINES // total:
                print(f"{title}{done}/{total} {unit}, {time.monotonic() - self._start:.1f} s", flush=True)
            yield result


SILENT = Progress("")
