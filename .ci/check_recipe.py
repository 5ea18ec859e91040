"""Check that the recipe for conda-forge can be read, and matches this package: python .ci/check_recipe.py.

Its version must be the package's, and its dependencies those of pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from rattler_build import Stage0Recipe, VariantConfig

ROOT = Path(__file__).parents[1]
recipe = (ROOT / ".ci" / "recipe.yaml").read_text(encoding="utf-8")
Stage0Recipe.from_yaml(recipe).render(VariantConfig())
project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
wanted = {re.sub(r"\s", "", line) for line in project["dependencies"]}
run = recipe.split("  run:\n")[1].split("\n\n")[0]
named = {re.sub(r"\s|^- ", "", line.strip().removeprefix("- ")) for line in run.splitlines() if "python" not in line}
assert named == wanted, named ^ wanted
version = re.search(r'__version__ = "(.*)"', (ROOT / "skdpmic" / "__init__.py").read_text(encoding="utf-8"))[1]
for path in (".ci/recipe.yaml", "CITATION.cff"):
    assert re.search(rf"^ *version: {re.escape(version)}$", (ROOT / path).read_text(encoding="utf-8"), re.M), path
