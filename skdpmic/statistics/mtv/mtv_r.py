"""MTVr: the total variation from independence of two variables, over grids that depend on public numbers only.

For a grid with cells p_ij and margins p_i, q_j, the total variation is TV = (sum of |p_ij - p_i q_j|) / 2. MTVr is the
largest (TV - o) / nu over a family of grids, clipped to [0, 1]. With m the smaller number of parts, nu is 1/2 for m = 2
and 3/4 above; o is a public offset that corrects the bias from chance.
"""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from skdpmic._utils.texts import require
from skdpmic._utils.typing import ColumnLike
from skdpmic.statistics.grids import check_c, grid_size
from skdpmic.statistics.mtv.statistic import MtvRGrids
from skdpmic.table.domains import NUMBERS, both_of, domain_of
from skdpmic.table.values import NumericTarget, check_pair


def mtv_r(
    x: ColumnLike,
    y: ColumnLike,
    *,
    bounds: Sequence[Any] | NDArray[Any],
    B: float = 32,
    c: float = 38,
    target_shares: ColumnLike | None = None,
) -> float:
    """Compute MTVr, the largest total variation from independence over grids of equal parts. Not private.

    The range of y is cut in two in 13 public ways. For each of these, neighbouring parts of a fine equipartition of x
    are merged into the k parts that depend most on the cut. The score is twice the largest total variation between the
    shares of records in the cells and those of independent variables with the same margins, minus a public amount that
    corrects the bias from chance.

    Parameters
    ----------
    x, y : array-like of shape (n_samples,)
        Real numbers; those outside `bounds` are clipped. y is the target: mtv_r(x, y) and mtv_r(y, x) differ.
    bounds : ((x_lo, x_hi), (y_lo, y_hi))
        Public range of each variable, or ``(lower, upper, "log")``, three or more increasing numbers or a range of
        integers, as in :class:`DPMICScorer`.
    B : float, default=32
        Maximum grid size: a number of cells >= 4 (need not be an integer), or an exponent in (0, 1) for ``n_samples **
        B`` cells, but at least 4 and at most 10,000. A number is limited as in :func:`mic_r`. The cuts of x
        weigh at most B - 2 in all (see Notes).
    c : float, default=38
        How many times finer than the merged partition its master partition is, which has at most 10,000 parts; above 0.
        A range that is much too wide needs a larger c.
    target_shares : array-like of shape (2,), (4,) or (8,), default=None
        Public distribution of y: the share of the records in each half, quarter or eighth of its range; all
        above 0, with a sum of 1. Cuts of y whose shares follow from these are measured against them, and the others
        count half, so that one record changes the score by half as much.

    Returns
    -------
    float
        Score in [0, 1]: about ``2 / sqrt(n_samples)`` for independent variables; 1 for a noiseless relationship that
        the grids resolve, or approaching 1 as the number of samples grows.

    Raises
    ------
    ValueError
        If an argument is invalid.

    See Also
    --------
    private_score : Scores with differential privacy.
    mic_r : Uses mutual information instead of total variation, and other grids.

    Notes
    -----
    For a division of y with shares q and 1 - q and merged parts of x, half of the sum of ``|p_ij - p_i q_j|`` is the
    total variation, at most 1/2. From it, ``0.75 * (sqrt(w * (i + 2) / 4) - 1) / sqrt(n_samples)`` is subtracted, where
    i is the number of intervals of the cut, and w the weight of the cuts between the merged parts: 1 in the middle of
    the range, 3/2 at the quarters, 2 elsewhere. The sensitivity of the score does not depend on the grids
    (``docs/theory/mtv_r.md``).

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import mtv_r
    >>> x = np.linspace(0, 1, 500)
    >>> mtv_r(x, x**3, bounds=((0, 1), (0, 1))) > 0.99
    True
    >>> mtv_r(x, np.cos(1000 * x**2), bounds=((0, 1), (-1, 1))) < 0.2
    True
    """
    x, y = check_pair(x, y)
    of_x, of_y = map(domain_of, both_of(bounds), ("bounds of x", "bounds of y"))
    require(of_x.of == of_y.of == NUMBERS, "bounds must be of numbers", bounds)
    B = grid_size(B, len(x))
    check_c(c)
    grids = MtvRGrids(B, c, None)
    if target_shares is not None:
        grids = grids.with_target_shares(target_shares)
    target = NumericTarget(of_y.encode(y), of_y.encoded)  # type: ignore[call-arg]  # whose n_classes is no field
    return grids.scorer(target, None).score(of_x.encode(x), of_x.encoded)
