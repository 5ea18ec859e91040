"""Markdown outside docs/ has no page on the site; a link to it, or to an anchor in it, downloads the file."""

import re

OUTSIDE = re.compile(r"\]\(((?:\.\./)+(?:benchmarks|examples)/[^)#]*\.md)(?:#[^)]*)?\)")


def link(app, docname, source):
    source[0] = OUTSIDE.sub(r"](<path:\1>)", source[0])


def setup(app):
    app.connect("source-read", link)
    app.connect("include-read", lambda app, path, parent, source: link(app, parent, source))  # proofs on one page
    return {"parallel_read_safe": True, "parallel_write_safe": True}
