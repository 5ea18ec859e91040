"""A private summary of a table: the missing, clipped and unknown values of each column, and a coarse histogram."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from skdpmic._utils.arguments import check_verbose
from skdpmic._utils.dataframes import dataframe, with_intervals
from skdpmic._utils.never_cached import never_cached
from skdpmic._utils.readable import abbreviated
from skdpmic._utils.summaries import ResultColumn, Summary, as_html, why_broken
from skdpmic._utils.texts import Progress, budget, escaped, quoted, require_type, told_apart, wrapped
from skdpmic._utils.typing import RandomState, TableLike
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry, entry_for
from skdpmic.codebook.codebook import Codebook
from skdpmic.privacy.composition import check_delta, check_epsilon, warn_about_delta
from skdpmic.privacy.noise import entropy_source
from skdpmic.release.path import run
from skdpmic.release.summary_cells import ABOVE, BELOW, CellsRelease, SummaryCells
from skdpmic.table.domains import MISSING, NUMBERS, OTHER, Knots, LogRange, Range
from skdpmic.table.facts import FEWEST, PublicFacts
from skdpmic.table.records import read_values
from skdpmic.table.tables import open_table
from skdpmic.table.values import read_people

# --- Suspicious findings ---------------------------------------------------------------------------------------------


_FEW_VALUES = 0.005  # share of the values: an end of a range may well lie where hardly any are
_MOST = 0.5  # share of missing values that is reported
_ONE_LABEL, _IN_FEW_PARTS = 0.97, 0.85  # certain shares of the values in range that count as nearly all
_IF_POSSIBLY_ALL = 0.6  # a certain share that suffices if all of them are possible


def suspicions(name, cells, flags, parts, n_samples, release):
    """List the findings to check.

    Parameters
    ----------
    name : str
    cells : Cells
    flags, parts : ndarrays of shapes (n_flags + 1,) and (n_parts + 1,)
        Noisy counts.
    n_samples : int
    release : CellsRelease

    Returns
    -------
    list of str
    """
    n_flags, n_parts = cells.sizes
    flags, parts = flags / n_samples, parts[:-1] / n_samples
    reach, margin = release.reach(0, n_flags) / n_samples, release.half_width(0, n_flags) / n_samples
    shares = dict(zip(cells.flags, flags[:-1].tolist(), strict=True))
    found = [
        _flag_finding(name, cells, flag, _about(share, margin))
        for flag, share in shares.items()
        if share - reach > (_MOST if flag == MISSING else _FEW_VALUES)
    ]
    most_inside, margin = min(flags[-1] + reach, 1.0), release.half_width(1, n_parts) / n_samples
    if not found and not cells.is_nominal:
        found = _ends_finding(name, cells, shares[BELOW] + shares[ABOVE], release.reach(0, n_flags, 2) / n_samples)
    if cells.is_nominal or cells.n_values == cells.n_parts:
        return found + _label_finding(name, cells, parts, most_inside, release.reach(1, n_parts) / n_samples, margin)
    usual = release.usual_reach(1, n_parts, 2) / n_samples
    nearly_all = partial(_are_nearly_all, usual=usual, inside=min(flags[-1], 1.0), most_inside=most_inside)
    return found + _parts_finding(name, cells, parts, nearly_all, release.reach(1, n_parts, 2) / n_samples, margin)


def _flag_finding(name, cells, flag, about):
    if flag == MISSING:
        return f"{about} of {name} is missing."
    if flag == OTHER:
        labels = abbreviated(list(cells.domain.labels[:5]))
        return f"{about} of {name} matches none of its labels, such as {labels}: check spelling, case and spaces."
    end = cells.first_and_last()[flag == ABOVE]
    return f"{about} of {name} lies {flag} its range, which ends at {end}: check the unit, or widen the range."


def _ends_finding(name, cells, share, reach):
    """A finding if values lie outside, although too few on either side to be detected."""
    if share - reach <= _FEW_VALUES:
        return []
    lower, upper = cells.first_and_last()
    return [f"{_about(share, reach)} of {name} lies outside its range, {lower} to {upper}: widen the range."]


def _label_finding(name, cells, parts, most_inside, reach, margin):
    """A finding if nearly all values in range have one label."""
    first = int(np.argmax(parts))
    if parts[first] - reach <= _ONE_LABEL * most_inside:
        return []
    labels = cells.part_ends()[first]
    told = quoted if cells.is_nominal else str
    label = told(labels[0]) if len(labels) == 1 else f"one of {told(labels[0])} to {told(labels[-1])}"
    return [f"{_about(parts[first], margin)} of {name} is {label}: the column hardly distinguishes records."]


def _parts_finding(name, cells, parts, nearly_all, reach, margin):
    """A finding if nearly all values in range are in two adjacent parts of it, or even in one of these."""
    pairs = parts[:-1] + parts[1:]
    first = int(np.argmax(pairs))
    if not nearly_all(pairs[first], reach):
        return []
    larger = first + int(parts[first + 1] > parts[first])
    if nearly_all(parts[larger], margin):
        return [_in_few_parts(name, cells, larger, 1, _about(parts[larger], margin))]
    return [_in_few_parts(name, cells, first, 2, _about(pairs[first], reach))]


def _are_nearly_all(share, off, *, usual, inside, most_inside):
    """Whether `share`, known to within `off`, is certain to be nearly all values in range, whose share is `inside`.

    With more noise, a certain majority suffices if the share is as large as that of all values in 95% of summaries: a
    range that is ten times too wide must be detected at an epsilon of 0.1.
    """
    if share - off > _IN_FEW_PARTS * most_inside:
        return True
    return share - off > _IF_POSSIBLY_ALL * most_inside and share + usual > inside


def _in_few_parts(name, cells, first, n_together, about):
    ends = cells.part_ends()
    lower, upper = ends[first][0], ends[first + n_together - 1][-1]
    place = {(0, 1): "the lowest fiftieth", (0, 2): "the lowest tenth"}.get((first, n_together))
    place = "a small part" if cells.has_names else place or ("a tenth" if n_together == 1 else "a fifth")
    scale = {LogRange: "the logarithms of its range", Knots: "its knots"}.get(type(cells.domain), "its range")
    remedy = "narrow the range if possible"
    if isinstance(cells.domain, Range) and cells.domain.of == NUMBERS:
        is_spread = first == 0 and _are_spread_by_log(cells.domain, 0.02 if n_together == 1 else 0.1)
        remedy = f"use 'log', or {remedy}" if is_spread else f"{remedy}, unless it holds few values, such as 0 and 1"
    return f"{about} of {name} lies in {place} of {scale}, {lower} to {upper}: {remedy}."


def _are_spread_by_log(domain, share):
    """Whether the lowest part of a range, this share of it, is at least five times that share of its logarithms."""
    lower, upper = domain.bounds
    first, end, last = LogRange(lower, upper).encode([lower, lower + share * (upper - lower), upper])
    return end - first > 5 * share * (last - first)


def _about(share, margin):
    """A share with its interval."""
    low, high, share = (min(max(value, 0.0), 1.0) for value in (share - margin, share + margin, share))
    return f"About {share:.0%} ({low:.0%} to {high:.0%})"


FLAG, PART = "flag", "part"


# --- The result ------------------------------------------------------------------------------------------------------


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
        names = (*self.cells.flags, *self.part_names())
        kinds = [FLAG] * len(self.flags) + [PART] * len(self.parts)
        margins = [self.flag_margin] * len(self.flags) + [self.part_margin] * len(self.parts)
        of_all = zip(kinds, names, (*self.flags, *self.parts), margins, strict=True)
        return [(kind, of, share, max(share - off, 0.0), min(share + off, 1.0)) for kind, of, share, off in of_all]

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
        return told_apart([labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}" for labels in ends])


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
            or the part of the range or the labels; `share`, of all records; and `lower` and `upper`, the 95% interval
            for the share without noise, of the same records, simultaneous for all rows (``attrs["interval"]``).

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = [(column.name, *row) for column in self.columns for row in column.rows()]
        frame = dataframe(rows, ["column", "kind", "of", "share", "lower", "upper"])
        return with_intervals(frame, _WHAT_INTERVALS_HOLD)

    def __repr__(self):
        cost = budget(*self.privacy_spent)
        lines = [f"<PrivateSummary of {len(self.columns)} columns and {self.n_samples:,} records, {cost}>"]
        return wrapped("\n".join([*lines, *(self.suspicious or [NOTHING])]))

    def _repr_html_(self):
        return as_html(self._shown(), " open")

    def _shown(self):
        facts = [
            ("Released", "shares of values in each column"),
            ("Cost", budget(*self.privacy_spent)),
            ("Shares", "of records that are missing, below or above the range, or of other labels; and where most are"),
            ("Intervals", f"after ±, for {_WHAT_INTERVALS_HOLD}"),
            *(("Suspicious", text) for text in self.suspicious or [NOTHING]),
        ]
        names = ResultColumn("column", [column.name for column in self.columns])
        flags = [
            ResultColumn(flag, [column.flag_in_words(flag) for column in self.columns], "number")
            for flag in dict.fromkeys(flag for column in self.columns for flag in column.cells.flags)
        ]
        most = ResultColumn("most", [column.most_in_words() for column in self.columns])
        further = {"unit": "column", "entries": (self.entry,)}
        return Summary(facts, why_broken(self.entry), [names, *flags, most], range(len(self.columns)), **further)


_WHAT_INTERVALS_HOLD = "the share without noise, of the same records, simultaneous for all"
NOTHING = "Nothing suspicious found beyond the noise."


def shares_of_column(name, cells, flags, parts, n_samples, release):
    """The published shares of a column, from noisy counts of both sets of its cells."""
    found = [escaped(text) for text in suspicions(name, cells, flags, parts, n_samples, release)]
    margins = [release.half_width(which, size) / n_samples for which, size in enumerate(cells.sizes)]
    clipped = [np.clip(counts[:-1] / n_samples, 0, 1) for counts in (flags, parts)]
    return ColumnShares(name, cells, *clipped, *margins, found)


@never_cached
def private_summary(
    frame: TableLike,
    codebook: Codebook,
    *,
    epsilon: float,
    delta: float = 0.0,
    ledger: BudgetLedger | None = None,
    verbose: int = 0,
    random_state: RandomState = None,
) -> PrivateSummary:
    """Summarize a table under differential privacy, to check whether its codebook fits.

    For each column that is described and not excluded, the summary has the shares of values that are missing, below or
    above the public range, or not among the public labels, and a coarse histogram. It also has simultaneous confidence
    intervals, and a plain-language list of suspicious findings. It satisfies epsilon-differential privacy: replacing
    one record (with `groups` in the codebook, all rows of one person) changes the probability of any outcome by a
    factor of at most exp(epsilon). With `delta`, it satisfies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    frame : dataframe
        A dataframe of any library supported by narwhals, or with the Arrow protocol; at least 4 rows.
    codebook : Codebook
        Public description of the columns. Columns that it does not describe are ignored, and listed once in a warning.
    epsilon : float
        Privacy budget of the whole summary, above 0. Infinity adds no noise.
    delta : float, default=0.0
        How much the probability of any outcome may change beyond the factor exp(epsilon), in [0, 1). If not 0, choose
        it far below ``1 / n_samples``. It allows Gaussian noise, which is used if it is smaller: at epsilon 1 and
        delta 1e-6 from 17 columns of numbers, or 36 of labels, on; from fewer with less epsilon or more delta.
    ledger : BudgetLedger, default=None
        Ledger that is charged after the data is validated and before anything is computed.
    verbose : int, default=0
        Verbosity, as in the estimators.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests only: it breaks the guarantee and
        warns.

    Returns
    -------
    PrivateSummary
        Has `suspicious`, a list of str, and :meth:`~skdpmic.release.summary.PrivateSummary.to_frame`.

    Raises
    ------
    ValueError, TypeError
        If an argument or the data is invalid. Nothing is charged.
    BudgetError
        If the cost does not fit in `ledger`. No noise is drawn.

    Warns
    -----
    PrivacyLeakWarning
        If `random_state` is not None.
    UserWarning
        If the frame has columns that the codebook does not describe.

    See Also
    --------
    plan_release : With ``release="summary"``, plans the error of the shares before data is collected.
    skdpmic.plotting.SummaryDisplay : Plots the summary.

    Notes
    -----
    Two thirds of the budget are spent on the shares of missing, clipped and unknown values, one third on the
    histograms. A histogram of numbers or dates has eleven parts: the lowest fiftieth of the range, the rest of its
    lowest tenth, and the other tenths (on the scale of logarithms with "log", or of knots). A histogram of labels has
    one part per label; with more than eleven labels, neighbours share a part. The noise of each of the two sets is
    drawn jointly for all columns, and is exact (``docs/theory/summary.md``). With 10 columns of numbers and ``n_samples
    * epsilon`` of 1,000, shares of missing, clipped and unknown values are known to within 7 percentage points, those
    of the histograms to within 30.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skdpmic import Codebook, private_summary
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"income": rng.lognormal(10, 1, 10_000), "sex": rng.choice(["F", "M"], 10_000)})
    >>> codebook = Codebook({"income": (0, 10_000_000), "sex": ["f", "m"]})
    >>> for line in private_summary(frame, codebook, epsilon=1).suspicious:
    ...     print(line.partition(")")[2])
     of income lies in the lowest fiftieth of its range, 0 to 200000: use 'log', or narrow the range if possible.
     of sex matches none of its labels, such as ['f', 'm']: check spelling, case and spaces.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_ledger(ledger)
    check_verbose(verbose)
    entropy_source(random_state)  # raises if it is invalid
    require_type(isinstance(codebook, Codebook), "codebook must be a Codebook", codebook)
    names, cells_of, columns, people = _read(frame, codebook)
    n_samples, n_groups, max_rows = len(columns[0]), len(columns[0]), None
    if people is not None:
        n_samples, n_groups, max_rows = people.n_samples, people.n_groups, people.rows_per_group
    release = CellsRelease(epsilon, delta, tuple(cells.sizes for cells in cells_of), max_rows or 1)
    warn_about_delta(delta, n_groups)

    def draw(random_bytes):
        progress = Progress("private_summary", verbose)
        rows = slice(None) if people is None else people.rows()
        pairs = progress.track(zip(cells_of, columns, strict=True), len(columns), "columns")
        counts = [cells.count(column[rows]) for cells, column in pairs]
        noisy = [
            mechanism.release([of_column[which] for of_column in counts], random_bytes)
            for which, mechanism in enumerate(release.mechanisms)
        ]
        of_columns = zip(names, cells_of, *noisy, strict=True)
        shares = tuple(shares_of_column(*each, n_samples, release) for each in of_columns)
        return PrivateSummary(shares, n_samples, entry)

    public = {"n": n_groups, "d": len(names), "release": "summary", "mechanism": release.mechanisms[0].name}
    by = {"random_state": random_state, "max_rows_per_group": max_rows}
    entry = entry_for("private_summary", release.cost, **by, **public)
    return run(entry, draw, ledger=ledger, random_state=random_state)


def _read(frame, codebook):
    """The names, the cells and the values of the columns to summarize, and the people behind the rows, or None."""
    records: dict[str, Any] = codebook.records(frame)
    table = open_table(records["X"], "private_summary", least=FEWEST)
    names = table.names_as_text()
    domains = PublicFacts(**codebook.features(names)).domains(table.n_features, names, table.declared())
    people = None
    if "groups" in records:
        people = read_people(records["groups"], codebook.max_rows_per_group, table.n_samples)
    return list(names), [SummaryCells(domain) for domain in domains], read_values(table, domains), people
