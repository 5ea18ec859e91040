"""How Sphinx builds the site: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``."""

import os
import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS.parent)]  # document the checkout, installed or not

import home  # noqa: E402
from sphinx_gallery.sorting import FunctionSortKey  # noqa: E402

import skdpmic  # noqa: E402

pyproject = (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8")
addresses = home.addresses(pyproject)

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
    "notfound.extension",
    "mathml",
    "gallery_options",
    "links_in_docstrings",
    "links_to_files",
    "one_page",
    "summaries",
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
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_baseurl = addresses.get("documentation", "")
html_context = {
    "description": tomllib.loads(pyproject)["project"]["description"],
    "home": f"{html_baseurl}/" if html_baseurl else "",
}
if "repository" in addresses:
    html_context["edit_page_url_template"] = home.edit_page_url(addresses["repository"])
html_theme_options = {
    "logo": dict.fromkeys(["image_light", "image_dark"], "_static/logo.svg") | {"text": "skdpmic", "alt_text": "Logo"},
    "navbar_start": ["navbar-logo", "version"],
    "header_links_before_dropdown": 8,
    "external_links": home.links(addresses),
    "navbar_align": "left",
    "navigation_with_keys": False,
    "use_edit_page_button": "repository" in addresses,
    "secondary_sidebar_items": ["page-toc", "edit-page"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "changelog": [], "contributing": [], "architecture": []}

# A server shows this page instead of any missing one, in whatever folder, so its links are absolute.
notfound_urls_prefix = f"{urlsplit(html_baseurl).path}/"
notfound_context = {
    "title": "Page not found",
    "body": "<h1>Page not found</h1>\n<p>There is no page at this address. Pages may have moved: try the search, or "
    f'<a href="{notfound_urls_prefix}index.html">start from the first page</a>.</p>',
}

EXAMPLES = DOCS.parent / "examples"
IN_ORDER_OF_USE = [
    "first_selection.py",
    "survey_wages.py",
    "rand_health.py",
    "plan_and_ledger.py",
    "digits_support.py",
    "complementary_columns.py",
    "causal.py",
    "two_parties.py",
]

# Examples that are divided into cells are in the gallery; the others are scripts for the command line.
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
    "thumbnail_size": (800, 560),
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "within_subsection_order": FunctionSortKey(IN_ORDER_OF_USE.index, "in order of use"),
    "matplotlib_animations": False,
}
os.environ.setdefault("PYTHONPATH", str(DOCS.parent))  # processes that an example starts see the checkout, too
