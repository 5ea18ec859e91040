"""MIC*: the value that MIC, MICe and MICr estimate, for a mixture of round Gaussians in a rectangle."""

import numpy as np
from scipy.special import ndtr

from skdpmic._utils.jit import jit

UNIT_SQUARE = ((0.0, 1.0), (0.0, 1.0))


def mic_star(centers, sigma, *, weights=None, bounds=UNIT_SQUARE, n_master=260, n_fixed=360):
    """MIC* of a mixture of round bivariate Gaussians, restricted to a rectangle.

    One axis is cut into `n_fixed` parts of equal mass, the other into a master partition of `n_master` parts of equal
    mass whose neighbouring parts are merged into the k parts that are most informative about the first; MIC* is the
    largest ``I / log2 k`` over both orientations and all k. It is approximate only in that the two master partitions
    are finite: all probabilities come from the normal distribution function, none from samples.

    Parameters
    ----------
    centers : array-like of shape (n_components, 2)
        Means (x, y) of the components.
    sigma : float, above 0
        Standard deviation of every component in x and in y; x and y are independent within a component.
        Very small values, down to about 1e-9, stand for a relationship without noise.
    weights : array-like of shape (n_components,), default=None
        Weights of the components before the restriction, up to a factor; None for equal ones.
    bounds : ((x_lo, x_hi), (y_lo, y_hi)), default=((0, 1), (0, 1))
        The rectangle. Mass outside is discarded and the rest renormalised over the whole mixture, which is the
        distribution of samples from the mixture when those outside are rejected. Infinite bounds are allowed.
    n_master : int, default=260
        Parts of the master partition of the axis that is optimised, at least 2.
    n_fixed : int, default=360
        Parts of the partition of the other axis, at least 2.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside what is allowed above, or no mass lies within `bounds`.

    See Also
    --------
    skdpmic.mic_r : An estimate of MIC* from a sample.

    Notes
    -----
    The method is that of Section 3.5 of [1]_ with the sizes 260 and 360 of Appendix E.2.2 of [2]_. There, k grows
    until a larger one cannot help; here, dynamic programming gives the best merge for all k at once.

    References
    ----------
    .. [1] Y. A. Reshef, D. N. Reshef, H. K. Finucane, P. C. Sabeti and M. Mitzenmacher, "Measuring Dependence
       Powerfully and Equitably", JMLR 17, 2016; Section 3.5.
    .. [2] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information Coefficients",
       ICML 2022; Definition 2.2 and Appendix E.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.population import mic_star
    >>> line = np.column_stack([np.linspace(0, 1, 100)] * 2)
    >>> round(mic_star(line, sigma=1e-6), 3)
    1.0
    >>> round(mic_star(line, sigma=0.1), 3)
    0.576
    >>> round(mic_star([[0.5, 0.5]], sigma=0.1), 3)
    0.0
    """
    centers, weights = _check_mixture(centers, sigma, weights)
    if min(n_master, n_fixed) < 2:
        raise ValueError(f"n_master and n_fixed must be at least 2, got {n_master} and {n_fixed}.")
    inside = _mass_inside(centers, sigma, bounds)
    shares = weights * inside.prod(axis=0)
    if not shares.sum() > 0:
        raise ValueError("The mixture has no mass within bounds.")
    axes = [_Axis(centers[:, i], sigma, bounds[i], inside[i], shares / shares.sum()) for i in (0, 1)]
    best = max(_largest_entry(free, fixed, n_master, n_fixed) for free, fixed in (axes, axes[::-1]))
    return float(np.clip(best, 0.0, 1.0))


def _check_mixture(centers, sigma, weights):
    centers = np.asarray(centers, dtype=np.float64)
    if centers.ndim != 2 or centers.shape[1] != 2 or not np.isfinite(centers).all():
        raise ValueError(f"centers must be finite and of shape (n_components, 2), got shape {centers.shape}.")
    if not 0 < sigma < np.inf:
        raise ValueError(f"sigma must be above 0 and finite, got {sigma!r}.")
    weights = np.ones(len(centers)) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.shape != (len(centers),) or not (weights >= 0).all():
        raise ValueError("weights must be one number >= 0 for each component.")
    return centers, weights


def _mass_inside(centers, sigma, bounds):
    """Mass of each component between the bounds of each axis: shape (2, n_components)."""
    return np.array(
        [
            ndtr((hi - means) / sigma) - ndtr((lo - means) / sigma)
            for means, (lo, hi) in zip(centers.T, bounds, strict=True)
        ]
    )


def _largest_entry(free, fixed, n_master, n_fixed):
    """Largest I / log2 min(k, n_fixed) over the merges of the parts of `free` into k, against the parts of `fixed`."""
    k = np.arange(2, n_master + 1)
    probabilities = (free.shares[:, np.newaxis] * free.part_masses(n_master)).T @ fixed.part_masses(n_fixed)
    information = best_information(probabilities, n_master)
    return (information / np.log2(np.minimum(k, n_fixed))).max()


class _Axis:
    """One coordinate of the restricted mixture: normal components cut off at the bounds."""

    def __init__(self, means, sigma, bounds, inside, shares):
        self._means = means
        self._sigma = sigma
        self._inside = inside  # mass of each component between the bounds
        self._bounds = bounds
        self.shares = shares  # (n_components,) of the restricted mixture

    def part_masses(self, size):
        """Masses, in each component alone, of the parts of equal mass in the mixture: (n_components, size)."""
        return np.diff(self._distribution_functions(self._equal_mass_edges(size)), axis=1)

    def _equal_mass_edges(self, size):
        """Edges of the partition into `size` parts of equal mass, bounds included, by bisection."""
        targets = np.arange(1, size) / size
        first, last = self._range()
        lo, hi = np.full(size - 1, first), np.full(size - 1, last)
        for _ in range(80):  # more halvings than a float64 has digits
            middle = (lo + hi) / 2
            below = self.shares @ self._distribution_functions(middle) < targets
            lo, hi = np.where(below, middle, lo), np.where(below, hi, middle)
        return np.concatenate([[first], hi, [last]])

    def _range(self):
        """The bounds, with infinite ones replaced by points beyond which there is no mass."""
        lo, hi = self._bounds
        reach = 40 * self._sigma
        return max(lo, self._means.min() - reach), min(hi, self._means.max() + reach)

    def _distribution_functions(self, values):
        """P(value <= v) in each component, given that it lies between the bounds: (n_components, n_values)."""
        start = ndtr((self._bounds[0] - self._means) / self._sigma)[:, np.newaxis]
        mass = ndtr((values - self._means[:, np.newaxis]) / self._sigma) - start
        with np.errstate(invalid="ignore"):
            return np.where(self.shares[:, np.newaxis] > 0, mass / self._inside[:, np.newaxis], 0.0)


def best_information(probabilities, k_max):
    """Mutual information in bits of the best merge of the rows into k parts, for k = 2 ... k_max, columns fixed.

    As in ``optimize_axis.py``, with probabilities in the place of counts: n = 1 and g(a) = a log2 a.
    """
    n_rows, n_columns = probabilities.shape
    cumulative = np.zeros((n_rows + 1, n_columns))
    np.cumsum(probabilities, axis=0, out=cumulative[1:])
    best = np.full((k_max + 1, n_rows + 1), -np.inf)
    _merge(cumulative, best, np.empty(n_rows))
    constant = _g(cumulative[-1].sum()) - _g(cumulative[-1]).sum()
    return np.maximum.accumulate(best[1:, n_rows])[1:] + constant


def _g(p):
    return p * np.log2(np.where(p > 0, p, 1.0))


@jit
def _merge(cumulative, best, weight):
    """Fill in ``best[k, t]``, the largest weight of the first t rows in k segments; 0 < k <= t, `weight` is scratch.

    ``best[k, t] = max over s of best[k - 1, s] + weight[s]``, where ``weight[s] = sum_j g(p_j) - g(sum_j p_j)`` belongs
    to the segment of the rows s ... t - 1.
    """
    for t in range(1, cumulative.shape[0]):
        for s in range(t):
            total, information = 0.0, 0.0
            for j in range(cumulative.shape[1]):
                p = cumulative[t, j] - cumulative[s, j]
                total += p
                if p > 0.0:
                    information += p * np.log2(p)
            weight[s] = information - total * np.log2(total) if total > 0.0 else information
        best[1, t] = weight[0]
        for k in range(2, min(len(best), t + 1)):
            largest = -np.inf
            for s in range(k - 1, t):
                largest = max(largest, best[k - 1, s] + weight[s])
            best[k, t] = largest
