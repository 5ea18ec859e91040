"""The private score of one pair of variables, by any statistic of the registry."""

from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import NDArray

from skdpmic._utils.never_cached import never_cached
from skdpmic._utils.typing import Auto, ColumnLike, Correction, RandomState
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import entry_for
from skdpmic.privacy.composition import check_epsilon
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.release.kinds import release_of_scores
from skdpmic.release.path import run
from skdpmic.selection.scoring_plan import check_mechanism
from skdpmic.statistics.mic.noisy_tables import GeometricMechanism
from skdpmic.statistics.registry import PAIR_STATISTICS, statistic_named
from skdpmic.table.domains import check_pair_bounds
from skdpmic.table.records import PublicTable, Shape, TableRecords
from skdpmic.table.values import NumericTarget, check_pair


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
    ledger: BudgetLedger | None = None,
    random_state: RandomState = None,
) -> float:
    """Score one pair of variables by their dependence, under epsilon-differential privacy.

    Replacing one record (one entry each of `x` and `y`) changes the probability of any outcome by a factor of at most
    exp(epsilon).

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
        floor(sqrt(B))`` parts per side, rounded down, from 2 to 100. Ignored by "kendall".
    correction : None or "miller-madow", default="miller-madow"
        Bias correction for "mic_r", as in :func:`mic_r`; None gives the statistic of [1]_. ``mechanism="geometric"``
        uses a different correction.
    ledger : BudgetLedger, default=None
        Ledger that is charged before the score is computed.
    random_state : None, int or RandomState, default=None
        None draws the noise, and for "mic_e" the order of equal values, from the operating system's entropy. A seed is
        for tests only: it breaks the guarantee and warns.

    Returns
    -------
    float
        Private score in [0, 1].

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
    "mic_e"                   about ``log2(2 n / B) B / (2 n)``          0.21
    ========================  =========================================  =================

    Except for "mic_e", these bounds are tight: some records attain them, for "mic_r" without a correction
    (``docs/theory``). With ``mechanism="geometric"``, the noise on each count has scale ``2 / epsilon``.

    Kendall's tau uses the divisor for distinct values, so with many ties it stays below 1. "mic_e" puts equal values in
    random order, separately for x and y.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information
       Coefficients", ICML 2022.
    .. [2] M. G. Kendall, "A New Measure of Rank Correlation", Biometrika 1938.

    Examples
    --------
    A curve within public ranges:

    >>> import numpy as np
    >>> from skdpmic import private_score
    >>> x = np.linspace(-1, 1, 5000)
    >>> private_score(x, x**2, epsilon=10, bounds=((-1, 1), (0, 1))) > 0.9
    True

    Its halves cancel in Kendall's tau, which uses ranks and needs no ranges:

    >>> private_score(x, x**2, statistic="kendall", epsilon=10) < 0.1
    True
    """
    check_epsilon(epsilon)
    check_ledger(ledger)
    chosen = statistic_named(statistic, correction, PAIR_STATISTICS)
    of_scores = [each.name for each in MECHANISMS.values() if not each.needs_delta and each.is_independent]
    check_mechanism(mechanism, (*of_scores, GeometricMechanism.name), chosen, delta=0)
    records = _records(x, y, chosen, bounds)
    release, shape = release_of_scores(mechanism, epsilon, 0.0, 1), records.public.shape
    measure = release.measure(chosen, B, c, shape.n_samples, None)
    measure.prepare(shape)
    noise, _, by_chance = release.noise_and_chance(measure, shape, ())
    public = {"n": shape.n_samples, "d": 1, "statistic": statistic, "mechanism": noise.name}
    entry = entry_for("private_score", release.cost, release=release.publishes, random_state=random_state, **public)

    def draw(random_bytes):
        (score,) = release.draw(records, measure, noise, by_chance, None, random_bytes)["scores_"]
        return float(score)

    return run(entry, draw, ledger=ledger, random_state=random_state)


def _records(x, y, statistic, bounds):
    """The pair as a table of one feature. Raw data; not private."""
    x, y = check_pair(x, y, min_samples=4)
    if bounds is None and statistic.needs_ranges:
        raise ValueError(f"bounds must be ((x_lo, x_hi), (y_lo, y_hi)) with statistic={statistic.name!r}, got None.")
    x_bounds, y_bounds = check_pair_bounds(bounds) if statistic.needs_ranges else (None, None)
    shape = Shape(len(x), [x_bounds], is_complete=True)
    return TableRecords(PublicTable(shape), x[None], NumericTarget(y, y_bounds))
