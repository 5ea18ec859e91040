"""Tables on pages and in reports: the evidence pages show parts of the reports that commands print."""

from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def tables(text):
    """The rows of each table in a Markdown text, by its header."""
    rows = defaultdict(list)
    for part in text.split("\n\n"):
        lines = part.strip().split("\n")
        if lines[0].startswith("| ") and len(lines) > 2:
            rows[lines[0]] += lines[2:]
    return rows


def shown_in(page, report):
    """The headers of a page's tables that the report also has, after checking that the report has their rows."""
    known, shown = tables(report), tables(page)
    heads = [head for head in shown if head in known]
    for head in heads:
        missing = [row for row in shown[head] if row not in known[head]]
        assert not missing, missing
    return heads
