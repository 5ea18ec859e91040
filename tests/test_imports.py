"""A name of the package is imported when it is used first, and is found in every way in which a name is looked for."""

import ast
import importlib
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import skdpmic

STUB = ast.parse(Path(skdpmic.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
SUBPACKAGES = {"counting", "datasets", "plotting"}
IMPORTS = [
    (alias.name, f"skdpmic.{node.module}" if node.module else "skdpmic")
    for node in STUB.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
]


def in_new_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def modules_after(code):
    return set(in_new_process(f"{code}\nimport sys\nprint(*sys.modules)").split())


def test_type_checkers_and_users_see_the_same_names():
    (listed,) = (
        ast.literal_eval(node.value)
        for node in STUB.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    assert listed == skdpmic.__all__ == sorted(name for name, _ in IMPORTS)


@pytest.mark.parametrize("name, module", IMPORTS)
def test_every_name_is_what_the_stub_says(name, module):
    public = getattr(skdpmic, name)
    assert public is getattr(importlib.import_module(module), name)
    assert name in dir(skdpmic)
    if name not in SUBPACKAGES:
        assert public.__module__ == module
        assert pickle.loads(pickle.dumps(public)) is public
        assert public.__doc__


def test_what_is_not_there_is_not_found():
    assert not hasattr(skdpmic, "mine")
    with pytest.raises(ImportError, match="mine"):
        from skdpmic import mine  # noqa: F401


def test_the_package_itself_imports_nothing_heavy():
    heavy = {"joblib", "narwhals", "numba", "numpy", "pandas", "scipy", "sklearn"}
    assert not modules_after("import skdpmic; dir(skdpmic)") & heavy


def test_a_name_imports_what_it_needs_only():
    assert "sklearn" not in modules_after("from skdpmic import mic_e, mic_r, mtv_r")
    after = modules_after("from skdpmic import DPMICScorer, DPMICSelector")
    assert not after & {f"skdpmic.{name}" for name in ("search", "correlation", "plotting")}


@pytest.mark.slow
def test_subpackages_are_attributes():
    code = "import skdpmic; print(skdpmic.plotting.__name__, skdpmic.counting.__name__, skdpmic.datasets.__name__)"
    assert in_new_process(code).split() == ["skdpmic.plotting", "skdpmic.counting", "skdpmic.datasets"]


@pytest.mark.slow
def test_a_star_brings_all_names():
    code = "before = set(dir()) | {'before'}\nfrom skdpmic import *\nprint(*sorted(set(dir()) - before))"
    assert in_new_process(code).split() == skdpmic.__all__


def test_help_lists_all_names():
    page = pydoc.plain(pydoc.render_doc(skdpmic))
    assert [name for name in skdpmic.__all__ if name not in page] == []
    assert skdpmic.__version__ in page


@pytest.mark.slow
def test_the_estimator_of_another_process_is_read():
    dumped = in_new_process(
        "import pickle, sys\nfrom skdpmic import DPMICSelector\n"
        "sys.stdout.write(pickle.dumps(DPMICSelector(k=3), 0).decode('latin-1'))"
    )
    code = f"import pickle\nprint(pickle.loads({dumped!r}.encode('latin-1')).k)"
    assert in_new_process(code) == "3\n"
