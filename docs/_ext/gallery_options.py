"""How the gallery runs an example, and what it says about thumbnails."""

import re
from pathlib import Path

from docutils import nodes

THUMBNAIL = re.compile(r"gallery/images/thumb/sphx_glr_(\w+)_thumb\.\w+$")


def quickly(gallery_conf, script_vars):
    """Run an example with ``--quick``, if it has this option."""
    return ["--quick"] if '"--quick"' in Path(script_vars["src_file"]).read_text(encoding="utf-8") else []


def describe_thumbnails(app, doctree, docname):
    for image in doctree.findall(nodes.image):
        thumbnail = THUMBNAIL.search(image["uri"])
        if thumbnail:
            image["alt"] = f"Picture of: {app.env.titles[f'gallery/{thumbnail[1]}'].astext()}"


def setup(app):
    app.connect("doctree-resolved", describe_thumbnails)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
