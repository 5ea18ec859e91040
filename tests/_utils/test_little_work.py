"""A small first fit does not wait for the compiler; larger ones use the compiled kernels."""

import sys
from collections import Counter

import numpy as np
import pytest

from skdpmic._utils.jit import Allowance, only_kernels
from skdpmic.statistics import grids
from skdpmic.statistics.mtv import counts
from skdpmic.statistics.mtv import counts as longest_path
from skdpmic.statistics.registry import statistic_named
from skdpmic.table.targets import ClassTarget, NumericTarget
from tests.folding import each
from tests.processes import PACKAGE, run

FITS = """
import numpy as np
import skdpmic._utils.jit
from skdpmic import PrivateSelectKBest
rng = np.random.default_rng(0)
X = rng.random((1000, 20))
X[::7, 1] = np.nan
X[:, 2] = np.arange(1000) % 3
bounds, categories = {j: (0, 1) for j in range(20) if j != 2}, {2: [0, 1, 2]}
for y, target in ((X[:, 0] ** 2, {"target_bounds": (0, 1)}), (np.arange(1000) % 4, {"classes": range(4)})):
    PrivateSelectKBest(k=2, bounds=bounds, categories=categories, **target).fit(X, y)
print([kernel.__name__ for kernel in skdpmic._utils.jit.KERNELS if kernel.is_read or kernel.is_compiled])
"""


@pytest.mark.slow
def test_the_first_fit_of_a_small_table_compiles_nothing(tmp_path):
    assert run(FITS, PACKAGE.parent, "-W", "ignore", NUMBA_CACHE_DIR=str(tmp_path)).stdout == "[]\n"
    assert list(tmp_path.iterdir()) == []


def test_numpy_is_used_until_its_time_budget_is_spent(monkeypatch):
    monkeypatch.setattr(Allowance, "is_off", False)
    allowance = Allowance(0.1)
    assert not allowance.covers(0, 10**8 + 1)  # uses no time
    assert [allowance.covers(10**4, 3 * 10**7) for _ in range(3)] == [True, True, False]
    assert allowance.covers(0, 2 * 10**7)


def test_numpy_is_not_used_inside_only_kernels(monkeypatch):
    monkeypatch.setattr(Allowance, "is_off", False)
    with only_kernels():
        assert not Allowance(0.1).covers(0, 0)
    assert Allowance(0.1).covers(0, 0)


IN_NUMPY = {
    grids._IN_NUMPY: (grids, grids._locate_in_numpy),
    counts._IN_NUMPY: (counts, counts._add_in_numpy),
    longest_path._RUN: (longest_path, longest_path._run_in_numpy),
    longest_path._WALK: (longest_path, longest_path._walk_in_numpy),
    longest_path._LINES: (longest_path, longest_path._lines_in_numpy),
}


@pytest.mark.parametrize("n_classes", [None, 2, 4])
@pytest.mark.parametrize("is_joint", [False, True])
@each("n, n_values", [(20, 2), (1000, 2), (1000, 1000)])
@each("B", [4.0, 20.0])
def test_numpy_runs_no_more_lines_than_it_is_charged(monkeypatch, n_classes, is_joint, n, n_values, B):
    """About one call of numpy a line: a count does not depend on the machine, as a time would."""
    n_lines, plenty = Counter(), 10**15

    def counted(allowance, job):
        def count(frame, event, _):
            n_lines[allowance] += event == "line"
            return count if frame.f_code.co_filename == job.__code__.co_filename else None

        def run(*arguments):
            before = sys.gettrace()
            sys.settrace(count)
            try:
                return job(*arguments)
            finally:
                sys.settrace(before)

        return run

    monkeypatch.setattr(Allowance, "is_off", False)
    for allowance, (module, job) in IN_NUMPY.items():
        monkeypatch.setattr(module, job.__name__, counted(allowance, job))
        monkeypatch.setattr(allowance, "_nanoseconds", plenty)
    rng = np.random.default_rng(n)
    y = ClassTarget(np.arange(n) % n_classes, n_classes) if n_classes else NumericTarget(rng.random(n), (0.0, 1.0))
    x, domain = rng.integers(n_values, size=n) / n_values, (0.0, 1.0)
    measure = statistic_named("mtv_r", None).measure(B, 38.0, n, 1.0, n_classes)
    scorer = measure.scorer_beside(y, x, domain) if is_joint else measure.scorer(y, None)
    scorer.score_block([x], [domain])
    assert len(n_lines) >= 4
    for allowance, lines in n_lines.items():
        charged = (plenty - allowance._nanoseconds) / 1000  # a microsecond each
        assert lines <= charged, IN_NUMPY[allowance]
