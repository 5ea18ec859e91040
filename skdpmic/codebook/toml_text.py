"""What a TOML text looks like before it is parsed: how deep, and where each statement begins."""

import re
import tomllib

from skdpmic._utils.untrusted_json import check_integers

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
