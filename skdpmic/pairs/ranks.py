"""Private rank statistics of one pair of variables."""

from skdpmic._utils.arguments import check_pair
from skdpmic._utils.no_cache import never_cached
from skdpmic._utils.typing import ColumnLike, RandomState
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.pairs.one_score import laplace_noise, pay, release
from skdpmic.privacy.noise import random_keys
from skdpmic.privacy.parameters import check_epsilon
from skdpmic.statistics.ranks.kernels import (
    MAX_RECORDS,
    chatterjee,
    distance_correlation,
    kendall,
    mid_ranks,
    spearman,
    strict_ranks,
)
from skdpmic.statistics.ranks.sensitivity import (
    chatterjee_sensitivity,
    distance_correlation_sensitivity,
    kendall_sensitivity,
    spearman_sensitivity,
)


@never_cached
def kendall_laplace(
    x: ColumnLike,
    y: ColumnLike,
    *,
    epsilon: float,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """Kendall's tau of one pair, without its sign, under epsilon-differential privacy, by the Laplace mechanism.

    How far one variable rises with the other, or falls. It needs no bounds, as only the order of the values matters.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4.
    epsilon : float
        Privacy budget, above 0; infinity gives the score without noise.
    ledger : BudgetLedger, default=None
        Where the cost is written before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise from the operating system's entropy. A seed is for tests, and warns.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside what is allowed above.
    BudgetError
        If epsilon does not fit in `ledger`.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.

    See Also
    --------
    spearman_laplace : For the same relationships; score and noise are both up to 1.5 times as large.
    chatterjee_laplace : For relationships that rise and fall.

    Notes
    -----
    The score is the absolute value of tau-a [1]_: concordant less discordant pairs of records, over all pairs. A pair
    of equal values counts 0, so with many ties the score stays below 1. The noise has scale ``4 / (n_samples epsilon)``
    (``docs/theory/ranks.md``); tau-b, which divides by the pairs that are not tied, could change by its whole range.

    References
    ----------
    .. [1] M. G. Kendall, "A New Measure of Rank Correlation", Biometrika 1938.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import kendall_laplace
    >>> x = np.linspace(0, 1, 5000)
    >>> kendall_laplace(x, x**2, epsilon=10) > 0.9
    True
    """
    x, y = check_ranked_pair(x, y, epsilon, ledger)
    mechanism = _noise(epsilon, kendall_sensitivity(len(x)))
    source = pay("kendall_laplace", epsilon, len(x), ledger, random_state)

    return release(kendall(mid_ranks(x), mid_ranks(y)), mechanism, source)


@never_cached
def spearman_laplace(
    x: ColumnLike,
    y: ColumnLike,
    *,
    epsilon: float,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """Spearman's rho of one pair, without its sign, under epsilon-differential privacy, by the Laplace mechanism.

    How far one variable rises with the other, or falls. It needs no bounds, as only the order of the values matters.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4.
    epsilon : float
        Privacy budget, above 0; infinity gives the score without noise.
    ledger : BudgetLedger, default=None
        Where the cost is written before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise from the operating system's entropy. A seed is for tests, and warns.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside what is allowed above.
    BudgetError
        If epsilon does not fit in `ledger`.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.

    See Also
    --------
    kendall_laplace : For the same relationships.
    chatterjee_laplace : For relationships that rise and fall.

    Notes
    -----
    The score is ``12 |sum (r - rbar)(s - sbar)| / (n (n^2 - 1))``, with r and s the ranks [1]_; equal values share the
    mean of theirs. The divisor is that for distinct values, so with many ties the score stays below 1. The noise has
    scale ``6 / ((n_samples + 1) epsilon)`` (``docs/theory/ranks.md``).

    References
    ----------
    .. [1] C. Spearman, "The Proof and Measurement of Association between Two Things", American Journal of Psychology
       1904.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import spearman_laplace
    >>> x = np.linspace(0, 1, 5000)
    >>> spearman_laplace(x, x**2, epsilon=10) > 0.9
    True
    """
    x, y = check_ranked_pair(x, y, epsilon, ledger)
    mechanism = _noise(epsilon, spearman_sensitivity(len(x)))
    source = pay("spearman_laplace", epsilon, len(x), ledger, random_state)

    return release(spearman(mid_ranks(x), mid_ranks(y)), mechanism, source)


@never_cached
def chatterjee_laplace(
    x: ColumnLike,
    y: ColumnLike,
    *,
    epsilon: float,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """Chatterjee's xi of one pair under epsilon-differential privacy, by the Laplace mechanism.

    How far one variable is a function of the other, of any shape. It needs no bounds, as only the order of the values
    matters.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4.
    epsilon : float
        Privacy budget, above 0; infinity gives the score without noise.
    ledger : BudgetLedger, default=None
        Where the cost is written before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise, and the order of equal values, from the operating system's entropy. A seed is for tests,
        and warns.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside what is allowed above.
    BudgetError
        If epsilon does not fit in `ledger`.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.

    See Also
    --------
    distance_correlation_laplace : Finds what is no function, too, at more noise.

    Notes
    -----
    The score is xi of [1]_, ``1 - 3 sum |r_{i+1} - r_i| / (n^2 - 1)`` with r the ranks of y in ascending order of x, or
    that of x and y exchanged, whichever is larger; below 0 it is 0. Equal values are put in random order, separately
    for x and y. The noise has scale ``3 (2n - 5) / ((n^2 - 1) epsilon)``, about ``6 / (n_samples epsilon)``
    (``docs/theory/ranks.md``).

    References
    ----------
    .. [1] S. Chatterjee, "A New Coefficient of Correlation", Journal of the American Statistical Association 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import chatterjee_laplace
    >>> x = np.linspace(0, 1, 5000)
    >>> chatterjee_laplace(x, np.sin(20 * x), epsilon=10) > 0.9
    True
    """
    x, y = check_ranked_pair(x, y, epsilon, ledger)
    mechanism = _noise(epsilon, chatterjee_sensitivity(len(x)))
    source = pay("chatterjee_laplace", epsilon, len(x), ledger, random_state)

    return release(chatterjee(*_strict_ranks_of(x, y, source)), mechanism, source)


@never_cached
def distance_correlation_laplace(
    x: ColumnLike,
    y: ColumnLike,
    *,
    epsilon: float,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """Distance correlation of the ranks of one pair under epsilon-differential privacy, by the Laplace mechanism.

    How far two variables depend on one another in whatever way. It needs no bounds, as only the order of the values
    matters.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4.
    epsilon : float
        Privacy budget, above 0; infinity gives the score without noise.
    ledger : BudgetLedger, default=None
        Where the cost is written before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise, and the order of equal values, from the operating system's entropy. A seed is for tests,
        and warns.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside what is allowed above.
    BudgetError
        If epsilon does not fit in `ledger`.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.

    See Also
    --------
    chatterjee_laplace : For functions of any shape, at less noise.

    Notes
    -----
    The score is the distance correlation of [1]_, the root of the V-statistic, of the ranks; equal values are put in
    random order, separately for x and y. It is also Hoeffding's Phi [2]_ of the ranks. The noise has scale ``(n - 1) /
    (sqrt(V_n) epsilon)``, with ``V_n = (n^2 - 1) (2 n^2 + 7) / 180``: about ``9.5 / (n_samples epsilon)``
    (``docs/theory/ranks.md``). For independent variables the score itself is about ``1.5 / sqrt(n_samples)``.

    References
    ----------
    .. [1] G. J. Székely, M. L. Rizzo and N. K. Bakirov, "Measuring and Testing Dependence by Correlation of
       Distances", Annals of Statistics 2007.
    .. [2] S. Gaißer, M. Ruppert and F. Schmid, "A Multivariate Version of Hoeffding's Phi-Square", Journal of
       Multivariate Analysis 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import distance_correlation_laplace
    >>> x = np.linspace(0, 1, 5000)
    >>> distance_correlation_laplace(x, x**2, epsilon=10) > 0.9
    True
    """
    x, y = check_ranked_pair(x, y, epsilon, ledger)
    mechanism = _noise(epsilon, distance_correlation_sensitivity(len(x)))
    source = pay("distance_correlation_laplace", epsilon, len(x), ledger, random_state)

    return release(distance_correlation(*_strict_ranks_of(x, y, source)), mechanism, source)


def check_ranked_pair(x, y, epsilon, ledger):
    """`x` and `y` as two arrays of finite numbers, of one length, of which ranks can be scored."""
    x, y = check_pair(x, y, min_samples=4)
    if len(x) > MAX_RECORDS:
        raise ValueError(f"scores can be computed of at most {MAX_RECORDS:,} records, got n_samples={len(x):,}.")
    check_epsilon(epsilon)
    check_ledger(ledger)
    return x, y


def _strict_ranks_of(x, y, source):
    x_keys, y_keys = random_keys(len(x), source)
    return strict_ranks(x, x_keys), strict_ranks(y, y_keys)


def _noise(epsilon, sensitivity):
    return laplace_noise(epsilon, sensitivity, rounding_error=0)  # scores rounded down to the grid are exact
