"""A name of the package is imported on first use, and every way to look up a name finds it."""

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import skdpmic
from tests.folding import each
from tests.public import PACKAGES

SUBMODULES = ["causal", "correlation", "counting", "datasets", "plotting", "two_party"]
STUBS = {
    package: ast.parse(Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8")) for package in PACKAGES
}
IMPORTS = [
    (package, alias.name, f"{package.__name__}.{node.module or ''}".removesuffix("."))
    for package, stub in STUBS.items()
    for node in stub.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
]


def in_new_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@each("package", PACKAGES)
def test_type_checkers_and_users_see_the_same_names(package):
    (listed,) = (
        ast.literal_eval(node.value)
        for node in STUBS[package].body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    assert sorted(listed) == package.__all__ == sorted(name for of, name, _ in IMPORTS if of is package)


@each("package, name, module", IMPORTS)
def test_every_name_is_what_the_stub_says(package, name, module):
    public = getattr(package, name)
    assert public is getattr(importlib.import_module(module), name)
    assert name in dir(package)
    if callable(public):
        assert public.__module__ == module
        assert pickle.loads(pickle.dumps(public)) is public
        assert public.__doc__


def test_names_that_do_not_exist_are_not_found():
    assert not hasattr(skdpmic, "mine")
    assert not hasattr(skdpmic, "PrivatePC")
    with pytest.raises(ImportError, match="mine"):
        from skdpmic import mine  # noqa: F401


def modules_after(*steps):
    """The modules imported after each step of one new process."""
    printed = in_new_process("import sys\n" + "\n".join(f"{step}\nprint(*sys.modules)" for step in steps))
    return [set(line.split()) for line in printed.splitlines()]


def test_the_package_itself_imports_nothing_heavy():
    submodules = "".join(f"; dir(skdpmic.{name})" for name in SUBMODULES)
    (imported,) = modules_after(f"import skdpmic; dir(skdpmic){submodules}")
    assert not imported & {"joblib", "narwhals", "numba", "numpy", "pandas", "scipy", "sklearn"}


@pytest.mark.slow
def test_a_name_imports_only_what_it_needs():
    steps = ["from skdpmic import mic_e, mic_r, mtv_r", "from skdpmic import DPMICScorer, DPMICSelector"]
    after_scores, after_estimators = modules_after(*steps)
    assert "sklearn" not in after_scores
    assert not after_estimators & {f"skdpmic.{name}" for name in ("search", "correlation", "plotting")}


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_a_star_import_brings_all_names(package):
    code = f"before = set(dir()) | {{'before'}}\nfrom {package.__name__} import *\nprint(*sorted(set(dir()) - before))"
    assert in_new_process(code).split() == package.__all__
