"""Tables for people to read: as text, with one line per row, and as HTML."""

import shutil

from skdpmic._utils.texts import escaped, in_html, wrapped

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
    return "\n".join(
        _GAP.join(put(cell, width) for put, cell, width in zip(places, line, widths, strict=True)).rstrip()
        for line in lines
    )


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
