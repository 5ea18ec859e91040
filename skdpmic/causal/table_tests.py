"""Tests of conditional independence of categorical columns, from noisy two-way tables."""

import math
from functools import lru_cache

import numpy as np
from scipy import stats

from skdpmic.causal.consistent_tables import law_of_pairs, margins_of, scaled_to_margins, with_margins

_CLEAR, _FEW = 4.0, 5.0  # a part counts if it has this many standard deviations of its noise, and records
_FLOOR = 0.3  # of a cell, in standard deviations of the noise: one that is empty cannot be told from this
_LEAST = 0.01  # records in a cell, in tables without noise
_EXPLAINED = 0.05  # of the covariance that two or more columns explain, what the law of pairs may miss
_DETERMINED = 0.03  # of a column's variance: what is left by columns that determine it
_LINEAR = 1e-3  # of the covariance of a linear model, so that no direction is without any
_LEAST_EIGENVALUE = 1e-3  # of the correlations of all parts
_MOST_CELLS = 100_000  # of a law of several columns
_KEPT_LAWS = 5000
_TINY = 1e-300


class TableTests:
    """Tests of conditional independence, given noisy two-way tables: functions of released and public numbers.

    The covariance of the parts of two columns is compared with that which the columns in `given` explain. What they
    explain is computed from the law of each of the two with them, the one of largest entropy that has their two-way
    tables. The null law has the sampling error and the noise, whose size is known (``docs/theory/private_pc.md``).

    Parameters
    ----------
    tables : dict of (int, int) to ndarray of shape (n_parts, n_parts)
        Counts with noise of each two columns i < j, independent of one another.
    noise_scale : float
        Standard deviation of the noise on a count; 0 for none.
    n_samples : int
        Number of records.
    rows_per_group : int, default=1
        Records of each person. The error of sampling is that of persons whose records are all equal.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.causal.table_tests import TableTests
    >>> chain = {(0, 1): [[400, 100], [100, 400]], (1, 2): [[400, 100], [100, 400]], (0, 2): [[340, 160], [160, 340]]}
    >>> tests = TableTests({pair: np.array(table) for pair, table in chain.items()}, noise_scale=0, n_samples=1000)
    >>> tests.p_value(0, 2, ()) < 1e-9, round(tests.p_value(0, 2, (1,)), 2)
    (True, 1.0)
    """

    def __init__(self, tables, noise_scale, n_samples, rows_per_group=1):
        n_columns = max(j for _, j in tables) + 1
        self._sizes = [tables[0, 1].shape[0], *(tables[0, j].shape[1] for j in range(1, n_columns))]
        self._n_independent = n_samples / rows_per_group
        self._variance = (noise_scale / n_samples) ** 2  # of the noise on a share
        self._law = lru_cache(_KEPT_LAWS)(self._fitted_law)
        margins = margins_of(tables, self._sizes, noise_scale, n_samples)
        self._variances = margins.variances
        least = np.maximum(_FEW / n_samples, _CLEAR * np.sqrt(margins.variances))
        self._kept = [_kept(*of_one) for of_one in zip(margins.shares, least, strict=True)]
        ends = np.cumsum([len(kept) for kept in self._kept])
        self._places = np.split(np.arange(ends[-1]), ends[:-1])
        self._mean = np.concatenate([shares[kept] for shares, kept in zip(margins.shares, self._kept, strict=True)])
        self._read(tables, margins.shares, n_samples, max(_FLOOR * noise_scale, _LEAST) / n_samples)

    def _read(self, tables, shares, n, floor):
        """The covariance of all parts that count, and the law of each column and of each two of them."""
        self._laws = {(i,): _merged(shares[i], kept, 0) for i, kept in enumerate(self._kept)}
        second = np.diag(self._mean)
        for (i, j), counts in tables.items():
            table = with_margins(counts / n, shares[i], shares[j])
            second[np.ix_(self._places[i], self._places[j])] = table[np.ix_(self._kept[i], self._kept[j])]
            table = np.maximum(_merged(_merged(table, self._kept[i], 0), self._kept[j], 1), floor)
            self._laws[i, j] = scaled_to_margins(table, self._laws[i,], self._laws[j,])
        second = np.triu(second) + np.triu(second, 1).T
        self._covariance = second - np.outer(self._mean, self._mean)
        self._regular = _positive(self._covariance) if self._variance > 0 else self._covariance

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
            1 where a column has fewer than two parts that count. 0 where `given` determines one of the columns: that
            makes it independent of all others, and tells nothing of causes.
        """
        a, b = len(self._kept[i]), len(self._kept[j])
        if min(a, b) == 0:
            return 1.0
        weights = self._weights(i, j, given)
        linear = self._left_by_linear_models(weights)
        variances = self._regular[self._places[i], self._places[i]], self._regular[self._places[j], self._places[j]]
        explained, left, sampling = self._explained(i, j, given, linear)
        if any((part < _DETERMINED * whole).all() for part, whole in zip(left, variances, strict=True)):
            return 0.0
        sampling = sampling + _LINEAR * _kron(linear[:a, :a], linear[a:, a:])
        inverse = np.linalg.inv(sampling / self._n_independent + self._of_noise(weights, i, j))
        dependence = (self._covariance[np.ix_(self._places[i], self._places[j])] - explained).ravel()
        statistic = dependence @ inverse @ dependence
        if len(given) < 2:
            return float(stats.chi2.sf(statistic, a * b))
        missed = _EXPLAINED**2 * (explained.ravel() @ inverse @ explained.ravel())
        return float(stats.ncx2.sf(statistic, a * b, missed))

    # --- What columns explain --------------------------------------------------------------------------------------

    def _explained(self, i, j, given, linear):
        """Covariance of columns i and j that `given` explains; variances it leaves; covariance of the sampling error.

        The last is that of the mean product of what is left of both columns, times the number of records.
        """
        a, b = len(self._kept[i]), len(self._kept[j])
        if (max(a, b) + 1) * math.prod(len(self._kept[k]) + 1 for k in given) > _MOST_CELLS:
            explained = self._covariance[np.ix_(self._places[i], self._places[j])] - linear[:a, a:]
            left = linear.diagonal()
            return explained, (left[:a], left[a:]), _kron(linear[:a, :a], linear[a:, a:])
        of_i, of_j = (self._law((column, *given)).reshape(size + 1, -1) for column, size in ((i, a), (j, b)))
        strata = (of_i.sum(axis=0) + of_j.sum(axis=0)) / 2
        of_i, of_j = (law[:-1] / np.maximum(law.sum(axis=0), _TINY) for law in (of_i, of_j))
        explained = (strata * of_i) @ of_j.T - np.outer(self._mean[self._places[i]], self._mean[self._places[j]])
        within_i, within_j = _within(of_i), _within(of_j)
        products = (strata * within_i.reshape(a * a, -1)) @ within_j.reshape(b * b, -1).T
        sampling = products.reshape(a, a, b, b).transpose(0, 2, 1, 3).reshape(a * b, a * b)
        left = [np.einsum("aas,s->a", within, strata) for within in (within_i, within_j)]
        return explained, left, sampling

    def _fitted_law(self, columns):
        """The law of a column (first) and of others, in increasing order; one part is all that do not count."""
        if columns in self._laws:
            return self._laws[columns]
        if len(columns) == 2:
            return self._laws[columns[::-1]].T
        shape = tuple(len(self._kept[column]) + 1 for column in columns)
        return law_of_pairs(shape, lambda a, b: self._law((columns[a], columns[b])))

    # --- What the noise does ---------------------------------------------------------------------------------------

    def _weights(self, i, j, given):
        """What is left of columns i and j by linear models, as weights of the parts of each column.

        Returns
        -------
        dict of int to ndarray of shape (n_kept, n_kept[i] + n_kept[j])
        """
        a, b = len(self._kept[i]), len(self._kept[j])
        weights = {i: np.eye(a, a + b), j: np.eye(b, a + b, a)}
        others = [k for k in given if len(self._kept[k])]
        if others:
            places = np.concatenate([self._places[k] for k in others])
            both = np.concatenate([self._places[i], self._places[j]])
            slopes = np.linalg.solve(self._regular[np.ix_(places, places)], self._regular[np.ix_(places, both)])
            ends = np.cumsum([len(self._kept[k]) for k in others])[:-1]
            weights |= dict(zip(others, np.split(-slopes, ends), strict=True))
        return weights

    def _left_by_linear_models(self, weights):
        places = np.concatenate([self._places[k] for k in weights])
        stacked = np.concatenate(list(weights.values()))
        return stacked.T @ self._regular[np.ix_(places, places)] @ stacked

    def _of_noise(self, weights, i, j):
        """Covariance of what the noise adds to the covariance left, to first order."""
        a, b = len(self._kept[i]), len(self._kept[j])
        if self._variance == 0:
            return 0.0
        # A table's noise with sums of zero in rows and columns is independent of that of other tables, and of margins.
        each = np.array([weight.T @ _centred(weight, self._sizes[k]) for k, weight in weights.items()])
        of_i, of_j, across = each[:, :a, :a], each[:, a:, a:], each[:, :a, a:]
        noise = _kron(of_i.sum(axis=0), of_j.sum(axis=0)) - np.einsum("kax,kby->abxy", of_i, of_j).reshape(a * b, -1)
        both = across.sum(axis=0)
        noise += (np.einsum("ay,xb->abxy", both, both) - np.einsum("kay,kxb->abxy", across, across)).reshape(a * b, -1)
        # A share that is too large by 1 adds 1 / size to each cell of its row, and the product of means is taken off.
        beside = sum((1 / self._sizes[k] - self._mean[self._places[k]]) @ weight for k, weight in weights.items())
        return self._variance * noise + sum(self._of_margin(k, weight, a, beside) for k, weight in weights.items())

    def _of_margin(self, k, weight, a, beside):
        """Covariance of what the noise on the shares of column k adds."""
        beside = beside - weight.sum(axis=0) / self._sizes[k]  # there is no table of a column with itself
        of_i, of_j = weight[:, :a], weight[:, a:]
        moves = (
            of_i[:, :, None] * of_j[:, None, :]
            + of_i[:, :, None] * beside[None, None, a:]
            + beside[None, :a, None] * of_j[:, None, :]
        ).reshape(len(of_i), -1)
        return self._variances[k] * (moves.T @ _centred(moves, self._sizes[k]))


def _centred(weights, size):
    """Weights of the parts that are kept, of `size`, times the covariance of noise of variance 1 whose sum is 0."""
    return weights - weights.sum(axis=0) / size


def _kron(a, b):
    """As of numpy, which takes longer for small matrices."""
    return np.einsum("ax,by->abxy", a, b).reshape(len(a) * len(b), -1)


def _kept(shares, least):
    """The parts that count, apart from the largest: the others are what is left of all."""
    kept = np.flatnonzero(shares >= least)
    return kept[kept != np.argmax(shares)]


def _merged(shares, kept, axis):
    """The shares of the parts that are kept, and last of the others together."""
    rest = np.delete(shares, kept, axis=axis).sum(axis=axis, keepdims=True)
    return np.concatenate([shares.take(kept, axis=axis), rest], axis=axis)


def _within(conditional):
    """Covariance of indicators of parts in each stratum: (n_parts, n_parts, n_strata), of probabilities of each."""
    within = -conditional[:, None] * conditional[None]
    diagonal = np.arange(len(conditional))
    within[diagonal, diagonal] += conditional
    return within


def _positive(covariance):
    """The covariance with eigenvalues of its correlations cut off below."""
    root = np.sqrt(covariance.diagonal())
    values, vectors = np.linalg.eigh(covariance / np.outer(root, root))
    if len(values) == 0 or values[0] >= _LEAST_EIGENVALUE:
        return covariance
    cut = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    root = root / np.sqrt(cut.diagonal())
    return cut * np.outer(root, root)
