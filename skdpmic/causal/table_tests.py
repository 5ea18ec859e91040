"""Tests of conditional independence of columns of few parts, from noisy tables of some of them."""

import math
from itertools import combinations

import numpy as np
from scipy import stats

from skdpmic.causal.interactions import Interactions
from skdpmic.causal.table_laws import TableLaws

_OF_THREE, _OF_FOUR = 0.05, 0.02  # of what is explained: what three columns may do together, or four, without a table
_CUT = 0.1  # of the same, what the parts of a number may not tell of it
_DETERMINED = 0.03  # of a column's variance: what is left by columns that determine it
_MOST_CELLS = 100_000  # of a law
_MOST_WEIGHTS = 20_000_000  # of cells, in all entries of the statistic: 160 MB
_NO_NOISE = 1e-12  # of a covariance of shares, so that it has an inverse
_TINY = 1e-300


class TableTests:
    """Tests of conditional independence, given noisy tables: functions of released and public numbers.

    The covariance of the parts of two columns is compared with that which the columns in `given` explain, by the laws
    of each of the two with all of them. The null law has the sampling error and the noise, whose size is known
    (``docs/theory/private_pc.md``).

    Parameters
    ----------
    tables : dict of tuple of int to ndarray
        Counts with independent noise of sets of columns, each an increasing tuple; all pairs are in one of them.
    noise_scales : dict of int to float
        Standard deviation of the noise on a count, by the number of columns of a table; all above 0, or all 0.
    n_samples : int
        Number of records.
    rows_per_group : int, default=1
        Records of each person. The error of sampling is that of persons whose records are all equal.
    cut : set of int, default=frozenset()
        Columns of numbers, whose parts do not tell all of them.

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

    def __init__(self, tables, noise_scales, n_samples, rows_per_group=1, cut=frozenset()):
        variances = {n_columns: scale**2 for n_columns, scale in noise_scales.items()}
        self._known = Interactions(tables, variances, n_samples)
        self._laws = TableLaws(self._known)
        self._n_independent = n_samples / rows_per_group
        self._cut = cut

    def p_value(self, i, j, given):
        """The chance of so much dependence or more, if columns i and j are independent given others.

        Parameters
        ----------
        i, j : int
        given : tuple of int
            Increasing.

        Returns
        -------
        float
            1 where a column has one part, as all others are then independent of it. 0 where `given` determines one of
            the columns: that makes it independent of all others, and tells nothing of causes. NaN where tables
            would have too many cells, so that there is no test.
        """
        sizes = self._known.sizes
        if min(sizes[i], sizes[j]) == 1:
            return 1.0
        if self._is_too_large(i, j, given):
            return math.nan
        of_i, of_j = (self._laws.of_first(column, given) for column in (i, j))
        strata = (of_i.sum(axis=0) + of_j.sum(axis=0)) / 2
        within_i, within_j = (law / np.maximum(law.sum(axis=0), _TINY) for law in (of_i, of_j))
        if _is_determined(of_i, within_i, strata) or _is_determined(of_j, within_j, strata):
            return 0.0
        a, b = sizes[i] - 1, sizes[j] - 1  # the last part is what is left of all
        explained = ((strata * within_i) @ within_j.T)[:a, :b].ravel()
        dependence = self._shares(i, j)[:a, :b].ravel() - explained
        sampling = self._sampling(within_i[:a], within_j[:b], strata)
        noise = self._noise(i, j, given, within_i, within_j)
        inverse = np.linalg.inv(sampling + noise + _NO_NOISE * np.eye(a * b))
        stretch = self._stretch(of_i, of_j, np.trace(sampling @ inverse) / (a * b))
        statistic, degrees = dependence @ inverse @ dependence / stretch, a * b / stretch
        missed = self._may_be_missed(i, j, given)
        if missed == 0:
            return float(stats.chi2.sf(statistic, degrees))
        together = explained - np.outer(of_i.sum(axis=1)[:a], of_j.sum(axis=1)[:b]).ravel()
        return float(stats.ncx2.sf(statistic, degrees, missed**2 * (together @ inverse @ together) / stretch))

    def is_exact(self, i, j, given):
        """Whether tables tell what the columns in `given` do together to i, and to j."""
        return all(self._known.knows(tuple(sorted((column, *given)))) for column in (i, j))

    def _is_too_large(self, i, j, given):
        n_entries = (self._known.sizes[i] - 1) * (self._known.sizes[j] - 1)
        of_laws = max(self._laws.n_cells((column, *given)) for column in (i, j))
        return of_laws > _MOST_CELLS or n_entries * max(of_laws, self._laws.n_cells((i, j))) > _MOST_WEIGHTS

    def _shares(self, i, j):
        """Shares of records with each two parts, of least squares: not cut off at 0, so that noise has a mean of 0."""
        shares = self._known.table((min(i, j), max(i, j))) / self._known.n
        return shares if i < j else shares.T

    def _may_be_missed(self, i, j, given):
        """Which share of the covariance that `given` explains the tables may not tell of."""
        if not given:
            return 0.0
        of_parts = _CUT if self._cut.intersection(given) else 0.0
        if self.is_exact(i, j, given):
            return of_parts
        threes = [three for column in (i, j) for three in combinations(sorted((column, *given)), 3)]
        return max(of_parts, _OF_FOUR if all(map(self._known.knows, threes)) else _OF_THREE)

    # --- The null law --------------------------------------------------------------------------------------------

    def _sampling(self, within_i, within_j, strata):
        """Covariance of the error of sampling, of columns that are independent in each stratum, given their margins."""
        a, b = len(within_i), len(within_j)
        records = self._n_independent * strata
        scaled = strata * records / np.maximum(records - 1, 1)  # of a table with these margins (hypergeometric)
        of_i, of_j = _covariances(within_i).reshape(a * a, -1), _covariances(within_j).reshape(b * b, -1)
        products = ((scaled * of_i) @ of_j.T).reshape(a, a, b, b)
        return products.transpose(0, 2, 1, 3).reshape(a * b, a * b) / self._n_independent

    def _noise(self, i, j, given, within_i, within_j):
        """Covariance of what the noise adds, to first order."""
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
        """How much more the statistic varies than a chi-squared law, as rare parts have few records.

        Its mean is that of the law. Its variance is larger by the fourth moments of both columns (``private_pc.md``),
        as far as the error of sampling counts beside the noise.
        """
        degrees = (len(of_i) - 1) * (len(of_j) - 1)
        excess = math.prod(_excess(law.sum(axis=1)) for law in (of_i, of_j)) / self._n_independent
        return 1 + max(excess, 0.0) * of_sampling**2 / (2 * degrees)


def _is_determined(law, within, strata):
    """Whether hardly anything of the variance of any part is left in the strata."""
    whole = law.sum(axis=1) * (1 - law.sum(axis=1))
    left = (strata * within * (1 - within)).sum(axis=1)
    return bool((left < _DETERMINED * whole).all())


def _covariances(within):
    """Covariance of indicators of parts in each stratum: (n_parts, n_parts, n_strata), of probabilities of each."""
    covariances = -within[:, None] * within[None]
    diagonal = np.arange(len(within))
    covariances[diagonal, diagonal] += within
    return covariances


def _excess(shares):
    """Of indicators of parts, whitened: the mean of the fourth power of their norm, less that of a normal law."""
    k = len(shares)
    return float((1 / np.maximum(shares, _TINY)).sum()) - k * k - 2 * k + 2
