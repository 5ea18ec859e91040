"""A private score of one pair of variables."""

import numpy as np

from skdpmic.defaults import default_B, default_c
from skdpmic.mic.arguments import check_B, check_c, check_pair, check_pair_bounds
from skdpmic.mic.statistics import ContinuousTarget, grid_size
from skdpmic.privacy.arguments import check_epsilon, warn_of_seed
from skdpmic.privacy.ledger import check_ledger
from skdpmic.privacy.mechanisms import LaplaceMechanism, grid_sensitivity
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.sensitivity import mic_r_sensitivity


def mic_r_laplace(x, y, *, epsilon, bounds, B="auto", c="auto", ledger=None, random_state=None):
    """MICr of one pair under epsilon-differential privacy, by the Laplace mechanism (MICr-Lap).

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers, one record an index; at least 4. Those outside `bounds` are clipped.
    epsilon : float
        Privacy budget, above 0; infinity gives MICr without noise.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
        The public range of each variable. It must not be read off the data.
    B, c : float or "auto", default="auto"
        As in :func:`mic_r`; "auto" takes the values for n_samples and epsilon from Table 2 of [1]_.
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
    The noise has scale ``h(1/n) / epsilon``, a quarter of that of [1]_: the sensitivity is exact
    (``docs/theory/sensitivity.md``). It is drawn exactly, on a grid of 2**-30 (``docs/theory/laplace.md``).

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
    check_ledger(ledger)
    B, c = resolve_B(B, len(x), epsilon), resolve_c(c)
    if random_state is not None:
        warn_of_seed(stacklevel=2)
    if ledger is not None:
        ledger.charge("mic_r_laplace", epsilon, n=len(x), d=1)

    target = ContinuousTarget(y, y_bounds, B, c)
    score = target.score(x, x_bounds)
    steps = grid_sensitivity(mic_r_sensitivity(len(x)), target.rounding_error)
    mechanism = LaplaceMechanism.for_budget(epsilon, 1, steps)
    released, _ = mechanism.release(np.array([score]), entropy_source(random_state))
    return float(released[0])


def resolve_B(B, n, epsilon):
    """The maximum grid size as a number, from what the user gave."""
    if isinstance(B, str) and B == "auto":
        return default_B(n, epsilon)
    check_B(B)
    return grid_size(B, n)


def resolve_c(c):
    """c as a number, from what the user gave."""
    if isinstance(c, str) and c == "auto":
        return default_c()
    check_c(c)
    return float(c)
