"""The project's addresses on the web, and what the site does with them: nothing, while pyproject.toml names none.

``[project.urls]`` of pyproject.toml is the only setting. Each address becomes a link in the header, such as the one to
the issues. ``repository``, on GitHub, GitLab or Codeberg, also gives pages of docs/ a link to edit them;
``documentation`` makes addresses absolute for the social card, the page for dead links and llms.txt.
"""

import tomllib

EDITORS = {"gitlab.com": "/-/edit/main/", "codeberg.org": "/_edit/branch/main/"}
ADDRESS_OF_EDITOR = "/edit/main/"  # on GitHub


def addresses(pyproject):
    """The addresses in the text of pyproject.toml, by lower-case name, without a trailing slash."""
    urls = tomllib.loads(pyproject)["project"].get("urls", {})
    return {name.lower(): url.rstrip("/") for name, url in urls.items()}


def links(named):
    """The links in the header: all addresses except that of this site, such as the repository and where to ask
    questions.
    """
    return [{"name": name.capitalize(), "url": url} for name, url in named.items() if name != "documentation"]


def edit_page_url(repository):
    """The theme's template for the address where the source of a page is edited."""
    host = repository.split("/")[2]
    return f"{repository}{EDITORS.get(host, ADDRESS_OF_EDITOR)}docs/{{{{ file_name }}}}"
