"""Check that a built site is intact: python .ci/check_site.py docs/_build/html.

Every link within the site leads to a file and, if it names one, to an anchor in it; every picture has an alternative
text; every example of the gallery has a picture; every page has an icon and a description, and is in llms.txt; there is
a page for dead links; no page loads anything from another site.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
NOT_LOADED = {"canonical", "next", "prev", "search", "index", "genindex", "author"}  # kinds of <link>
NOT_INDEXED = {"404.html", "index.html", "genindex.html", "py-modindex.html", "search.html"}


class Page(HTMLParser):
    """The anchors, links, pictures and description of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = {"", "top"}, [], []
        self.pictures, self.pictures_without_text = [], []
        self.icon, self.address, self.description = None, "", ""
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
        if tag == "link" and attributes.get("rel") == "icon":
            self.icon = attributes["href"]
        if tag == "link" and attributes.get("rel") == "canonical":
            self.address = attributes["href"]
        if tag == "meta" and attributes.get("name") == "description":
            self.description = attributes["content"].strip()
        if tag == "meta" and attributes.get("property") == "og:image":
            self.links.append(attributes["content"])


def _pages(site):
    """The pages, without the templates that a theme leaves among its scripts."""
    return sorted(path for path in Path(site).rglob("*.html") if "_static" not in path.relative_to(site).parts)


def problems(site):
    """What is wrong with the site in this folder, one sentence for each problem."""
    site = Path(site).resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in _pages(site)}
    if site / "index.html" not in pages:
        return [f"{site}: no first page"]
    home = pages[site / "index.html"].address.removesuffix("index.html") or "/"
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name}: picture without an alternative text: {src}" for src in page.pictures_without_text]
        if name.parent.name == "gallery" and name.stem != "index" and not page.pictures:
            found.append(f"{name}: no picture")
        found += [f"{name}: no {what}" for what in ("icon", "description") if not getattr(page, what)]
        found += [f"{name}: loads {link}" for link in page.loaded if urlsplit(link).netloc]
        found += [f"{name}: {wrong}" for link in page.links if (wrong := _wrong_with(link, path, site, home, pages))]
    return found + _not_there(site, home, {str(path.relative_to(site)) for path in pages})


def _wrong_with(link, path, site, home, pages):
    """What is wrong with a link of a page, if anything; links to other sites are not followed."""
    folder, inside = path.parent, link
    for address in (home, urlsplit(home).path):  # in full, or without the host
        if link.startswith(address) and not link.startswith("//"):
            folder, inside = site, link.removeprefix(address) or "index.html"
    parts = urlsplit(inside)
    if parts.scheme or parts.netloc:
        return None
    target = (folder / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return f"dead link {link}"
    if target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return f"no such anchor {link}"
    return None


def _not_there(site, home, names):
    """Whether the page for dead links or llms.txt is missing, and which pages llms.txt leaves out or invents."""
    found = [f"{name}: no such file" for name in ("404.html", "llms.txt") if not (site / name).exists()]
    if not found:
        addresses = re.findall(r"\]\((\S+\.html)\)", (site / "llms.txt").read_text(encoding="utf-8"))
        listed = {address.removeprefix(home) for address in addresses}
        found += [f"llms.txt: does not list {name}" for name in sorted(names - NOT_INDEXED - listed)]
        found += [f"llms.txt: no such page {name}" for name in sorted(listed - names)]
    return found


if __name__ == "__main__":
    wrong = problems(sys.argv[1])
    print("\n".join(wrong) or "every link leads somewhere, every picture has a text, every page has a description")
    sys.exit(bool(wrong))
