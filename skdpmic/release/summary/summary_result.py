"""The result of a private summary: noisy shares, intervals and suspicious findings."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from skdpmic._utils.results import dataframe
from skdpmic._utils.summaries import ResultColumn, Summary, as_html, why_broken
from skdpmic._utils.texts import budget, escaped
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.release.summary.cells import SummaryCells
from skdpmic.release.summary.suspicions import suspicions, written

FLAG, PART = "flag", "part"


@dataclass(frozen=True)
class ColumnShares:
    """Noisy shares of the values of one column.

    Parameters
    ----------
    name : str
    cells : SummaryCells
        Public cells of the column.
    flags, parts : ndarrays of shapes (n_flags,) and (n_parts,)
        Shares of all records, in [0, 1].
    flag_margin, part_margin : float
        Half-widths of their 95% intervals, simultaneous for all columns.
    suspicious : list of str
    """

    name: str
    cells: SummaryCells
    flags: np.ndarray
    parts: np.ndarray
    flag_margin: float
    part_margin: float
    suspicious: list

    def rows(self):
        """Every share and its interval: tuples (kind, of, share, lower, upper)."""
        shares = [
            (FLAG, flag, share, self.flag_margin) for flag, share in zip(self.cells.flags, self.flags, strict=True)
        ]
        shares += [
            (PART, part, share, self.part_margin) for part, share in zip(self.part_names(), self.parts, strict=True)
        ]
        return [(kind, of, share, max(share - off, 0.0), min(share + off, 1.0)) for kind, of, share, off in shares]

    def flag_in_words(self, flag):
        """The share of a flag and its error; empty for a flag that the column does not have."""
        if flag not in self.cells.flags:
            return ""
        return f"{self.flags[self.cells.flags.index(flag)]:.1%} ± {self.flag_margin:.1%}"

    def most_in_words(self):
        """The part of the range, or the label, with the most values."""
        part = int(np.argmax(self.parts))
        return f"{self.part_names()[part]} ({self.parts[part]:.0%} ± {self.part_margin:.0%})"

    def part_names(self):
        """The labels or the ends of each part."""
        ends = self.cells.part_ends()
        if self.cells.is_nominal:
            return [labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}" for labels in ends]
        return [f"{written(lower)} to {written(upper)}" for lower, upper in pairwise(ends)]


@dataclass(frozen=True, repr=False)
class PrivateSummary:
    """A private summary of a table, returned by :func:`private_summary`. It contains only published values.

    Attributes
    ----------
    columns : tuple of ColumnShares
    n_samples : int
        Number of records counted; public.
    entry : LedgerEntry
        The release, its mechanism and its cost, as in a :class:`BudgetLedger`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdpmic import Codebook, private_summary
    >>> frame = pd.DataFrame({"age": np.random.default_rng(0).uniform(20, 90, 10_000)})
    >>> summary = private_summary(frame, Codebook({"age": (0, 110)}), epsilon=1)
    >>> summary.privacy_spent, summary.suspicious
    ((1.0, 0.0), [])
    >>> summary.to_frame().columns.tolist()
    ['column', 'kind', 'of', 'share', 'lower', 'upper']
    """

    columns: tuple
    n_samples: int
    entry: LedgerEntry

    @classmethod
    def of_counts(cls, names, cells, n_samples, noisy, release, entry):
        """Build the summary from noisy counts of both sets of cells.

        Parameters
        ----------
        names : list of str
        cells : list of SummaryCells
        n_samples : int
        noisy : pair of lists of ndarrays
        release : CellsRelease
        entry : LedgerEntry
        """
        of_columns = zip(names, cells, *noisy, strict=True)
        columns = tuple(_shares(*of_column, n_samples, release) for of_column in of_columns)
        return cls(columns, n_samples, entry)

    @property
    def privacy_spent(self) -> tuple[float, float]:
        """Epsilon and delta."""
        return self.entry.epsilon, self.entry.delta

    @property
    def suspicious(self) -> list[str]:
        """Findings to check, in plain language; empty if nothing exceeds the noise."""
        return [text for column in self.columns for text in column.suspicious]

    def to_frame(self) -> Any:
        """Return all shares and their intervals.

        Returns
        -------
        pandas.DataFrame
            One row per share: `column`; `kind`, "flag" or "part"; `of`, the flag ("missing", "below", "above", "other")
            or the part of the range or the labels; `share`, of all records; and `lower` and `upper`, the 95% interval,
            simultaneous for all rows.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = [(column.name, *row) for column in self.columns for row in column.rows()]
        return dataframe(rows, ["column", "kind", "of", "share", "lower", "upper"])

    def __repr__(self):
        lines = [f"<PrivateSummary of {len(self.columns)} columns and {self.n_samples:,} records, {self._cost()}>"]
        return "\n".join([*lines, *(self.suspicious or [NOTHING])])

    def _cost(self):
        return budget(*self.privacy_spent)

    def _repr_html_(self):
        return as_html(self._shown())

    def _shown(self):
        facts = [("Released", "shares of values in each column"), ("Cost", self._cost())]
        facts += [("Suspicious", text) for text in self.suspicious or [NOTHING]]
        names = [column.name for column in self.columns]
        flags = [
            ResultColumn(flag, [column.flag_in_words(flag) for column in self.columns], "number")
            for flag in dict.fromkeys(flag for column in self.columns for flag in column.cells.flags)
        ]
        most = ResultColumn("most", [column.most_in_words() for column in self.columns])
        columns = [ResultColumn("column", names), *flags, most]
        return Summary(facts, why_broken(self.entry), columns, range(len(names)), unit="column", entries=(self.entry,))


NOTHING = "Nothing suspicious found beyond the noise."


def _shares(name, cells, flags, parts, n_samples, release):
    found = [escaped(text) for text in suspicions(name, cells, flags, parts, n_samples, release)]
    margins = [release.margin(which, size) / n_samples for which, size in enumerate(cells.sizes)]
    clipped = [np.clip(counts[:-1] / n_samples, 0, 1) for counts in (flags, parts)]
    return ColumnShares(name, cells, *clipped, *margins, found)
