"""Tests of conditional independence of columns with few parts, from noisy tables of counts."""

import math
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy import stats

from skdpmic.causal.interactions import Interactions, TableLaws

_MISSED_BY_PAIRS, _MISSED_BY_TRIPLES = 0.05, 0.02  # share of the explained covariance in interactions without a table
_CUT = 0.1  # the same share, for what the parts of a number do not resolve
_DETERMINED = 0.03  # residual share of a column's variance at which other columns determine it
_MOST_CELLS = 100_000  # of a joint distribution
_MOST_WEIGHTS = 20_000_000  # of cells, over all entries of the statistic: 160 MB
_RECORD = 1.0  # squared records: entries of the statistic with a smaller variance hardly count
_MOST_RAISED = 0.3  # share of raised cells at which a joint distribution becomes too smooth
_CLEAR = 3.0  # least divisor, in standard deviations of the noise on a stratum
_PLAUSIBLE = 2.75  # records with merged labels beyond their count, in standard deviations of the noise
_TINY = 1e-300


class Tested(NamedTuple):
    """A test of independence."""

    p_value: float
    at_most: float  # the largest that it may be, whatever is hidden from the test


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
    merged : dict of int to Merged, default={}
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
    >>> tests.p_value(0, 1, ()) < 1e-9, round(tests.p_value(0, 1, (2,)), 2)
    (True, 1.0)
    """

    def __init__(
        self,
        tables,
        noise_scales,
        n_samples,
        rows_per_group=1,
        cut=frozenset(),
        merged=MappingProxyType({}),
        blanks=None,
    ):
        variances = {n_columns: scale**2 for n_columns, scale in noise_scales.items()}
        self._known = Interactions(tables, variances, n_samples)
        self._laws = TableLaws(self._known)
        self._n_independent = n_samples / rows_per_group
        self._cut, self._merged, self._blanks, self._tested = cut, merged, blanks, {}

    def p_value(self, i, j, given):
        """The p-value of this dependence, if columns i and j are independent given others.

        Parameters
        ----------
        i, j : int
        given : tuple of int
            Increasing.

        Returns
        -------
        float
            1 if a column has one part, because all others are then independent of it. 0 if `given` determines one of
            the columns: it is then independent of all others, which says nothing about causes. NaN if there is no test,
            because tables would have too many cells.
        """
        return self._test(i, j, given, self._is_sparse(i, j, given)).p_value

    def at_most(self, i, j, given):
        """The largest that the p-value may be, whatever is hidden from the test.

        Noise hides strata of few records, labels of few records joined the part of another, and columns may be
        dependent within these. It is 1 where `given` determines a column, or has a number that was cut, because what
        happens within its parts has no bound.
        """
        return self._test(i, j, given, True).at_most

    def _test(self, *test):
        if test not in self._tested:
            self._tested[test] = self._computed(*test)
        return self._tested[test]

    def _computed(self, i, j, given, is_linear):
        sizes = self._known.sizes
        if min(sizes[i], sizes[j]) == 1:
            return Tested(1.0, 1.0)
        if self._is_too_large(i, j, given):
            return Tested(math.nan, math.nan)
        of_i, of_j = (self._laws.of_first(column, given) for column in (i, j))
        strata = (of_i.sum(axis=0) + of_j.sum(axis=0)) / 2
        within_i, within_j = (law / np.maximum(law.sum(axis=0), _TINY) for law in (of_i, of_j))
        if _is_determined(of_i, within_i, strata) or _is_determined(of_j, within_j, strata):
            return Tested(0.0, 1.0)
        law, smooth = (within_i, within_j, strata), (within_i, within_j, (strata * within_i) @ within_j.T)
        linear = self._linear(i, j, given) if given and self.is_exact(i, j, given) else smooth
        ways = [linear] if is_linear or linear is smooth else [smooth, (within_i, within_j, linear[2])]
        p, at_most = map(min, zip(*(self._compared(i, j, given, law, explained) for explained in ways), strict=True))
        return Tested(p, 1.0 if self._cut.intersection(given) else at_most)

    def _is_sparse(self, i, j, given):
        """Whether distributions are too smooth, but the linear statistic misses no stratum (``private_pc.md``)."""
        if not given or not self.is_exact(i, j, given):
            return False
        raised = (self._laws.share_raised(tuple(sorted((column, *given)))) for column in (i, j))
        return max(raised) > _MOST_RAISED and self._hidden_strata(given) == 0

    def _compared(self, i, j, given, law, explained):
        """The p-value, and the largest that it may be."""
        within_i, within_j, strata = law
        free_i, free_j, by_given = explained
        a, b = len(within_i) - 1, len(within_j) - 1  # the last part is the remainder
        by_given = by_given[:a, :b].ravel()
        dependence = self._shares(i, j)[:a, :b].ravel() - by_given
        sampling = self._sampling(within_i[:a], within_j[:b], strata)
        covariance = sampling + self._noise(i, j, given, free_i, free_j)
        inverse = np.linalg.inv(covariance + (_RECORD / self._n_independent**2) * np.eye(a * b))
        weights = covariance @ inverse
        mean, square = np.trace(weights), (weights * weights.T).sum()
        of_i, of_j = strata * within_i, strata * within_j
        of_records = _squared_norms(within_i, within_j, inverse)
        stretch = self._stretch(of_i, of_j, np.trace(sampling @ inverse) / (a * b))
        if given:
            excess = self._excess(within_i, within_j, strata, of_records, sampling @ inverse)
            stretch = max(stretch, 1 + excess / (2 * square))
        stretch *= square / mean
        statistic, degrees = dependence @ inverse @ dependence / stretch, mean / stretch
        together = by_given - np.outer(of_i.sum(axis=1)[:a], of_j.sum(axis=1)[:b]).ravel()
        missed = self._may_be_missed(i, j, given) * math.sqrt(together @ inverse @ together)
        in_strata = self._hidden_strata(given) * math.sqrt(inverse.diagonal().max())
        merged = self._merged_labels(given, strata, np.sqrt(of_records.max(axis=(1, 2))))
        return tuple(
            _p_value(statistic, degrees, mean_norm**2 / stretch) for mean_norm in (missed, missed + in_strata + merged)
        )

    def _linear(self, i, j, given):
        """Probabilities of the parts of i and of j in each stratum, and the shares of pairs that `given` explains.

        They are linear in the tables, except for the reciprocal of the share of a stratum, which is at least a few
        standard deviations of its noise. So noise has a mean effect of second order only, which is subtracted.
        """
        known = self._known
        variance = known.cell_variance(given) / known.n**2
        shares = np.maximum(known.table(given).ravel() / known.n, max(_CLEAR * math.sqrt(variance), _TINY))
        free = [self._first(column, given) / shares for column in (i, j)]
        bias = variance * ((1 / len(free[0]) - free[0]) / shares) @ (1 / len(free[1]) - free[1]).T
        return *free, (shares * free[0]) @ free[1].T - bias

    def _hidden_strata(self, given):
        """Bound on the covariance left unexplained by strata that noise may hide (``private_pc.md``)."""
        if not given:
            return 0.0
        strata = self._laws.of(given)
        least = _CLEAR * math.sqrt(self._known.cell_variance(given)) / self._known.n
        return (strata < least).sum() * least / 4  # the most that share - share**2 / least can be

    def _merged_labels(self, given, strata, norms):
        """Bound on the effect on the statistic of labels that joined another's part (``private_pc.md``)."""
        merged = {axis: self._merged[column] for axis, column in enumerate(given) if column in self._merged}
        counted = [[of_column.counted for of_column in merged.values()]]
        if self._blanks is not None:
            counted.append([self._blanks, *(one.counted for one in merged.values() if one.has_public)])
        share = min(map(_most_records, counted)) / self._known.n
        has_merged = np.zeros([self._known.sizes[column] for column in given], bool)
        for axis, of_column in merged.items():
            np.moveaxis(has_merged, axis, 0)[of_column.part] = True
        moved = share * norms * strata / np.maximum(strata - share, strata / 2)
        return moved[has_merged.ravel()].max(initial=0.0)

    def _first(self, column, given):
        """Least-squares shares of a column, along the first axis, and of others."""
        columns = tuple(sorted((column, *given)))
        shares = np.moveaxis(self._known.table(columns), columns.index(column), 0) / self._known.n
        return shares.reshape(len(shares), -1)

    def is_exact(self, i, j, given):
        """Whether tables contain the joint effect of the columns in `given` on i, and on j."""
        return all(self._known.knows(tuple(sorted((column, *given)))) for column in (i, j))

    def _is_too_large(self, i, j, given):
        n_entries = (self._known.sizes[i] - 1) * (self._known.sizes[j] - 1)
        of_laws = max(self._known.n_cells((column, *given)) for column in (i, j))
        return of_laws > _MOST_CELLS or n_entries * max(of_laws, self._known.n_cells((i, j))) > _MOST_WEIGHTS

    def _shares(self, i, j):
        """Least-squares shares of records with each pair of parts: not clamped at 0, so that noise has mean 0."""
        shares = self._known.table((min(i, j), max(i, j))) / self._known.n
        return shares if i < j else shares.T

    def _may_be_missed(self, i, j, given):
        """The share of the covariance explained by `given` that the tables may miss."""
        if not given:
            return 0.0
        of_parts = _CUT if self._cut.intersection(given) else 0.0
        if self.is_exact(i, j, given):
            return of_parts
        threes = [three for column in (i, j) for three in combinations(sorted((column, *given)), 3)]
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
        ]
        if given:
            both = np.einsum("as,bs->abs", within_i[:-1], within_j[:-1])
            weights.append((given, both.reshape(n_sums, *strata)))
        return self._known.noise_of(weights) / self._known.n**2

    def _stretch(self, of_i, of_j, of_sampling):
        """Ratio of the variance of the statistic to that of a chi-squared variable; rare parts have few records.

        The means are equal. The variance is larger by the fourth moments of both columns (``private_pc.md``), in
        proportion to the sampling error relative to the noise.
        """
        degrees = (len(of_i) - 1) * (len(of_j) - 1)
        excess = math.prod(_excess(law.sum(axis=1)) for law in (of_i, of_j)) / self._n_independent
        return 1 + max(excess, 0.0) * of_sampling**2 / (2 * degrees)

    def _excess(self, within_i, within_j, strata, of_records, weighted):
        """How much the fourth moments of records in strata add to the variance of the statistic."""
        n = self._n_independent
        fourth = np.einsum("s,xs,ys,sxy->", strata, within_i, within_j, of_records**2)
        return fourth / n**3 - (np.trace(weighted) ** 2 + 2 * (weighted * weighted.T).sum()) / n


def _squared_norms(within_i, within_j, inverse):
    """Squared norms of the deviations of a record from its stratum: (n_strata, n_parts of i, n_parts of j)."""
    a, b = len(within_i) - 1, len(within_j) - 1
    weights = inverse.reshape(a, b, a, b).transpose(0, 2, 1, 3).reshape(a * a, b * b)
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
