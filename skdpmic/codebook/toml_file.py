"""A codebook as a TOML file, for people to fill in and review (``docs/reference/codebook.md``)."""

import re
import tomllib

import tomlkit

from skdpmic._utils.texts import escaped
from skdpmic._utils.untrusted_json import check_integers
from skdpmic._utils.user_files import content_of
from skdpmic.codebook.column import entry_of

# --- The text before it is parsed ------------------------------------------------------------------------------------


MOST_BYTES = 2**22  # of a text; ten thousand columns with all fields take half of it
MOST_LEVELS = 16  # of brackets in one another
MOST_PARTS = 16  # of a key with dots; tomllib takes a time that grows with the cube of their number
# An unclosed string ends with its line or the text: each character is read once, and what follows is an error anyway.
_TOKEN = re.compile(
    r'"""(?:[^"\\]+|\\.|""?(?!"))*(?:"{3,5})?'
    r"|'''(?:[^']+|''?(?!'))*(?:'{3,5})?"
    r'|"(?:[^"\\\n]+|\\[^\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[\[\]{}.,=\n]",
    re.DOTALL,
)


def loads(text):
    """The fields of a TOML text; a ValueError that tells the line, if it is not valid or above a limit."""
    n_bytes = len(text.encode("utf-8", errors="surrogatepass"))
    if n_bytes > MOST_BYTES:
        raise ValueError(f"there must be at most {MOST_BYTES} bytes, got {n_bytes}")
    for _ in statements(text):  # raises
        pass
    try:
        fields = tomllib.loads(text)
        check_integers(fields)
        return fields
    except tomllib.TOMLDecodeError as error:
        said = str(error).replace("at end of document", f"at the end, line {text.rstrip().count(chr(10)) + 1}")
    except ValueError as error:  # of Python for very long integers, too
        said = str(error)
    raise ValueError(said)


def statements(text):
    """Each header or key with its value, or line without any, and the line on which it begins.

    A ValueError if brackets or dots go too deep.
    """
    text, depth, n_dots, begins = text.replace("\r\n", "\n"), 0, 0, 0  # as in tomllib
    line = first_line = 1
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == ".":
            n_dots += 1
        elif sign in "[]{},=\n":
            n_dots = 0
            depth = max(depth + (sign in "[{") - (sign in "]}"), 0)
        if depth > MOST_LEVELS or n_dots >= MOST_PARTS:
            raise ValueError(
                f"there must be at most {MOST_LEVELS} brackets in one another and {MOST_PARTS} parts of a key, got "
                f"more (at line {line})"
            )
        line += sign.count("\n")
        if sign == "\n" and depth == 0:
            yield text[begins : token.start()], first_line
            begins, first_line = token.end(), line
    yield text[begins:], first_line


def lines_of_fields(text):
    """The line on which each field of a valid text begins, by its name, or by "columns" and the name of the column."""
    lines, header, is_above = {}, "", True
    for statement, line in statements(text):
        kind = statement.lstrip()[:1]
        if kind == "[":
            header = statement
            fields = _paths(header)
            is_above = fields == [("columns",)]
        elif kind in ("", "#") or not is_above:  # below a column, there are no other columns
            continue
        else:
            fields = _paths(f"{header}\n{statement}")
        for field in fields:
            lines.setdefault(field, line)
    return lines


def _paths(text):
    """The names of the fields of a text, and of the columns."""
    fields = tomllib.loads(text)
    columns = fields.get("columns")
    return [*((name,) for name in fields), *(("columns", name) for name in (columns if type(columns) is dict else ()))]


# --- The file --------------------------------------------------------------------------------------------------------


VERSION = 1  # of the format; readers refuse later ones
_FIELDS = ("title", "groups", "max_rows_per_group", "columns")
_MOST_TOLD = 20  # most invalid columns listed in an error
_HEAD = """\
A codebook: the public description of each column of a table. Take it from the questionnaire, the law or common
knowledge, never from the data. Columns that are not described are ignored.
"""


def text_of_file(path):
    """The text of a file, with or without a byte order mark."""
    written = content_of(path, MOST_BYTES)
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
    try:
        fields = loads(text)
    except ValueError as error:
        raise ValueError(f"{source} must be valid TOML: {error}.") from None
    version = fields.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        raise ValueError(f"{source} must have version = {VERSION}, the supported format, got {version!r}.")
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown:
        raise ValueError(
            f"{source}, line {lines_of_fields(text)[unknown[0],]}: the fields of a codebook must be among "
            f"{['version', *_FIELDS]}, got {unknown}."
        )
    if not isinstance(fields.get("columns"), dict):
        raise ValueError(f"{source} must have a table [columns], got none.")
    return fields | {"columns": _entries(fields["columns"], text, source)}


def error_on_its_line(error, text, source):
    """An error about the whole table, which starts with the name of a field, with the line of that field."""
    name = str(error).partition(" ")[0]
    return ValueError(f"{source}, line {lines_of_fields(text).get((name,), 1)}: {error}")


def _entries(columns, text, source):
    """The entry of each column; the error lists all invalid ones, because a template has many blanks."""
    entries, wrong = {}, []
    for name, fields in columns.items():
        try:
            entries[name] = _entry(fields, f"column {name!r}")
        except ValueError as error:
            wrong.append((name, error))
    if wrong:
        lines = lines_of_fields(text)
        told = [f"line {lines['columns', name]}: {error}" for name, error in wrong[:_MOST_TOLD]]
        rest = [f"and {len(wrong) - _MOST_TOLD} more"] if len(wrong) > _MOST_TOLD else []
        raise ValueError("\n".join([f"{source} has {len(wrong)} incomplete or invalid column(s):", *told, *rest]))
    return entries


def _entry(fields, where):
    if not isinstance(fields, dict):  # a list could mean labels or a range
        raise ValueError(f"{where} must be a table, such as {{range = [0, 120]}}, got {fields!r}.")
    return entry_of(fields, where)


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
    document = tomlkit.document()
    for line in _HEAD.splitlines():
        document.add(tomlkit.comment(line))
    document.add("version", tomlkit.item(VERSION))
    for name, value in fields.items():
        if value is not None:
            document.add(name, tomlkit.item(value))
    tables = tomlkit.table(is_super_table=True)
    for name, column in columns.items():
        tables.add(name, _table(column, (comments or {}).get(name, {})))
    document.add("columns", tables)
    return escaped(document.as_string(), but="\n")  # strings and keys of tomlkit are basic ones


def _table(column, comments):
    table = tomlkit.table()
    for name, value in column.items():
        table.add(name, tomlkit.item(value))
        if name in comments:
            table[name].comment(comments[name])
    table.add(tomlkit.nl())
    return table
