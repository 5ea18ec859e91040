"""Links from docstrings: to pages by their path in the source, and to public names without the package's name."""

import re

PAGE = re.compile(r"``docs/([\w/]+)\.md``")


def link_pages(app, what, name, obj, options, lines):
    """Turn ``docs/choose/planning.md``, the path for readers of the code, into a link."""
    lines[:] = [PAGE.sub(r":doc:`/\1`", line) for line in lines]


def resolve_public_names(app, env, node, contnode):
    """Resolve DPMICSelector, from any module, as skdpmic.DPMICSelector, its public name."""
    if node.get("refdomain") == "py":
        domain, target = env.get_domain("py"), f"skdpmic.{node['reftarget']}"
        return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, contnode)
    return None


def leave_out_inherited(app, what, name, obj, skip, options):
    """Leave out what is inherited from scikit-learn, whose docstrings refer to its own site."""
    module = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None) or "skdpmic"
    return True if not module.startswith("skdpmic") else None


def setup(app):
    app.connect("autodoc-process-docstring", link_pages, priority=400)
    app.connect("autodoc-skip-member", leave_out_inherited)
    app.connect("missing-reference", resolve_public_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
