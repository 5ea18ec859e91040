"""A small first fit does not wait for the compiler; larger ones use the compiled kernels."""

import pytest

from skdpmic._utils.jit import uses_numpy
from skdpmic.statistics.registry import statistic_named
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


def is_in_numpy(B, n_samples, n_features, n_classes=None):
    """Whether numpy scores tables of this shape; asked twice, because what ran before must not matter."""
    measure, answers = statistic_named("mtv_r", None).measure(B, 38.0, n_samples, 1.0, n_classes), set()
    for _ in range(2):
        with measure.in_numpy_if_little(n_samples, n_features):
            answers.add(uses_numpy())
    (answer,) = answers
    return answer


def test_numpy_scores_tables_by_their_shape_alone():
    assert is_in_numpy(32.0, 1000, 20)
    assert is_in_numpy(32.0, 45_000, 12, n_classes=2)
    assert not is_in_numpy(32.0, 1000, 100)
    assert not is_in_numpy(32.0, 10**6, 3)
    assert not is_in_numpy(500.0, 1000, 3)
    assert not uses_numpy()
