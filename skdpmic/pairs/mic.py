"""Private scores of one pair of variables."""

from skdpmic._utils.arguments import check_pair, check_pair_bounds
from skdpmic._utils.no_cache import never_cached
from skdpmic._utils.typing import Auto, ColumnLike, Correction, FromData, RandomState, Ranges
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.pairs.one_score import laplace_noise, pay, release
from skdpmic.privacy.noise import random_keys
from skdpmic.privacy.parameters import check_epsilon
from skdpmic.statistics.grids.limits import check_B, check_c
from skdpmic.statistics.mic.defaults import resolve_B, resolve_c, resolve_parts
from skdpmic.statistics.mic.mic_e import mass_plan
from skdpmic.statistics.mic.mic_r import AgainstNumbers, check_correction, continuous_grids, grid_size
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism, TableCounter, TableScorer, parts_of_range
from skdpmic.statistics.mic.optimize_axis import entropy_table, rounding_error
from skdpmic.statistics.mic.rank_grids import mic_e_of_ranks, ranks_in_y
from skdpmic.statistics.mic.sensitivity import mic_e_sensitivity, mic_r_sensitivity


@never_cached
def mic_r_laplace(
    x: ColumnLike,
    y: ColumnLike,
    *,
    epsilon: float,
    bounds: Ranges | FromData,
    B: float | Auto = "auto",
    c: float | Auto = "auto",
    correction: Correction = "miller-madow",
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """MICr of one pair under epsilon-differential privacy, by the Laplace mechanism (MICr-Lap).

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4. Those outside `bounds` are clipped. No dates, whose unit may
        depend on all rows, and no masked arrays.
    epsilon : float
        Privacy budget, above 0; infinity gives MICr without noise.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
        The public range of each variable. It must not be read off the data.
    B, c : float or "auto", default="auto"
        As in :func:`mic_r`; "auto" takes values tuned for n_samples, epsilon and correction
        (``docs/results/defaults.md``).
    correction : None or "miller-madow", default="miller-madow"
        Correction for what grids show by chance; as in :func:`mic_r`. None is the statistic of [1]_.
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

    Notes
    -----
    The noise has scale ``h(1/n) / epsilon``, a quarter of that of [1]_: the sensitivity is exact, and the same with a
    correction (``docs/theory/sensitivity.md``, ``docs/theory/closed_family.md``). It is drawn exactly, on a grid of
    2**-30 (``docs/theory/laplace.md``).

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022; Mechanism 2.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mic_r_laplace
    >>> x = np.linspace(0, 1, 5000)
    >>> mic_r_laplace(x, x**2, epsilon=10, bounds=((0, 1), (0, 1))) > 0.9
    True
    """
    x, y = check_pair(x, y, min_samples=4)
    x_bounds, y_bounds = check_pair_bounds(bounds)
    check_epsilon(epsilon)
    check_correction(correction)
    check_ledger(ledger)
    n = len(x)
    B = resolve_B(B, n, epsilon, correction=correction)
    c = resolve_c(c, n, epsilon, B, correction=correction)
    plan = continuous_grids(B, c, "reduced", n, correction)[0]  # kept for the score, as it is called like this
    mechanism = laplace_noise(epsilon, mic_r_sensitivity(n), rounding_error(n, plan))
    entropy_table(n)  # kept for the score; an error, if n is too large for it
    source = pay("mic_r_laplace", epsilon, n, ledger, random_state)

    target = AgainstNumbers(y, y_bounds, B, c, correction=correction)
    return release(target.score(x, x_bounds), mechanism, source)


@never_cached
def mic_e_laplace(
    x: ColumnLike,
    y: ColumnLike,
    *,
    epsilon: float,
    B: float = 0.6,
    c: float = 15,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """MICe of one pair under epsilon-differential privacy, by the Laplace mechanism (MICe-Lap).

    It needs no bounds, as only the order of the values matters, but has much more noise than :func:`mic_r_laplace`,
    which is better wherever a public range is known.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4. No dates, whose unit may depend on all rows, and no masked
        arrays.
    epsilon : float
        Privacy budget, above 0; infinity gives MICe without noise.
    B : float, default=0.6
        Maximum grid size: a number of cells >= 4, or an exponent in (0, 1) that stands for
        ``n_samples ** B``, but at least 4 and at most 10,000; a number is limited as in :func:`mic_r`. The noise grows
        with it.
    c : float, default=15
        How much finer than the merged partition its master partition is; above 0.
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

    Notes
    -----
    The score is MICe of Definition 2.3 of [1]_: all partitions are equipartitions by rank, equal values being put in
    random order, separately for x and y. :func:`mic_e` keeps equal values together and cuts between clumps; then
    one record can change the score by far more than Theorem 3.1 of [1]_ says, and noise would not hide it
    (``docs/theory/mic_e.md``).

    The noise has scale ``(l + 1) d(ceil(n / l)) / (n epsilon)`` with ``l = B / 2``, about ``log2(2 n / B) B / (2 n
    epsilon)``: about an eighth of that of [1]_ at the default B. There it is, for epsilon = 1, 0.21 for n = 1,000 and
    0.02 for n = 1,000,000.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022; Definition 2.3, Mechanism 1 and Theorem 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mic_e_laplace
    >>> x = np.linspace(0, 1, 5000)
    >>> mic_e_laplace(x, x**2, epsilon=10, B=8) > 0.9
    True
    """
    x, y = check_pair(x, y, min_samples=4)
    check_epsilon(epsilon)
    n = len(x)
    check_B(B, n)
    check_c(c)
    check_ledger(ledger)
    B = grid_size(B, n)
    plan, table = mass_plan(B, min(c, n)), entropy_table(n)  # as if a larger c: no more master parts than records
    mechanism = laplace_noise(epsilon, mic_e_sensitivity(n, B), rounding_error(n, plan))
    source = pay("mic_e_laplace", epsilon, n, ledger, random_state)

    score = mic_e_of_ranks(ranks_in_y(x, y, *random_keys(n, source)), plan, table)
    return release(score, mechanism, source)


@never_cached
def mic_r_geometric(
    x: ColumnLike,
    y: ColumnLike,
    *,
    epsilon: float,
    bounds: Ranges | FromData,
    B: float | Auto = "auto",
    c: float | Auto = "auto",
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """MICr of one pair under epsilon-differential privacy, from a noisy table of counts (a valid MICr-Geom).

    Both ranges are cut into N equal parts, and the N * N counts get noise once. All else is computed from the noisy
    table: the counts to be expected, the largest ``I / log2 min(k, l)`` over its coarser grids, and a correction
    for chance.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4. Those outside `bounds` are clipped. No dates, whose unit may
        depend on all rows, and no masked arrays.
    epsilon : float
        Privacy budget, above 0; infinity adds no noise.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
        The public range of each variable. It must not be read off the data.
    B : float or "auto", default="auto"
        Maximum grid size, as in :func:`mic_r`; "auto" as in :func:`mic_r_laplace` without a correction, as this
        function has its own.
    c : float or "auto", default="auto"
        How much finer the noisy table is than the finest square grid: ``N = c * floor(sqrt(B))``, rounded down,
        never below 2, and at most 100. "auto" takes the N for n_samples and epsilon that has the least error.
    ledger : BudgetLedger, default=None
        Where the cost is written before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise from the operating system's entropy. A seed is for tests, and warns.

    Returns
    -------
    float
        In [0, 1]; an estimate of ``mic_r(x, y, bounds=bounds, B=B, c=5)``.

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
    mic_r_laplace : Noise on the score: to be preferred, unless n_samples times epsilon is very small or a noisy table
        is wanted.

    Notes
    -----
    One noisy table of affordable size is coarse, so strong dependence, and steep or wavy relationships, come out far
    too low: over the 189 distributions of :mod:`skdpmic.datasets` by 0.05 to 0.26 in the median
    (``docs/results/paper.md``).

    The mechanism of [1]_ noises several tables, each at the whole epsilon, and is not epsilon-differentially private;
    this one is (``docs/theory/geometric.md``). Replacing a record moves two counts by 1, hence noise of scale
    ``2 / epsilon``.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022; Mechanism 3.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mic_r_geometric
    >>> x = np.linspace(0, 1, 5000)
    >>> mic_r_geometric(x, x**2, epsilon=10, bounds=((0, 1), (0, 1))) > 0.8
    True
    """
    x, y = check_pair(x, y, min_samples=4)
    x_bounds, y_bounds = check_pair_bounds(bounds)
    check_epsilon(epsilon)
    check_ledger(ledger)
    n = len(x)
    B = resolve_B(B, n, epsilon)
    n_parts, _ = resolve_parts(B, c, n, epsilon)
    mechanism = GeometricMechanism.for_budget(epsilon, 1)
    scorer = TableScorer(n, mechanism.scale, B, is_discrete=False)
    source = pay("mic_r_geometric", epsilon, n, ledger, random_state)

    counter = TableCounter(parts_of_range(y, y_bounds, n_parts), n_parts, n_parts)
    return scorer.score(mechanism.release(counter.count(x, x_bounds), n, source))
