"""Private rank statistics of one pair of variables within public strata."""

from skdpmic._utils.no_cache import never_cached
from skdpmic._utils.typing import ColumnLike, RandomState
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.pairs.one_score import laplace_noise, pay, release
from skdpmic.pairs.ranks import check_ranked_pair
from skdpmic.statistics.ranks.conditional import conditional_kendall, conditional_spearman
from skdpmic.statistics.ranks.sensitivity import conditional_kendall_sensitivity, conditional_spearman_sensitivity
from skdpmic.table.strata import read_strata


@never_cached
def conditional_kendall_laplace(
    x: ColumnLike,
    y: ColumnLike,
    strata: ColumnLike,
    *,
    categories: ColumnLike,
    epsilon: float,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """Kendall's tau of one pair within public strata, with its sign, under epsilon-differential privacy.

    How far one variable rises with the other, or falls, among records that are alike in a third: what is left of their
    dependence once that is known. It needs no bounds, as only the order of the values matters.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4.
    strata : array-like of shape (n_samples,)
        The stratum of each record: text or numbers, as `categories` are. Of several variables, make one label of each
        combination.
    categories : list or array of at least 2 labels
        The public labels of the strata. They must not be read off the data. Records of any other label form one more
        stratum, and those without a label another.
    epsilon : float
        Privacy budget, above 0; infinity gives the score without noise.
    ledger : BudgetLedger, default=None
        Where the cost is written before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise from the operating system's entropy. A seed is for tests, and warns.

    Returns
    -------
    float
        In [-1, 1]; below 0 where y falls as x rises. Its absolute value is private, too.

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
    conditional_spearman_laplace : For the same relationships; score and noise are larger.
    kendall_laplace : Without strata, and without the sign.

    Notes
    -----
    The score is ``(1 / n) sum (n_z - 1) tau_z`` over the strata, n_z being the number of records in one and tau_z their
    tau-a, in which a pair of equal values counts 0; a single record counts 0. Without ties it is 1, less the share of
    strata per record, if y rises with x in all strata, and about 0 if x and y are independent within each. Strata in
    which y rises, and others in which it falls, cancel: 0 does not mean independent.

    What is protected is the whole record, its stratum too. The noise has scale ``2 (3 n - 5) / (n (n + 1) epsilon)``
    for n records, about ``6 / (n epsilon)`` and 1.5 times that of :func:`kendall_laplace`, whatever the number of
    strata and however small they are (``docs/theory/conditional_ranks.md``).

    Examples
    --------
    Two variables that a third makes rise together, and that fall within each of its values:

    >>> import numpy as np
    >>> from skdpmic import conditional_kendall_laplace
    >>> age = np.repeat([20, 40, 60], 1000)
    >>> within = np.tile(np.linspace(0, 10, 1000), 3)
    >>> x, y = age + within, age - within
    >>> bool(np.corrcoef(x, y)[0, 1] > 0.9)
    True
    >>> conditional_kendall_laplace(x, y, age, categories=[20, 40, 60], epsilon=10) < -0.9
    True
    """
    x, y = check_ranked_pair(x, y, epsilon, ledger)
    codes = read_strata(strata, categories, len(x))
    mechanism = _noise(epsilon, conditional_kendall_sensitivity(len(x)))
    source = pay("conditional_kendall_laplace", epsilon, len(x), ledger, random_state)

    return _release(conditional_kendall(x, y, codes), mechanism, source)


@never_cached
def conditional_spearman_laplace(
    x: ColumnLike,
    y: ColumnLike,
    strata: ColumnLike,
    *,
    categories: ColumnLike,
    epsilon: float,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """Spearman's rho of one pair within public strata, with its sign, under epsilon-differential privacy.

    How far one variable rises with the other, or falls, among records that are alike in a third: what is left of their
    dependence once that is known. It needs no bounds, as only the order of the values matters.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4.
    strata : array-like of shape (n_samples,)
        The stratum of each record: text or numbers, as `categories` are. Of several variables, make one label of each
        combination.
    categories : list or array of at least 2 labels
        The public labels of the strata. They must not be read off the data. Records of any other label form one more
        stratum, and those without a label another.
    epsilon : float
        Privacy budget, above 0; infinity gives the score without noise.
    ledger : BudgetLedger, default=None
        Where the cost is written before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise from the operating system's entropy. A seed is for tests, and warns.

    Returns
    -------
    float
        In [-1, 1]; below 0 where y falls as x rises. Its absolute value is private, too.

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
    conditional_kendall_laplace : For the same relationships, at a little less noise for the size of its score.
    spearman_laplace : Without strata, and without the sign.

    Notes
    -----
    The score is ``(1 / n) sum n_z rho_z`` over the strata, n_z being the number of records in one and rho_z their
    Spearman correlation, of ranks within the stratum, equal values sharing the mean of theirs, over that of distinct
    values; a single record counts 0. Strata in which y rises, and others in which it falls, cancel: 0 does not mean
    independent.

    What is protected is the whole record, its stratum too. The noise has scale ``2 (5 n + 3) / (n (n + 3) epsilon)``
    for n records, about ``10 / (n epsilon)``, whatever the number of strata and however small they are
    (``docs/theory/conditional_ranks.md``).

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import conditional_spearman_laplace
    >>> city = np.repeat(["Bari", "Rome"], 2000)
    >>> x = np.tile(np.linspace(0, 1, 2000), 2)
    >>> y = x + 10 * (city == "Rome")
    >>> conditional_spearman_laplace(x, y, city, categories=["Bari", "Rome"], epsilon=10) > 0.9
    True
    """
    x, y = check_ranked_pair(x, y, epsilon, ledger)
    codes = read_strata(strata, categories, len(x))
    mechanism = _noise(epsilon, conditional_spearman_sensitivity(len(x)))
    source = pay("conditional_spearman_laplace", epsilon, len(x), ledger, random_state)

    return _release(conditional_spearman(x, y, codes), mechanism, source)


def _noise(epsilon, sensitivity):
    # Of half the score; it is exact on the grid once it is rounded down.
    return laplace_noise(epsilon, sensitivity / 2, rounding_error=0)


def _release(score, mechanism, source):
    """A score in [-1, 1] with noise, by way of one in [0, 1]; neither way is rounded."""
    return 2 * release((score + 1) / 2, mechanism, source) - 1
