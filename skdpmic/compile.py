"""Compile all kernels ahead of time, which saves each process several seconds: ``python -m skdpmic.compile``.

Machine code is stored in the folder of the environment variable NUMBA_CACHE_DIR, or else in that of the package.
"""

import contextlib
import os
import sys
import time
import warnings
from pathlib import Path

import numba
import numpy as np

from skdpmic._utils.jit import KERNELS
from skdpmic.counting.sketch import RangeGridSketch
from skdpmic.selection.selectors import DPMICScorer
from skdpmic.statistics.mic.characteristic import characteristic_matrix
from skdpmic.statistics.ranks import kendall
from skdpmic.statistics.registry import STATISTICS


def call_every_kernel():
    """Run each part of the package on small data, which compiles each kernel, or reads it from disk."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    X[::7, 1] = np.nan
    X[:, 2] = np.arange(60) % 3
    public = {"bounds": {0: (0, 1), 1: (0, 1)}, "categories": {2: [0, 1, 2]}}
    numbers, classes = {"target_bounds": (0, 1)}, {"classes": [0, 1, 2, 3, 4]}
    for y, target in ((X[:, 0], numbers), (np.arange(60) % 5, classes)):
        for statistic in STATISTICS:
            with contextlib.suppress(ValueError):  # too many classes
                DPMICScorer(statistic=statistic, epsilon=1, **public, **target).fit(X, y)
        weighted = DPMICScorer(statistic="mtv_r", B=500, epsilon=1, max_weight=1, **public, **target)
        weighted.fit(X, y, sample_weight=np.ones(60))
        DPMICScorer(epsilon=1, mechanism="geometric", bounds=(0, 1), **target).fit(X[:, :1], y)
        sketch = RangeGridSketch(n_features=3, B=20, **public, **target)
        DPMICScorer(epsilon=1).fit_sketch(sketch.update(X, y))
    characteristic_matrix(X[:, 0], X[:, 2])


def main():
    """Compile, print a report, and return the exit status of the command: 0 if all machine code is on disk."""
    if numba.config.DISABLE_JIT:
        return _failed("nothing is compiled if the environment variable NUMBA_DISABLE_JIT is set.")
    start = time.perf_counter()
    asked_for = numba.config.CACHE_DIR
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kendall(np.array([1, 3]), np.array([1, 3]))  # one kernel shows whether a folder can be written
        if _is_kept({kernel.folder for kernel in KERNELS if kernel.is_compiled or kernel.is_read}, asked_for):
            call_every_kernel()
    folders = {kernel.folder for kernel in KERNELS}
    if not _is_kept(folders, asked_for):
        return _failed(f"machine code cannot be written to {asked_for or 'any folder; set NUMBA_CACHE_DIR to one'}.")
    n_compiled = sum(kernel.is_compiled for kernel in KERNELS)
    print(
        f"{len(KERNELS)} kernels in {time.perf_counter() - start:.1f} s: {n_compiled} compiled, "
        f"{len(KERNELS) - n_compiled} read from disk; kept in {asked_for or os.path.commonpath(folders)}"
    )
    return 0


def _is_kept(folders, asked_for):
    """Whether these are folders on disk, within the one that is asked for, if any."""
    return None not in folders and (not asked_for or all(Path(asked_for) in Path(name).parents for name in folders))


def _failed(why):
    print(f"skdpmic.compile: {why}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
