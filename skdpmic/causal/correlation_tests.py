"""Tests of conditional independence of numeric columns, from a noisy matrix of Kendall's correlations.

They are not valid for columns with many ties, about which this module warns: from declared types and released shares.
"""

import math

import narwhals.stable.v2 as nw
import numpy as np
from scipy import stats

from skdpmic._utils.errors import warn
from skdpmic.causal.pc import Outcome
from skdpmic.correlation.matrices import FEW_TIES, among_untied, columns_with_ties, known_shares, nearest_correlation
from skdpmic.table.features import listed
from skdpmic.table.normal_form.containers import as_frame, is_frame

_LEAST_EIGENVALUE = 1e-6
_NOISE_OF_EIGENVALUES = 0.1  # standard deviations of the noise, times the root of the number of columns
_DETERMINED = 1e-3  # residual share of a column's variance at which other columns determine it


class CorrelationTests:
    """Tests of conditional independence from noisy Kendall correlations: functions of released and public numbers.

    They are exact to first order for increasing functions of jointly normal columns; for other columns they test
    partial correlation after such transformations (``docs/theory/private_pc.md``).

    Parameters
    ----------
    noisy_correlation : ndarray of shape (n_columns, n_columns)
        Kendall's tau-a with independent noise, and a diagonal of ones.
    untied_fraction : ndarray of shape (n_columns,)
        Noisy shares of untied pairs of records.
    noise_scale : float
        Standard deviation of the noise on each.
    n_samples : int
        Number of independent records; of people, if these have several each.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.causal.correlation_tests import CorrelationTests
    >>> pearson = np.array([[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]])  # a chain
    >>> tests = CorrelationTests(2 / np.pi * np.arcsin(pearson), np.ones(3), noise_scale=0.002, n_samples=10_000)
    >>> tests.test(0, 2, ()).p_value < 1e-9, round(tests.test(0, 2, (1,)).p_value, 2)
    (True, 1.0)
    """

    def __init__(self, noisy_correlation, untied_fraction, noise_scale, n_samples):
        noise_scale, self._n = min(noise_scale, 1.0), n_samples
        shares = known_shares(untied_fraction, noise_scale)
        correlation, noise = among_untied(noisy_correlation, shares, noise_scale)
        self._correlation = _regular(nearest_correlation(correlation), noise)
        self._tied = 2 - shares
        self._repeats = frozenset(np.flatnonzero(shares < FEW_TIES).tolist())
        # The derivative of the sine is pi / 2 times its cosine. Noise on a share changes all correlations of its
        # column.
        cosine = np.sqrt(1 - self._correlation**2)
        self._noise = (noise * cosine) ** 2
        self._bend = np.arcsin(self._correlation) * cosine
        np.fill_diagonal(self._bend, 0.0)
        self._of_shares = np.where(shares < 1, noise_scale / (2 * shares), 0.0)

    def test(self, i, j, given):
        """Test whether columns i and j are independent given others.

        Parameters
        ----------
        i, j : int
        given : tuple of int

        Returns
        -------
        Outcome
            From 0 to 1 if `given` determines one of the columns: it is then independent of all others, which says
            nothing about causes. Both are NaN if anything is given and a column has many ties: Greiner's formula
            then fails, and conditionally independent columns would not look independent.
        """
        if given and not self._repeats.isdisjoint((i, j, *given)):
            return Outcome(math.nan, math.nan)
        columns = [i, j, *given]
        correlation = self._correlation[np.ix_(columns, columns)]
        slopes = np.linalg.solve(correlation[2:, 2:], correlation[2:, :2])
        a, b = np.concatenate([np.eye(2), -slopes]).T
        left = a @ correlation @ a, b @ correlation @ b
        if min(left) < _DETERMINED:
            return Outcome(1.0, 0.0)
        root = math.sqrt(left[0] * left[1])
        moves = (np.outer(a, b) + np.outer(b, a)) / root
        of_correlations = np.triu(moves, 1) ** 2 * self._noise[np.ix_(columns, columns)]
        of_shares = (moves * self._bend[np.ix_(columns, columns)]).sum(axis=1) * self._of_shares[columns]
        # With ties, the variance of tau-b is larger by a factor of at most 2 - share (docs/theory/private_pc.md).
        sampling = (math.pi / 3) ** 2 * self._tied[i] * self._tied[j] / max(self._n - len(given) - 3, 1)
        variance = sampling + of_correlations.sum() + (of_shares**2).sum()
        p = float(2 * stats.norm.sf(abs(a @ correlation @ b) / root / math.sqrt(variance)))
        return Outcome(p, p)


def _regular(correlation, noise):
    """The correlations shrunk just enough to keep weights small if columns are nearly linear combinations of others."""
    least = max(_LEAST_EIGENVALUE, _NOISE_OF_EIGENVALUES * math.sqrt(len(noise)) * float(noise.mean()))
    ridge = max(least - np.linalg.eigvalsh(correlation)[0], 0.0)
    return (correlation + ridge * np.eye(len(noise))) / (1 + ridge)


# --- Columns with many ties ------------------------------------------------------------------------------------------
#
# Warnings about columns with many ties, for which tests of Kendall's correlations are not valid.
#
# Types of columns are declared, and shares of untied pairs are released with noise: values are never read.


_ASSUMED = (
    "Without bounds, a table of numbers is tested by Kendall's correlations, which assumes that values hardly ever "
    "repeat. If they do, no test given another column is made for such a column: its edges stay, and their p_values_ "
    "are NaN."
)
_WAY_ROUND = (
    "Pass bounds (the public ranges of all columns) or categories (the public labels of some): the columns are then "
    "tested by tables of their parts."
)


def declared_to_repeat(X):
    """Indices of the columns whose types suggest that values repeat: integers and categories."""
    if is_frame(X):
        types = [column.dtype for column in as_frame(X).head(0).iter_columns()]
        return [j for j, dtype in enumerate(types) if dtype.is_integer() or dtype in (nw.Categorical, nw.Enum)]
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu":
        return list(range(X.shape[1]))
    return []


def warn_about_declared_ties(columns, names):
    """Warn, before the charge, about columns from :func:`declared_to_repeat`."""
    if columns:
        warn(
            f"the types of {listed(columns, names)} are integer or categorical, so values may repeat. "
            f"{_ASSUMED} {_WAY_ROUND} To avoid this warning for integers that hardly repeat, pass them as floats.",
        )


def warn_about_released_ties(untied_fraction, noise_scale, names, *, but):
    """Warn, after the release, about columns with many ties according to the noisy shares; some are excepted."""
    columns = [j for j in columns_with_ties(untied_fraction, noise_scale) if j not in but]
    if columns:
        warn(
            f"untied_fraction_ of {listed(columns, names)} is below {FEW_TIES:g}: values repeat. {_ASSUMED} "
            f"{_WAY_ROUND} That is a separate release; the present one has been charged and is kept.",
        )
