"""The private score of one pair of variables, by any statistic of the registry."""

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import NDArray

from skdpmic._utils.private_estimator import never_cached
from skdpmic._utils.typing import Auto, ColumnLike, Correction, RandomState
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import entry_for
from skdpmic.privacy.composition import check_epsilon
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.release.kinds import release_of_scores
from skdpmic.release.path import run
from skdpmic.selection.scoring_plan import check_mechanism
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.statistics.registry import PAIR_STATISTICS, statistic_named, within_strata
from skdpmic.table.domains import check_pair_bounds
from skdpmic.table.records import Shape, TableRecords
from skdpmic.table.targets import NumericTarget, StratifiedTarget, read_strata
from skdpmic.table.values import check_pair


@never_cached
def private_score(
    x: ColumnLike,
    y: ColumnLike,
    *,
    statistic: str = "mic_r",
    mechanism: Literal["laplace", "geometric"] = "laplace",
    epsilon: float,
    bounds: Sequence[Any] | NDArray[Any] | None = None,
    B: float | Auto = "auto",
    c: float | Auto = "auto",
    correction: Correction = "miller-madow",
    strata: ColumnLike | None = None,
    categories: ColumnLike | None = None,
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """Score one pair of variables by their dependence, under epsilon-differential privacy.

    Replacing one record (one entry each of `x`, `y` and `strata`) changes the probability of any outcome by a factor of
    at most exp(epsilon).

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one per record; at least 4. No dates, missing values or masked arrays. y is the target: "mtv_r"
        gives different scores if x and y are exchanged.
    statistic : str, default="mic_r"
        Measure of dependence. The first two find dependence of any shape and need `bounds`; the others use only the
        order of the values:

        - "mic_r": the Maximal Information Coefficient over grids of equal parts, :func:`mic_r`. Choose it to compare
          relationships of different shapes on one scale.
        - "mtv_r": total variation from independence, :func:`mtv_r`. It finds shapes down to an eighth of the
          range of y, with a third of the noise of "mic_r" at 1,000 records and a fifth at a million.
        - "kendall": the absolute value of Kendall's tau [2]_, for monotonic relationships.
        - "chatterjee": Chatterjee's xi [3]_, of y given x or of x given y, whichever is larger, for functions of any
          shape.
        - "distance_correlation": the distance correlation [4]_ of the ranks, for dependence of any shape.
        - "mic_e": the Maximal Information Coefficient over grids by rank (MICe-Lap, [1]_). It has by far the most
          noise: prefer "mic_r" wherever a public range is known.
    mechanism : {"laplace", "geometric"}, default="laplace"
        "laplace" adds noise to the score. "geometric", for "mic_r" only, adds noise to a table of counts and estimates
        the score from it (a valid form of MICr-Geom). It strongly underestimates strong dependence and steep or wavy
        relationships, so prefer "laplace" unless n_samples times epsilon is very small.
    epsilon : float
        Privacy budget, above 0; infinity adds no noise.
    bounds : ((x_lo, x_hi), (y_lo, y_hi)), default=None
        Public range of each variable, required for "mic_r" and "mtv_r" and ignored otherwise. It must not be read from
        the data. Values outside are clipped.
    B, c : float or "auto", default="auto"
        Maximum grid size, and how many times finer than a merged partition its master partition is, as in
        :func:`mic_r`, :func:`mtv_r` and :func:`mic_e`. "auto" depends on public numbers only: values tuned for
        n_samples, epsilon and `correction` for "mic_r" (``benchmarks/results/defaults.md``); 32 and 38 for "mtv_r"; 0.6
        and 15 for "mic_e", whose noise grows with B. With ``mechanism="geometric"``, the noisy table has ``c *
        floor(sqrt(B))`` parts per side, rounded down, from 2 to 100. Ignored by rank statistics.
    correction : None or "miller-madow", default="miller-madow"
        Bias correction for "mic_r", as in :func:`mic_r`; None gives the statistic of [1]_. ``mechanism="geometric"``
        uses a different correction.
    strata : array-like of shape (n_samples,), default=None
        Stratum of each record, of the type of `categories`; for "kendall" only. The score is then the
        mean over records of the signed correlation within their stratum: the dependence that remains once the stratum
        is known. To use several variables, combine them into one label.
    categories : list or array of at least 2 labels, default=None
        Public labels of the strata, required with `strata`. They must not be read from the data. Records with any other
        label form one more stratum, and records without a label another.
    ledger : BudgetLedger, default=None
        Ledger that is charged before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise, and for "mic_e" the order of equal values, from the operating system's entropy. A seed is
        for tests only: it breaks the guarantee and warns.

    Returns
    -------
    float
        Private score in [0, 1]; with `strata` in [-1, 1], below 0 if y falls as x rises.

    Raises
    ------
    ValueError
        If an argument is invalid. Nothing is charged.
    BudgetError
        If epsilon does not fit in `ledger`. No noise is drawn.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.

    See Also
    --------
    DPMICScorer : Scores many features against one target; accepts labels, dates and missing values.
    skdpmic.correlation.PrivateCorrelation : Kendall correlations of all pairs of columns.
    mic_r, mic_e, mtv_r : The measures without privacy.

    Notes
    -----
    The noise is drawn exactly, on a grid of 2**-30 (``docs/theory/laplace.md``). For n records its scale is
    1 / epsilon times:

    ========================  =========================================  =================
    statistic                 sensitivity                                at n = 1,000
    ========================  =========================================  =================
    "mic_r"                   ``h(1 / n)``, h the binary entropy         0.011
    "mtv_r"                   ``4 (n - 1) / n**2``                       0.0040
    "kendall"                 ``4 / n``                                  0.0040
    "chatterjee"              ``3 (2 n - 5) / (n**2 - 1)``               0.0060
    "distance_correlation"    less than ``3 sqrt(10) / n``               0.0095
    "mic_e"                   about ``log2(2 n / B) B / (2 n)``          0.21
    "kendall" with strata     about ``6 / n``                            0.0060
    ========================  =========================================  =================

    Except for "mic_e" and "distance_correlation", these bounds are tight: some records attain them, for "mic_r" without
    a correction (``docs/theory``). With ``mechanism="geometric"``, the noise on each count has scale ``2 / epsilon``.

    Kendall's tau uses the divisor for distinct values, so with many ties it stays below 1. The other two rank
    statistics are means over all orders of equal values; "mic_e" puts these in random order, separately for x and y.
    Strata in which y rises with x cancel strata in which it falls: a score of 0 does not mean independence.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022.
    .. [2] M. G. Kendall, "A New Measure of Rank Correlation", Biometrika 1938.
    .. [3] S. Chatterjee, "A New Coefficient of Correlation", Journal of the American Statistical Association 2021.
    .. [4] G. J. Székely, M. L. Rizzo and N. K. Bakirov, "Measuring and Testing Dependence by Correlation of
       Distances", Annals of Statistics 2007.

    Examples
    --------
    A curve within public ranges:

    >>> import numpy as np
    >>> from skdpmic import private_score
    >>> x = np.linspace(-1, 1, 5000)
    >>> private_score(x, x**2, epsilon=10, bounds=((-1, 1), (0, 1))) > 0.9
    True

    The same curve without ranges, by ranks:

    >>> private_score(x, x**2, statistic="chatterjee", epsilon=10) > 0.9
    True
    >>> private_score(x, x**2, statistic="kendall", epsilon=10) < 0.1
    True

    Two variables that both rise with age, but move in opposite directions within each age:

    >>> age = np.repeat([20, 40, 60], 1000)
    >>> within = np.tile(np.linspace(0, 10, 1000), 3)
    >>> dose, days = age + within, age - within
    >>> private_score(dose, days, statistic="kendall", epsilon=10) > 0.3
    True
    >>> private_score(dose, days, statistic="kendall", epsilon=10, strata=age, categories=[20, 40, 60]) < -0.9
    True
    """
    check_epsilon(epsilon)
    check_ledger(ledger)
    chosen = _chosen(statistic, mechanism, correction, strata, categories)
    records = _records(x, y, chosen, bounds, strata, categories)
    release, n = release_of_scores(mechanism, epsilon, 0.0, 1), records.n_samples
    measure = release.measure(chosen, B, c, n, None)
    noise = release.mechanism(measure, Shape(n, records.domains, is_complete=True))
    public = {"n": n, "d": 1, "statistic": statistic, "release": release.publishes, "mechanism": noise.name}
    entry = entry_for("private_score", release.cost, random_state=random_state, **public)

    def draw(random_bytes):
        (score,) = release.draw(records, measure, noise, None, random_bytes)["scores_"]
        return float(score if strata is None else 2 * score - 1)

    return run(entry, draw, ledger=ledger, random_state=random_state)


def _chosen(name, mechanism, correction, strata, categories):
    """The statistic, with strata if given; a ValueError if the arguments are inconsistent."""
    statistic = statistic_named(name, correction, PAIR_STATISTICS)
    of_scores = [each.name for each in MECHANISMS.values() if not each.needs_delta and each.is_independent]
    check_mechanism(mechanism, (*of_scores, GeometricMechanism.name), statistic, delta=0)
    if (strata is None) != (categories is None):
        given = "categories" if strata is None else "strata"
        raise ValueError(f"strata and categories, their public labels, must be given together, got only {given}.")
    return statistic if strata is None else within_strata(name)


def _records(x, y, statistic, bounds, strata, categories):
    """The pair as a table of one feature. Raw data; not private."""
    x, y = check_pair(x, y, min_samples=4)
    if strata is not None:
        return TableRecords(x[None], [None], StratifiedTarget(y, read_strata(strata, categories, len(x))))
    if not statistic.needs_ranges:
        return TableRecords(x[None], [None], NumericTarget(y, None))
    if bounds is None:
        raise ValueError(f"bounds must be ((x_lo, x_hi), (y_lo, y_hi)) with statistic={statistic.name!r}, got None.")
    x_bounds, y_bounds = check_pair_bounds(bounds)
    return TableRecords(x[None], [x_bounds], NumericTarget(y, y_bounds))
