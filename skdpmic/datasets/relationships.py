"""21 functional relationships at nine noise levels each, and the population value MIC* of all 189."""

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from sklearn.utils import check_random_state

from skdpmic._utils.texts import require
from skdpmic._utils.typing import Floats, RandomState

R2_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

_pi = np.pi


def _cubic(x):
    return 10 * (x - 0.6) ** 3 + 2 * x**2 + (1.5 - 3 * x)


RELATIONSHIPS = {
    "F1": lambda x: 0.2 * np.sin(12 * x - 6) + 1.1 * (x - 1) + 1,
    "F2": lambda x: 0.15 * np.sin(11 * _pi * x) + x + 0.05,
    "F3": lambda x: 0.1 * np.sin(48 * x) + 2 * x - 0.5,
    "F4": lambda x: 0.2 * np.sin(48 * x) + 2 * x - 0.5,
    "F5": lambda x: 0.4 * np.cos(7 * _pi * x) + 0.5,
    "F6": lambda x: 0.4 * np.cos(14 * _pi * x) + 0.5,
    "F7": _cubic,
    "F8": lambda x: 4 * _cubic(x) - 1.4,
    "F9": lambda x: np.where(x <= 0.99, x / 99, 99 * x - 98),
    "F10": lambda x: 2.0**x - 1,
    "F11": lambda x: 8.0 ** (x - 0.3) - 1,
    "F12": lambda x: 1.0 * x,
    "F13": lambda x: 4 * (x - 0.5) ** 2 + 0.1,
    "F14": lambda x: 0.4 * np.sin(9 * _pi * x) + 0.5,
    "F15": lambda x: 0.4 * np.sin(8 * _pi * x) + 0.5,
    "F16": lambda x: 0.4 * np.sin(16 * _pi * x) + 0.5,
    "F17": lambda x: np.clip(50 * (x - 0.5) + 0.5, 0.05, 0.95),
    "F18": lambda x: 0.4 * np.cos(5 * _pi * x * (1 + x)) + 0.5,
    "F19": lambda x: 0.4 * np.sin(6 * _pi * x * (1 + x)) + 0.5,
    "F20": lambda x: np.where(x <= 0.0528, 18 * x, np.where(x >= 0.1, (1 - x) / 9, 1.9 - 18 * x)),
    "F21": lambda x: np.where(x <= 0.0051, 190 * x, np.where(x >= 0.01, (1 - x) / 99, 1.99 - 198 * x)),
}

# --- Public functions ---------------------------------------------------------------------------------------------


def make_relationship(
    name: str, *, n_samples: int = 100, r2: float | None = None, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    """Draw a sample from one of the 21 functional relationships.

    Parameters
    ----------
    name : str
        ``"F1"`` ... ``"F21"``, a key of `RELATIONSHIPS`.
    n_samples : int, default=100
    r2 : float, default=None
        Noise level, one of `R2_LEVELS`; the sample is then drawn from :func:`skdpmic.datasets.relationship`. None means
        no noise: points uniform by arc length on the part of the graph within the unit square.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    x, y : ndarray of shape (n_samples,)
        In [0, 1].

    See Also
    --------
    load_mic_star : Returns the value that a MIC of the sample estimates.

    Examples
    --------
    >>> from skdpmic import mic_r
    >>> from skdpmic.datasets import make_relationship
    >>> x, y = make_relationship("F13", n_samples=500, r2=0.9, random_state=0)
    >>> x.shape, y.shape
    ((500,), (500,))
    >>> score = mic_r(x, y, bounds=((0, 1), (0, 1)))
    """
    if r2 is not None:
        return tuple(relationship(name, r2).sample(n_samples, random_state).T)
    _check_name(name)
    return tuple(_along_graph(name, check_random_state(random_state).random_sample(n_samples)).T)


def relationship(name: str, r2: float) -> "GaussianMixture":
    """Return the joint distribution of one of the 21 functional relationships at one noise level.

    It is a mixture of 100 round Gaussians, restricted to the unit square, with centres evenly spaced along the graph
    and the variance for which R² is `r2`.

    Parameters
    ----------
    name : str
        ``"F1"`` ... ``"F21"``, a key of `RELATIONSHIPS`.
    r2 : float
        One of `R2_LEVELS`.

    Returns
    -------
    GaussianMixture

    Raises
    ------
    ValueError
        If `name` or `r2` is invalid.

    Notes
    -----
    The relationships are F1 ... F21 of Appendix E.2.1 of [1]_, with these choices for details that it leaves open:

    - The linear part of F3 and F4 is ``2x - 0.5`` as in the code published with [1]_; ``2(x - 0.05)`` as printed would
      put half of the graph above 1.
    - F1 ... F4, F7, F8, F11 and F13 still leave [0, 1] for some x in [0, 1]. Centres lie only on the part of the graph
      within the unit square; F is not changed.
    - Even spacing is by arc length, both ends included, so that steep parts also have centres. The pieces of F20 and
      F21 as printed are 0.0008 and 0.011 apart; these jumps count as vertical parts.
    - R² is the squared Pearson correlation of F(X) and Y for (X, Y) from the distribution returned, in which X is also
      noisy and the unit square truncates the noise, following [2]_. It is computed by quadrature, and solved for the
      standard deviation.

    References
    ----------
    .. [1] J. Lazarsfeld, A. Johnson and E. Adeniran, "Differentially Private Maximal Information Coefficients",
       ICML 2022; Appendix E.2.1.
    .. [2] D. N. Reshef, Y. A. Reshef, P. C. Sabeti and M. Mitzenmacher, "An Empirical Study of the Maximal and Total
       Information Coefficients and Leading Measures of Dependence", Annals of Applied Statistics 12, 2018.

    Examples
    --------
    >>> from skdpmic.datasets import relationship
    >>> mixture = relationship("F12", 0.5)
    >>> mixture.points.shape
    (100, 2)
    >>> mixture.sample(3, random_state=0).shape
    (3, 2)
    """
    _check_name(name)
    level = round(float(r2), 6)
    require(level in R2_LEVELS, f"r2 must be one of {R2_LEVELS}", r2)
    return GaussianMixture(generating_points(name), _shipped()[name, level][0])


def load_mic_star() -> dict[tuple[str, float], float]:
    """Return MIC* of all 189 distributions of :func:`skdpmic.datasets.relationship`.

    The values were computed by ``benchmarks/make_mic_star.py`` of commit 64ec2246.

    Returns
    -------
    dict
        MIC* to six decimals, by (name, r2). Master partitions of twice the size change it by at most 0.004.

    Examples
    --------
    >>> from skdpmic.datasets import load_mic_star
    >>> values = load_mic_star()
    >>> len(values)
    189
    >>> values["F12", 0.9] > values["F12", 0.1]
    True
    """
    return {key: mic_star for key, (_, mic_star) in _shipped().items()}


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """A mixture of round bivariate Gaussians of equal weight, restricted to the unit square.

    Parameters
    ----------
    points : ndarray of shape (n_components, 2)
        Centres of the Gaussians.
    sigma : float, above 0
        Standard deviation in x and in y.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.datasets import GaussianMixture
    >>> mixture = GaussianMixture(points=np.array([[0.2, 0.2], [0.8, 0.8]]), sigma=0.05)
    >>> mixture.sample(100, random_state=0).shape
    (100, 2)
    """

    points: np.ndarray
    sigma: float

    def sample(self, n_samples: int, random_state: RandomState = None) -> Floats:
        """Draw independent samples; those outside the unit square are rejected.

        Parameters
        ----------
        n_samples : int
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        source = check_random_state(random_state)
        kept = np.empty((0, 2))
        while len(kept) < n_samples:
            centers = self.points[source.randint(len(self.points), size=n_samples)]
            drawn = centers + self.sigma * source.standard_normal((n_samples, 2))
            kept = np.concatenate([kept, drawn[((drawn >= 0) & (drawn <= 1)).all(axis=1)]])
        return kept[:n_samples]


# --- Points along a graph -----------------------------------------------------------------------------------------


@lru_cache
def generating_points(name, n_points=100):
    """Points evenly spaced by arc length along the part of the graph within the unit square, both ends included.

    Returns
    -------
    ndarray of shape (n_points, 2)
        Read-only.
    """
    points = _along_graph(name, np.linspace(0, 1, n_points))
    points.flags.writeable = False
    return points


def _along_graph(name, fractions, n_steps=1_000_000):
    """Points of the graph at the given fractions of its length within the unit square: (n_points, 2)."""
    function = RELATIONSHIPS[name]
    x = np.linspace(0, 1, n_steps + 1)
    y = function(x)
    inside = (y >= 0) & (y <= 1)
    visible = inside[:-1] & inside[1:]
    starts = x[:-1][visible]
    lengths = np.hypot(np.diff(x), np.diff(y))[visible]
    ends = np.cumsum(lengths)

    targets = fractions * ends[-1]
    step = np.searchsorted(ends, targets)
    chosen = starts[step] + (1 - (ends[step] - targets) / lengths[step]) / n_steps
    return np.column_stack([chosen, function(chosen)])


# --- The shipped values -------------------------------------------------------------------------------------------


@lru_cache
def _shipped():
    """The sigma and MIC* of each row of ``mic_star.csv``, by (name, r2)."""
    with (files("skdpmic.datasets") / "mic_star.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {(row["name"], float(row["r2"])): (float(row["sigma"]), float(row["mic_star"])) for row in rows}


def _check_name(name):
    require(name in RELATIONSHIPS, "name must be 'F1' ... 'F21'", name)
