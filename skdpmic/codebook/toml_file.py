"""A codebook as a TOML file, for people to fill in and review (``docs/reference/codebook.md``)."""

import tomllib

import tomlkit

from skdpmic._utils.texts import escaped
from skdpmic._utils.user_files import content_of
from skdpmic.codebook.column import entry_of

VERSION = 1  # of the format; readers refuse later ones
_MOST_BYTES = 2**22  # of a file; ten thousand columns with all fields take half of it
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
        fields = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # Python also raises a ValueError for very long integers
        raise ValueError(f"{source} must be valid TOML: {error}.") from None
    version = fields.pop("version", None)
    if version != VERSION or isinstance(version, bool):
        raise ValueError(f"{source} must have version = {VERSION}, the supported format, got {version!r}.")
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown:
        raise ValueError(f"{source}: the fields of a codebook must be among {['version', *_FIELDS]}, got {unknown}.")
    if not isinstance(fields.get("columns"), dict):
        raise ValueError(f"{source} must have a table [columns], got none.")
    return fields | {"columns": _entries(fields["columns"], source)}


def _entries(columns, source):
    """The entry of each column; the error lists all invalid ones, because a template has many blanks."""
    entries, wrong = {}, []
    for name, fields in columns.items():
        try:
            entries[name] = _entry(fields, f"column {name!r}")
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        rest = [f"and {len(wrong) - _MOST_LISTED} more"] if len(wrong) > _MOST_LISTED else []
        first = f"{source} has {len(wrong)} incomplete or invalid column(s):"
        raise ValueError("\n".join([first, *wrong[:_MOST_LISTED], *rest]))
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
