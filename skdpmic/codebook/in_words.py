"""A codebook in human-readable form."""

from skdpmic._utils.summaries import ResultColumn, Summary, as_html
from skdpmic._utils.texts import counted, shortened
from skdpmic.codebook.column import BOOLEAN, ColumnEntry

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
