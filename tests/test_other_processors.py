"""Drawn data are the same on every processor: docs/contributing.md says how."""

import ast
from pathlib import Path

from tests.folding import each

ROOT = Path(__file__).parents[1]
FOLDERS = ("benchmarks", "docs/_ext", "examples", "skdpmic", "tests")
SOURCES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@each("path", SOURCES)
def test_normal_columns_are_drawn_with_a_unique_factor(path):
    """The default factor, from an SVD, has arbitrary signs, and is not unique where eigenvalues are equal."""
    text = path.read_text(encoding="utf-8")
    if "multivariate_normal" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "multivariate_normal":
            assert "method" in {keyword.arg for keyword in node.keywords}, (path, node.lineno)


def test_the_files_to_be_run_as_on_other_processors_exist():
    for name in ("floating", "kernels"):
        for path in (ROOT / ".ci" / f"{name}.txt").read_text(encoding="utf-8").split():
            assert (ROOT / path).exists(), path
