"""A codebook as a TOML file, for people to fill in and review (``docs/reference/codebook.md``)."""

import re
import tomllib
from itertools import chain

import narwhals.stable.v2 as nw
import tomlkit

from skdpmic._utils.readable import abbreviated, check_names, is_dask_collection
from skdpmic._utils.texts import escaped, quoted
from skdpmic._utils.user_files import content_of, levels

NUMBER, DATE, DURATION, LABELS, BOOLEAN = "number", "date", "duration", "labels", "boolean"
IDENTIFIER, TEXT = "identifier", "text"
KINDS = (NUMBER, DATE, DURATION, LABELS, BOOLEAN, IDENTIFIER, TEXT)
VERSION = 1  # of the format; readers refuse later ones
_MOST_BYTES = 2**22  # of a file; ten thousand columns with all fields take half of it
_MOST_LEVELS = 16  # of brackets in one another, and of parts of a key: tomllib's time grows faster than their number
_FIELDS = ("title", "groups", "max_rows_per_group", "columns")
_OTHER_FORMATS = {"<": "an HTML page", "{": "JSON"}  # such as a privacy card, by their first letter, which no TOML has
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
    if text.lstrip()[:1] in _OTHER_FORMATS:
        raise ValueError(
            f"{source} must be a codebook in TOML, as Codebook.template begins one, got "
            f"{_OTHER_FORMATS[text.lstrip()[0]]}."
        )
    try:
        fields = _loads(text)
    except ValueError as error:
        raise ValueError(f"{source} must be valid TOML: {error}.") from None
    version = fields.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        place = place_of("version", text, source)
        raise ValueError(f"{place} must have version = {VERSION}, the supported format, got {quoted(version)}.")
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown:
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


def _loads(text):
    """The fields of a text; a ValueError if it is nested too deeply, before it is parsed, or not valid."""
    for _ in _statements(text):  # raises
        pass
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        end = f"at line {text.rstrip().count(chr(10)) + 1}, where the text ends"
        raise ValueError(str(error).replace("at end of document", end)) from None
    except ValueError:  # of Python, for integers of more than 4,300 digits
        fields = None
    if _is_too_long(fields):
        line = next(line for statement, line in _statements(text) if _is_too_long(statement))
        raise ValueError(f"integers must have at most 64 bits (at line {line})")
    return fields


def _is_too_long(fields):
    """Whether an integer is, among fields or in a statement; None stands for fields that Python could not parse."""
    try:
        values = chain.from_iterable(levels(tomllib.loads(fields) if isinstance(fields, str) else fields))
    except ValueError:
        return True
    return fields is None or any(isinstance(value, int) and value.bit_length() >= 64 for value in values)


def _statements(text):
    """Each header, or key with its value, and the line on which it begins; a ValueError if some go too deep."""
    text, depth, n_parts, begin = text.replace("\r\n", "\n"), 0, 1, 0  # as tomllib
    line = first = 1
    for token in _TOKEN.finditer(text):
        sign = token[0]
        n_parts = n_parts + 1 if sign == "." else 1 if sign in "[]{},=\n" else n_parts
        depth = max(depth + (sign in "[{") - (sign in "]}"), 0)
        if max(depth, n_parts) > _MOST_LEVELS:
            raise ValueError(
                f"there must be at most {_MOST_LEVELS} brackets in one another and {_MOST_LEVELS} parts of a key, got "
                f"more (at line {line})"
            )
        line += sign.count("\n")
        if sign == "\n" and depth == 0:
            yield text[begin : token.start()], first
            begin, first = token.end(), line
    yield text[begin:], first


def lines_of_fields(text):
    """The line on which each field of a valid text begins, by (name,), and each column, by ("columns", name)."""
    lines, above = {}, ""
    for statement, line in _statements(text):
        if statement.lstrip().startswith("["):
            fields = tomllib.loads(statement)
            above = "[columns]\n" if fields == {"columns": {}} else None  # below a column, there are no other columns
        else:
            fields = {} if above is None else tomllib.loads(above + statement)
        columns = fields.get("columns")
        names = columns if isinstance(columns, dict) else ()
        for path in [*((name,) for name in fields), *(("columns", name) for name in names)]:
            lines.setdefault(path, line)
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
        Comments on the fields of each column.

    Returns
    -------
    str
    """
    given = comments or {}
    _refuse_long(sum(_least_length(name, column, given.get(name, {})) for name, column in columns.items()))
    document = tomlkit.document()
    for line in _HEAD.splitlines():
        document.add(tomlkit.comment(line))
    document.add("version", tomlkit.item(VERSION))
    for name, value in fields.items():
        if value is not None:
            document.add(name, tomlkit.item(value))
    tables = tomlkit.table(is_super_table=True)
    for name, column in columns.items():
        tables.add(name, _table(column, given.get(name, {})))
    document.add("columns", tables)
    text = escaped(document.as_string(), but="\n")  # strings and keys of tomlkit are basic ones
    _refuse_long(len(text.encode()))
    return text


def _refuse_long(n_bytes):
    """Raise if a file of this length could not be read again."""
    if n_bytes > _MOST_BYTES:
        raise ValueError(
            f"columns must fit into a codebook file of at most {_MOST_BYTES:,} bytes, got more: describe columns with "
            "similar names together, by a pattern such as 'lab_*'."
        )


def _least_length(name, column, comments):
    """A length that the text of a column has at least; formatting a million columns to count takes minutes."""
    return len(f"[columns.{name}]\n\n") + sum(len(f'{field} = ""\n') + len(comments.get(field, "")) for field in column)


def _table(column, comments):
    table = tomlkit.table()
    for name, value in column.items():
        table.add(name, tomlkit.item(value))
        if name in comments:
            table[name].comment(comments[name])
    table.add(tomlkit.nl())
    return table


# --- Templates --------------------------------------------------------------------------------------------------------


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
