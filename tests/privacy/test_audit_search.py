"""Hill climbing searches for two neighbours whose scores are further apart than the stated sensitivity.

No climb may find such a pair, but each must find one if the sensitivity is too small.
"""

import numpy as np
import pytest

from skdpmic.statistics.mic.optimize_axis import entropy_table
from skdpmic.statistics.mic.statistic import ContinuousGrids, DiscreteGrids
from skdpmic.statistics.sensitivity import mic_e_sensitivity, mic_r_sensitivity
from skdpmic.table.domains import Nominal
from tests.privacy.searches import ERROR, MM, UNIT, climb, climb_mic_e, compiled_only

pytestmark = compiled_only
FOUR = np.array([0.1, 0.45, 0.55, 0.9])  # in thirds 0 1 1 2, in quarters 0 1 2 3
AT_RANDOM = np.array([0.02, *np.sort(np.random.default_rng(1).uniform(size=3)), 0.98])
FEATURES = {
    "four places": (UNIT, FOUR),
    "random places": (UNIT, AT_RANDOM),
    "missing": (UNIT, np.array([0.1, 0.3, 0.6, 0.9, np.nan])),
    **{f"{n} labels": (Nominal(n), np.arange(n + 2, dtype=np.uint32)) for n in (1, 2, 3, 5, 20)},
}
TARGETS = {  # number of classes, B and c
    "numbers": (None, 16, 1),
    "more numbers": (None, 40, 5),
    "3 classes": (3, 12, 1),
    "5 classes": (5, 30, 2),
}


def climb_mic_r(seed, n, n_steps, correction, scale, values, n_classes, B, c):
    """The largest change found by hill climbing over data sets of n records."""
    if n_classes is None:
        grids, targets = ContinuousGrids(UNIT, float(B), c, correction), FOUR
    else:
        grids, targets = DiscreteGrids(n_classes, float(B), c, correction), np.arange(n_classes)
    placed, table = [grids.place(target) for target in targets[:, np.newaxis]], entropy_table(n)
    counts_of = np.array([grids.count(value, scale, target) for value in values[:, np.newaxis] for target in placed])
    return climb(seed, n, n_steps, counts_of, lambda counts: grids.score(counts, scale, table))


@pytest.mark.few
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("feature", FEATURES.values(), ids=FEATURES)
@pytest.mark.parametrize("correction", [None, MM])
@pytest.mark.parametrize("n, n_steps", [(11, 5), *(pytest.param(n, 50, marks=pytest.mark.slow) for n in (61, 300))])
@pytest.mark.combinations
def test_no_climb_beats_the_sensitivity_of_mic_r(n, n_steps, correction, feature, target):
    found = [climb_mic_r(seed, n, n_steps, correction, *feature, *target) for seed in (0, 1)]
    assert max(found) <= mic_r_sensitivity(n) + ERROR
    if correction is None:
        assert found[0] > 0.99 * mic_r_sensitivity(n)  # seed 0 starts from the worst case: all records in one place


@pytest.mark.slow
@pytest.mark.parametrize("n, B, c", [(40, 8, 1), (40, 12.5, 2), (48, 4, 1), (120, 4, 15), (408, 4, 1), (1200, 25, 1)])
def test_no_climb_beats_the_sensitivity_of_mic_e(n, B, c):
    found = [climb_mic_e(seed, n, 12_000 // n, B, c) for seed in range(4)]
    assert max(found) <= mic_e_sensitivity(n, B) + ERROR
    assert max(found) > 0.6 * mic_e_sensitivity(n, B)


@pytest.mark.slow
@pytest.mark.parametrize("factor, more", [(1 / 2, 1), (0.9, 1), (1, 5 / 4)])
def test_climbs_beat_a_sensitivity_that_is_too_small(factor, more):
    for n in (10, 60, 200):
        for target in TARGETS.values():
            too_small = factor * mic_r_sensitivity(int(n * more))
            assert climb_mic_r(1, n, 300, None, *FEATURES["four places"], *target) > too_small


@pytest.mark.slow
@pytest.mark.parametrize("too_small", [lambda n, B: mic_e_sensitivity(n, B) / 2, lambda n, B: mic_r_sensitivity(n)])
def test_climbs_beat_a_sensitivity_of_mic_e_that_is_too_small(too_small):
    for n, B, c in [(40, 4, 1), (120, 8, 1), (120, 12.5, 2)]:
        assert climb_mic_e(0, n, 100, B, c) > too_small(n, B)
