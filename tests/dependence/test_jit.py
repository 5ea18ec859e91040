"""Machine code on disk is never that of other sources, and nothing about that disk ends a fit or changes a score."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skdpmic.dependence import jit

PACKAGE = Path(__file__).parents[2] / "skdpmic"
YEAR_2000 = 946684800

SCORE = """
import numpy as np
from skdpmic import mic_e, mic_r
x = np.arange(60) % 20 / 20
y = (2 * x - 1) ** 2
print(mic_r(x, y, bounds=((0, 1), (0, 1)), B=20), mic_e(x, y, B=20))
"""
FIT = """
import tempfile
import numpy as np
from skdpmic import BudgetLedger, DPMICScorer, mic_e
X = np.random.default_rng(0).random((50, 2))
folder = tempfile.TemporaryDirectory()
ledger = BudgetLedger(folder.name + "/ledger", epsilon=3)
for target in ({"target_bounds": (0, 1)}, {"classes": [0, 1]}):
    scorer = DPMICScorer(epsilon=1, bounds=(0, 1), ledger=ledger, random_state=0, **target)
    print(scorer.fit(X, np.round(X[:, 0])).scores_.tolist())
print(mic_e(*X.T), ledger.spent()[0])
"""


@pytest.fixture
def installed(tmp_path):
    """A copy of the package in a folder of its own, whose files have the times that container builds give them."""
    folder = tmp_path / "site-packages"
    shutil.copytree(PACKAGE, folder / "skdpmic", ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        os.utime(path, (YEAR_2000, YEAR_2000))
    return folder


def environment(folder, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | variables


def run(code, folder, *options, **variables):
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=folder,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def write(path, text):
    path.write_text(text)
    os.utime(path, (YEAR_2000, YEAR_2000))


@pytest.mark.slow
def test_an_upgrade_in_place_of_another_files_function_is_seen(installed):
    inner = installed / "skdpmic" / "dependence" / "inner.py"
    imports = "from skdpmic.dependence.jit import jit\n"
    write(inner, f"{imports}@jit\ndef inner(x):\n    return x + 1\n")
    write(
        installed / "skdpmic" / "dependence" / "outer.py",
        f"{imports}from skdpmic.dependence.inner import inner\n@jit\ndef outer(x):\n    return inner(x)\n",
    )
    code = "from skdpmic.dependence.outer import outer; print(outer(1))"
    assert run(code, installed).stdout == "2\n"
    write(inner, inner.read_text().replace("x + 1", "x + 2"))
    assert run(code, installed).stdout == "3\n"


@pytest.mark.slow
def test_an_upgrade_in_place_changes_scores(installed, tmp_path):
    kernel = installed / "skdpmic" / "dependence" / "optimize_axis.py"
    before = run(SCORE, installed).stdout
    assert "in_column > 0" in kernel.read_text()
    write(kernel, kernel.read_text().replace("in_column > 0", "in_column > 9"))  # of one length, with the same time
    after = run(SCORE, installed, NUMBA_CACHE_DIR=str(tmp_path / "fresh")).stdout
    assert after != before
    assert run(SCORE, installed).stdout == after


def test_another_processor_has_machine_code_of_its_own(monkeypatch):
    assert jit._digest() == jit._DIGEST
    with monkeypatch.context() as patch:
        patch.setattr(jit.binding, "get_host_cpu_name", lambda: "another")
        assert jit._digest() != jit._DIGEST
    monkeypatch.setattr(jit.numba.config, "BOUNDSCHECK", not jit.numba.config.BOUNDSCHECK)
    assert jit._digest() != jit._DIGEST


def _read_only(installed, tmp_path):
    """What numba finds where neither the package nor the home folder can be written; root may write anywhere else."""
    file = tmp_path / "file"
    file.touch()
    for folder in [installed / "skdpmic", *(path for path in (installed / "skdpmic").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    return {"HOME": str(file), "XDG_CACHE_HOME": str(file / "cache")}


@pytest.mark.slow
def test_a_read_only_installation_works_and_warns_once(installed, tmp_path):
    expected = run(FIT, installed, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert "NUMBA_CACHE_DIR" not in expected.stderr
    done = run(FIT, installed, "-W", "always", **_read_only(installed, tmp_path))
    assert done.stdout == expected.stdout
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1


@pytest.mark.slow
def test_a_cache_folder_inside_of_a_file_is_no_reason_to_fail(installed, tmp_path):
    places = _read_only(installed, tmp_path) | {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "cache")}
    done = run(SCORE, installed, **places)
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1
    assert done.stdout == run(SCORE, installed, NUMBA_CACHE_DIR=str(tmp_path / "cache")).stdout


FULL_DISK = """
import builtins, errno
really_open = builtins.open

def open(path, mode="r", *arguments, **options):
    if "w" in mode and ".nb" in str(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    return really_open(path, mode, *arguments, **options)

builtins.open = open
"""


@pytest.mark.slow
def test_a_full_disk_does_not_end_a_fit_and_warns_once(installed, tmp_path):
    expected = run(FIT, installed, NUMBA_CACHE_DIR=str(tmp_path / "cache")).stdout
    for how in ("always", "error:skdpmic has no folder"):  # an error would end a fit that was paid for
        done = run(FULL_DISK + FIT, installed, "-W", how, NUMBA_CACHE_DIR=str(tmp_path / "full"))
        assert done.stdout == expected
        assert done.stderr.count("NUMBA_CACHE_DIR") == (how == "always")


@pytest.mark.slow
def test_damaged_files_are_made_anew(installed, tmp_path):
    cache = tmp_path / "cache"
    expected = run(SCORE, installed, NUMBA_CACHE_DIR=str(cache)).stdout
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    for suffix in (".nbi", ".nbc"):
        for path in files:
            if path.suffix == suffix:
                path.write_bytes(path.read_bytes()[:40])
        assert run(SCORE, installed, NUMBA_CACHE_DIR=str(cache)).stdout == expected


@pytest.mark.slow
def test_two_processes_that_compile_at_once_get_the_right_scores(installed, tmp_path):
    expected = run(FIT, installed, NUMBA_CACHE_DIR=str(tmp_path / "alone")).stdout
    cache = environment(installed, NUMBA_CACHE_DIR=str(tmp_path / "together"))
    command = [sys.executable, "-c", FIT]
    both = [subprocess.Popen(command, env=cache, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == [expected, expected]
    assert run(FIT, installed, NUMBA_CACHE_DIR=str(tmp_path / "together")).stdout == expected


EVERYTHING = """
import gc
import numpy as np
from numba.core.registry import CPUDispatcher
from skdpmic import *
from skdpmic.dependence import mic_r as grids_of_mic_r
from skdpmic.dependence.grid_counts import ContinuousGrids, DiscreteGrids, GridScorer
from skdpmic.dependence.mtv_family import class_family
from skdpmic.dependence.mtv_r import AgainstClasses
from skdpmic.dependence.nominal import Nominal
from skdpmic.dependence.population import mic_star
from skdpmic.dependence.rank_nulls import null_scores
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.random((60, 2)))
bounds = ((0, 1), (0, 1))
for x, y in ((*X.T,), X.T.astype(np.float32), (X > 0.5).T, X.T.tolist(), np.array(X)[::-1].T):
    for B in (4, 0.6, 60):
        mic_r(x, y, bounds=bounds, B=B), mic_e(x, y, B=B), mic_r_laplace(x, y, epsilon=1, bounds=bounds, B=B)
        characteristic_matrix(x, y, B=B), characteristic_matrix(x, y, B=B, statistic="mic_r", bounds=bounds)
    mic_r_geometric(x, y, epsilon=1, bounds=bounds), mic_e_laplace(x, y, epsilon=1)
    mtv_r(x, y, bounds=bounds), mtv_r_laplace(x, y, epsilon=1, bounds=bounds, B=8, c=4)
    for rank_statistic in (kendall_laplace, spearman_laplace, chatterjee_laplace, distance_correlation_laplace):
        rank_statistic(x, y, epsilon=1)
for n_classes in (2, 5):
    AgainstClasses(np.arange(60) % n_classes, class_family(20, 4, n_classes)).score(X[:, 0], (0, 1))
holed = np.where(X[:, 0] < 0.3, np.nan, X[:, 0]), (0, 1)
for incomplete, scale in (holed, (np.arange(60, dtype=np.uint32) % 5, Nominal(3))):
    AgainstClasses(np.arange(60) % 4, class_family(20, 4, 4)).score(incomplete, scale)
    grids_of_mic_r.AgainstNumbers(X[:, 1], (0, 1), 20, 2).score(incomplete, scale)
    grids_of_mic_r.AgainstClasses(np.arange(60) % 3, 3, 20, 2).score(incomplete, scale)
    for grids in (ContinuousGrids((0, 1), 20, 2), DiscreteGrids(3, 20, 2)):
        y = X[:, 1] if isinstance(grids, ContinuousGrids) else np.arange(60) % 3
        GridScorer(grids, 60).score(grids.count(incomplete, scale, grids.place(y)), scale)
mic_pairs(X), mic_star(X, 0.1, n_master=10, n_fixed=10)
for rank_statistic in ("kendall", "spearman", "chatterjee", "distance_correlation"):
    null_scores(rank_statistic, 30, 2, 0)
for n in (60, 6000):
    X = rng.random((n, 2))
    for target in ({"target_bounds": (0, 1)}, {"classes": [0, 1]}):
        y = np.round(X[:, 0])
        for mechanism in ("laplace", "geometric"):
            DPMICScorer(epsilon=1, bounds=(0, 1), mechanism=mechanism, **target).fit(X, y)
        DPMICSelector(epsilon=1, k=1, bounds=(0, 1), **target).fit(X, y)
        sketch = RangeGridSketch(bounds=(0, 1), n_features=2, B=20, **target)
        DPMICScorer(epsilon=1).fit_sketch(sketch.update(X, y))
kernels = [object for object in gc.get_objects() if type(object) is CPUDispatcher]
kernels = [kernel for kernel in kernels if kernel.__module__.startswith("skdpmic")]
assert len(kernels) > 6
print([kernel.__name__ for kernel in kernels if len(kernel.signatures) != 1])
"""


@pytest.mark.slow
def test_every_kernel_is_compiled_for_one_signature(tmp_path):
    # Two processes that compile different signatures of one function can swap their files.
    assert run(EVERYTHING, PACKAGE.parent, "-W", "ignore", NUMBA_CACHE_DIR=str(tmp_path)).stdout == "[]\n"
