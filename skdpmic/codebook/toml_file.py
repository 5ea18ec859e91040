"""A codebook as a TOML file, for people to fill in and review (``docs/reference/codebook.md``)."""

import re
import tomllib

import narwhals.stable.v2 as nw
import tomlkit

from skdpmic._utils.readable import abbreviated, check_names, is_dask_collection
from skdpmic._utils.texts import escaped, quoted
from skdpmic._utils.user_files import content_of

KINDS = ("number", "integer", "date", "duration", "labels", "boolean", "identifier", "text")
NUMBER, INTEGER, DATE, DURATION, LABELS, BOOLEAN, IDENTIFIER, TEXT = KINDS
VERSION = 1  # of the format; readers refuse later ones
_MOST_BYTES = 2**22  # of a file; ten thousand columns with all fields take half of it
_MOST_LEVELS = 16  # of brackets in one another, and of parts of a key: tomllib's time grows faster than their number
_LONG_LINE = 1000  # letters; no field is sought in a longer one
_FIELDS = ("title", "groups", "max_rows_per_group", "columns")
_HEAD = """\
A codebook: the public description of each column of a table. Take it from the
questionnaire, the law or common knowledge, never from the data. Numbers need
a line such as range = [0, 120], labels one such as labels = ["f", "m"].
Columns that are not described are ignored.
"""


def text_of_file(path):
    """The text of a file, with or without a byte order mark."""
    written = content_of(path, _MOST_BYTES)
    try:
        return written.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = written.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path} must be UTF-8 text, got invalid bytes on line {line}.") from None


def parse_toml(text, source):
    """Parse a file into the arguments of :class:`Codebook`, with the fields of each column as they stand there.

    Parameters
    ----------
    text : str
    source : str
        Name of the file in errors.

    Returns
    -------
    dict
    """
    if text.lstrip()[:1] in ("<", "{"):  # with which no TOML begins
        raise ValueError(f"{source} must be a codebook in TOML, as Codebook.template begins one, got JSON or HTML.")
    try:
        _refuse_deep(text)
        fields = tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"{source} must be valid TOML: {error}.") from None
    version = fields.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        place = place_of("version", text, source)
        raise ValueError(f"{place} must have version = {VERSION}, the supported format, got {quoted(version)}.")
    if unknown := [name for name in fields if name not in _FIELDS]:
        raise ValueError(
            f"{place_of(unknown[0], text, source)}: the fields of a codebook must be among {['version', *_FIELDS]}, "
            f"got {unknown}."
        )
    if not isinstance(fields.get("columns"), dict):
        raise ValueError(f"{source} must have a table [columns], got none.")
    return fields


def place_of(field, text, source):
    """The name of a valid file and the line of one of its fields; without a line if there is no such field."""
    line = lines_of_fields(text).get((field,))
    return source if line is None else f"{source}, line {line}"


# --- The text, which may come from others ---------------------------------------------------------------------------

# An unclosed string ends with its line or the text: each letter is read once, and what follows is an error anyway.
_TOKEN = re.compile(
    r'"""(?:[^"\\]+|\\.|""?(?!"))*(?:"{3,5})?'
    r"|'''(?:[^']+|''?(?!'))*(?:'{3,5})?"
    r'|"(?:[^"\\\n]+|\\[^\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[\[\]{}.,=\n]",
    re.DOTALL,
)


def _refuse_deep(text):
    """Raise a ValueError if a text is nested too deeply to be parsed in reasonable time."""
    depth, n_parts = 0, 1
    for token in _TOKEN.finditer(text):
        sign = token[0]
        n_parts = n_parts + 1 if sign == "." else 1 if sign in "[]{},=\n" else n_parts
        depth = max(depth + (sign in "[{") - (sign in "]}"), 0)
        if max(depth, n_parts) > _MOST_LEVELS:
            raise ValueError(
                f"there must be at most {_MOST_LEVELS} brackets in one another and {_MOST_LEVELS} parts of a key, got "
                f"more (at line {text.count(chr(10), 0, token.start()) + 1})"
            )


def lines_of_fields(text):
    """The line on which each field begins, by (name,), and each column, by ("columns", name), if one line shows it."""
    lines, above = {}, ""
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        is_header = line.lstrip().startswith("[")
        try:
            fields = tomllib.loads(line if is_header else above + line) if len(line) < _LONG_LINE else {}
        except (ValueError, RecursionError):  # a part of a longer value
            continue
        if is_header:
            above = "[columns]\n" if fields == {"columns": {}} else "[others]\n"
        columns = fields.get("columns")
        names = columns if isinstance(columns, dict) else ()
        for path in [*((name,) for name in fields), *(("columns", name) for name in names)]:
            lines.setdefault(path, number)
    return lines


# --- Writing ----------------------------------------------------------------------------------------------------------


def as_text(fields, columns, comments=None):
    """Format a codebook file.

    Parameters
    ----------
    fields : dict
        Fields of the whole table; those with None are left out.
    columns : dict of str to dict
        The fields of each column.
    comments : dict of str to dict, default=None
        Comments on the fields of columns, by their type.

    Returns
    -------
    str
    """
    _refuse_long(len(columns) * len("[columns.x]\n\n"))  # now, as formatting a million columns takes minutes
    lines = [*(f"# {line}".rstrip() for line in _HEAD.splitlines()), *_written({"version": VERSION, **fields}, {})]
    for name, column in columns.items():
        header = f"[columns.{tomlkit.key(name).as_string()}]"
        lines += ["", header, *_written(column, (comments or {}).get(column["type"], {}))]
    text = escaped("\n".join([*lines, ""]), but="\n")  # strings and keys of tomlkit are basic ones
    _refuse_long(len(text.encode()))
    return text


def _written(fields, comments):
    """The lines of fields, without those that are None."""
    lines = {name: f"{name} = {tomlkit.item(value).as_string()}" for name, value in fields.items() if value is not None}
    return [f"{line} # {comments[name]}" if name in comments else line for name, line in lines.items()]


def _refuse_long(n_bytes):
    """Raise if a file of this length could not be read again."""
    if n_bytes > _MOST_BYTES:
        raise ValueError(
            f"columns must fit into a codebook file of at most {_MOST_BYTES:,} bytes, got more: describe columns with "
            "similar names together, by a pattern such as 'lab_*'."
        )


# --- Templates --------------------------------------------------------------------------------------------------------


_TYPE = "or identifier, or text, which are never used"
_RANGE = "lowest and highest possible value, such as [0, 120]"
_COMMENTS = {
    NUMBER: {"type": "or integer, for whole numbers; or labels, for categories; or identifier", "range": _RANGE},
    DATE: {"range": "first and last possible day, such as [2020-01-01, 2025-12-31]"},
    DURATION: {"range": "shortest and longest possible, in this unit"},
    LABELS: {"type": _TYPE, "labels": 'all possible labels, such as ["f", "m"]'},
    TEXT: {"type": "never used"},
    "": {"type": "number, integer, date, duration, labels, boolean, identifier or text"},
}
_BLANKS = {NUMBER: {"range": []}, DATE: {"range": []}, DURATION: {"range": [], "unit": "days"}, LABELS: {"labels": []}}


def template_of(frame):
    """The text of a codebook with blanks, for a dataframe of any library or a list of names without types."""
    if isinstance(frame, list | tuple):
        schema = dict.fromkeys(frame)
    else:
        frame = without_values(frame)
        schema = frame.collect_schema()
    if others := [name for name in schema if not isinstance(name, str)]:
        raise ValueError(f"frame must have column names of type str, got {abbreviated(others)}.")
    columns = {}
    for name, dtype in schema.items():
        kind = _kind(dtype)
        columns[name] = {"type": kind} | _BLANKS.get(kind, {}) | {"description": ""}
        if dtype == nw.Enum and frame.implementation.is_polars():  # labels in other libraries may come from the data
            columns[name]["labels"] = list(dtype.categories)
    return as_text({"title": ""}, columns, _COMMENTS)


def without_values(frame):
    """The columns in narwhals without values: a dataframe without rows, or one not collected."""
    if is_dask_collection(frame) and hasattr(frame, "dtypes"):
        import pandas

        frame = pandas.DataFrame({name: pandas.Series([], dtype=dtype) for name, dtype in frame.dtypes.items()})
    if nw.dependencies.is_into_dataframe(frame):
        check_names(frame, "frame")
        return nw.from_native(frame, eager_only=True).head(0)
    known = None if nw.dependencies.is_into_series(frame) else nw.from_native(frame, pass_through=True)
    return known if isinstance(known, nw.LazyFrame) else nw.from_native(_empty_of_arrow(frame))


def _empty_of_arrow(frame):
    """A table with the names and types of an object with the Arrow protocol; no records are read."""
    schema = next((it for it in (frame, getattr(frame, "schema", None)) if hasattr(it, "__arrow_c_schema__")), None)
    if (schema is None and not hasattr(frame, "__arrow_c_stream__")) or nw.dependencies.is_into_series(frame):
        raise TypeError(f"frame must be a dataframe or a list of column names, got {type(frame).__name__}.")
    import pyarrow

    if schema is None:
        schema = pyarrow.RecordBatchReader.from_stream(frame).schema
    return pyarrow.Table.from_batches([], pyarrow.schema(schema))  # `empty_table` would import pandas


def _kind(dtype):
    if dtype is None or dtype == nw.Boolean:
        return "" if dtype is None else BOOLEAN
    if dtype.is_numeric():
        return NUMBER
    if isinstance(dtype, nw.Date | nw.Datetime):
        return DATE
    if dtype == nw.Duration:
        return DURATION
    return LABELS if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) else TEXT
