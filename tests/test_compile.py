"""Code that is compiled beforehand is not compiled again, and the command reports if it could not save it."""

import os

import pytest

from tests.processes import run

IMPORTS = """
import numpy as np
from skdpmic import DPMICScorer, PrivateSelectKBest, mic_e
from skdpmic.causal import PrivatePC
from skdpmic._utils.jit import KERNELS
from skdpmic.statistics.registry import STATISTICS
X = np.random.default_rng(1).random((200, 3))
"""
FITS = """
X = np.tile(X, (150, 1))  # some kernels are for tables with many records only
labels = np.floor(5 * X)
X[::7, 2] = np.nan
for statistic in STATISTICS:
    for y, target in ((X[:, 0], {"target_bounds": (0, 1)}), (X[:, 0] > 0.5, {"classes": [False, True]})):
        DPMICScorer(statistic=statistic, epsilon=1, bounds=(0, 1), **target).fit(X, y)
        PrivateSelectKBest(k=1, statistic=statistic, epsilon=1, bounds=(0, 1), **target).fit(X, y)
for statistic in ("mic_r", "mtv_r"):
    public = {"categories": dict.fromkeys(range(3), range(5)), "classes": range(5)}
    DPMICScorer(statistic=statistic, epsilon=1, **public).fit(labels, labels[:, 0])
public = {"bounds": (0, 1), "target_bounds": (0, 1)}
DPMICScorer(statistic="mtv_r", B=500, epsilon=1, max_weight=1, **public).fit(X, X[:, 0], sample_weight=np.ones(len(X)))
DPMICScorer(mechanism="geometric", epsilon=1, **public).fit(X, X[:, 0])
PrivatePC(epsilon=1).fit(X > 0.5)
"""
REPORT = """
mic_e(*X.T[:2])
print([kernel.__name__ for kernel in KERNELS if not kernel.is_read])
print([kernel.__name__ for kernel in KERNELS if kernel.is_compiled])
"""
FITS = IMPORTS + FITS + REPORT
ALL_READ = "[]\n[]\n"
ON_ANOTHER_PROCESSOR = """
from llvmlite import binding
binding.get_host_cpu_name = lambda: "another"
features = binding.get_host_cpu_features()
features["avx2"] = not features.get("avx2")
binding.get_host_cpu_features = lambda: features
"""


def compiled(folder, **variables):
    return run(None, folder, "-m", "skdpmic.compile", **variables).stdout


@pytest.mark.slow
def test_a_new_process_on_any_processor_compiles_nothing_if_kernels_are_in_a_named_folder(installed, tmp_path):
    report = run(IMPORTS + REPORT, installed, "-W", "ignore", NUMBA_CACHE_DIR=str(tmp_path / "none")).stdout
    assert "_optimize_axis" in report.splitlines()[-1]  # is compiled if nothing was beforehand
    places = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_CPU_NAME": "generic"}
    report = compiled(installed, **places)
    assert " 0 read from disk" in report
    assert report.strip().endswith(str(tmp_path / "cache"))
    assert " 0 compiled" in compiled(installed, **places)
    for path in installed.rglob("*.py"):
        os.utime(path)  # as unpacking the image of a container does
    assert run(ON_ANOTHER_PROCESSOR + FITS, installed, "-W", "ignore", **places).stdout == ALL_READ


@pytest.mark.slow
def test_without_a_named_folder_machine_code_is_kept_with_the_package(installed):
    code = (
        "import numpy as np\n"
        "from skdpmic.statistics import ranks\n"
        "ranks.kendall(np.array([1, 3]), np.array([1, 3]))\n"
        "print(ranks._concordance.is_read, ranks._concordance.folder)"
    )
    folder = installed / "skdpmic" / "statistics" / "__pycache__"
    assert [run(code, installed).stdout for _ in range(2)] == [f"False {folder}\n", f"True {folder}\n"]


@pytest.mark.slow
def test_compiling_fails_if_the_named_folder_cannot_be_written(installed, tmp_path):
    (tmp_path / "file").touch()
    named = str(tmp_path / "file" / "cache")  # numba would use another folder
    assert named in run(None, installed, "-m", "skdpmic.compile", fails=True, NUMBA_CACHE_DIR=named).stderr
