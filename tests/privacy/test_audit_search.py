"""Hill climbing searches for two neighbours whose scores are further apart than the stated sensitivity.

No climb may find such a pair, but each must find one if the sensitivity is too small.
"""

import numba
import numpy as np
import pytest

from skdpmic.statistics.sensitivity import mic_e_sensitivity, mic_r_sensitivity
from tests.privacy.searches import class_places, climb_mic_e, climb_mic_r, numeric_places

ERROR = 1e-9  # far above the rounding error of two scores, far below any gap that matters
pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a search too long for uncompiled code")
MM = "miller-madow"
FOUR = (0.1, 0.45, 0.55, 0.9)  # in thirds 0 1 1 2, in quarters 0 1 2 3


def five_positions(seed):
    """Coordinates near both ends and at random in between."""
    return (0.02, *np.sort(np.random.default_rng(seed).uniform(size=3)), 0.98)


# n, B and c of MICr, and the number of classes
NUMERIC = [(9, 40, 5), (10, 4, 0.5), (30, 12.5, 2), (60, 4, 5), (124, 16, 1), (300, 40, 5), (1000, 25, 1)]
CLASSES = [(9, 20, 5, 2), (10, 15, 1, 3), (30, 40, 3, 4), (61, 12, 1, 3), (60, 30, 2, 5), (300, 16, 2, 4)]


@pytest.mark.slow
@pytest.mark.parametrize("n, B, c, n_classes", [*((*case, None) for case in NUMERIC), *CLASSES])
@pytest.mark.parametrize("correction", [None, MM])
def test_no_climb_beats_the_sensitivity_of_mic_r(n, B, c, n_classes, correction):
    def places(seed):
        if n_classes is not None:
            return class_places(n_classes, max(B, 4 * n_classes), c, correction)
        return numeric_places(B, c, FOUR if seed % 2 else five_positions(seed), correction)

    found = [climb_mic_r(seed, n, 20_000 // n, places(seed)) for seed in range(5)]
    assert max(found) <= mic_r_sensitivity(n) + ERROR
    if correction is None:
        assert found[0] > 0.99 * mic_r_sensitivity(n)  # seed 0 starts from the worst case: all records in one place
    assert max(found[1:]) > (0.4 if correction else 0.9) * mic_r_sensitivity(
        n
    )  # climbs from elsewhere come close to it


@pytest.mark.slow
@pytest.mark.parametrize("n, B, c", [(40, 8, 1), (40, 12.5, 2), (48, 4, 1), (120, 4, 15), (408, 4, 1), (1200, 25, 1)])
def test_no_climb_beats_the_sensitivity_of_mic_e(n, B, c):
    found = [climb_mic_e(seed, n, 12_000 // n, B, c) for seed in range(4)]
    assert max(found) <= mic_e_sensitivity(n, B) + ERROR
    assert max(found) > 0.6 * mic_e_sensitivity(n, B)


TOO_SMALL = {"half": (1 / 2, 1), "nine tenths": (0.9, 1), "for a quarter more records": (1, 5 / 4)}


@pytest.mark.parametrize("name", TOO_SMALL)
@pytest.mark.slow
def test_climbs_beat_a_sensitivity_that_is_too_small(name):
    factor, more = TOO_SMALL[name]
    for n in (10, 60, 200):
        assert climb_mic_r(1, n, 20_000 // n, numeric_places(9, 1, FOUR)) > factor * mic_r_sensitivity(int(n * more))
        for n_classes in (2, 4):
            places = class_places(n_classes, 16, 2)
            smaller = factor * mic_r_sensitivity(int(n * more))
            assert climb_mic_r(1, n, 20_000 // n, places) > smaller


@pytest.mark.parametrize("too_small", [lambda n, B: mic_e_sensitivity(n, B) / 2, lambda n, B: mic_r_sensitivity(n)])
@pytest.mark.slow
def test_climbs_beat_a_sensitivity_of_mic_e_that_is_too_small(too_small):
    for n, B, c in [(40, 4, 1), (120, 8, 1), (120, 12.5, 2)]:
        assert climb_mic_e(0, n, 100, B, c) > too_small(n, B)
