"""The first sentence of each page: its description for search engines and social cards, and its line in llms.txt.

llms.txt (https://llmstxt.org) is a plain index of the site: each page with its title, its address and one line.
"""

import re
from pathlib import Path

SENTENCE = re.compile(r".{20,}?[^.\s]([.!?](?=\s+[^a-z\s])|[.!?:]$)")  # neither "Claim." nor "i.e. this" counts as one
LEADS = {"section", "document", "desc_content"}  # whose first paragraph says what a page is about
COMMANDS = ("python benchmarks/", "python -m benchmarks")  # which some pages put before it


def first_sentence(text):
    """The first sentence of a paragraph, in one line."""
    text = " ".join(text.split())
    sentence = SENTENCE.match(text)
    return re.sub(r":$", ".", sentence[0] if sentence else text)


def leads(node):
    """Whether a paragraph may say what its page is about."""
    is_lead = node.tagname == "paragraph" and node.parent.tagname in LEADS
    return is_lead and not node.astext().startswith(COMMANDS)


def summary(doctree):
    """The first sentence of a page; empty if it has no paragraph."""
    return next((first_sentence(paragraph.astext()) for paragraph in doctree.findall(leads)), "")


def index(title, description, parts):
    """The text of llms.txt.

    Each part is a title and the pages below it, each of which is a title, an address and a sentence.
    """
    lines = [f"# {title}", "", f"> {description}"]
    for part, pages in parts:
        lines += ["", f"## {part}", ""]
        lines += [f"- [{name}]({address})" + (f": {sentence}" if sentence else "") for name, address, sentence in pages]
    return "\n".join(lines) + "\n"


def keep_summary(app, doctree):
    """Keep the first sentence where templates find it, as ``meta.summary``."""
    app.env.metadata[app.env.docname]["summary"] = summary(doctree)


def pages_below(env, page):
    """A page and all pages below it, in the order of the tables of contents."""
    return [page] + [below for child in env.toctree_includes.get(page, []) for below in pages_below(env, child)]


def write_index(app, exception):
    """Write llms.txt beside the first page."""
    if exception or app.builder.format != "html":
        return
    env, root = app.env, app.config.root_doc
    base = f"{app.config.html_baseurl}/" if app.config.html_baseurl else ""

    def line(page):
        sentence = env.metadata[page].get("summary", "")
        return env.titles[page].astext(), base + app.builder.get_target_uri(page), sentence

    parts = [(env.titles[top].astext(), map(line, pages_below(env, top))) for top in env.toctree_includes[root]]
    text = index(f"{app.config.project} {app.config.release}", env.metadata[root]["summary"], parts)
    (Path(app.outdir) / "llms.txt").write_text(text, encoding="utf-8")


def setup(app):
    app.connect("doctree-read", keep_summary, priority=900)  # after the metadata of the page
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
