"""The entries of a characteristic matrix, and statistics of them."""

import numpy as np
import pytest

from skdpmic import characteristic_matrix, mic_e, mic_r
from skdpmic.statistics.mic.characteristic import CharacteristicMatrix
from tests.statistics.mic.test_mic_e import KINDS, _data

BOUNDS = ((-2.0, 2.0), (-1.5, 3.0))
STATISTICS = {
    "mic_e": {"statistic": "mic_e", "B": 17.9, "c": 2},
    "mic_r": {"statistic": "mic_r", "B": 17.9, "c": 2, "bounds": BOUNDS},
    "mic_r, full": {"statistic": "mic_r", "B": 12, "c": 2.5, "bounds": BOUNDS, "master": "full"},
}


def _value(x, y, statistic, **arguments):
    return (mic_e if statistic == "mic_e" else mic_r)(x, y, **arguments)


@pytest.mark.parametrize("arguments", STATISTICS.values(), ids=STATISTICS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 7, 60])
@pytest.mark.combinations
def test_the_largest_entry_is_the_statistic(kind, n, arguments):
    x, y = _data(kind, n, np.random.default_rng(n))
    assert characteristic_matrix(x, y, **arguments).mic() == _value(x, y, **arguments)


def _small_matrix():
    matrix = np.full((5, 5), np.nan)
    matrix[2, 2], matrix[2, 3], matrix[3, 2], matrix[2, 4], matrix[4, 2], matrix[3, 3] = 0.3, 0.5, 0.8, 0.4, 0.25, 0.79
    return CharacteristicMatrix(matrix)


def test_statistics_match_values_by_hand():
    entries = _small_matrix()
    assert entries.mic() == 0.8
    assert entries.tic() == pytest.approx(3.04)
    assert entries.tic(norm=True) == pytest.approx(3.04 / 6)
    assert entries.mas() == pytest.approx(0.3)
    assert entries.mev() == 0.8
    assert entries.mcn() == np.log2(6)
    assert entries.mcn(eps=1) == np.log2(4)
    assert entries.mcn(eps=0.7) == np.log2(4)


def test_gmic_matches_values_by_hand():
    # The maximal matrix has 0.3 for 4 cells, and 0.8, the largest entry up to there, for 6, 8 and 9 cells.
    maximal = np.array([0.3, 0.8, 0.8, 0.8, 0.8, 0.8])
    entries = _small_matrix()
    assert entries.gmic() == entries.gmic(-1)
    assert entries.gmic(-np.inf) == 0.3
    assert entries.gmic(np.inf) == 0.8
    assert entries.gmic(0) == pytest.approx(np.exp(np.log(maximal).mean()))
    for p in (-3, -1, -0.5, 1, 2):
        assert entries.gmic(p) == pytest.approx((maximal**p).mean() ** (1 / p))
    assert entries.gmic(-5000) == pytest.approx(0.3, rel=0.001)
    assert entries.gmic(5000) == pytest.approx(0.8, rel=0.001)


def test_eps_and_p_are_checked():
    entries = _small_matrix()
    for eps in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="eps must be in"):
            entries.mcn(eps=eps)
    with pytest.raises(ValueError, match="p must be a number"):
        entries.gmic(np.nan)
