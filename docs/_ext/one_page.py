"""All proofs on one page, in the order of the contents, for printing and searching.

``theory/all_proofs.md`` has only the beginning of this page. Links from one proof to another stay on the page.
"""

import re
from pathlib import Path

from docutils import nodes

PAGE, CONTENTS = "theory/all_proofs", "theory/README.md"
TOCTREE = re.compile(r"```{toctree}\n:hidden:\n(.*?)```", re.DOTALL)
PROOF = "\n```{{include}} {}.md\n:heading-offset: 1\n```\n"


def proofs(app):
    """The pages in the contents except this one, by the names that they have there."""
    names = TOCTREE.search((Path(app.srcdir) / CONTENTS).read_text(encoding="utf-8"))[1].split()
    return [name for name in names if name != Path(PAGE).name]


def include(app, docname, source):
    if docname == PAGE:
        source[0] += "".join(map(PROOF.format, proofs(app)))


def stay_on_page(app, doctree, docname):
    """Each proof is a section of the page; a link to another proof leads to its beginning."""
    if docname != PAGE:
        return
    sections = [node for node in doctree[0].children if isinstance(node, nodes.section)]
    beginnings = {f"{name}.html": node["ids"][0] for name, node in zip(proofs(app), sections, strict=True)}
    for link in doctree.findall(nodes.reference):
        page = link.get("refuri", "").partition("#")[0]
        if page in beginnings:
            link["refuri"] = f"#{beginnings[page]}"


def setup(app):
    app.connect("source-read", include)
    app.connect("doctree-resolved", stay_on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
