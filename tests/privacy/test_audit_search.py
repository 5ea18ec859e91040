"""Hill climbing looks for two neighbours whose scores lie further apart than the stated sensitivity.

Each climb must find no such pair, and must find one for a sensitivity that is too small.
"""

import numba
import numpy as np
import pytest

from skdpmic.statistics.sensitivity import mic_e_sensitivity, mic_r_sensitivity
from tests.privacy.searches import class_places, climb_mic_e, climb_mic_r, numeric_places

ERROR = 1e-9  # far above the rounding of two scores, far below any gap that matters
pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a search too long for uncompiled code")
MM = "miller-madow"
FOUR = (0.1, 0.45, 0.55, 0.9)  # in thirds 0 1 1 2, in quarters 0 1 2 3


def five_positions(seed):
    """Coordinates near both ends and at random in between."""
    return (0.02, *np.sort(np.random.default_rng(seed).uniform(size=3)), 0.98)


def spread(cases, slow_cases):
    return [*cases, *(pytest.param(*case, marks=pytest.mark.slow) for case in slow_cases)]


@pytest.mark.parametrize(
    "n, B, c, n_steps",
    spread(
        [(10, 9, 1, 600), (30, 12.5, 2, 200), (60, 4, 5, 200), (124, 16, 1, 100)],
        [(10, 4, 0.5, 200), (200, 9, 1, 100)]
        + [(n, B, c, 30_000 // n) for n in (9, 124, 300) for B, c in ((12.5, 2), (40, 5))]
        + [(n, B, 1, 30_000 // n) for n in (20, 60, 1000) for B in (9, 25)],
    ),
)
@pytest.mark.slow
def test_no_climb_beats_the_sensitivity_of_mic_r(n, B, c, n_steps):
    found = [climb_mic_r(0, n, n_steps, numeric_places(B, c, five_positions(0)))]
    for seed in range(1, 4):
        found.append(climb_mic_r(seed, n, n_steps, numeric_places(B, c, five_positions(seed))))
        found.append(climb_mic_r(seed, n, n_steps, numeric_places(B, c, FOUR)))
    assert max(found) <= mic_r_sensitivity(n) + ERROR
    assert found[0] > 0.99 * mic_r_sensitivity(n)  # seed 0 starts from the worst case, all records in one place
    assert max(found[1:]) > 0.9 * mic_r_sensitivity(n)  # and the search finds its way from elsewhere


@pytest.mark.parametrize(
    "n, n_classes, B, c, n_steps",
    spread(
        [
            *[(10, 2, 8, 1, 600), (10, 3, 15, 1, 600), (30, 4, 40, 3, 200), (60, 3, 9, 2, 200), (61, 3, 12, 1, 200)],
            *[(60, 2, 20, 5, 200), (200, 4, 16, 2, 100)],
        ],
        [(n, K, B, c, 30_000 // n) for n in (9, 300) for K, B, c in ((2, 20, 5), (3, 30, 2))]
        + [(60, K, B, c, 500) for K, B, c in ((4, 16, 2), (5, 30, 2))],
    ),
)
@pytest.mark.slow
def test_no_climb_beats_the_sensitivity_of_mic_r_against_classes(n, n_classes, B, c, n_steps):
    found = [climb_mic_r(seed, n, n_steps, class_places(n_classes, B, c)) for seed in range(5)]
    assert max(found) <= mic_r_sensitivity(n) + ERROR
    assert found[0] > 0.99 * mic_r_sensitivity(n)
    assert max(found[1:]) > 0.9 * mic_r_sensitivity(n)


@pytest.mark.parametrize(
    "n, places, n_steps",
    spread(
        [
            *[(n, numeric_places(B, c, FOUR, MM), 6000 // n) for n, B, c in ((10, 9, 1), (60, 12.5, 2), (125, 25, 1))],
            *[(n, class_places(K, B, 1, MM), 6000 // n) for n, K, B in ((11, 3, 12), (61, 3, 15), (125, 5, 20))],
        ],
        [
            *[
                (n, numeric_places(B, c, five_positions(n), MM), 30_000 // n)
                for n, B, c in ((9, 16, 2), (9, 40, 5), (60, 9, 2), (124, 40, 5), (300, 16, 2), (1000, 9, 2))
            ],
            *[(n, class_places(K, 12 * K, 2, MM), 30_000 // n) for n, K in ((9, 2), (9, 4), (60, 3), (300, 2))],
        ],
    ),
)
@pytest.mark.slow
def test_no_climb_beats_the_sensitivity_with_a_correction(n, places, n_steps):
    found = [climb_mic_r(seed, n, n_steps, places) for seed in range(5)]
    assert max(found) <= mic_r_sensitivity(n) + ERROR
    assert max(found) > 0.4 * mic_r_sensitivity(n)


@pytest.mark.parametrize(
    "n, B, c, n_steps",
    spread(
        [(40, 8, 1, 150), (120, 4, 15, 100)],
        [(40, 4, 1, 200), (40, 12.5, 2, 100), (120, 25, 1, 100)]
        + [(n, B, c, 20_000 // n) for n, B, c in ((48, 4, 1), (48, 12.5, 2), (120, 8, 1), (408, 4, 1), (1200, 25, 1))],
    ),
)
@pytest.mark.slow
def test_no_climb_beats_the_sensitivity_of_mic_e(n, B, c, n_steps):
    found = [climb_mic_e(seed, n, n_steps, B, c) for seed in range(4)]
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
