"""Every benchmark, also one that no test runs, imports names of the package that are there."""

import ast
from importlib import import_module
from pathlib import Path

from tests.folding import each

SCRIPTS = sorted(Path(__file__).parents[1].rglob("*.py"))


def imported_names(script):
    """The modules and names that a script imports from the package."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "skdpmic":
            yield from ((node.module, alias.name) for alias in node.names)


def is_there(module, name):
    if hasattr(import_module(module), name):
        return True
    try:
        import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


@each("script", SCRIPTS)
def test_the_names_that_a_benchmark_imports_are_in_the_package(script):
    assert [names for names in imported_names(script) if not is_there(*names)] == []
