"""In docstrings, ``docs/how_to/planning.md`` is where a reader of the code looks; in the site it is a link."""

import re

PAGE = re.compile(r"``docs/([\w/]+)\.md``")


def link(app, what, name, obj, options, lines):
    lines[:] = [PAGE.sub(r":doc:`/\1`", line) for line in lines]


def own(app, what, name, obj, skip, options):
    """Leave out what scikit-learn's classes bring along, whose docstrings refer to its own site."""
    module = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None) or "skdpmic"
    return True if not module.startswith("skdpmic") else None


def setup(app):
    app.connect("autodoc-process-docstring", link, priority=400)
    app.connect("autodoc-skip-member", own)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
