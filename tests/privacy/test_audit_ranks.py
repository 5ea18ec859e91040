"""An exact audit of the private Kendall score of a pair; too little noise is detected."""

from fractions import Fraction

import numpy as np
import pytest

from skdpmic import private_score
from skdpmic.privacy import mechanisms
from skdpmic.privacy.mechanisms import GRID
from skdpmic.statistics import ranks
from skdpmic.statistics.sensitivity import kendall_sensitivity
from tests.statistics.test_ranks import compiled_only, corner


def exact_loss(epsilon, monkeypatch):
    """The privacy loss of scores in grid steps with discrete Laplace noise: their largest distance over the scale."""
    drawn = []
    monkeypatch.setattr(
        mechanisms, "discrete_laplace", lambda scale, size, _: drawn.append(scale) or np.zeros(size, int)
    )
    released = [Fraction(private_score(*table, statistic="kendall", epsilon=epsilon)) for table in corner(20)]
    assert len(set(drawn)) == 1
    return (max(released) - min(released)) / Fraction(GRID) / drawn[0]


@compiled_only
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7])
def test_the_worst_neighbours_lose_epsilon_and_no_more(epsilon, monkeypatch):
    assert (1 - 1e-6) * epsilon < exact_loss(epsilon, monkeypatch) <= Fraction(repr(float(epsilon)))


@compiled_only
def test_half_the_sensitivity_is_detected(monkeypatch):
    monkeypatch.setattr(ranks, "kendall_sensitivity", lambda n: kendall_sensitivity(n) / 2)
    assert exact_loss(1.0, monkeypatch) > 1.1
