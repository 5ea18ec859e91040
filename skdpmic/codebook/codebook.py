"""The public description of every column of a table."""

import contextlib
import datetime
import fnmatch
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Self

import numpy as np

from skdpmic._utils.arguments import is_whole
from skdpmic._utils.readable import abbreviated, almost, are_text, is_date
from skdpmic._utils.texts import quoted, require, warn
from skdpmic._utils.typing import TableLike
from skdpmic._utils.user_files import write_whole
from skdpmic.codebook import toml_file
from skdpmic.codebook.toml_file import BOOLEAN, DATE, DURATION, IDENTIFIER, INTEGER, KINDS, LABELS, NUMBER, TEXT
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, domain_of
from skdpmic.table.facts import labels_of
from skdpmic.table.frames import as_frame, columns_at, is_frame
from skdpmic.table.normal_form import open_column
from skdpmic.table.values import check_max_rows, labels_of_column

_MOST_PATTERNS = 1000  # each is compared with all names of a table
UNITS_OF_TIME = ("weeks", "days", "hours", "minutes", "seconds")  # units of durations in files, which have no such type
_FIELDS = ("type", "range", "scale", "knots", "labels", "unit", "description")
_VALUES = ("range", "knots", "labels")  # a column has at most one of these
_FARTHEST = 2.0**43  # seconds, whose microseconds fit in numpy's integers
_MOST_GROUPS = 16  # columns that together identify a person
_KINDS_OF_BOUNDS = {NUMBERS: NUMBER, DATES: DATE, DURATIONS: DURATION}
_MOST_LISTED = 20  # most invalid columns listed in an error


@dataclass(frozen=True)
class ColumnEntry:
    """Public description of one column.

    Parameters
    ----------
    kind : {"number", "integer", "date", "duration", "labels", "boolean", "identifier", "text"}
    bounds : tuple or range, default=None
        Range of numbers, integers, dates or durations, in the form of an entry of the estimators' `bounds`.
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
    bounds: tuple | range | None = None
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
        bounds = (self.bounds[0], self.bounds[-1]) if self.kind == INTEGER else self.bounds or ()
        ends = [end for end in bounds if end != "log"]
        given = [_count(end, self.unit) for end in ends] if self.kind == DURATION else ends
        values = {"labels": self.labels and list(self.labels), "range" if len(ends) == 2 else "knots": given or None}
        scale = "log" if "log" in bounds else None
        every = {"type": self.kind} | values | {"scale": scale, "unit": self.unit, "description": self.description}
        return {name: value for name, value in every.items() if value is not None}


def entry_of(given, where):
    """The entry of a column, as given by a user or a file.

    Parameters
    ----------
    given : tuple, range, list, str or dict
        A tuple is a range or knots, and a range holds integers, as in `bounds`; a list holds labels, as in
        `categories`; a str is a type that needs no further fields; a dict has the fields of a codebook file.
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
    if isinstance(given, tuple | range):
        return _entry_of_bounds(given, where)
    if isinstance(given, list):
        return ColumnEntry(LABELS, labels=_labels(given, where))
    if isinstance(given, str) and given in (BOOLEAN, IDENTIFIER, TEXT):
        return ColumnEntry(given)
    raise ValueError(
        f"{where} must be a tuple (a range or knots), a range (of integers), a list (of labels), 'boolean', "
        f"'identifier', 'text' or a dict of {list(_FIELDS)}, got {quoted(given)}."
    )


def _entry_of_bounds(bounds, where):
    domain = domain_of(bounds, f"the range of {where}")
    if isinstance(bounds, range):
        return ColumnEntry(INTEGER, bounds=bounds)
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
    require(all(map(np.isscalar, given)), f"the labels of {where} must be str or numbers", given)
    labels_of(list(given), f"the labels of {where}")  # raises
    return tuple(_as_python(label) for label in given)


# --- Fields of a file -------------------------------------------------------------------------------------------------


def _entry_of_fields(fields, where):
    if unknown := [name for name in fields if name not in _FIELDS]:
        raise ValueError(f"the fields of {where} must be among {list(_FIELDS)}, got {unknown}.")
    blank = [name for name, value in fields.items() if isinstance(value, list | tuple | str) and not len(value)]
    fields = {name: value for name, value in fields.items() if name not in blank}
    kind, scale, unit = fields.get("type", NUMBER), fields.get("scale", "linear"), fields.get("unit")
    require(kind in KINDS, f"the type of {where} must be one of {list(KINDS)}", kind)
    if scale not in ("linear", "log") or ("scale" in fields and "range" not in fields):
        raise ValueError(f"the scale of {where} must be 'linear' or 'log', and needs a range, got {quoted(scale)}.")
    for name in ("unit", "description"):
        require(isinstance(fields.get(name), str | None), f"the {name} of {where} must be a str", fields.get(name))
    entry = _entry_of_values(fields, blank, where)
    if fields.get("type", entry.kind) != entry.kind:
        raise ValueError(f"the type of {where} must be {entry.kind!r} with these values, got {quoted(kind)}.")
    if entry.kind == DURATION and unit is not None:
        _check_unit(unit, where)
    return replace(entry, unit=unit or entry.unit, description=fields.get("description"))


def _entry_of_values(fields, blank, where):
    kind = fields.get("type")
    values = {name: fields[name] for name in _VALUES if name in fields}
    if kind in (BOOLEAN, IDENTIFIER, TEXT) and not values:
        return ColumnEntry(kind)
    if len(values) != 1:
        due = {LABELS: "labels", INTEGER: "a range", None: "a type, range, knots or labels"}.get(kind, "range or knots")
        left = [f"{name} left blank" for name in ("type", *_VALUES) if name in blank]
        raise ValueError(f"{where} must have {due}, got {' and '.join(list(values) or left) or 'none'}.")
    ((name, value),) = values.items()
    require(isinstance(value, list | tuple), f"the {name} of {where} must be a list", value)
    if name == "labels":
        return ColumnEntry(LABELS, labels=_labels(value, where))
    if (name == "range") != (len(value) == 2):
        must = {"range": ("[lower, upper]", "knots for three or more"), "knots": ("three or more", "range for two")}
        raise ValueError(f"the {name} of {where} must be {must[name][0]}, got {quoted(value)}: use {must[name][1]}.")
    if any(isinstance(end, str) for end in value):
        raise ValueError(f"the {name} of {where} must hold numbers or dates without quotes, got {quoted(value)}.")
    if kind == INTEGER and name == "range" and fields.get("scale") != "log":
        is_valid = all(map(is_whole, value)) and value[0] < value[1]
        require(is_valid, f"the range of {where} must hold two integers, the lower one first", value)
        return _entry_of_bounds(range(int(value[0]), int(value[1]) + 1), where)
    ends = _durations(value, fields.get("unit"), where) if kind == DURATION else value
    return _entry_of_bounds((*ends, "log") if fields.get("scale") == "log" else tuple(ends), where)


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
    require(unit in UNITS_OF_TIME, f"the unit of {where}, a duration, must be one of {list(UNITS_OF_TIME)}", unit)


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
    are_few = is_list and len(set(names)) == len(names) <= _MOST_GROUPS
    require(are_few, f"groups must be a column name or a list of at most {_MOST_GROUPS} distinct names", groups)
    return tuple(names)


def labels_of_people(frame, columns):
    """A label for the person behind each row: the values of one column, or of several combined."""
    if len(columns) == 1:
        return frame[columns[0]].to_native()
    labels = [open_column(frame[name]).read(name) for name in columns]
    # In combined labels, estimators cannot see missing values.
    if incomplete := [name for name, column in zip(columns, labels, strict=True) if column.missing.any()]:
        raise ValueError(f"groups must identify the person behind each row, got missing values in {incomplete}.")
    return list(zip(*map(labels_of_column, labels), strict=True))


# --- Patterns of names -----------------------------------------------------------------------------------------------


def is_pattern(name):
    """Whether a name is a pattern."""
    return "*" in name or "?" in name


def _as_names(features):
    require(not isinstance(features, str), "features must be a list of names or a dataframe", features)
    return list(features)


# --- Columns of a file ------------------------------------------------------------------------------------------------


def _entries(columns, text, source):
    """The entry of each column; the error lists all invalid ones, because a template has many blanks."""
    entries, wrong = {}, []
    for name, fields in columns.items():
        where = f"column {quoted(name)}"
        try:
            # A list could mean labels or a range.
            require(isinstance(fields, dict), f"{where} must be a table, such as {{range = [0, 120]}}", fields)
            entries[name] = entry_of(fields, where)
        except ValueError as error:
            wrong.append((name, error))
    if wrong:
        lines = toml_file.lines_of_fields(text)
        listed = [f"line {lines.get(('columns', name), '?')}: {error}" for name, error in wrong[:_MOST_LISTED]]
        rest = [f"and {len(wrong) - _MOST_LISTED} more"] if len(wrong) > _MOST_LISTED else []
        raise ValueError("\n".join([f"{source} has {len(wrong)} incomplete or invalid column(s):", *listed, *rest]))
    return entries


# --- Columns of a table -----------------------------------------------------------------------------------------------


def features_among(codebook, names, target=None, features=None):
    """The names of the features among the columns of a table, as :meth:`Codebook.records` chooses and checks them."""
    features = None if features is None else _as_names(features)
    codebook._check_columns(dict.fromkeys(names), features, target)
    known = {*codebook.groups, *codebook._listed}
    if ignored := [name for name in names if name not in known and codebook.entry(name) is None]:
        codebook._listed.update(ignored)
        warn(f"columns that the codebook does not describe are ignored: {abbreviated(ignored)}.")
    chosen = codebook._names(features, target) if features is not None else codebook._used_among(names, target)
    if not chosen:
        raise ValueError("frame must have a feature that the codebook describes, of a type that is used, got none.")
    if target is not None:
        codebook._used(target)
    return chosen


# --- The codebook -----------------------------------------------------------------------------------------------------


class Codebook:
    """Public description of the columns of a table: range or labels, unit and meaning.

    Write it from the questionnaire, the law or common knowledge, never from the data, in a file that people can review.
    It provides the arguments of the estimators, :func:`private_summary` checks whether it fits the data, and columns
    that it does not describe are never used.

    Parameters
    ----------
    columns : dict
        One entry per column, by name. A tuple is a range or knots, as in `bounds`: ``(0, 110)``, ``(0, 1e6, "log")``,
        ``(10, 20, 25, 30, 60)``, or dates; ``range(1, 6)`` holds the integers from 1 to 5. A list holds labels, as in
        `categories`. "boolean" means yes or no, 1 or 0. Columns of type "identifier" and "text" are never used. A dict
        has the fields of a codebook file, such as `unit` and `description`. In a name, ``*`` matches any characters and
        ``?`` one character: ``"bp_*": (0, 300)`` describes all columns whose names start with ``bp_``. A name takes
        precedence over patterns, and an earlier pattern over later ones.
    groups : str or list of str, default=()
        The column, or the columns together, that identify the person behind each row, if people may have several rows.
        They are never features.
    max_rows_per_group : int, default=None
        Number of rows that each person contributes, as in the estimators; only with `groups`. None means 1.
    title : str, default=None
        Title of the table.

    Attributes
    ----------
    columns : dict of str to ColumnEntry
        Description of each name and pattern.

    Raises
    ------
    ValueError
        If an entry is invalid. The error names the column, and for a file the line.

    See Also
    --------
    private_summary : Summarizes the data privately, to check whether a codebook fits.
    PublicEncoder : Encodes columns as numbers in [0, 1], by their public description.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdpmic import Codebook, PrivateSelectKBest
    >>> codebook = Codebook(
    ...     {"age": (0, 110), "sex": ["f", "m"], "bp_*": (0, 300), "name": "identifier", "death": [0, 1]},
    ... )
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"age": rng.integers(20, 90, 2000), "sex": "f", "bp_first": rng.normal(120, 20, 2000)})
    >>> frame = frame.assign(name="?", death=frame["age"] > 70)
    >>> selector = PrivateSelectKBest(k=1, epsilon=1, **codebook.target("death", features=frame))
    >>> print(*selector.fit(**codebook.records(frame, "death")).get_feature_names_out())
    age

    A template for a new codebook, from names and types only:

    >>> for line in Codebook.template(frame[["age"]]).strip().splitlines()[-4:]:
    ...     print(line)
    [columns.age]
    type = "number" # or integer, for whole numbers; or labels, for categories; or identifier
    range = [] # lowest and highest possible value, such as [0, 120]
    description = ""
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        *,
        groups: str | Sequence[str] = (),
        max_rows_per_group: int | None = None,
        title: str | None = None,
    ) -> None:
        is_dict = isinstance(columns, Mapping)  # by itself, because type checkers take it for granted
        if not is_dict or not all(isinstance(name, str) for name in columns):
            raise ValueError(f"columns must be a dict by column name, got {quoted(columns)}.")
        if not columns:
            raise ValueError("columns must have an entry for at least one column, got none.")
        require(isinstance(title, str | None), "title must be None or a str", title)
        check_max_rows(max_rows_per_group)
        self.columns = {name: entry_of(entry, f"column {quoted(name)}") for name, entry in columns.items()}
        self.groups = checked_groups(groups)
        if max_rows_per_group is not None and not self.groups:
            raise ValueError(f"max_rows_per_group must be None without groups, got {quoted(max_rows_per_group)}.")
        self.max_rows_per_group = (max_rows_per_group or 1) if self.groups else None
        self.title = title or None
        # In order: the first match counts.
        patterns = filter(is_pattern, self.columns)
        self._patterns = {name: re.compile(fnmatch.translate(name.replace("[", "[[]"))) for name in patterns}
        if len(self._patterns) > _MOST_PATTERNS:
            raise ValueError(f"columns must have at most {_MOST_PATTERNS} patterns, got {len(self._patterns)}.")
        self._listed: set[str] = set()  # ignored columns already listed in a warning

    # --- Files ----------------------------------------------------------------------------------------------------

    @classmethod
    def template(cls, frame: TableLike) -> str:
        """Return a codebook template with blanks to fill in, from column names and types only.

        Costs no privacy: it reads no values, and no labels except those declared in a type.

        Parameters
        ----------
        frame : dataframe, LazyFrame, Arrow schema or list of str
            An object of any library supported by narwhals, or with the Arrow protocol. A list has names without types.

        Returns
        -------
        str
            TOML text. Write it to a file, fill in the blanks, and read it with :meth:`read`.
        """
        return toml_file.template_of(frame)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a codebook from a TOML file.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Codebook

        Raises
        ------
        ValueError
            If the file does not follow ``docs/reference/codebook.md``; the error names the column and its line.
        OSError
            If the file cannot be read.
        """
        return cls.parse(toml_file.text_of_file(path), os.fspath(path))

    @classmethod
    def parse(cls, text: str, source: str = "the codebook") -> Self:
        """Read a codebook from the text of such a file.

        Parameters
        ----------
        text : str
        source : str, default="the codebook"
            Name of the file in errors.

        Returns
        -------
        Codebook
        """
        fields = toml_file.parse_toml(text, source)
        columns = _entries(fields["columns"], text, source)
        try:
            return cls(**fields | {"columns": columns})
        except ValueError as error:
            field = str(error).partition(" ")[0]  # with which errors begin
            place = toml_file.place_of(field, text, source)
            raise ValueError(f"{place}: {error}") from None

    def to_toml(self) -> str:
        """Return this codebook as TOML text.

        Returns
        -------
        str
        """
        groups = list(self.groups) or None
        whole = {"title": self.title, "groups": groups, "max_rows_per_group": self.max_rows_per_group}
        return toml_file.as_text(whole, {name: entry.fields() for name, entry in self.columns.items()})

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write this codebook to a TOML file, for :meth:`read`.

        Parameters
        ----------
        path : str or path-like
        """
        write_whole(path, self.to_toml().encode())

    # --- For estimators -------------------------------------------------------------------------------------------

    def features(
        self, features: Iterable[str] | TableLike | None = None, *, target: str | None = None
    ) -> dict[str, Any]:
        """Return the public description of the features, as arguments of :class:`PublicEncoder`.

        Parameters
        ----------
        features : list of str or dataframe, default=None
            Names of the features, or the table whose columns they are. None takes all described columns that are not
            excluded; this requires a codebook without patterns.
        target : str, default=None
            Column that is not a feature.

        Returns
        -------
        dict
            `bounds` and `categories`, each for the columns that have them.

        Raises
        ------
        ValueError
            If a feature is not described, or is of a type that is never used.
        """
        entries = {name: self._used(name) for name in self._names(features, target)}
        bounds = {name: entry.bounds for name, entry in entries.items() if entry.bounds is not None}
        categories = {name: entry.public_labels for name, entry in entries.items() if entry.bounds is None}
        return {"bounds": bounds, "categories": categories}

    def target(self, target: str, features: Iterable[str] | TableLike | None = None) -> dict[str, Any]:
        """Return the arguments of an estimator that chooses or scores features for a target.

        Parameters
        ----------
        target : str
            Column to predict.
        features : list of str or dataframe, default=None
            As in :meth:`features`.

        Returns
        -------
        dict
            `bounds` and `categories` of the features; `target_bounds` or `classes`; and `max_rows_per_group` if people
            may have several rows.

        Raises
        ------
        ValueError
            If the target or a feature is not described, or is of a type that is never used.
        """
        entry = self._used(target)
        what = {"classes": entry.public_labels} if entry.bounds is None else {"target_bounds": entry.bounds}
        people = {"max_rows_per_group": self.max_rows_per_group} if self.groups else {}
        return self.features(features, target=target) | what | people

    def records(
        self, frame: TableLike, target: str | None = None, features: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Return the arguments of `fit` from a dataframe: X, y and groups.

        Parameters
        ----------
        frame : dataframe
            A dataframe of any library supported by narwhals, or with the Arrow protocol.
        target : str, default=None
            Column to predict.
        features : list of str, default=None
            Names of the features; None takes all described columns that are not excluded.

        Returns
        -------
        dict
            `X`, the features as a dataframe; `y` if there is a target; `groups` if people may have several rows.

        Raises
        ------
        ValueError
            If the frame lacks a column that is described, or has no feature that is used.

        Warns
        -----
        UserWarning
            If the frame has columns that are not described, which are ignored. Each is listed once.
        """
        frame = as_frame(frame, "frame")
        place_of = {name: j for j, name in enumerate(frame.columns)}
        names = features_among(self, frame.columns, target, features)
        records = {"X": columns_at(frame, [place_of[name] for name in names]).to_native()}
        if target is not None:
            records["y"] = frame[target].to_native()
        if self.groups:
            records["groups"] = labels_of_people(frame, self.groups)
        return records

    # --- Columns --------------------------------------------------------------------------------------------------

    def entry(self, name: str) -> ColumnEntry | None:
        """Return the description of a column, by its name or by a pattern; None if there is none.

        Parameters
        ----------
        name : str

        Returns
        -------
        ColumnEntry or None
        """
        if name in self.columns:
            return self.columns[name]
        patterns = self._patterns.items() if are_text([name]) else ()
        return next((self.columns[own] for own, pattern in patterns if pattern.match(name)), None)

    def _check_columns(self, names, features, target):
        """Raise if a frame lacks usable columns of this codebook, or the requested ones."""
        if features is None:
            features = [name for name, entry in self.columns.items() if entry.is_used and not is_pattern(name)]
        wanted = [*features, *self.groups, *([] if target is None else [target])]
        if missing := [name for name in dict.fromkeys(wanted) if name not in names]:
            raise ValueError(
                f"frame must have all columns of the codebook, got none named {abbreviated(missing)}."
                f"{almost(missing, names)}"
            )

    def _used(self, name):
        entry = self.entry(name)
        if entry is None:
            raise ValueError(
                f"the codebook must describe column {quoted(name)}, got no entry for it.{almost([name], self.columns)}"
            )
        if not entry.is_used or name in self.groups:
            what = "one of groups" if name in self.groups else f"type {entry.kind!r}"
            raise ValueError(f"column {quoted(name)} must be of a type that is used, got {what}.")
        return entry

    def _names(self, features, target):
        """The names of the features: those given, or all usable columns of a frame or of the codebook."""
        if features is not None and not is_frame(features):
            names = _as_names(features)
            if target in names:
                raise ValueError(f"features must not hold the target {quoted(target)}, which would predict itself.")
            for name in names:
                self._used(name)
            return names
        if features is None and self._patterns:
            raise ValueError("features must be names or a dataframe if the codebook holds patterns, got None.")
        names = self.columns if features is None else toml_file.without_values(features).collect_schema()
        return self._used_among(names, target)

    def _used_among(self, names, target):
        """All usable columns among these names."""
        entries = {name: self.entry(name) for name in names if name not in (target, *self.groups)}
        return [name for name, entry in entries.items() if entry is not None and entry.is_used]

    # --- Display --------------------------------------------------------------------------------------------------

    def __eq__(self, other):
        described = attrgetter("columns", "groups", "max_rows_per_group", "title")
        is_same = isinstance(other, Codebook) and described(self) == described(other)
        return is_same and list(self._patterns) == list(other._patterns)

    __hash__ = None  # type: ignore[assignment]  # it holds dicts

    def __repr__(self):
        kinds = Counter(entry.kind for entry in self.columns.values()).items()
        return f"<Codebook with columns of type {', '.join(f'{kind} ({count})' for kind, count in kinds)}>"
