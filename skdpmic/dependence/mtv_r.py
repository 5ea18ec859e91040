"""MTVr: how far two variables are from independent, in total variation, over grids that depend on public numbers only.

For a grid with cells p_ij and margins p_i, q_j, the total variation is TV = (sum of |p_ij - p_i q_j|) / 2. MTVr is the
largest (TV - o) / nu over a family of grids, cut to [0, 1]. With m the smaller number of parts, nu is 1/2 for m = 2 and
3/4 from there on; o is a public amount taken off for chance.

Each grid fixes one side, its columns, and merges neighbouring master parts of the other one. Walk along the master
parts: after some of them, with r records in all and a_j in column j, the walk is at D_j = n a_j - r c_j, where c_j are
all records of the column. A merged part that takes the walk from D to D' adds sum_j |D'_j - D_j| to 2 n**2 TV. So the
best merge into k parts is the longest path of k straight pieces along the walk, in L1: OptimizeAxis of Reshef et al.
2011, in integers. The walk ends where it began, at 0.
"""

from dataclasses import dataclass

import numpy as np

from skdpmic.checks.arguments import check_pair, check_pair_bounds
from skdpmic.dependence.grid_limits import check_B, check_c
from skdpmic.dependence.jit import jit, leaf
from skdpmic.dependence.mic_r import grid_size
from skdpmic.dependence.partitions import locate

MOST_RECORDS = 2**31 - 1  # a path is at most 2 n**2 long, which has to stay below 2**63
ROUNDING_ERROR = 2.0**-49  # bound on the distance of a score from its exact value: docs/theory/mtv_r.md

# --- Which grids --------------------------------------------------------------------------------------------------

N_COLUMNS = 8  # of a numeric target: fine enough for a skewed one
MOST_PARTS = 10_000  # of a master partition: finer ones find nothing more, whatever the range


@dataclass(frozen=True)
class Family:
    """The grids of MTVr, by public numbers only.

    Parameters
    ----------
    n_columns : int
        Equal parts, or classes, of an axis that is the fixed side, before they are joined in groups.
    n_master : int
        Equal parts of an axis before neighbours are merged; a multiple of `n_columns`, unless these are classes.
    sides : tuple of pairs
        Each a grouping and a limit. The grouping has a group 0 ... l - 1 for each column, l >= 2, and those of a group
        need not be neighbours. The other axis is merged into at most as many parts as the limit, which is at least 2.
    both : bool, default=False
        Whether each axis is the fixed side once; if not, only the target is.
    penalty : float, default=0.75
        Of a grid of k by l parts, ``penalty * sqrt((k - 1) * (l - 1) / n)`` is taken off the total variation, less what
        this is for the coarsest grid: that one keeps all, so that scores end at 0 and 1.
    """

    n_columns: int
    n_master: int
    sides: tuple
    both: bool = False
    penalty: float = 0.75


def numeric_family(B, c):
    """The grids that B and c stand for, with a numeric target.

    The target's range is divided in two, in nine ways: at each eighth, the middle half against the rest, and every
    other quarter. The feature is merged into at most B / 2 parts, from a master partition of c times as many, at most
    10,000, rounded down to a multiple of eight.

    Parameters
    ----------
    B : float, at least 4
        Maximum grid size, as a number.
    c : float, above 0

    Returns
    -------
    Family
    """
    cuts = [tuple(int(j >= cut) for j in range(N_COLUMNS)) for cut in range(1, N_COLUMNS)]
    middle, alternate = (tuple(pattern[j * 4 // N_COLUMNS] for j in range(N_COLUMNS)) for pattern in _OF_QUARTERS)
    k_max = int(B // 2)
    n_master = max(_master_size(c, B) // N_COLUMNS, 1) * N_COLUMNS
    return Family(N_COLUMNS, n_master, tuple((groups, k_max) for groups in (*cuts, middle, alternate)))


_OF_QUARTERS = (0, 1, 1, 0), (0, 1, 0, 1)


def class_family(B, c, n_classes):
    """The grids that B and c stand for, with a target of classes.

    All classes are the fixed side. The feature is merged into at most ``max(B / n_classes, 2)`` parts, from a master
    partition of ``c * (B / 2)`` parts.
    """
    k_max = max(int(B // n_classes), 2)
    return Family(n_classes, max(_master_size(c, B), 2), ((tuple(range(n_classes)), k_max),))


def _master_size(c, B):
    return int(min(c * int(B // 2), MOST_PARTS))


# --- The score, from records or from counts -------------------------------------------------------------------------


class CountsScorer:
    """What turns counts of n records on the grids of a family into a score; public numbers only.

    Parameters
    ----------
    n : int, at least 2
    family : Family
    """

    rounding_error = ROUNDING_ERROR

    def __init__(self, n, family):
        if n > MOST_RECORDS:
            raise ValueError(f"scores can be computed of at most {MOST_RECORDS:,} records, got n_samples={n:,}.")
        self._n = n
        self._coarsest = _by_chance(2, min(max(groups) + 1 for groups, _ in family.sides), n, family.penalty)
        bisections = [side for side in family.sides if max(side[0]) == 1]
        self._bisections = np.array([groups for groups, _ in bisections])
        self._k_max = max((k_max for _, k_max in bisections), default=0)
        limits = np.array([k_max for _, k_max in bisections])[:, None]
        self._of_bisections = self._constants(2, np.arange(2, self._k_max + 3), limits, family.penalty)
        self._others = [
            (
                np.array(groups),
                n_groups,
                k_max,
                self._constants(n_groups, np.arange(2, k_max + 1), k_max, family.penalty),
            )
            for groups, k_max in family.sides
            if (n_groups := max(groups) + 1) > 2
        ]

    def _constants(self, n_groups, k, k_max, penalty):
        """1 / (2 n**2 nu), and the offsets divided by nu: infinite beyond the limit of a side."""
        largest = np.where(np.minimum(k, n_groups) == 2, 0.5, 0.75)
        offset = _by_chance(k, n_groups, self._n, penalty) - self._coarsest
        return 1 / (2 * self._n * self._n * largest), np.where(k <= k_max, offset / largest, np.inf)

    def score(self, tables):
        """MTVr from counts, uint32 (n_tables, n_columns, n_master): in [0, 1]."""
        return min(max(0.0, *(self._largest_entry(table) for table in tables)), 1.0)

    def _largest_entry(self, table):
        """The largest (TV - o) / nu of the merges of master parts."""
        walk, largest = walk_of(table, self._n), 0.0
        if len(self._bisections) > 0:
            per_length, offset = self._of_bisections
            lengths = longest_on_lines(walk, self._bisections, self._k_max)
            largest = float((lengths * per_length - offset).max())
        for groups, n_groups, k_max, (per_length, offset) in self._others:
            lengths = longest(joined(walk, groups, n_groups), k_max)
            largest = max(largest, float((lengths * per_length - offset).max()))
        return largest


def _by_chance(k, n_groups, n, penalty):
    """What is taken off the total variation of k by `n_groups` parts."""
    return penalty * np.sqrt((k - 1) * (n_groups - 1) / n)


class _Target:
    """What all features that are scored against one target share. As sensitive as the target itself."""

    def __init__(self, parts, n_parts, family):
        self._parts = parts
        self._family = family
        # Where the counts of a part's column begin in a table.
        self._starts = (np.arange(n_parts) * family.n_columns // n_parts * family.n_master).astype(np.uint32)
        self._scorer = CountsScorer(len(parts), family)
        self.rounding_error = self._scorer.rounding_error

    def count(self, x, bounds):
        """Records of the feature `x` and the target: uint32 (n_tables, n_columns, n_master); they add up."""
        family = self._family
        parts = equal_parts(x, bounds, family.n_master)
        tables = np.zeros((1 + family.both, family.n_columns * family.n_master), dtype=np.uint32)
        add_records(tables[0], parts, self._parts, self._starts)
        if family.both:
            add_records(tables[1], self._parts, parts, self._starts)
        return tables.reshape(-1, family.n_columns, family.n_master)

    def score(self, x, bounds):
        """MTVr of the feature `x` and the target, in [0, 1]."""
        return self._scorer.score(self.count(x, bounds))


class AgainstNumbers(_Target):
    """A numeric target, ready to be scored against many features.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    bounds : pair of floats
    family : Family
    """

    def __init__(self, y, bounds, family):
        super().__init__(equal_parts(y, bounds, family.n_master), family.n_master, family)


class AgainstClasses(_Target):
    """A target of class numbers 0 ... n_classes - 1, ready to be scored against many features.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
    family : Family
        Of as many columns as there are classes; `both` is False.
    """

    def __init__(self, codes, family):
        super().__init__(codes.astype(np.uint32), family.n_columns, family)


def equal_parts(values, bounds, n_parts):
    """The part of each value when the range is cut into `n_parts` parts of equal width: uint32 (n_samples,).

    Part i holds v with ``lo + i*w <= v < lo + (i+1)*w``, ``w = (hi - lo) / n_parts``; the first and the last part also
    take what lies outside.
    """
    lo, hi = float(bounds[0]), float(bounds[1])
    edges = lo + np.arange(1, n_parts) * ((hi - lo) / n_parts)
    return locate(np.ascontiguousarray(values, dtype=np.float64), edges, lo, hi)


@jit
def add_records(table, free, fixed, starts):
    """Count the records: ``table[starts[fixed part] + free part]``."""
    for i in range(len(free)):
        table[starts[fixed[i]] + free[i]] += np.uint32(1)


# --- The longest paths ----------------------------------------------------------------------------------------------


@jit
def walk_of(table, n):
    """D after each master part that holds records: int64 (n_columns, n_used + 1); it begins and ends at 0.

    Parameters
    ----------
    table : uint32 ndarray of shape (n_columns, n_master)
    n : int
        Sum of the table.
    """
    n_columns, n_master = table.shape
    in_part = np.zeros(n_master, dtype=np.int64)
    for j in range(n_columns):
        for t in range(n_master):
            in_part[t] += table[j, t]
    n_used = 0
    for t in range(n_master):
        n_used += in_part[t] > 0

    walk = np.zeros((n_columns, n_used + 1), dtype=np.int64)
    for j in range(n_columns):
        in_column = np.int64(0)
        for t in range(n_master):
            in_column += table[j, t]
        at, used, end = np.int64(0), np.uint64(1), np.uint64(n_used)
        for t in range(n_master):
            at += n * np.int64(table[j, t]) - in_part[t] * in_column
            walk[j, min(used, end)] = at  # to be overwritten if the part holds no records; quicker than a branch
            used += np.uint64(in_part[t] > 0)
    return walk


@jit
def joined(walk, groups, n_groups):
    """The walk against groups of columns."""
    sums = np.zeros((n_groups, walk.shape[1]), dtype=np.int64)
    for j in range(len(walk)):
        for t in range(walk.shape[1]):
            sums[groups[j], t] += walk[j, t]
    return sums


@jit
def longest(walk, k_max):
    """Lengths of the longest paths of 2 ... k_max pieces, by dynamic programming over the last piece.

    ``best_k(t) = max over s < t of best_{k-1}(s) + |D(t) - D(s)|``. A path may have fewer pieces, as cutting one in two
    never makes it shorter. Innermost loops run over contiguous memory, for three k at once, which reads each piece
    once; their indices are unsigned, because numba has to look twice at one that may be negative.
    """
    zero, one, two, three = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
    n_columns, end, ks = np.uint64(len(walk)), np.uint64(walk.shape[1] - 1), np.uint64(k_max)
    best = np.zeros((k_max, walk.shape[1]), dtype=np.int64)  # best[k, t]: k pieces, the last of which ends at t
    for j in range(n_columns):
        for t in range(end):
            best[one, t] += abs(walk[j, t])

    piece = np.empty(walk.shape[1], dtype=np.int64)
    for t in range(one, end if ks > two else one):
        here = walk[zero, t]
        for s in range(t):
            piece[s] = abs(here - walk[zero, s])
        for j in range(one, n_columns):
            here = walk[j, t]
            for s in range(t):
                piece[s] += abs(here - walk[j, s])
        k = two
        while k + two < ks:
            first = second = third = best[one, t]
            for s in range(t):
                first = max(first, best[k - one, s] + piece[s])
                second = max(second, best[k, s] + piece[s])
                third = max(third, best[k + one, s] + piece[s])
            best[k, t], best[k + one, t], best[k + two, t] = first, second, third
            k += three
        while k < ks:
            first = best[one, t]
            for s in range(t):
                first = max(first, best[k - one, s] + piece[s])
            best[k, t] = first
            k += one

    lengths = np.empty(k_max - 1, dtype=np.int64)
    for k in range(one, ks):
        longest = np.int64(0)
        for t in range(end):
            longest = max(longest, best[k, t] + best[one, t])  # the last piece leads back to 0
        lengths[k - one] = longest
    return lengths


@jit
def longest_on_lines(walk, bisections, k_max):
    """The same against several sides of two groups each: int64 (n_sides, k_max + 1), of which two may mean nothing.

    There D_1 = -D_0, so the walk is on a line, and only its turning points are needed: a path through another point is
    not shorter when it goes through one of the ends of the run instead. One pass is enough for each k, as |a - b| is
    the larger of a - b and b - a: it keeps the best start of a rise, and of a fall. Three k share a pass, in which
    nothing but `best` is read from memory and nothing branches.
    """
    n_columns, n_steps = walk.shape
    line = np.empty(n_steps, dtype=np.int64)
    best = np.empty(n_steps, dtype=np.int64)
    lengths = np.zeros((len(bisections), k_max + 1), dtype=np.int64)
    for i in range(len(bisections)):
        for t in range(n_steps):
            line[t] = 0
        for j in range(n_columns):
            if bisections[i, j] == 1:
                for t in range(n_steps):
                    line[t] += 2 * walk[j, t]
        end = _keep_turning_points(line)
        for t in range(end):
            best[t] = abs(line[t])
        for k in range(0, k_max - 1, 3):
            first = second = third = np.int64(0)
            rise = fall = rise_2 = fall_2 = rise_3 = fall_3 = np.int64(0)
            for t in range(end):
                here, before = line[t], best[t]
                first = max(rise + here, fall - here)
                second = max(rise_2 + here, fall_2 - here)
                third = max(rise_3 + here, fall_3 - here)
                rise, fall = max(rise, before - here), max(fall, before + here)
                rise_2, fall_2 = max(rise_2, first - here), max(fall_2, first + here)
                rise_3, fall_3 = max(rise_3, second - here), max(fall_3, second + here)
                best[t] = third
            lengths[i, k], lengths[i, k + 1], lengths[i, k + 2] = first, second, third
    return lengths


@leaf
def _keep_turning_points(line):
    """Move the ends and the points where the line turns to its front; how many these are, as an unsigned number."""
    last, one = np.uint64(1), np.uint64(1)
    rises = line[1] >= line[0]
    for t in range(np.uint64(2), np.uint64(len(line))):
        goes_on = (line[t] >= line[t - one]) == rises
        last += np.uint64(not goes_on)  # else the point before was on the way
        rises = rises == goes_on
        line[last] = line[t]
    return last + one


# --- The public statistic -------------------------------------------------------------------------------------------


def mtv_r(x, y, *, bounds, B=32, c=32):
    """MTVr, the largest total variation from independence over grids of equal parts. Not private.

    The range of y is divided in two in nine public ways. For each of them, neighbouring parts of a fine equipartition
    of x are merged into the k parts that tell most about the division. The score is twice the largest total variation
    between the records' shares of the cells and those of independent variables with the same margins, less a public
    amount for what chance does.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers; those outside `bounds` are clipped. y has the part of the target: mtv_r(x, y) and mtv_r(y, x)
        differ.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
        The public range of each variable.
    B : float, default=32
        Maximum grid size: a number of cells >= 4, which need not be whole, or an exponent in (0, 1) that
        stands for ``n_samples ** B``, but at least 4 and at most 10,000; a number is limited as in :func:`mic_r`. So x
        is merged into at most B / 2 parts.
    c : float, default=32
        How much finer than the merged partition its master partition is, which has at most 10,000 parts; above 0. A
        range that is much too wide takes a larger one.

    Returns
    -------
    float
        In [0, 1]: for independent variables about ``2.5 / sqrt(n_samples)``; for a noiseless relationship that the
        grids resolve 1, or nearer to it the more samples there are.

    Raises
    ------
    ValueError
        If an argument is outside what is allowed above.

    See Also
    --------
    mtv_r_laplace : The same under differential privacy.
    mic_r : Mutual information in place of total variation, over other grids.

    Notes
    -----
    For a division of y with shares q and 1 - q and merged parts of x, half of the sum of ``|p_ij - p_i q_j|`` is the
    total variation, at most 1/2. From it, ``0.75 * (sqrt(k - 1) - 1) / sqrt(n_samples)`` is subtracted. How much one
    record can change the score does not depend on the grids (``docs/theory/mtv_r.md``).

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mtv_r
    >>> x = np.linspace(0, 1, 500)
    >>> mtv_r(x, x**3, bounds=((0, 1), (0, 1))) > 0.99
    True
    >>> mtv_r(x, np.cos(1000 * x**2), bounds=((0, 1), (-1, 1))) < 0.2
    True
    """
    x, y = check_pair(x, y)
    x_bounds, y_bounds = check_pair_bounds(bounds)
    check_B(B, len(x))
    check_c(c)
    target = AgainstNumbers(y, y_bounds, numeric_family(grid_size(B, len(x)), c))
    return target.score(x, x_bounds)
