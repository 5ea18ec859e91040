"""Cached machine code always matches the sources, and no problem with the cache ends a fit or changes a score."""

import ast
import os
from functools import cache
from pathlib import Path

import numba
import numpy as np
import pytest

from skdpmic._utils import jit
from skdpmic.statistics.mtv import counts as longest_path
from skdpmic.statistics.mtv.counts import running_counts
from tests.processes import PACKAGE, YEAR_2000, read_only, run
from tests.test_layout import MODULES

SCORE = """
import numpy as np
from skdpmic import private_score
x = np.arange(60) % 20 / 20
print(private_score(x, np.sin(3 * x), statistic="kendall", epsilon=np.inf))
"""
FIT = """
import tempfile
import numpy as np
from skdpmic import BudgetLedger, DPMICScorer
X = np.random.default_rng(0).random((50, 2))
folder = tempfile.TemporaryDirectory()
ledger = BudgetLedger(folder.name + "/ledger", epsilon=3)
for statistic in ("kendall",):  # which has a small kernel
    scorer = DPMICScorer(statistic=statistic, epsilon=1, bounds=(0, 1), target_bounds=(0, 1), ledger=ledger)
    print(scorer.set_params(random_state=0).fit(X, X[:, 0] ** 2).scores_.tolist(), ledger.spent()[0])
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the two print when the compiler works normally."""
    kept = tmp_path_factory.mktemp("kept")

    @cache
    def by(code):
        done = run(code, PACKAGE.parent, NUMBA_CACHE_DIR=str(kept))
        assert "NUMBA_CACHE_DIR" not in done.stderr
        return done.stdout

    return by


def write(path, text):
    path.write_text(text)
    os.utime(path, (YEAR_2000, YEAR_2000))


def kernels_of(tree):
    """The functions of a module that numba compiles."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if any(getattr(name, "id", "") in ("jit", "leaf") for name in f.decorator_list)]


def test_the_cache_key_covers_every_source_file_that_kernels_use():
    n_kernels = 0
    for module, path in MODULES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kernels = kernels_of(tree)
        used = {node.id for kernel in kernels for node in ast.walk(kernel) if isinstance(node, ast.Name)}
        taken = [
            place
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for name in node.names
            if (name.asname or name.name) in used
            for place in (node.module, f"{node.module}.{name.name}")
        ]
        places = [MODULES[place] for place in [module, *taken] if place in MODULES] if kernels else []
        assert set(places) <= set(jit.sources())
        n_kernels += len(kernels)
    assert n_kernels > 10


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_cache_files_are_named_by_the_digest_of_the_sources():
    running_counts(np.ones((1, 2, 2), dtype=np.uint32))
    assert longest_path._run.folder is not None, (
        "numba keeps no machine code: see what Kernel._read_or_compile of skdpmic/_utils/jit.py raises. It uses "
        "Dispatcher.compile and Dispatcher.stats, with cache_path and cache_hits."
    )
    assert list(Path(longest_path._run.folder).glob(f"*_run_{jit._DIGEST}*.nbi")), (
        "numba no longer names files by the __qualname__ of a function, so that machine code of other sources or of "
        "another processor may be used: find another place for the digest in skdpmic/_utils/jit.py"
    )


def test_each_processor_type_has_its_own_machine_code(monkeypatch):
    assert jit._digest() == jit._DIGEST
    with monkeypatch.context() as patch:
        patch.setattr(jit.numba.config, "CPU_NAME", "another")
        assert jit._digest() != jit._DIGEST
        patch.setattr(jit.numba.config, "CPU_NAME", None)  # NUMBA_CPU_NAME is not set, then
        here = jit._digest()
        patch.setattr(jit.binding, "get_host_cpu_name", lambda: "another")
        assert jit._digest() != here
    monkeypatch.setattr(jit.numba.config, "BOUNDSCHECK", not jit.numba.config.BOUNDSCHECK)
    assert jit._digest() != jit._DIGEST


@pytest.mark.slow
def test_a_read_only_installation_works_and_warns_once(installed, tmp_path, printed):
    done = run(FIT, installed, "-W", "always", **read_only(installed, tmp_path))
    assert done.stdout == printed(FIT)
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1


@pytest.mark.slow
def test_damaged_cache_files_are_compiled_again(installed, tmp_path):
    cache = tmp_path / "cache"
    expected = run(SCORE, installed, NUMBA_CACHE_DIR=str(cache)).stdout
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    whole = {path: len(path.read_bytes()) for path in files}
    for suffix in (".nbi", ".nbc"):
        for path in files:
            if path.suffix == suffix:
                path.write_bytes(path.read_bytes()[:40])
        done = run(SCORE, installed, NUMBA_CACHE_DIR=str(cache))
        assert (done.stdout, done.stderr) == (expected, "")
        assert {path: len(path.read_bytes()) for path in files} == whole


EVERYTHING = """
import gc
import importlib
import pkgutil
import numpy as np
from numba.core.registry import CPUDispatcher
import skdpmic
for module in pkgutil.walk_packages(skdpmic.__path__, "skdpmic."):
    importlib.import_module(module.name)
from skdpmic import *
from skdpmic.compile import call_every_kernel
from skdpmic.counting import RangeGridSketch
from skdpmic.statistics.registry import STATISTICS

def number_of_signatures():
    functions = [object for object in gc.get_objects() if type(object) is CPUDispatcher]
    functions = [function for function in functions if function.__module__.startswith("skdpmic")]
    assert len(functions) > 10
    return {function.__name__: len(function.signatures) for function in functions}

call_every_kernel()
print([name for name, number in number_of_signatures().items() if number != 1])
"""


@pytest.mark.slow
def test_every_kernel_is_compiled_for_one_signature(tmp_path):
    # Two processes that compile different signatures of a function could swap their files.
    done = run(EVERYTHING, PACKAGE.parent, "-W", "ignore", NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "[]\n"
