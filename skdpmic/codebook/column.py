"""One column of a codebook: its possible values, their meaning in words, and the patterns of its name."""

import contextlib
import datetime
import fnmatch
import re
from dataclasses import dataclass, replace

import numpy as np

from skdpmic._utils.readable import abbreviated, almost, is_date
from skdpmic._utils.summaries import ResultColumn, Summary, as_html
from skdpmic._utils.texts import counted, quoted, shortened
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, domain_of
from skdpmic.table.features import labels_of
from skdpmic.table.frames import open_column
from skdpmic.table.people import labels_of_column

NUMBER, DATE, DURATION, LABELS, BOOLEAN = "number", "date", "duration", "labels", "boolean"
IDENTIFIER, TEXT = "identifier", "text"
KINDS = (NUMBER, DATE, DURATION, LABELS, BOOLEAN, IDENTIFIER, TEXT)
UNITS_OF_TIME = ("weeks", "days", "hours", "minutes", "seconds")  # units of durations in files, which have no such type
_FIELDS = ("type", "range", "scale", "knots", "labels", "unit", "description")
_VALUES = ("range", "knots", "labels")  # a column has at most one of these
_FARTHEST = 2.0**43  # seconds, whose microseconds fit in numpy's integers
_MOST_GROUPS = 16  # columns that together identify a person
_KINDS_OF_BOUNDS = {NUMBERS: NUMBER, DATES: DATE, DURATIONS: DURATION}


@dataclass(frozen=True)
class ColumnEntry:
    """Public description of one column.

    Parameters
    ----------
    kind : {"number", "date", "duration", "labels", "boolean", "identifier", "text"}
    bounds : tuple, default=None
        Range of numbers, dates or durations, in the form of an entry of the estimators' `bounds`.
    labels : tuple, default=None
        Public labels.
    unit, description : str, default=None
        Unit and meaning. The unit of a duration is the one used in a codebook file.

    Examples
    --------
    >>> from skdpmic import Codebook
    >>> entry = Codebook({"age": {"range": [0, 110], "unit": "years"}}).columns["age"]
    >>> entry.kind, entry.bounds, entry.unit, entry.is_used
    ('number', (0, 110), 'years', True)
    """

    kind: str
    bounds: tuple | None = None
    labels: tuple | None = None
    unit: str | None = None
    description: str | None = None

    @property
    def is_used(self):
        """Whether the column is ever used."""
        return self.kind not in (IDENTIFIER, TEXT)

    @property
    def has_text_labels(self):
        """Whether the column holds labels that are text."""
        return any(isinstance(label, str) for label in self.labels or ())

    @property
    def public_labels(self):
        """The labels, in the form of an entry of the estimators' `categories`, or of `classes`."""
        return [0, 1] if self.kind == BOOLEAN else list(self.labels)

    def fields(self):
        """The fields of a codebook file, by name."""
        texts = {"unit": self.unit, "description": self.description}
        return {"type": self.kind} | self._values() | {name: text for name, text in texts.items() if text is not None}

    def _values(self):
        if self.labels is not None:
            return {"labels": list(self.labels)}
        if self.bounds is None:
            return {}
        values, further = list(self.bounds), {}
        if values[-1:] == ["log"]:
            values, further = values[:2], {"scale": "log"}
        if self.kind == DURATION:
            values = [_count(value, self.unit) for value in values]
        return {"range" if len(values) == 2 else "knots": values} | further


def entry_of(given, where):
    """The entry of a column, as given by a user or a file.

    Parameters
    ----------
    given : tuple, list, str or dict
        A tuple is a range or knots, as in `bounds`; a list holds labels, as in `categories`; a str is a type that needs
        no further fields; a dict has the fields of a codebook file.
    where : str
        Name of the column in errors.

    Returns
    -------
    ColumnEntry
    """
    if isinstance(given, ColumnEntry):
        return given
    if isinstance(given, dict):
        return _entry_of_fields(given, where)
    if isinstance(given, tuple):
        return _entry_of_bounds(given, where)
    if isinstance(given, list):
        return ColumnEntry(LABELS, labels=_labels(given, where))
    if isinstance(given, str) and given in (BOOLEAN, IDENTIFIER, TEXT):
        return ColumnEntry(given)
    raise ValueError(
        f"{where} must be a tuple (a range or knots), a list (of labels), 'boolean', 'identifier', 'text' or a dict of "
        f"{list(_FIELDS)}, got {quoted(given)}."
    )


def _entry_of_bounds(bounds, where):
    domain = domain_of(bounds, f"the range of {where}")
    kind = _KINDS_OF_BOUNDS[domain.of]
    plain = ()
    if kind == NUMBER or max(map(abs, domain.bounds)) <= _FARTHEST:
        with contextlib.suppress(OverflowError):  # a time in year 1 or 9999, in UTC
            plain = tuple(_as_python(value) for value in bounds)
    if not plain or (kind != NUMBER and not all(map(is_date, plain))):
        raise ValueError(f"the range of {where} must be within years 1 to 9999, as in Python, got {quoted(bounds)}.")
    return ColumnEntry(kind, bounds=plain, unit=_unit_in_use(plain) if kind == DURATION else None)


def _as_python(value):
    """A number, a date or a duration as a Python object; dates are in UTC, without the time if that is midnight."""
    if hasattr(value, "to_numpy"):  # of pandas
        value = value.to_numpy()
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = value.astype(f"{value.dtype.kind}8[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
        return value.date() if value.time() == datetime.time() else value
    return value if isinstance(value, int | float | str) or is_date(value) else float(value)


def _labels(given, where):
    if not all(map(np.isscalar, given)):
        raise ValueError(f"the labels of {where} must be str or numbers, got {quoted(given)}.")
    labels_of(list(given), f"the labels of {where}")  # raises
    return tuple(_as_python(label) for label in given)


# --- Fields of a file -------------------------------------------------------------------------------------------------


def _entry_of_fields(fields, where):
    _check_names(fields, where)
    blank = [name for name, value in fields.items() if _is_blank(value)]
    fields = {name: value for name, value in fields.items() if name not in blank}
    _check_type_and_scale(fields, where)
    texts = {name: _text(fields.get(name), f"{name} of {where}") for name in ("unit", "description")}
    entry = _entry_of_values(fields, blank, where)
    kind = fields.get("type", entry.kind)
    if kind != entry.kind:
        raise ValueError(f"the type of {where} must be {entry.kind!r} with these values, got {quoted(kind)}.")
    unit = texts["unit"] or entry.unit
    if kind == DURATION:
        _check_unit(unit, where)
    return replace(entry, unit=unit, description=texts["description"])


def _check_names(fields, where):
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown:
        are_names = any(isinstance(fields[name], dict) for name in unknown)
        advice = ". A name with a dot must be in quotes" if are_names else ""
        raise ValueError(f"the fields of {where} must be among {list(_FIELDS)}, got {unknown}{advice}.")


def _check_type_and_scale(fields, where):
    kind = fields.get("type", NUMBER)
    if kind not in KINDS:
        raise ValueError(f"the type of {where} must be one of {list(KINDS)}, got {quoted(kind)}.")
    if "scale" in fields and (fields["scale"] not in ("linear", "log") or "range" not in fields):
        raise ValueError(
            f"the scale of {where} must be 'linear' or 'log', and needs a range, got {quoted(fields['scale'])}."
        )


def _entry_of_values(fields, blank, where):
    kind = fields.get("type")
    values = {name: fields[name] for name in _VALUES if name in fields}
    if kind in (BOOLEAN, IDENTIFIER, TEXT) and not values:
        return ColumnEntry(kind)
    if len(values) != 1:
        wanted = {LABELS: "labels", None: "a type, range, knots or labels"}.get(kind, "range or knots")
        left = [f"{name} left blank" for name in ("type", *_VALUES) if name in blank]
        got = " and ".join(list(values) or left) or "none"
        raise ValueError(f"{where} must have {wanted}, got {got}.")
    ((name, value),) = values.items()
    if not isinstance(value, list | tuple):
        raise ValueError(f"the {name} of {where} must be a list, got {quoted(value)}.")
    if name == "labels":
        return ColumnEntry(LABELS, labels=_labels(value, where))
    if name == "range" and len(value) != 2:
        raise ValueError(
            f"the range of {where} must be [lower, upper], got {quoted(value)}: use knots for three or more."
        )
    if name == "knots" and len(value) < 3:
        raise ValueError(f"the knots of {where} must be three or more, got {quoted(value)}: use range for two.")
    if any(isinstance(end, str) for end in value):
        raise ValueError(f"the {name} of {where} must hold numbers or dates without quotes, got {quoted(value)}.")
    ends = _durations(value, fields.get("unit"), where) if kind == DURATION else value
    try:
        return _entry_of_bounds((*ends, "log") if fields.get("scale") == "log" else tuple(ends), where)
    except ValueError as error:
        must = str(error).partition(" must be ")[2].partition(", got ")[0]
    must = "numbers, or dates without quotes, of one kind" if must.startswith("(") else must  # as in Python
    raise ValueError(f"the {name} of {where} must be {must}, got {_as_written(value)}.")


def _as_written(values):
    """A list as in a file."""
    return f"[{', '.join(value.isoformat() if hasattr(value, 'isoformat') else quoted(value) for value in values)}]"


def _is_blank(value):
    return isinstance(value, list | tuple | str) and len(value) == 0


def _text(value, name):
    if value is not None and not isinstance(value, str):
        raise ValueError(f"the {name} must be a str, got {quoted(value)}.")
    return value


# --- Durations, which a file gives as a number of units ---------------------------------------------------------------


def _durations(values, unit, where):
    if all(map(is_date, values)):
        return values
    _check_unit(unit, where)
    try:
        values = [_as_python(value) for value in values]
        return [value if is_date(value) else datetime.timedelta(**{unit: value}) for value in values]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"the range of {where} must hold numbers of {unit}, got {quoted(values)}.") from None


def _check_unit(unit, where):
    if unit not in UNITS_OF_TIME:
        raise ValueError(f"the unit of {where}, a duration, must be one of {list(UNITS_OF_TIME)}, got {quoted(unit)}.")


def _unit_in_use(durations):
    """The longest unit in which all durations are integers; or seconds."""
    is_whole = {unit: not any(value % datetime.timedelta(**{unit: 1}) for value in durations) for unit in UNITS_OF_TIME}
    return next((unit for unit in UNITS_OF_TIME if is_whole[unit]), "seconds")


def _count(duration, unit):
    count = duration / datetime.timedelta(**{unit: 1})
    return int(count) if count.is_integer() else count


# --- Columns that identify people ------------------------------------------------------------------------------------


def checked_groups(groups):
    """The names of the columns that identify a person; may be empty."""
    names = (groups,) if isinstance(groups, str) else groups
    is_list = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not is_list or len(set(names)) < len(names) or len(names) > _MOST_GROUPS:
        raise ValueError(
            f"groups must be a column name or a list of at most {_MOST_GROUPS} distinct names, got {quoted(groups)}."
        )
    return tuple(names)


def labels_of_people(frame, columns):
    """A label for the person behind each row: the values of one column, or of several combined."""
    if len(columns) == 1:
        return frame[columns[0]].to_native()
    labels = [open_column(frame[name]).read(name) for name in columns]
    incomplete = [name for name, column in zip(columns, labels, strict=True) if column.missing.any()]
    if incomplete:  # in combined labels, estimators cannot see missing values
        raise ValueError(f"groups must identify the person behind each row, got missing values in {incomplete}.")
    return list(zip(*map(labels_of_column, labels), strict=True))


# --- In words --------------------------------------------------------------------------------------------------------


_MOST_LETTERS = 120


def codebook_as_html(codebook):
    """The HTML of a codebook in notebooks."""
    facts = [("Table", codebook.title)] if codebook.title else []
    if codebook.groups:
        rows = counted(codebook.max_rows_per_group, "row")
        facts.append(("A person", f"is {' and '.join(codebook.groups)}, and counts for {rows}"))
    entries = list(codebook.columns.values())
    cells = {
        "column": list(codebook.columns),
        "type": [entry.kind for entry in entries],
        "values": [shortened(entry_in_words(entry), _MOST_LETTERS) for entry in entries],
        "unit": [entry.unit or "" for entry in entries],
        "description": [entry.description or "" for entry in entries],
    }
    columns = [ResultColumn(title, texts) for title, texts in cells.items()]
    return as_html(Summary(facts, [], columns, range(len(entries)), unit="column"), "Codebook")


def entry_in_words(entry: ColumnEntry) -> str:
    """The possible values of a column."""
    if not entry.is_used:
        return "never used"
    if entry.kind == BOOLEAN:
        return "yes or no"
    if entry.labels is not None:
        return ", ".join(map(str, entry.labels))
    first, *between, last = entry.bounds or ()
    if last == "log":
        return f"{first} to {between[0]}, on a log scale"
    return f"{first} to {last}" + (f", by {len(between) + 2} knots" if between else "")


# --- Patterns of names -----------------------------------------------------------------------------------------------


def is_pattern(name):
    """Whether a name is a pattern."""
    return "*" in name or "?" in name


def any_of(patterns):
    """An expression that matches the names that any of the patterns matches; its last group is the first of these."""
    return re.compile("|".join(f"({fnmatch.translate(pattern.replace('[', '[[]'))})" for pattern in patterns))


def as_column_names(features):
    """Names given by the user, as a list."""
    if isinstance(features, str):
        raise ValueError(f"features must be a list of names or a dataframe, got {quoted(features)}.")
    return list(features)


def check_columns(codebook, names, features, target):
    """Raise if a frame lacks usable columns of a codebook, or the requested ones.

    Parameters
    ----------
    codebook : Codebook
    names : dict or set of str
        Names of the columns of the frame.
    features : list of str or None
        Requested features; None for all.
    target : str or None

    Returns
    -------
    list of str
        Columns that the codebook does not describe.
    """
    if features is None:
        features = [name for name, entry in codebook.columns.items() if entry.is_used and not is_pattern(name)]
    wanted = [*features, *codebook.groups, *([] if target is None else [target])]
    missing = [name for name in dict.fromkeys(wanted) if name not in names]
    if missing:
        raise ValueError(
            f"frame must have all columns of the codebook, got none named {abbreviated(missing)}."
            f"{almost(missing, names)}"
        )
    return [name for name in names if name not in codebook.groups and codebook.entry(name) is None]
