"""The table of a plan: a row for each release that is possible."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from skdpmic._utils.results import dataframe


class PlannedRelease(NamedTuple):
    """One possible release of a table, planned before there is one.

    Attributes
    ----------
    release : {"scores", "names", "summary"}
    mechanism : {"laplace", "gaussian", "k-norm", "geometric", "one-shot", "permute-and-flip", "exponential"}
        The last three are for ``release="names"``: without `delta`, without it by joint scores, with `delta`.
    statistic : str
        "shares" of a summary.
    epsilon, delta : float
        What is spent.
    n_samples, n_features : int
    k : int or None
    error : float
        See :func:`plan_release`; NaN with "geometric", whose noise is on counts.
    noise_scale : float
        What a fitted estimator has as `noise_scale_`; of a summary, as a share of the records.
    found : float
        Share of the best k features that is found, if scores fall as is assumed; NaN without an assumption. See
        :func:`plan_release`.
    epsilon_of_target : float
        The part of epsilon that is spent on the target itself, before features are scored; 0 if nothing is learnt.
    rho : float
        What a ledger with composition="zcdp" adds up, in which releases made of many parts cost less.
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
    epsilon_of_target: float
    rho: float


@dataclass(frozen=True, repr=False)
class ReleasePlan:
    """A table of releases to choose from, as :func:`plan_release` makes it.

    It has a length, iterating over it gives its rows, and ``plan[0]`` is the first of them.

    Parameters
    ----------
    rows : tuple of PlannedRelease
    sought : {"epsilon", "n_samples", "error"}
        What was left out, and is found in each row.
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
        """The table as a dataframe.

        Returns
        -------
        pandas.DataFrame
            A row for each release.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return dataframe(self.rows, _NAMES)

    def __repr__(self):
        names, cells = self._shown()
        widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if name in _WORDS else cell.rjust(width)
                for name, cell, width in zip(names, row, widths, strict=True)
            ).rstrip()
            for row in (names, *cells)
        ]
        return "\n".join([self._caption(), *lines])

    def _repr_html_(self):
        names, cells = self._shown()
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        caption = f"<caption>{html.escape(self._caption())}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _caption(self):
        """What all rows have in common."""
        common = {name: cells[0] for name, cells in self._columns() if not _tells_apart(name, cells, self.sought)}
        return f"{self.sought} of each release, with {', '.join(f'{k}={v}' for k, v in common.items() if v != _NONE)}"

    def _shown(self):
        """Names and cells of the columns in which rows differ."""
        columns = [(name, cells) for name, cells in self._columns() if _tells_apart(name, cells, self.sought)]
        return [name for name, _ in columns], list(zip(*(cells for _, cells in columns), strict=True))

    def _columns(self):
        """Names of all columns that are printed, each with its cells."""
        for name in _NAMES[:-1]:  # not rho, which is for computing with
            yield name, [_cell(name, getattr(row, name)) for row in self.rows]


_NAMES = PlannedRelease._fields
_WORDS = ("release", "mechanism", "statistic")
_NONE = "-"


def _tells_apart(name, cells, sought):
    """Whether a column is shown, rather than stated once for all rows."""
    return name in (*_WORDS, sought, "noise_scale") or len(set(cells)) > 1


def _cell(name, value):
    if value is None or value != value:
        return _NONE
    if name == "found":
        return f"{value:.2f}"
    if isinstance(value, float):
        return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
    return str(value) if isinstance(value, str) else f"{value:,}"
