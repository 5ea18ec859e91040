"""A small first fit does not wait for the compiler; larger ones use the compiled kernels."""

import pytest

from skdpmic._utils.little_work import Allowance, only_kernels
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
    assert not allowance.covers(10**8 + 1)  # uses no time
    assert [allowance.covers(4 * 10**7) for _ in range(3)] == [True, True, False]
    assert allowance.covers(2 * 10**7)


def test_numpy_is_not_used_inside_only_kernels(monkeypatch):
    monkeypatch.setattr(Allowance, "is_off", False)
    with only_kernels():
        assert not Allowance(0.1).covers(0)
    assert Allowance(0.1).covers(0)
