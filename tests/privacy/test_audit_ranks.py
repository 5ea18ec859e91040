"""Exact audits of the private rank statistics of a pair, also within strata; too little noise is detected."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from skdpmic import private_score
from skdpmic.privacy import mechanisms
from skdpmic.privacy.mechanisms import GRID
from skdpmic.statistics.ranks import statistic as within_strata
from skdpmic.statistics.registry import STATISTICS
from skdpmic.statistics.sensitivity import conditional_kendall_sensitivity
from tests.statistics.ranks.test_conditional_sensitivity import from_falling_to_rising
from tests.statistics.ranks.test_sensitivity import SENSITIVITY, compiled_only, corner, tilted, valley

NAMES = list(SENSITIVITY)
NEIGHBOURS = {
    "kendall": corner(20),
    "chatterjee": valley(20),
    "distance_correlation": tilted(30_000, edge=0.03),
}
KNOWN_LOSS = {"distance_correlation": 0.56}  # the share of epsilon that known neighbours lose, if not 1


def score(name, table, **parameters):
    x, y, *strata = table
    if strata:
        parameters = {"strata": strata[0], "categories": [0, 1], **parameters}
    return private_score(x, y, statistic=name, **parameters)


def exact_loss(name, tables, epsilon, monkeypatch):
    """The privacy loss of scores in grid steps with discrete Laplace noise: their largest distance over the scale."""
    drawn = []
    monkeypatch.setattr(
        mechanisms, "discrete_laplace", lambda scale, size, _: drawn.append(scale) or np.zeros(size, int)
    )
    released = [Fraction(score(name, table, epsilon=epsilon)) for table in tables]
    if len(tables[0]) == 3:
        released = [(signed + 1) / 2 for signed in released]
    assert len(set(drawn)) == 1
    return (max(released) - min(released)) / Fraction(GRID) / drawn[0]


# --- Without strata ---------------------------------------------------------------------------------------------


@compiled_only
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7])
@pytest.mark.parametrize("name", NAMES)
def test_the_worst_neighbours_lose_epsilon_and_no_more(name, epsilon, monkeypatch):
    loss = exact_loss(name, NEIGHBOURS[name], epsilon, monkeypatch)
    assert KNOWN_LOSS.get(name, 1 - 1e-6) * epsilon < loss <= Fraction(repr(float(epsilon)))


@compiled_only
@pytest.mark.parametrize("name", NAMES)
def test_half_the_sensitivity_is_detected(name, monkeypatch):
    monkeypatch.setattr(STATISTICS[name], "sensitivity_of", lambda self, n: SENSITIVITY[name](n) / 2)
    assert exact_loss(name, NEIGHBOURS[name], 1.0, monkeypatch) > 1.1


# --- Within strata ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [5, 6, 21, 200])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7])
@pytest.mark.combinations
def test_the_worst_neighbours_within_strata_lose_epsilon_and_no_more(epsilon, n, monkeypatch):
    loss = exact_loss("kendall", from_falling_to_rising(n), epsilon, monkeypatch)
    assert (1 - 1e-6) * epsilon < loss <= Fraction(repr(float(epsilon)))


def all_neighbours(n, n_strata):
    """Sets of tables that differ only in the place of the last record; the others are distinct and sorted by x."""
    places = [place - 0.5 for place in range(n)]
    for y, strata in product(permutations(range(n - 1)), product(range(n_strata), repeat=n - 2)):
        others = range(n - 1), y, (0, *strata)  # by symmetry, the first record is in stratum 0
        yield [
            tuple(np.append(column, value) for column, value in zip(others, last, strict=True))
            for last in product(places, places, range(n_strata))
        ]


@pytest.mark.slow
def test_all_neighbours_of_four_records_lose_no_more_than_epsilon(monkeypatch):
    losses = [exact_loss("kendall", tables, 1.0, monkeypatch) for tables in all_neighbours(4, 2)]
    assert len(losses) == 6 * 4
    assert 0.8 < max(losses) <= 1


@pytest.mark.parametrize(
    "wrong, loss",
    [
        (lambda n: conditional_kendall_sensitivity(n) / 2, 1.9),
        (lambda n: 4 / n, 1.25),  # of one stratum
        # Priv-PC, Theorem 7: 4.5 / sqrt(n - 1) for z, which is 1.5 sqrt(n) times the score in large strata.
        (lambda n: 4.5 / math.sqrt(n - 1) / (1.5 * math.sqrt(n)), 1.9),
    ],
    ids=["half", "one stratum", "published"],
)
def test_too_small_a_sensitivity_within_strata_is_detected(wrong, loss, monkeypatch):
    monkeypatch.setattr(within_strata, "conditional_kendall_sensitivity", wrong)
    assert exact_loss("kendall", from_falling_to_rising(201), 1.0, monkeypatch) > loss
