"""Where the project lives on the web, and what the site does with it: nothing, while pyproject.toml names no address.

``[project.urls]`` of pyproject.toml is the only setting. Each address is a link in the header, such as that of the
issues. ``repository``, on GitHub, GitLab or Codeberg, also gives pages of docs/ a link to edit them;
``documentation`` gives absolute addresses to the social card, the page for dead links and llms.txt.
"""

import tomllib

EDITORS = {"gitlab.com": "/-/edit/main/", "codeberg.org": "/_edit/branch/main/"}
ADDRESS_OF_EDITOR = "/edit/main/"  # on GitHub


def addresses(pyproject):
    """The addresses that the text of pyproject.toml names, by lower-case name, without a trailing slash."""
    urls = tomllib.loads(pyproject)["project"].get("urls", {})
    return {name.lower(): url.rstrip("/") for name, url in urls.items()}


def links(named):
    """The links of the header: all addresses but that of this site, such as the repository and where to ask."""
    return [{"name": name.capitalize(), "url": url} for name, url in named.items() if name != "documentation"]


def edit_page_url(repository):
    """The template of the address where the source of a page is edited, as the theme takes it."""
    host = repository.split("/")[2]
    return f"{repository}{EDITORS.get(host, ADDRESS_OF_EDITOR)}docs/{{{{ file_name }}}}"
