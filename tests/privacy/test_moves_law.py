"""How far noise in cells reaches beyond its continuous limit: Theorem 3 of docs/theory/summary.md, in fractions.

Polynomials in two variables are dictionaries from exponents to coefficients.
"""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import pytest

from skdpmic.release.summary_cells import _ENDS, MovesMechanism, n_within, reach_of_cells, tail_of_cells
from tests.folding import each
from tests.privacy.test_moves import exact_tail, vectors

MOST_CELLS = len(_ENDS)  # of the parts of a column, including one for all other values
HALF = Fraction(1, 2)


def plus(*polynomials):
    total = defaultdict(Fraction)
    for polynomial in polynomials:
        for powers, coefficient in polynomial.items():
            total[powers] += coefficient
    return total


def times(*polynomials):
    result = {(0, 0): Fraction(1)}
    for polynomial in polynomials:
        terms = defaultdict(Fraction)
        for ((a, b), x), ((c, d), y) in product(result.items(), polynomial.items()):
            terms[a + c, b + d] += x * y
        result = terms
    return result


def constant(number):
    return {(0, 0): Fraction(number)}


def choose(x, i):
    """C(x, i)."""
    return times(constant(Fraction(1, math.factorial(i))), *(plus(x, constant(-j)) for j in range(i)))


def in_limit(x, i):
    """x**i / i!, to which C(x, i) tends."""
    return times(constant(Fraction(1, math.factorial(i))), *[x] * i)


BEFORE, BEYOND = {(1, 0): Fraction(1)}, {(0, 1): Fraction(1)}  # k - 1 and r - k, both at least 0
RADIUS = plus(BEFORE, BEYOND, constant(1 + HALF))  # R = r + 1/2


def above(d, n_together, choose, beyond, rest):
    """The number of vectors whose positive noise on `n_together` cells sums to more than k - 1, or its limit.

    One of the other cells is left out; i of the remaining d are positive, and their values are a subset of the steps up
    to the size. The others take `rest(i)`.
    """
    terms = []
    for i, among in product(range(1, d + 1), range(1, n_together + 1)):
        if i - among <= d - n_together and among <= i:  # `among` of these cells are positive
            ways = math.comb(n_together, among) * math.comb(d - n_together, i - among)
            of_signs = [times(choose(BEFORE, few), choose(beyond, i - few)) for few in range(among)]
            terms.append(times(constant(ways), plus(*of_signs), choose(rest(i), d - i)))
    return plus(*terms)


def vectors_above(d, n_together, r, beyond):
    return above(d, n_together, choose, beyond, lambda i: plus(r, constant(d - i)))


def n_vectors(d, r):
    """V(r) by the sum over the number of positive cells in Theorem 2."""
    return plus(
        *(times(constant(math.comb(d, i)), choose(r, i), choose(plus(r, constant(d - i)), d - i)) for i in range(d + 1))
    )


def at(polynomial, *values):
    return sum(c * values[0] ** a * values[1] ** b for (a, b), c in polynomial.items())


@each("n_cells", range(2, 5))
def test_the_polynomials_count_vectors(n_cells):
    d, r = n_cells - 1, plus(BEFORE, BEYOND, constant(1))
    for before, beyond in product(range(3), repeat=2):
        size = before + beyond + 1
        found = vectors(n_cells, size)
        assert at(n_vectors(d, r), before, beyond) == len(found)
        for n_together in range(1, min(d, 2) + 1):
            large = sum(sum(max(z, 0) for z in vector[:n_together]) > before for vector in found)
            assert at(vectors_above(d, n_together, r, plus(BEYOND, constant(1))), before, beyond) == large


@each("n_cells", range(2, MOST_CELLS + 1))
def test_numbers_of_vectors_grow_no_faster_than_volumes(n_cells):
    """In R = r + 1/2, V has terms of every second power from R**d down, none negative."""
    d = n_cells - 1
    polynomial = n_vectors(d, plus(BEFORE, constant(-HALF)))
    assert all(coefficient >= 0 for coefficient in polynomial.values())
    assert all(coefficient == 0 or (d - power) % 2 == 0 for (power, _), coefficient in polynomial.items())
    assert all(at(polynomial, r + HALF, 0) == n_within(n_cells, r) for r in range(2 * d + 2))


def holds_given_the_radius(n_cells, n_together, *, beyond=1):
    d, r = n_cells - 1, plus(BEFORE, BEYOND, constant(1))
    counted = vectors_above(d, n_together, r, plus(BEYOND, constant(beyond)))
    limit = above(d, n_together, in_limit, plus(BEYOND, constant(1 + HALF)), lambda i: RADIUS)
    allowed = times(limit, n_vectors(d, r))
    of_limit = math.comb(2 * d, d) * Fraction(1, math.factorial(d))  # times R**d: the volume corresponding to V
    taken = times(counted, constant(-of_limit), *[RADIUS] * d)
    return all(coefficient >= 0 for coefficient in plus(allowed, taken).values())


@each("n_cells", range(2, 8))
@each("n_together", [1, 2])
def test_given_the_radius_noise_reaches_at_most_one_step_beyond_the_limit(n_cells, n_together):
    if n_together < n_cells:
        assert holds_given_the_radius(n_cells, n_together)
        assert not holds_given_the_radius(n_cells, n_together, beyond=2)  # with one step less


@pytest.mark.slow
@each("n_cells", range(8, MOST_CELLS + 1))
@each("n_together", [1, 2])
def test_given_the_radius_the_same_holds_for_every_number_of_cells(n_cells, n_together):
    assert holds_given_the_radius(n_cells, n_together)


@each("n_cells, scale", [([2], 3), ([3, 3], 2), ([4], 2), ([5, 2], 1)])
def test_the_exact_tail_is_at_most_the_tail_of_the_limit_two_steps_before(n_cells, scale):
    tail, n_moves = exact_tail(n_cells, scale, 25 * scale), sum(n_cells) - len(n_cells)
    for k in range(3, 7 * scale):
        assert tail[k] <= tail_of_cells((k - 2) / scale, n_cells[0], n_moves)
    assert any(tail[k] > tail_of_cells(k / scale, n_cells[0], n_moves) for k in range(1, 7 * scale))


@each("n_cells, epsilon", [([2], 0.01), ([12, 4], 1.0), ([4] * 30, 0.3)])
@each("n_together", [1, 2])
def test_intervals_leave_room_for_two_grid_steps(n_cells, epsilon, n_together):
    mechanism = MovesMechanism.for_budget(epsilon, n_cells, 1)
    for level in (0.2, 1e-4):
        in_limit = reach_of_cells(level, n_cells[0], sum(n_cells) - len(n_cells), n_together) * float(mechanism.scale)
        assert mechanism.reach(level, n_cells[0], n_together) * mechanism.n_steps >= in_limit + 2
