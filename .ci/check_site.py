"""Whether a built site holds together: python .ci/check_site.py docs/_build/html.

Every link within the site leads to a file, and to an anchor of it where it names one; every picture has an alternative
text; every example of the gallery has a picture; no page loads anything from elsewhere.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
NOT_LOADED = {"canonical", "next", "prev", "search", "index", "genindex", "author"}  # kinds of <link>


class Page(HTMLParser):
    """The anchors, links and pictures of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = {"", "top"}, [], []
        self.pictures, self.pictures_without_text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Note what a tag refers to, and what may refer to it."""
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])
                if (tag, name) in LOADED and attributes.get("rel") not in NOT_LOADED:
                    self.loaded.append(attributes[name])
        if tag == "img":
            self.pictures.append(attributes.get("src"))
            if not (attributes.get("alt") or "").strip():
                self.pictures_without_text.append(attributes.get("src"))


def _pages(site):
    """The pages, without the templates that a theme leaves among its scripts."""
    return sorted(path for path in Path(site).rglob("*.html") if "_static" not in path.relative_to(site).parts)


def problems(site):
    """What is wrong with the site in this folder, a sentence each."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in _pages(site)}
    found = [] if pages else [f"{site}: no page"]
    for path, page in pages.items():
        name = path.relative_to(Path(site).resolve())
        found += [f"{name}: picture without an alternative text: {src}" for src in page.pictures_without_text]
        if name.parent.name == "gallery" and name.stem != "index" and not page.pictures:
            found.append(f"{name}: no picture")
        found += [f"{name}: loads {link}" for link in page.loaded if urlsplit(link).netloc]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{name}: dead link {link}")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name}: no such anchor {link}")
    return found


if __name__ == "__main__":
    wrong = problems(sys.argv[1])
    print("\n".join(wrong) or "every link leads somewhere, every picture has a text")
    sys.exit(bool(wrong))
