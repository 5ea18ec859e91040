"""The private score MTVr of one pair of variables."""

from skdpmic._utils.arguments import check_pair, check_pair_bounds
from skdpmic._utils.no_cache import never_cached
from skdpmic._utils.typing import Auto, ColumnLike, FromData, RandomState, Ranges
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.pairs.one_score import laplace_noise, pay, release
from skdpmic.privacy.parameters import check_epsilon
from skdpmic.statistics.mtv.counts import counts_scorer
from skdpmic.statistics.mtv.defaults import resolve_mtv
from skdpmic.statistics.mtv.family import numeric_family
from skdpmic.statistics.mtv.mtv_r import AgainstNumbers
from skdpmic.statistics.mtv.sensitivity import mtv_r_sensitivity


@never_cached
def mtv_r_laplace(
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
    """MTVr of one pair under epsilon-differential privacy, by the Laplace mechanism.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record per index; at least 4. Those outside `bounds` are clipped. y plays the part of the
        target: the scores of x with y and of y with x differ.
    epsilon : float
        Privacy budget, above 0; infinity gives MTVr without noise.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
        The public range of each variable. It must not be read off the data.
    B, c : float or "auto", default="auto"
        As in :func:`mtv_r`; "auto" takes its defaults, 32 and 38.
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
    mtv_r : The same without privacy.
    mic_r_laplace : The private Maximal Information Coefficient, with more noise.

    Notes
    -----
    The noise has scale ``4 (n - 1) / (n**2 epsilon)``, a third of that of :func:`mic_r_laplace` at n = 1,000, and a
    fifth at a million (``docs/theory/mtv_r.md``). It is drawn exactly, on a grid of 2**-30
    (``docs/theory/laplace.md``).

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mtv_r_laplace
    >>> x = np.linspace(0, 1, 5000)
    >>> mtv_r_laplace(x, x**2, epsilon=1, bounds=((0, 1), (0, 1))) > 0.9
    True
    """
    x, y = check_pair(x, y, min_samples=4)
    x_bounds, y_bounds = check_pair_bounds(bounds)
    check_epsilon(epsilon)
    check_ledger(ledger)
    n = len(x)
    family = numeric_family(*resolve_mtv(B, c, n, epsilon))
    scorer = counts_scorer(n, family)  # kept for the score; an error, if n is too large for it
    mechanism = laplace_noise(epsilon, mtv_r_sensitivity(n), scorer.rounding_error)
    source = pay("mtv_r_laplace", epsilon, n, ledger, random_state)

    return release(AgainstNumbers(y, y_bounds, family).score(x, x_bounds), mechanism, source)
