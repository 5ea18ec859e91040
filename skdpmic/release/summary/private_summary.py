"""A private summary of a table: the missing, clipped and unknown values of each column, and a coarse histogram."""

from typing import Any, NamedTuple

from skdpmic._utils.arguments import check_verbose
from skdpmic._utils.no_cache import never_cached
from skdpmic._utils.progress import Progress
from skdpmic._utils.typing import RandomState, TableLike
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import LedgerEntry, broken_by_seed, unit_of
from skdpmic.codebook.codebook import Codebook
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.parameters import check_delta, check_epsilon, warn_about_delta
from skdpmic.release.path import run
from skdpmic.release.summary.cells import CellsRelease, SummaryCells
from skdpmic.release.summary.summary_result import PrivateSummary
from skdpmic.table.features import feature_domains
from skdpmic.table.frames import open_table
from skdpmic.table.people import People, read_people
from skdpmic.table.reading import FEWEST, read_values


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
        Has `suspicious`, a list of str, and :meth:`~skdpmic.release.summary.summary_result.PrivateSummary.to_frame`.

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
    if not isinstance(codebook, Codebook):
        raise TypeError(f"codebook must be a Codebook, got {type(codebook).__name__}.")
    look = _read(frame, codebook)
    release = CellsRelease(epsilon, delta, tuple(cells.sizes for cells in look.cells), look.rows_per_group)
    warn_about_delta(delta, look.n_groups)

    def draw(random_bytes):
        progress = Progress("private_summary", verbose)
        rows = slice(None) if look.people is None else look.people.rows()
        columns = progress.track(zip(look.cells, look.columns, strict=True), len(look.cells), "columns")
        counts = [cells.count(column[rows]) for cells, column in columns]
        noisy = [
            mechanism.release([of_column[which] for of_column in counts], random_bytes)
            for which, mechanism in enumerate(release.mechanisms)
        ]
        return PrivateSummary.of_counts(look.names, look.cells, look.n_samples, noisy, release, entry)

    entry = LedgerEntry(
        "private_summary",
        epsilon=release.cost.epsilon,
        delta=release.cost.delta,
        rho=release.cost.rho,
        n=look.n_groups,
        d=len(look.names),
        release="summary",
        mechanism=release.mechanisms[0].name,
        unit=unit_of(look.max_rows_per_group),
        rows_per_person=look.max_rows_per_group,
        broken_by=broken_by_seed(random_state),
    )
    return run(entry, draw, ledger=ledger, random_state=random_state)


class _Look(NamedTuple):
    """The columns to summarize. Raw data; not private."""

    names: list
    cells: list
    columns: list  # ndarrays of unchanged numbers, or of codes of labels
    n_rows: int
    people: People | None

    @property
    def max_rows_per_group(self):
        """None if a record is a row."""
        return None if self.people is None else self.people.rows_per_group

    @property
    def rows_per_group(self):
        return self.max_rows_per_group or 1

    @property
    def n_samples(self):
        """Number of records counted; each person has the same number."""
        return self.n_rows if self.people is None else self.people.n_samples

    @property
    def n_groups(self):
        return self.n_samples // self.rows_per_group


def _read(frame, codebook):
    records: dict[str, Any] = codebook.records(frame)
    table = open_table(records["X"], "private_summary", least=FEWEST)
    names = table.names_as_text()
    public = codebook.features(names)
    domains = feature_domains(public["bounds"], public["categories"], table.n_features, names, table.declared())
    people = None
    if "groups" in records:
        people = read_people(records["groups"], codebook.max_rows_per_group, table.n_samples)
    return _Look(
        list(names), [SummaryCells(domain) for domain in domains], read_values(table, domains), table.n_samples, people
    )
