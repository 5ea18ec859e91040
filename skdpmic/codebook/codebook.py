"""The public description of every column of a table."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import narwhals.stable.v2 as nw

from skdpmic._utils.errors import warn
from skdpmic._utils.readable import abbreviated, almost, check_names, is_dask_collection
from skdpmic._utils.texts import quoted
from skdpmic._utils.typing import TableLike
from skdpmic._utils.user_files import write_whole
from skdpmic.codebook.column import (
    BOOLEAN,
    DATE,
    DURATION,
    LABELS,
    NUMBER,
    TEXT,
    ColumnEntry,
    any_of,
    as_column_names,
    check_columns,
    checked_groups,
    codebook_as_html,
    entry_of,
    is_pattern,
    labels_of_people,
)
from skdpmic.codebook.toml_file import as_text, parse_toml, place_of, text_of_file
from skdpmic.table.frames import as_frame, columns_at, is_frame
from skdpmic.table.people import check_max_rows

_MOST_PATTERNS = 1000  # each is compared with all names of a table


class Codebook:
    """Public description of the columns of a table: range or labels, unit and meaning.

    Write it from the questionnaire, the law or common knowledge, never from the data, in a file that people can review.
    It provides the arguments of the estimators, :func:`private_summary` checks whether it fits the data, and columns
    that it does not describe are never used.

    Parameters
    ----------
    columns : dict
        One entry per column, by name. A tuple is a range or knots, as in `bounds`: ``(0, 110)``, ``(0, 1e6, "log")``,
        ``(10, 20, 25, 30, 60)``, or dates. A list holds labels, as in `categories`. "boolean" means yes or no, 1 or 0.
        Columns of type "identifier" and "text" are never used. A dict has the fields of a codebook file, such as `unit`
        and `description`. In a name, ``*`` matches any characters and ``?`` one character: ``"bp_*": (0, 300)``
        describes all columns whose names start with ``bp_``. A name takes precedence over patterns, and an earlier
        pattern over later ones.
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
    type = "number" # or labels, if numbers stand for categories; or identifier
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
        is_dict = isinstance(columns, Mapping)
        if not is_dict or not all(isinstance(name, str) for name in columns):
            raise ValueError(f"columns must be a dict by column name, got {quoted(columns)}.")
        if not columns:
            raise ValueError("columns must have an entry for at least one column, got none.")
        if title is not None and not isinstance(title, str):
            raise ValueError(f"title must be None or a str, got {quoted(title)}.")
        check_max_rows(max_rows_per_group)
        self.columns = {name: entry_of(entry, f"column {quoted(name)}") for name, entry in columns.items()}
        self.groups = checked_groups(groups)
        if max_rows_per_group is not None and not self.groups:
            raise ValueError(f"max_rows_per_group must be None without groups, got {quoted(max_rows_per_group)}.")
        self.max_rows_per_group = (max_rows_per_group or 1) if self.groups else None
        self.title = title or None
        self._patterns = [name for name in self.columns if is_pattern(name)]  # in order: the first match counts
        if len(self._patterns) > _MOST_PATTERNS:
            raise ValueError(f"columns must have at most {_MOST_PATTERNS} patterns, got {len(self._patterns)}.")
        self._any_pattern = any_of(self._patterns)
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
        return template_of(frame)

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
        return cls.parse(text_of_file(path), os.fspath(path))

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
        fields = parse_toml(text, source)
        try:
            return cls(**fields)
        except ValueError as error:
            place = place_of(str(error).partition(" ")[0], text, source)  # errors begin with the name of the field
            raise ValueError(f"{place}: {error}") from None

    def to_toml(self) -> str:
        """Return this codebook as TOML text.

        Returns
        -------
        str
        """
        whole = {
            "title": self.title,
            "groups": list(self.groups) or None,
            "max_rows_per_group": self.max_rows_per_group,
        }
        return as_text(whole, {name: entry.fields() for name, entry in self.columns.items()})

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
        features = None if features is None else as_column_names(features)
        frame = as_frame(frame, "frame")
        place_of = {name: j for j, name in enumerate(frame.columns)}
        not_described = check_columns(self, place_of, features, target)
        if ignored := [name for name in not_described if name not in self._listed]:
            self._listed.update(ignored)
            warn(f"columns that the codebook does not describe are ignored: {abbreviated(ignored)}.")
        names = self._names(frame.to_native() if features is None else features, target)
        if not names:
            raise ValueError("frame must have a feature that the codebook describes, of a type that is used, got none.")
        records = {"X": columns_at(frame, [place_of[name] for name in names]).to_native()}
        if target is not None:
            self._used(target)
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
        found = self._any_pattern.match(name) if self._patterns and isinstance(name, str) else None
        return None if found is None else self.columns[self._patterns[found.lastindex - 1]]

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
            names = as_column_names(features)
            if target in names:
                raise ValueError(
                    f"features must not hold the target {quoted(target)}, which would predict itself: leave it out."
                )
            for name in names:
                self._used(name)
            return names
        if features is None and self._patterns:
            raise ValueError(
                "features must be names or a dataframe if the codebook describes columns by patterns, got None."
            )
        names = self.columns if features is None else names_of_columns(features)
        others = {target, *self.groups}
        entries = {name: self.entry(name) for name in names if name not in others}
        return [name for name, entry in entries.items() if entry is not None and entry.is_used]

    # --- Display --------------------------------------------------------------------------------------------------

    def __eq__(self, other):
        return isinstance(other, Codebook) and self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]  # it holds dicts

    def _content(self):
        return self.columns, self._patterns, self.groups, self.max_rows_per_group, self.title

    def __repr__(self):
        kinds = Counter(entry.kind for entry in self.columns.values())
        return f"<Codebook with columns of type {', '.join(f'{kind} ({count})' for kind, count in kinds.items())}>"

    def _repr_html_(self):
        return codebook_as_html(self)


_TYPE = "or identifier, or text, which are never used"
_RANGE = "lowest and highest possible value, such as [0, 120]"
_COMMENTS = {
    NUMBER: {"type": "or labels, if numbers stand for categories; or identifier", "range": _RANGE},
    DATE: {"range": "first and last possible day, such as [2020-01-01, 2025-12-31]"},
    DURATION: {"range": "shortest and longest possible, in this unit"},
    LABELS: {"type": _TYPE, "labels": 'all possible labels, such as ["f", "m"]'},
    TEXT: {"type": "never used"},
    "": {"type": "number, date, duration, labels, boolean, identifier or text"},
}
_BLANKS = {NUMBER: {"range": []}, DATE: {"range": []}, DURATION: {"range": [], "unit": "days"}, LABELS: {"labels": []}}


def template_of(frame):
    """The text of a codebook with blanks, for a dataframe of any library or a list of names without types."""
    columns, comments = {}, {}
    for name, (kind, labels) in _columns_of(frame).items():
        fields = {"type": kind} | ({"labels": list(labels)} if labels else _BLANKS.get(kind, {}))
        columns[name] = fields | {"description": ""}
        comments[name] = _COMMENTS.get(kind, {})
    return as_text({"title": ""}, columns, comments)


def names_of_columns(frame):
    """The column names of an object with a schema; no values are read."""
    return list(_without_values(frame).collect_schema())


def _columns_of(frame):
    """The kind of each column, and the labels declared in its type."""
    if isinstance(frame, list | tuple):
        return {name: ("", ()) for name in _as_text(frame)}
    frame = _without_values(frame)
    are_declared = frame.implementation.is_polars()  # labels in other libraries may come from the data
    schema = frame.collect_schema()
    _as_text(list(schema))
    return {name: (_kind(dtype), _labels(dtype) if are_declared else ()) for name, dtype in schema.items()}


def _as_text(names):
    others = [name for name in names if not isinstance(name, str)]
    if others:
        raise ValueError(f"frame must have column names of type str, got {abbreviated(others)}.")
    return names


def _without_values(frame):
    """The columns in narwhals without values: a dataframe without rows, or one not collected."""
    if is_dask_collection(frame) and hasattr(frame, "dtypes"):
        return nw.from_native(_empty_of_pandas(frame.dtypes))
    if nw.dependencies.is_into_dataframe(frame):
        check_names(frame, "frame")
        return nw.from_native(frame, eager_only=True).head(0)
    known = None if nw.dependencies.is_into_series(frame) else nw.from_native(frame, pass_through=True)
    return known if isinstance(known, nw.LazyFrame) else nw.from_native(_schema_of_arrow(frame).empty_table())


def _empty_of_pandas(dtypes):
    import pandas

    return pandas.DataFrame({name: pandas.Series([], dtype=dtype) for name, dtype in dtypes.items()})


def _schema_of_arrow(frame):
    """Names and types of an object with the Arrow protocol; no records are read."""
    schema = next((it for it in (frame, getattr(frame, "schema", None)) if hasattr(it, "__arrow_c_schema__")), None)
    is_table = schema is not None or hasattr(frame, "__arrow_c_stream__")
    if not is_table or nw.dependencies.is_into_series(frame):
        raise TypeError(f"frame must be a dataframe or a list of column names, got {type(frame).__name__}.")
    import pyarrow

    if schema is not None:
        return pyarrow.schema(schema)
    return pyarrow.RecordBatchReader.from_stream(frame).schema


def _kind(dtype):
    if dtype == nw.Boolean:
        return BOOLEAN
    if dtype.is_numeric():
        return NUMBER
    if isinstance(dtype, nw.Date | nw.Datetime):
        return DATE
    if dtype == nw.Duration:
        return DURATION
    return LABELS if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) else TEXT


def _labels(dtype):
    """Labels declared in a type."""
    return tuple(dtype.categories) if dtype == nw.Enum else ()
