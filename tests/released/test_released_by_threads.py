"""Concurrent fits in several threads release what each of them releases alone."""

import json
from concurrent.futures import ThreadPoolExecutor

import polars  # noqa: F401  # scikit-learn fails in one thread while another imports it
import pytest

from tests.released.cases import CASES
from tests.released.test_released_before import BEFORE, differences

pytestmark = pytest.mark.filterwarnings("ignore")
ALIKE = ["scores, mtv_r, laplace, numbers"] * 8  # these share cached values
SOME = ALIKE + sorted(CASES)[::3]


@pytest.mark.slow
def test_concurrent_threads_release_what_each_releases_alone():
    def differs(case):
        return differences(BEFORE[case], json.loads(json.dumps(CASES[case]())))

    with ThreadPoolExecutor(8) as threads:
        assert not [found for found in threads.map(differs, SOME) if found]
