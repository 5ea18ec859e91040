"""Copy what the guarantee does not cover into every page that lists it: python docs/_ext/limits.py.

The text is that of ``understand/guarantee.md``. It stands in full on each page, for whoever reads the Markdown.
"""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1]
HEADING = "## What the guarantee does not cover\n"
SECTION = re.compile(rf"^{HEADING}.*?(?=^## |^```{{toctree}}|\Z)", re.MULTILINE | re.DOTALL)
SOURCE = DOCS / "understand" / "guarantee.md"


def limits(page):
    """The section as this page has to show it, whose links lead on from where the page is."""
    text = SECTION.search(SOURCE.read_text(encoding="utf-8"))[0].strip()
    return text if page.parent != DOCS else text.replace("](../", "](")


def pages_with_limits():
    pages = [*DOCS.glob("*.md"), *DOCS.glob("[!_]*/*.md")]
    return sorted(page for page in pages if HEADING in page.read_text(encoding="utf-8"))


def copy_limits(page):
    text = page.read_text(encoding="utf-8")
    old = SECTION.search(text)
    rest = text[old.end() :]
    page.write_text(text[: old.start()] + limits(page) + ("\n\n" if rest else "\n") + rest, encoding="utf-8")


if __name__ == "__main__":
    for each_page in pages_with_limits():
        copy_limits(each_page)
