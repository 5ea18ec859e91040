"""Searches, exhaustive and by hill climbing, for the data set on which replacing one record changes a score most.

Two neighbours share n - 1 records. So the largest change is the maximum, over all sets of n - 1 records, of
max - min of the score over the place of the last record.
"""

from inspect import unwrap
from itertools import permutations
from typing import NamedTuple

import numba
import numpy as np

from skdpmic.statistics.grids import equipartitions, refine
from skdpmic.statistics.mic.cell_counts import _count_records
from skdpmic.statistics.mic.characteristic import mass_plan
from skdpmic.statistics.mic.mic_r import RangeGrids, chance_of, class_grids
from skdpmic.statistics.mic.optimize_axis import _optimize_axis, _room, _units, entropy_table
from skdpmic.statistics.mic.statistic import mic_e_of_ranks

_count, _optimize = numba.njit(unwrap(_count_records)), numba.njit(unwrap(_optimize_axis))  # called by compiled code

# --- MICr: a data set is a list of places on a grid -------------------------------------------------------------


class _Way(NamedTuple):
    """One axis merged, the other fixed: the arguments of the MICr kernels, so that calls stay in compiled code."""

    part: np.ndarray  # Cells.common of the merged axis, and of the fixed axis
    row: np.ndarray
    cuts: np.ndarray  # their Cells.starts
    borders: np.ndarray
    groups: np.ndarray
    grids: np.ndarray
    below: np.ndarray  # room
    places: np.ndarray


def _way(free, fixed, groups):
    """Make a `_Way` from two columns."""
    free, fixed = free.free, fixed.fixed
    below = np.empty(np.dot(free.n_corners, fixed.n_corners), dtype=np.uint32)
    places = np.empty((len(groups.numbers), 2), dtype=np.uint64)
    rows = groups.grids.rows
    return _Way(free.common, fixed.common, free.starts, fixed.starts, groups.numbers, rows, below, places)


@numba.njit
def _largest_entry(largest, free_cells, fixed_cells, way, entropies, room):
    part, row, cuts, borders, groups, grids, below, places = way
    of_one, found = below.reshape(1, -1), np.array([largest])
    _count(free_cells.reshape(1, -1), fixed_cells.reshape(1, -1), part, row, groups, of_one, places)
    table, units, chance = entropies
    starts, ends, columns, best, n_mi = room
    _optimize(
        found, of_one, places, cuts, borders, grids, table.g, table.g_pairs, table.step, chance, units, starts,
        ends, columns, best, n_mi,
    )  # fmt: skip
    return found[0]


@numba.njit
def _range_over_last_record(records, x, y, ways, room, entropies):
    """Max - min of the score of `records`, given as places, and one more record, over the place of that record."""
    n = len(records) + 1
    places = np.append(records, 0)
    smallest, largest = np.inf, -np.inf
    for last in range(len(x)):
        places[n - 1] = last
        x_cells, y_cells = x[places], y[places]
        score = 0.0
        for i in range(len(ways)):
            score = _largest_entry(score, x_cells, y_cells, ways[i], entropies, room)
            x_cells, y_cells = y_cells, x_cells
        score = min(score, 1.0)
        smallest, largest = min(smallest, score), max(largest, score)
    return largest - smallest


@numba.njit
def _is_first_of_its_kind(records, symmetries):
    """Whether no symmetry maps the sorted `records` to a lexicographically smaller list."""
    for symmetry in symmetries:
        image = np.sort(symmetry[records])
        for i in range(len(records)):
            if image[i] != records[i]:
                if image[i] < records[i]:
                    return False
                break
    return True


@numba.njit
def _largest_change(n, x, y, ways, room, symmetries, entropies):
    """The largest range over the last record, among all multisets of n - 1 places up to symmetry."""
    n_places = len(x)
    records = np.zeros(n - 1, np.int64)
    largest = 0.0
    while True:
        if _is_first_of_its_kind(records, symmetries):
            largest = max(largest, _range_over_last_record(records, x, y, ways, room, entropies))
        i = n - 2
        while i >= 0 and records[i] == n_places - 1:
            i -= 1
        if i < 0:
            return largest
        records[i:] = records[i] + 1


class Places(NamedTuple):
    """Both axes, with a record on each place, and the arguments for scoring them."""

    x: np.ndarray
    y: np.ndarray
    ways: tuple
    most: tuple  # of Grids
    symmetries: np.ndarray  # of the MICr score, as permutations of the places
    chance: float


def numeric_places(B, c, positions, correction=None):
    """The places of a square grid.

    `positions` are the coordinates in (0, 1). None puts one into every cell of the common refinement; then every data
    set is equivalent to one on these places.
    """
    grids = RangeGrids(B, c, correction=correction)
    if positions is None:
        edges, _ = refine(0.0, 1.0, equipartitions(grids.plan[:, :2]))
        inner = np.concatenate([[0.0], edges, [1.0]])
        positions = (inner[:-1] + inner[1:]) / 2
    positions = np.array(positions)
    x, y = (axis.ravel() for axis in np.meshgrid(positions, positions, indexing="ij"))
    places = np.arange(len(x)).reshape(len(positions), -1)
    symmetries = [places, places.T]
    if np.allclose(positions, 1 - positions[::-1]):
        symmetries = [flipped for turned in symmetries for flipped in _flips(turned)]
    x, y = grids.place(x, (0.0, 1.0)), grids.place(y, (0.0, 1.0))
    ways = _way(x, y, grids.groups.complete), _way(y, x, grids.groups.complete)
    return _places(x, y, ways, grids, symmetries, correction)


def _places(x, y, ways, grids, symmetries, correction):
    symmetries = np.array([symmetry.ravel() for symmetry in symmetries])
    return Places(x.cells, y.cells, ways, grids.groups.most, symmetries, chance_of(correction))


def _flips(places):
    return [places, places[::-1], places[:, ::-1], places[::-1, ::-1]]


def class_places(n_classes, B, c, correction=None):
    """The same for a discrete target: one place for each class in each master bin covers all data sets."""
    grids = class_grids(n_classes, B, c)
    n_master = grids.plan[0, 1]
    x, codes = np.divmod(np.arange(n_master * n_classes), n_classes)
    places = np.arange(n_master * n_classes).reshape(n_master, n_classes)
    symmetries = [
        turned[:, order] for turned in (places, places[::-1]) for order in map(list, permutations(range(n_classes)))
    ]
    x, y = grids.place((x + 0.5) / n_master, (0.0, 1.0)), grids.place_codes(codes)
    return _places(x, y, (_way(x, y, grids.groups.complete),), grids, symmetries, correction)


def largest_change_of_mic_r(n, places):
    """The largest change of the score over all data sets of n records on these places."""
    return _largest_change(n, *places[:3], _room(places.most), places.symmetries, _entropies(n, places))


def _entropies(n, places):
    table = entropy_table(n)
    return table, _units(table, n, places.most), places.chance * table.scale


def climb_mic_r(seed, n, n_steps, places):
    """The largest change found by a walk over data sets of n records."""
    x, y, ways, most, *_ = places
    room, entropies = _room(most), _entropies(n, places)

    def height(records):
        return _range_over_last_record(records, x, y, ways, room, entropies)

    return climb_places(seed, n, n_steps, np.arange(len(x)), height)


def climb_places(seed, n, n_steps, places, height):
    """The largest height found by a walk over the places of n - 1 records that never steps down.

    Seed 0 starts from all records in one place, other seeds from a few heavily occupied places.
    """
    rng = np.random.default_rng(seed)
    start = rng.choice(rng.choice(places, size=4), size=n - 1) if seed else np.full(n - 1, places[0])

    def step(records):
        target = rng.choice(places)
        if rng.random() < 0.1:  # move all records of one place to another
            records[records == records[rng.integers(n - 1)]] = target
        else:
            records[rng.integers(n - 1, size=rng.integers(1, 4))] = target

    return _climb(start, step, n_steps, height)


def _climb(state, step, n_steps, height):
    best = height(state)
    for _ in range(n_steps):
        trial = state.copy()
        step(trial)
        value = height(trial)
        if value >= best:
            best, state = value, trial
    return best


# --- MICe: a data set is a permutation: the ranks in y, in ascending order of x ----------------------------------


def mic_e_of(y_ranks, B, c):
    """The score before noise is added."""
    return mic_e_of_ranks(np.asarray(y_ranks), mass_plan(float(B), c), entropy_table(len(y_ranks)))


def largest_change_of_mic_e(n, B, c):
    """The largest change of the score over all pairs of neighbours with n records."""
    plan, table = mass_plan(float(B), c), entropy_table(n)
    return max(_range_of_ranks(np.array(y_ranks), np.arange(n), plan, table) for y_ranks in permutations(range(n - 1)))


def climb_mic_e(seed, n, n_steps, B, c):
    """The largest change found by a walk over data sets of n records that never steps down.

    At the start, the columns of the finest fixed partition alternate between two rows, or cycle through three.
    """
    rng = np.random.default_rng(seed)
    row = np.arange(n - 1) // max(n // int(B // 2), 1) % (2 + seed % 2)
    start = np.argsort(np.argsort(row + rng.uniform(0, 0.9, size=n - 1)))
    last_ranks = np.unique([0, n // 3, n // 2, n - 1])

    def step(y_ranks):
        for _ in range(rng.integers(1, 4)):  # reverse a run of records, or swap two in y
            i, j = np.sort(rng.integers(n - 1, size=2))
            if rng.random() < 0.3:
                y_ranks[i:j] = y_ranks[i:j][::-1].copy()
            else:
                y_ranks[[i, j]] = y_ranks[[j, i]]

    plan, table = mass_plan(float(B), c), entropy_table(n)
    return _climb(start, step, n_steps, lambda y_ranks: _range_of_ranks(y_ranks, last_ranks, plan, table))


def _range_of_ranks(y_ranks, ranks, plan, table):
    """Max - min of the score of these records and one more, over its ranks in x and y among `ranks`."""
    smallest, largest = np.inf, -np.inf
    for i in ranks:
        for j in ranks:
            value = mic_e_of_ranks(_with_record(y_ranks, i, j), plan, table)
            smallest, largest = min(smallest, value), max(largest, value)
    return largest - smallest


@numba.njit
def _with_record(y_ranks, i, j):
    """Insert a record at rank i in x and rank j in y."""
    longer = np.empty(len(y_ranks) + 1, np.int64)
    for t in range(len(y_ranks)):
        longer[t + (t >= i)] = y_ranks[t] + (y_ranks[t] >= j)
    longer[i] = j
    return longer
