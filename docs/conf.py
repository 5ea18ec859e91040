"""How Sphinx builds the site: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``."""

import os
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS.parent)]  # the checkout is what is described, installed or not

import skdpmic  # noqa: E402

project = "skdpmic"
author = copyright = "The skdpmic developers"
version = release = skdpmic.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "gallery_options",
    "links_in_docstrings",
    "links_to_files",
]
exclude_patterns = ["_build", "gallery/README.rst"]
templates_path = ["_templates"]
nitpicky = True
# Types and functions of other packages have no page here.
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|sklearn|pandas|polars|matplotlib|pyarrow|joblib|dask)\..*")]

# Pages in Markdown, which reads well on GitHub, too.
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# The reference.
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say more
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "skdpmic"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "skdpmic"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "changelog": [], "contributing": []}

EXAMPLES = DOCS.parent / "examples"


# Scripts that are divided into cells; others are for the command line.
scripts = [path.name for path in EXAMPLES.glob("*.py") if "\n# %%" not in path.read_text(encoding="utf-8")]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": "|".join(map(re.escape, scripts)) or r"(?!)",
    "reset_argv": "gallery_options.quickly",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("skdpmic",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "matplotlib_animations": False,
}
os.environ.setdefault("PYTHONPATH", str(DOCS.parent))  # what an example starts sees the checkout, too
