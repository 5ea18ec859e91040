"""A codebook as a TOML file, for people to fill in and review (``docs/reference/codebook.md``)."""

import re
import tomllib
from itertools import chain

import tomlkit

from skdpmic._utils.texts import escaped, quoted
from skdpmic._utils.user_files import content_of, levels
from skdpmic.codebook.column import entry_of

VERSION = 1  # of the format; readers refuse later ones
_MOST_BYTES = 2**22  # of a file; ten thousand columns with all fields take half of it
_MOST_LEVELS = 16  # of brackets in one another, and of parts of a key: tomllib's time grows faster than their number
_FIELDS = ("title", "groups", "max_rows_per_group", "columns")
_MOST_LISTED = 20  # most invalid columns listed in an error
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
    """Parse a file into the arguments of :class:`Codebook`.

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
    return fields | {"columns": _entries(fields["columns"], text, source)}


def place_of(field, text, source):
    """The name of a valid file and the line of one of its fields; without a line if there is no such field."""
    line = _lines(text).get((field,))
    return source if line is None else f"{source}, line {line}"


def _entries(columns, text, source):
    """The entry of each column; the error lists all invalid ones, because a template has many blanks."""
    entries, wrong = {}, []
    for name, fields in columns.items():
        try:
            entries[name] = _entry(fields, f"column {quoted(name)}")
        except ValueError as error:
            wrong.append((name, error))
    if wrong:
        lines = _lines(text)
        listed = [f"line {lines['columns', name]}: {error}" for name, error in wrong[:_MOST_LISTED]]
        rest = [f"and {len(wrong) - _MOST_LISTED} more"] if len(wrong) > _MOST_LISTED else []
        raise ValueError("\n".join([f"{source} has {len(wrong)} incomplete or invalid column(s):", *listed, *rest]))
    return entries


def _entry(fields, where):
    if not isinstance(fields, dict):  # a list could mean labels or a range
        raise ValueError(f"{where} must be a table, such as {{range = [0, 120]}}, got {quoted(fields)}.")
    return entry_of(fields, where)


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


def _lines(text):
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
