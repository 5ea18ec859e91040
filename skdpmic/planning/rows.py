"""The table of a plan: one row per possible release, and the numbers that a search for an answer tries."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from skdpmic._utils.dataframes import dataframe
from skdpmic._utils.texts import aligned, html_rows, in_html, wrapped
from skdpmic.privacy.composition import round_up


class PlannedRelease(NamedTuple):
    """One possible release of a table, planned before the table exists.

    Attributes
    ----------
    release : {"scores", "names", "summary", "model"}
    mechanism : {"laplace", "gaussian", "k-norm", "geometric", "one-shot", "permute-and-flip", "exponential"}
        The last three are for ``release="names"``: without `delta`, with joint scores and without `delta`, with
        `delta`. So is "k-norm", for many of the features.
    statistic : str
        "shares" for a summary, "two-way" or "scorecard" for a model.
    epsilon, delta : float
        Privacy cost.
    n_samples, n_features : int
    k : int or None
    error : float
        As in :func:`plan_release`; NaN for scores from "geometric", whose noise is on counts. For a model, the
        half-width of a 95% interval for a count, as a share of the records.
    noise_scale : float
        `noise_scale_` of a fitted estimator; for a summary, as a share of the records.
    found : float
        Expected share of the best k features found, beyond chance, if scores fall as assumed; NaN without an
        assumption. See :func:`plan_release`.
    tolerance : float
        How far the noise-free score of a feature that counts as found may be below that of the last of the best k.
    epsilon_of_target : float
        Part of epsilon spent on the target itself, before features are scored; 0 if nothing is learnt.
    rho : float
        Charge of a ledger with composition="zcdp", in which releases of many parts cost less.

    Examples
    --------
    >>> from skdpmic import plan_release
    >>> row = plan_release(n_samples=5000, n_features=100, k=5, error=0.1)[0]
    >>> row.release, row.mechanism, row.statistic, row.epsilon
    ('names', 'one-shot', 'mtv_r', 0.141)
    """

    release: str
    mechanism: str
    statistic: str
    epsilon: float
    delta: float
    n_samples: int
    n_features: int
    k: int | None
    error: float
    noise_scale: float
    found: float
    tolerance: float
    epsilon_of_target: float
    rho: float


def row_of(by, mechanism, **further):
    """A row with the cost of a release."""
    epsilon, delta, *_ = by.cost
    rho = by.cost.in_zcdp
    costs = {"epsilon": epsilon, "delta": delta, "rho": rho if rho == math.inf else round_up(rho, Fraction)}
    of_scores = {"k": None, "found": math.nan, "tolerance": math.nan, "epsilon_of_target": 0.0}
    return PlannedRelease(mechanism=mechanism.name, **costs, **of_scores | further)


@dataclass(frozen=True, repr=False)
class ReleasePlan:
    """A table of possible releases, returned by :func:`plan_release`.

    It is a sequence of rows: it has a length, can be iterated over, and ``plan[0]`` is the first row.

    Parameters
    ----------
    rows : tuple of PlannedRelease
    sought : {"epsilon", "n_samples", "error"}
        The number that was left out, and is computed in each row.

    Examples
    --------
    >>> from skdpmic import plan_release
    >>> plan = plan_release(n_samples=5000, n_features=100, k=5, error=0.1)
    >>> plan.sought, plan[0].epsilon <= plan[1].epsilon
    ('epsilon', True)
    >>> len(plan.to_frame()) == len(plan)
    True
    """

    rows: tuple
    sought: str

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[PlannedRelease]:
        return iter(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def to_frame(self) -> Any:
        """Return the table as a dataframe.

        Returns
        -------
        pandas.DataFrame
            One row per release.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return dataframe(self.rows, _NAMES)

    def __repr__(self):
        caption, names, cells = self._shown()
        return f"{wrapped(caption)}\n{aligned(names, cells, to_the_right=set(names).difference(_WORDS))}"

    def _repr_html_(self):
        caption, names, cells = self._shown()
        return f"<p>{in_html(caption)}</p>{html_rows(names, cells)}"

    def _shown(self):
        """The values that all rows share, as a caption; names and cells of the columns that differ between rows."""
        columns = {"release": [_published(row) for row in self.rows]}
        columns |= {_PRINTED[name]: [_cell(name, getattr(row, name)) for row in self.rows] for name in _PRINTED}
        always = (*_WORDS, self.sought, "noise")
        shown = {name: cells for name, cells in columns.items() if name in always or len(set(cells)) > 1}
        common = [f"{name}={cells[0]}" for name, cells in columns.items() if name not in shown and cells[0] != _NONE]
        caption = f"{self.sought} of each release, with {', '.join(common)}"
        return caption, list(shown), list(zip(*shown.values(), strict=True))


_NAMES = PlannedRelease._fields
_PRINTED = {name: name for name in _NAMES[1:-2] if name != "k"} | {"noise_scale": "noise"}
_WORDS = ("release", "mechanism", "statistic")
_NONE = "-"


def _published(row):
    """What is published, such as "5 names of 18"."""
    number = f"{row.k:,} " if row.release == "names" else ""
    return f"{number}{row.release} of {row.n_features:,}"


def _cell(name, value):
    if value is None or value != value:
        return _NONE
    if name == "found":
        return f"{value:.2f}"
    if isinstance(value, float):
        return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
    return value if isinstance(value, str) else f"{value:,}"


# --- Possible answers ------------------------------------------------------------------------------------------------


_UPWARDS = Context(prec=3, rounding=ROUND_CEILING)


@cache
def epsilons():
    """All possible answers for epsilon, ascending."""
    return [float(f"{digits}e{power}") for power in range(-8, 5) for digits in range(100, 1000)]


@cache
def sizes():
    """All possible answers for the number of records, ascending."""
    return [*range(4, 1000), *(digits * 10**power for power in range(1, 7) for digits in range(100, 1000)), 10**9]


def least(values, meets):
    """The smallest of ascending `values` that meets the request, as do all above it; None if none does."""
    first = bisect_left(values, True, key=meets)
    return values[first] if first < len(values) else None


def answers(request, meets):
    """Epsilon and the number of records: those of the request, or the least that meet it; None if none do."""
    epsilon, n_samples = request.epsilon, request.n_samples
    if epsilon is None:
        epsilon = least(epsilons(), lambda epsilon: meets(epsilon, n_samples))
    elif n_samples is None:
        n_samples = least(sizes(), lambda n_samples: meets(epsilon, n_samples))
    return None if None in (epsilon, n_samples) else (epsilon, n_samples)


def rounded_up(number):
    """Rounded up to three digits."""
    return float(_UPWARDS.create_decimal(Decimal(number)))
