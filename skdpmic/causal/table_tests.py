"""Tests of conditional independence of columns with few parts, from noisy tables of counts."""

import math
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.linalg import helmert

from skdpmic.causal.pc import Outcome

_MISSED_BY_PAIRS, _MISSED_BY_TRIPLES = 0.05, 0.02  # share of the explained covariance in interactions without a table
_CUT = 0.1  # the same share, for what the parts of a number do not resolve
_DETERMINED = 0.03  # residual share of a column's variance at which other columns determine it
_MOST_CELLS = 100_000  # of a joint distribution
_MOST_WEIGHTS = 20_000_000  # of cells, over all entries of the statistic: 160 MB
_RECORDS = 50  # least mean number in the cells of a stratum that is tested alone
_RECORD = 1.0  # squared records: entries of the statistic with a smaller variance hardly count
_MOST_RAISED = 0.3  # share of raised cells at which a joint distribution becomes too smooth
_CLEAR = 3.0  # least divisor, in standard deviations of the noise on a stratum
_CLEAR_ALONE = 10.0  # the same for a stratum that is tested alone
_PLAUSIBLE = 2.75  # records with merged labels beyond their count, in standard deviations of the noise
_EMPTY = 0.01  # records, fewer than any stratum of tables without noise has
_TINY = 1e-300


class Counted(NamedTuple):
    """A number of records, with noise."""

    n_records: float
    variance: float


class Merged(NamedTuple):
    """Labels that joined the part of a more frequent one."""

    part: int
    counted: Counted  # records with these labels
    has_public: bool  # or only other labels and missing values


class TableTests:
    """Tests of conditional independence from noisy tables: functions of released and public numbers.

    The covariance of the parts of two columns is compared with the covariance explained by the columns in `given`,
    according to the joint distributions of each of the two with all of these. The null distribution includes the
    sampling error and the noise, whose scale is known (``docs/theory/private_pc.md``).

    Parameters
    ----------
    tables : dict of tuple of int to ndarray
        Counts with independent noise for sets of columns, each an increasing tuple; every pair is in one of them.
    noise_scales : dict of int to float
        Standard deviation of the noise on a count, by the number of columns of a table; all above 0, or all 0.
    n_samples : int
        Number of records.
    rows_per_group : int, default=1
        Number of records per person. The sampling error is that of people whose records are all equal.
    cut : set of int, default=frozenset()
        Numeric columns, which their parts do not fully resolve.
    merged : dict of int to Merged, default=None
        For columns of labels, the labels that joined the part of a more frequent one.
    blanks : Counted, default=None
        Records that have other labels or missing values among these, in any column.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.causal.table_tests import TableTests
    >>> pair = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> chain = 1000 * np.einsum("xz,yz->xyz", pair, pair) / 0.5  # x and y follow from z
    >>> tests = TableTests({(0, 1, 2): chain}, {3: 0.0}, n_samples=1000)
    >>> tests.test(0, 1, ()).p_value < 1e-9, round(tests.test(0, 1, (2,)).p_value, 2)
    (True, 1.0)
    """

    def __init__(self, tables, noise_scales, n_samples, rows_per_group=1, cut=frozenset(), merged=None, blanks=None):
        variances = {n_columns: scale**2 for n_columns, scale in noise_scales.items()}
        self._known = Interactions(tables, variances, n_samples)
        self._laws = TableLaws(self._known)
        self._n_independent = n_samples / rows_per_group
        self._cut, self._merged, self._blanks = cut, merged or {}, blanks

    def test(self, i, j, given):
        """Test whether columns i and j are independent given others.

        Parameters
        ----------
        i, j : int
        given : tuple of int
            Increasing.

        Returns
        -------
        Outcome
            Both 1 if a column has one part, because all others are then independent of it. Both NaN if there is no
            test, because tables would have too many cells. There is no p-value if `given` has a number that was cut,
            because what happens within its parts has no bound. From 0 to 1 if `given` determines one of the columns: it
            is then independent of all others, which says nothing about causes.
        """
        sizes = self._known.sizes
        if min(sizes[i], sizes[j]) == 1:
            return Outcome(1.0, 1.0)
        if self._is_too_large(i, j, given):
            return Outcome(math.nan, math.nan)
        of_i, of_j = (self._laws.of((column, *given)).reshape(sizes[column], -1) for column in (i, j))
        strata = (of_i.sum(axis=0) + of_j.sum(axis=0)) / 2
        within_i, within_j = (law / np.maximum(law.sum(axis=0), _TINY) for law in (of_i, of_j))
        if _is_determined(of_i, within_i, strata) or _is_determined(of_j, within_j, strata):
            return Outcome(1.0, 0.0)
        law = within_i, within_j, strata
        of_sums = self._of_sums(i, j, given, law)
        if self._cut.intersection(given):
            return Outcome(math.nan, of_sums.least)
        if not given or not self._known.knows((i, j, *given)):
            return of_sums
        both = zip(of_sums, self._of_strata(i, j, given, law), strict=True)
        return Outcome(*(min(2 * min(pair), 1.0) for pair in both))

    def _of_sums(self, i, j, given, law):
        """The test of the covariance summed over strata."""
        within_i, within_j, strata = law
        smooth = within_i, within_j, (strata * within_i) @ within_j.T
        if not given or not self._is_exact(i, j, given):
            return self._compared(i, j, given, law, smooth)
        linear = self._linear(i, j, given)
        p, least = self._compared(i, j, given, law, linear)
        if not self._is_sparse(i, j, given):
            others = smooth, (within_i, within_j, linear[2])
            least = min(self._compared(i, j, given, law, way).least for way in others)
        return Outcome(max(p, least), least)

    def _of_strata(self, i, j, given, law):
        """The test of the covariance in the stratum where it is clearest, of those with records enough."""
        n, tau = self._n_independent, math.sqrt(self._known.cell_variance(given)) / self._known.n
        table = self._shares((i, j, *given))
        table = table.reshape(*table.shape[:2], -1)
        shares = table.sum(axis=(0, 1))
        chosen = shares >= max(_CLEAR_ALONE * tau, _RECORDS * table[..., 0].size / n)
        if not chosen.any():
            return Outcome(1.0, 1.0)
        table, shares, (within_i, within_j) = table[..., chosen], shares[chosen], (each[:, chosen] for each in law[:2])
        of_i, of_j = table.sum(axis=1), table.sum(axis=0)
        a, b = len(of_i) - 1, len(of_j) - 1
        off_i, off_j = 1 / (a + 1) - of_i / shares, 1 / (b + 1) - of_j / shares
        excess = table - (of_i[:, None] * of_j - tau**2 * off_i[:, None] * off_j) / shares
        excess = excess[:a, :b].reshape(a * b, -1).T
        free = shares**2 * n / np.maximum(n * shares - 1, 1) / n
        sampling = np.einsum("s,xus,yvs->sxyuv", free, _covariances(within_i)[:a, :a], _covariances(within_j)[:b, :b])
        noise = self._known.noise_in_strata(i, j, given, 1 / (a + 1) - within_i[:a], 1 / (b + 1) - within_j[:b])
        noise /= self._known.n**2
        found = _quadratic(excess, sampling.reshape(noise.shape), noise, (within_i, within_j, shares), n)
        norms = np.zeros(len(law[2]))
        norms[chosen] = found.norms
        moved = self._merged_labels(given, law[2], norms)[chosen]
        p, least = (min(len(shares) * found.p_value(mean_norm), 1.0) for mean_norm in (moved, 0.0))
        return Outcome(p, least)

    def _is_sparse(self, i, j, given):
        """Whether distributions are too smooth, but the linear statistic misses no stratum (``private_pc.md``)."""
        raised = (self._laws.share_raised((column, *given)) for column in (i, j))
        return max(raised) > _MOST_RAISED and self._hidden_strata(given) == 0

    def _compared(self, i, j, given, law, explained):
        """The test of the covariance that is left by the shares of pairs which `given` explains."""
        within_i, within_j, strata = law
        free_i, free_j, by_given = explained
        a, b = len(within_i) - 1, len(within_j) - 1  # the last part is the remainder
        by_given = by_given[:a, :b].ravel()
        dependence = self._shares((i, j))[:a, :b].ravel() - by_given
        sampling = self._sampling(within_i[:a], within_j[:b], strata)
        noise = self._noise(i, j, given, free_i, free_j)
        found = _quadratic(dependence[None], sampling[None], noise, law, self._n_independent)
        inverse = found.inverse[0]
        of_i, of_j = ((strata * within).sum(axis=1) for within in (within_i, within_j))
        together = by_given - np.outer(of_i[:a], of_j[:b]).ravel()
        missed = self._may_be_missed(i, j, given) * math.sqrt(together @ inverse @ together)
        in_strata = self._hidden_strata(given) * math.sqrt(inverse.diagonal().max())
        merged = self._merged_labels(given, strata, found.norms).max()
        return Outcome(found.p_value(missed + in_strata + merged), found.p_value(missed))

    def _linear(self, i, j, given):
        """Probabilities of the parts of i and of j in each stratum, and the shares of pairs that `given` explains.

        They are linear in the tables, except for the reciprocal of the share of a stratum, which is at least a few
        standard deviations of its noise. So noise has a mean effect of second order only, which is subtracted.
        """
        known = self._known
        variance = known.cell_variance(given) / known.n**2
        shares = np.maximum(self._shares(given).ravel(), max(_CLEAR * math.sqrt(variance), _EMPTY / known.n))
        free = [self._shares((column, *given)).reshape(known.sizes[column], -1) / shares for column in (i, j)]
        bias = variance * ((1 / len(free[0]) - free[0]) / shares) @ (1 / len(free[1]) - free[1]).T
        return *free, (shares * free[0]) @ free[1].T - bias

    def _hidden_strata(self, given):
        """Bound on the covariance left unexplained by strata that noise may hide (``private_pc.md``)."""
        strata = self._laws.of(given)
        least = _CLEAR * math.sqrt(self._known.cell_variance(given)) / self._known.n
        return (strata < least).sum() * least / 4  # the most that share - share**2 / least can be

    def _merged_labels(self, given, strata, norms):
        """Bound on the effect of labels that joined another's part, for each stratum (``private_pc.md``)."""
        merged = {axis: self._merged[column] for axis, column in enumerate(given) if column in self._merged}
        counted = [[of_column.counted for of_column in merged.values()]]
        if self._blanks is not None:
            counted.append([self._blanks, *(one.counted for one in merged.values() if one.has_public)])
        share = min(map(_most_records, counted)) / self._known.n
        has_merged = np.zeros([self._known.sizes[column] for column in given], bool)
        for axis, of_column in merged.items():
            np.moveaxis(has_merged, axis, 0)[of_column.part] = True
        return share * norms * strata / np.maximum(strata - share, strata / 2) * has_merged.ravel()

    def _is_exact(self, i, j, given):
        """Whether tables contain the joint effect of the columns in `given` on i, and on j."""
        return all(self._known.knows((column, *given)) for column in (i, j))

    def _is_too_large(self, i, j, given):
        n_entries = (self._known.sizes[i] - 1) * (self._known.sizes[j] - 1)
        of_laws = max(self._known.n_cells((column, *given)) for column in (i, j))
        return of_laws > _MOST_CELLS or n_entries * max(of_laws, self._known.n_cells((i, j))) > _MOST_WEIGHTS

    def _shares(self, columns):
        """Least-squares shares of records with each combination of parts: not clamped at 0, so noise has mean 0."""
        return self._known.table(columns) / self._known.n

    def _may_be_missed(self, i, j, given):
        """The share of the covariance explained by `given` that the tables may miss."""
        of_parts = _CUT if self._cut.intersection(given) else 0.0
        if self._is_exact(i, j, given):
            return of_parts
        threes = [three for column in (i, j) for three in combinations((column, *given), 3)]
        return max(of_parts, _MISSED_BY_TRIPLES if all(map(self._known.knows, threes)) else _MISSED_BY_PAIRS)

    # --- The null distribution -----------------------------------------------------------------------------------

    def _sampling(self, within_i, within_j, strata):
        """Covariance of the sampling error of columns that are independent in each stratum, given their margins."""
        a, b = len(within_i), len(within_j)
        records = self._n_independent * strata
        scaled = strata * records / np.maximum(records - 1, 1)  # of a table with these margins (hypergeometric)
        of_i, of_j = _covariances(within_i).reshape(a * a, -1), _covariances(within_j).reshape(b * b, -1)
        products = ((scaled * of_i) @ of_j.T).reshape(a, a, b, b)
        return products.transpose(0, 2, 1, 3).reshape(a * b, a * b) / self._n_independent

    def _noise(self, i, j, given, within_i, within_j):
        """Covariance of the effect of the noise, to first order."""
        n_i, n_j, n_sums = len(within_i), len(within_j), (len(within_i) - 1) * (len(within_j) - 1)
        strata = [self._known.sizes[column] for column in given]
        one_i, one_j = np.eye(n_i)[:-1], np.eye(n_j)[:-1]
        weights = [
            ((i, j), np.einsum("ax,by->abxy", one_i, one_j).reshape(n_sums, n_i, n_j)),
            ((i, *given), -np.einsum("ax,bs->abxs", one_i, within_j[:-1]).reshape(n_sums, n_i, *strata)),
            ((j, *given), -np.einsum("by,as->abys", one_j, within_i[:-1]).reshape(n_sums, n_j, *strata)),
            (given, np.einsum("as,bs->abs", within_i[:-1], within_j[:-1]).reshape(n_sums, *strata)),
        ]
        return self._known.noise_of(weights) / self._known.n**2


class _Quadratic(NamedTuple):
    """Squared norms of covariances, each in the metric of its own errors, and their laws under independence."""

    statistics: np.ndarray  # shape (n_statistics,), divided by `stretch`
    degrees: np.ndarray  # of the chi-squared laws, divided by `stretch`
    stretch: np.ndarray
    inverse: np.ndarray  # the metrics: (n_statistics, n_entries, n_entries)
    norms: np.ndarray  # the largest deviation of a record from its stratum: (n_strata,)

    def p_value(self, mean_norm):
        """The smallest chance of a larger statistic, if the norm of the mean of each is at most this."""
        allowed = mean_norm**2 / self.stretch
        return min(map(_p_value, self.statistics, self.degrees, allowed))


def _quadratic(covariances, sampling, noise, law, n):
    """The norms of one sum over the strata of a law, or of one covariance for each.

    Rare parts have few records, so the variance of a norm is larger than that of a chi-squared variable with the same
    mean, by the fourth moments of the records (``private_pc.md``).
    """
    within_i, within_j, shares = law
    covariance = sampling + noise
    inverse = np.linalg.inv(covariance + (_RECORD / n**2) * np.eye(covariance.shape[-1]))
    weights, of_sampling = covariance @ inverse, sampling @ inverse
    of_records = _squared_norms(within_i, within_j, inverse)
    fourth = np.einsum("xs,ys,sxy->s", within_i, within_j, of_records**2) * shares / n**3
    least = 0.0
    if len(covariances) == 1:
        least = math.prod(_excess((shares * within).sum(axis=1)) for within in (within_i, within_j)) / n
        least *= (_trace(of_sampling) / covariance.shape[-1]) ** 2
        fourth, shares = fourth.sum(), shares.sum()
    normal = (_trace(of_sampling) ** 2 + 2 * _trace(of_sampling @ of_sampling)) / (n * shares)
    mean, square = _trace(weights), _trace(weights @ weights)
    stretch = (square + np.maximum(fourth - normal, np.maximum(least, 0.0)) / 2) / mean
    statistics = np.einsum("sx,sxy,sy->s", covariances, inverse, covariances)
    return _Quadratic(statistics / stretch, mean / stretch, stretch, inverse, np.sqrt(of_records.max(axis=(1, 2))))


def _trace(matrices):
    return np.trace(matrices, axis1=1, axis2=2)


def _squared_norms(within_i, within_j, inverse):
    """Squared norms of the deviations of a record from its stratum: (n_strata, n_parts of i, n_parts of j)."""
    a, b = len(within_i) - 1, len(within_j) - 1
    weights = inverse.reshape(-1, a, b, a, b).swapaxes(2, 3).reshape(-1, a * a, b * b)
    return (_squares(within_i) @ weights) @ _squares(within_j).transpose(0, 2, 1)


def _most_records(counted):
    """Upper bound on the total number of these records, barring an unlikely draw of the noise."""
    n_records, variances = zip(*counted, strict=True) if counted else ((), ())
    return max(sum(n_records) + _PLAUSIBLE * math.sqrt(sum(variances)), 0.0)


def _p_value(statistic, degrees, allowed):
    """The chance of a larger statistic, if the squared norm of the mean is as large as allowed."""
    if allowed == 0:
        return float(stats.chi2.sf(statistic, degrees))
    if allowed > 100 and statistic < allowed / 4:  # five deviations below, where scipy's overflows
        return 1.0
    return float(stats.ncx2.sf(statistic, degrees, allowed))


def _squares(within):
    """Products of the deviations of the indicators of a record in each part: (n_strata, n_parts, n_products)."""
    n_parts, n_strata = within.shape
    deviations = np.eye(n_parts)[None, :, :-1] - within.T[:, None, :-1]
    return (deviations[..., :, None] * deviations[..., None, :]).reshape(n_strata, n_parts, -1)


def _is_determined(law, within, strata):
    """Whether hardly any variance of any part remains within the strata."""
    whole = law.sum(axis=1) * (1 - law.sum(axis=1))
    left = (strata * within * (1 - within)).sum(axis=1)
    return bool((left < _DETERMINED * whole).all())


def _covariances(within):
    """Covariance of indicators of parts in each stratum, from its probabilities: (n_parts, n_parts, n_strata)."""
    covariances = -within[:, None] * within[None]
    diagonal = np.arange(len(within))
    covariances[diagonal, diagonal] += within
    return covariances


def _excess(shares):
    """Mean fourth power of the norm of whitened indicators of parts, minus that of a normal distribution."""
    k = len(shares)
    return float((1 / np.maximum(shares, _TINY)).sum()) - k * k - 2 * k + 2


class Interactions:
    """The interactions of each set of columns contained in a noisy table.

    Parameters
    ----------
    tables : dict of tuple of int to ndarray
        Counts with independent noise: for each increasing tuple of columns, an array with one axis per column.
    variances : dict of int to float
        Variance of the noise on a count, in squared records, by the number of columns of a table. All above 0, or all
        0.
    n : int
        Number of records, which is public.

    Attributes
    ----------
    variance : dict of tuple of int to float
        For each set, the variance of the noise on a cell of its table before its sums are subtracted. The noise on the
        interaction is noise of this variance on all cells, projected on the tables that sum to 0 along each axis.
    """

    def __init__(self, tables, variances, n):
        self.n, self.sizes = n, {}
        sums, weights = {}, {}
        for columns, table in tables.items():
            self.sizes |= dict(zip(columns, table.shape, strict=True))
            for subset in subsets(columns):
                others = tuple(axis for axis, column in enumerate(columns) if column not in subset)
                weight = 1 / ((variances[len(columns)] or 1.0) * math.prod(table.shape[axis] for axis in others))
                sums[subset] = sums.get(subset, 0.0) + weight * centred(table.sum(axis=others))
                weights[subset] = weights.get(subset, 0.0) + weight
        self._parts = {subset: total / weights[subset] for subset, total in sums.items()}
        has_noise = any(variances[len(columns)] > 0 for columns in tables)
        self.variance = {subset: 1 / weight if has_noise else 0.0 for subset, weight in weights.items()}

    def knows(self, columns):
        """Whether a table contains all of these columns."""
        return tuple(sorted(columns)) in self._parts

    def n_cells(self, columns):
        """The number of cells of a table of these columns."""
        return math.prod(self.sizes[column] for column in columns)

    def table(self, columns):
        """The least-squares table without unknown interactions: an axis for each of these columns, in their order."""
        increasing = sorted(columns)
        total = np.full([self.sizes[column] for column in increasing], self.n / self.n_cells(columns))
        for subset in filter(self.knows, subsets(increasing)):
            kept = [self.sizes[column] if column in subset else 1 for column in increasing]
            total += self._parts[subset].reshape(kept) * math.prod(kept) / total.size
        return total.transpose([increasing.index(column) for column in columns])

    def cell_variance(self, columns):
        """The mean variance of the noise on a cell of :meth:`table`."""
        n_cells, total = self.n_cells(columns), 0.0
        for subset in filter(self.knows, subsets(sorted(columns))):
            sizes = [self.sizes[column] for column in subset]
            of_cell = math.prod(1 - 1 / size for size in sizes)
            total += of_cell * self.variance[subset] * (math.prod(sizes) / n_cells) ** 2
        return total

    def noise_of(self, weights):
        """Covariance of the noise on weighted sums of tables.

        Parameters
        ----------
        weights : list of (tuple of int, ndarray of shape (n_sums, ...))
            Columns in any order, and the weights of the cells of their table in each sum.

        Returns
        -------
        ndarray of shape (n_sums, n_sums)
        """
        of_subset = {}
        for columns, each in weights:
            for column in columns:  # each axis in turn, in a basis of the constant vector and those that sum to 0
                each = np.tensordot(each, _basis(self.sizes[column]), (1, 1))
            for subset in subsets(columns):
                in_order = tuple(sorted(subset))
                if self.knows(in_order):
                    kept = each[:, *(slice(1, None) if column in subset else 0 for column in columns)]
                    kept = kept.transpose(0, *(1 + subset.index(column) for column in in_order))
                    mean = (kept / math.sqrt(self.n_cells(columns) / self.n_cells(subset))).reshape(len(kept), -1)
                    of_subset[in_order] = of_subset.get(in_order, 0.0) + mean
        return sum(self.variance[subset] * (each @ each.T) for subset, each in of_subset.items())

    def noise_in_strata(self, i, j, given, off_i, off_j):
        """Covariance of the noise on the covariances of columns i and j in each stratum of others.

        Parameters
        ----------
        i, j : int
        given : tuple of int
        off_i, off_j : ndarrays of shape (n_parts - 1, n_strata)
            The mean of the indicator of each part of i, and of j, over its parts, minus that over the records.

        Returns
        -------
        ndarray of shape (n_strata, n_entries, n_entries)
        """
        total = 0.0
        ways = (self._ways(column, off) for column, off in ((i, off_i), (j, off_j)))
        for (of_i, left), (of_j, right) in product(*ways):
            total = total + self._in_a_stratum((*of_i, *of_j), given) * np.einsum("xus,yvs->sxyuv", left, right)
        return total.reshape(len(total), *(len(off_i) * len(off_j),) * 2)

    def _ways(self, column, off):
        """Products of indicators, averaged over a column, and centred along it."""
        varying = (np.eye(len(off)) - 1 / self.sizes[column])[..., None]
        return ((), off[:, None] * off), ((column,), np.repeat(varying, off.shape[1], axis=2))

    def _in_a_stratum(self, columns, given):
        """The variance of the noise on the interactions of these columns that is in each stratum."""
        total = 0.0
        for subset in ((), *subsets(given)):
            known = tuple(sorted((*columns, *subset)))
            if self.knows(known):
                others = math.prod(self.sizes[column] for column in given if column not in subset)
                total += self.variance[known] * math.prod(1 - 1 / self.sizes[column] for column in subset) / others**2
        return total


@cache
def _basis(size):
    """Orthonormal vectors, the first of which is constant."""
    return helmert(size, full=True)


def subsets(columns):
    """All nonempty subsets of some columns, in order."""
    return [subset for size in range(1, len(columns) + 1) for subset in combinations(columns, size)]


def centred(table):
    """A table minus its means along each axis."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


_FLOOR = 0.3  # smallest cell, in standard deviations of its noise: indistinguishable from an empty one
_LEAST = 0.01  # records in the smallest cell of tables without noise
_ROUNDS, _CLOSE = 30, 1e-7  # tolerance of the sum of all absolute changes


class TableLaws:
    """The joint distribution of each set of columns, computed on first use.

    For a set contained in a table, it is that of the table, with cells bounded below by the noise level, and scaled
    until its margins are the distributions of its subsets. For any other set, it is the distribution of largest entropy
    with these margins, found by the same iterative proportional fitting: the interaction of its columns beyond its
    subsets is unknown. If no distribution has all the margins, because these are noisy, fitting ends near them.

    Parameters
    ----------
    interactions : Interactions
    """

    def __init__(self, interactions):
        self._interactions, self._laws = interactions, {}

    def of(self, columns):
        """Probabilities of these columns: a read-only ndarray with an axis for each of them, in their order."""
        increasing = tuple(sorted(columns))
        if increasing not in self._laws:
            self._laws[increasing] = self._fitted(increasing)
        return self._laws[increasing].transpose([increasing.index(column) for column in columns])

    def _fitted(self, columns):
        known = self._interactions
        if known.knows(columns):
            law = np.maximum(known.table(columns), self._least(columns)) / known.n
        else:
            law = np.full([known.sizes[column] for column in columns], 1 / known.n_cells(columns))
        if len(columns) == 1:
            return law / law.sum()
        others = [columns[:axis] + columns[axis + 1 :] for axis in range(len(columns))]
        return fitted_to_margins(law, [np.expand_dims(self.of(each), axis) for axis, each in enumerate(others)])

    def _least(self, columns):
        return max(_FLOOR * math.sqrt(self._interactions.cell_variance(columns)), _LEAST)

    def share_raised(self, columns):
        """The share of cells that were raised, of a set contained in a table."""
        return float((self._interactions.table(columns) < self._least(columns)).mean())


def fitted_to_margins(law, margins):
    """A positive table scaled along each axis in turn, until the sums over each are near these margins.

    Parameters
    ----------
    law : ndarray
    margins : list of ndarray
        For each axis of `law`, the sums over it, an array with one entry along that axis.

    Returns
    -------
    ndarray
    """
    for _ in range(_ROUNDS):
        before = law
        for axis, margin in enumerate(margins):
            law = law * (margin / np.maximum(law.sum(axis=axis, keepdims=True), _TINY))
        if np.abs(law - before).sum() < _CLOSE:
            break
    return law
