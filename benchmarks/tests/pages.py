"""The pages of evidence show parts of reports, and the reports are what a command prints."""

from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def tables(text):
    """The rows of the tables in a text in Markdown, by their head."""
    rows = defaultdict(list)
    for part in text.split("\n\n"):
        lines = part.strip().split("\n")
        if lines[0].startswith("| ") and len(lines) > 2:
            rows[lines[0]] += lines[2:]
    return rows


def shown_in(page, report):
    """The heads of the tables of a page that are parts of the report, after a check that their rows are there."""
    known, shown = tables(report), tables(page)
    heads = [head for head in shown if head in known]
    for head in heads:
        missing = [row for row in shown[head] if row not in known[head]]
        assert not missing, missing
    return heads
