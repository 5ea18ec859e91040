"""The party with the features: each record reports the part of its value, with noise."""

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdpmic._utils.arguments import check_whole, is_auto, is_whole
from skdpmic._utils.bases import OneToOneFeatureMixin, TransformerMixin
from skdpmic._utils.private_estimator import PrivateEstimator, in_use
from skdpmic._utils.summaries import ResultColumn, Summary, why_broken
from skdpmic._utils.texts import PrivacyLeakWarning, budget, counted, names_of, require, warn
from skdpmic._utils.typing import Auto, Categories, ColumnLike, RandomState, Ranges, TableLike
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import entry_for
from skdpmic.privacy.composition import Cost, check_epsilon
from skdpmic.privacy.noise import bernoulli_exp, entropy_source, uniform_below
from skdpmic.release.path import run, store
from skdpmic.table.domains import Labels, parts_at_most
from skdpmic.table.facts import PublicFacts
from skdpmic.table.frames import as_frame, in_memory, is_frame
from skdpmic.table.records import open_chunk
from skdpmic.table.tables import check_columns_seen, columns_seen, open_table
from skdpmic.two_party.reports import MOST_PARTS, ReportedColumn, Reports, ReportsDescription, to_arrow, true_parts

_INFORMATIVE = 2.5  # epsilon of a report


@dataclass(eq=False, repr=False)
class RandomizedResponse(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):
    """Report the part of its range in which each value lies, under local differential privacy.

    Use it as the party with the features, if another party has the target of the same records and must not see the
    features (``docs/choose/two_parties.md``). A report is one of m parts, drawn by randomised response: the true part
    with probability ``exp(e) / (exp(e) + m - 1)``, and each other part with ``1 / (exp(e) + m - 1)``. All reports of a
    record together satisfy epsilon-*local* differential privacy: changing the record changes the probability of any
    reports by a factor of at most exp(epsilon), and delta is 0. This holds against anyone who sees the reports,
    whatever they know about other records or columns, and needs no trusted curator.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of one `transform`, for each record with all its columns; above 0. Infinity adds no noise.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric columns, as in :class:`DPMICScorer`. Each is cut into equal parts;
        values outside count in the outermost parts.
    categories : dict, default=None
        Public labels of nominal columns, by name, or by number if X is an array, at most 254 per column. Each label is
        a part; all other labels share one part.
    n_parts : int or "auto", default="auto"
        Number of equal parts of the range of each numeric column, from 2 to 255. "auto" is 4 for a budget per report
        below 1.5, 6 below 3, and 8 otherwise. More parts are more informative, but less reliably reported.
    columns_per_record : int or "auto", default="auto"
        Number of columns that each record reports, each with an equal share of epsilon. The columns are chosen at
        random, independently of the data; the others are missing from its reports. "auto" is one column per 2.5 of
        epsilon, at least 1 and at most all.
    allow_missing : bool, default=True
        Whether missing values are allowed, and have their own bin in every column. If False, they are an error, and the
        smaller number of parts means less noise.
    ledger : BudgetLedger, default=None
        Ledger that every `transform` charges, after the data is validated and before anything is drawn.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests only: it breaks the guarantee and
        warns.

    Attributes
    ----------
    n_parts_ : ndarray of shape (n_features,)
        Number of parts of each column, m, including those of other labels and of missing values.
    columns_per_record_ : int
        Number of columns that each record reports.
    epsilon_per_column_ : float
        Budget of one report, e.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if X has column names, which must be str.

    See Also
    --------
    TwoPartyScorer : Scores the reports, for the other party.
    DPMICScorer : Scores with far less noise, if one trusted party has both features and target.

    Notes
    -----
    `fit` stores only names: it draws nothing and costs nothing. **Every** `transform` is a separate release, and the
    budgets of releases about the same people are summed: transform once, keep the reports, and pass on the same
    reports. For a person with m rows, the guarantee holds at m times epsilon.

    The columns that a record reports are chosen without reading the data. A missing value is a part like others, so the
    guarantee covers it; that a record does not report a column reveals nothing about the record.

    For the theorems, see ``docs/theory/two_parties.md``. Not covered by the guarantee: errors raised on invalid data,
    timing.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.two_party import RandomizedResponse
    >>> X = np.random.default_rng(0).uniform(size=(1000, 3))
    >>> alice = RandomizedResponse(epsilon=5.0, bounds=(0, 1)).fit(X)
    >>> reports = alice.transform(X)  # the only time
    >>> reports.shape, alice.columns_per_record_, alice.n_parts_.tolist()
    ((1000, 3), 2, [7, 7, 7])
    >>> np.isnan(reports).sum(axis=1).tolist() == [1] * 1000  # one column of three is not reported
    True
    """

    epsilon: float = 1.0
    bounds: Ranges | None = None
    _: KW_ONLY
    categories: Categories | None = None
    n_parts: int | Auto = "auto"
    columns_per_record: int | Auto = "auto"
    allow_missing: bool = True
    ledger: BudgetLedger | None = None
    random_state: RandomState = None

    def fit(self, X: TableLike, y: ColumnLike | None = None) -> Self:
        """Check the table, and store its column names. Draws nothing and costs nothing.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            Numbers, dates, durations or labels, as described by `bounds` and `categories`.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError, TypeError
            If a parameter or a column is invalid. The transformer is left unchanged.
        RuntimeError
            If another thread draws reports.
        """
        self._check_parameters()
        facts, reader, X = PublicFacts(self.bounds, self.categories), type(self).__name__, in_memory(X)
        table = open_table(X, reader, takes_text=facts.takes_text, least=1)
        description = self._described(table, facts)
        true_parts(open_chunk(X, description.domains, reader, least=1), description)  # only for the errors of transform
        fitted = {
            "n_parts_": np.array([column.n_parts for column in description.columns]),
            "columns_per_record_": description.columns_per_record,
            "epsilon_per_column_": float(description.epsilon_per_column),
            "_description": description,
            "_n_releases": [0],  # in a list, so that `transform` changes no attribute
            "_is_seeded": self.random_state is not None,
        }
        with in_use(self):
            store(self, columns_seen(table) | fitted)
        return self

    def transform(self, X: TableLike) -> Any:
        """Draw the reports of all records. Every call is a new release and costs epsilon.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        reports : ndarray of shape (n_samples, n_features), or dataframe with `set_output`
            Part numbers: equal parts from the lowest, or labels in their order and then other labels; the last part is
            missing values. NaN if a record does not report the column.

        Raises
        ------
        ValueError, TypeError
            If the data is invalid. Nothing is charged.
        BudgetError
            If epsilon does not fit in `ledger`. Nothing is drawn.
        RuntimeError
            If another thread draws reports. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If this is not the first call since `fit`, or `random_state` is set.
        """
        check_is_fitted(self)
        with in_use(self):  # another fit would change what is drawn, another release what is warned about
            table = open_chunk(X, self._description.domains, type(self).__name__, least=1)
            check_columns_seen(self, table)
            parts = true_parts(table, self._description)
            self._warn()
            entry = self._entry()._replace(n=len(parts[0]))
            return run(entry, partial(self._draw, parts), ledger=self.ledger, random_state=self.random_state)

    def _entry(self):
        """The release of each `transform`, whose number of records is not known before it."""
        description = self._description
        cost = Cost.of_parts(description.epsilon, Fraction(1, description.columns_per_record))
        public = {"release": "reports", "mechanism": "randomized-response", "model": "local"}
        seed = True if self._is_seeded else self.random_state
        return entry_for(type(self).__name__, cost, random_state=seed, d=len(description.columns), **public)

    def _draw(self, parts, random_bytes):
        self._n_releases[0] += 1
        description = self._description
        reported = drawn_columns(len(parts[0]), len(parts), description.columns_per_record, random_bytes)
        reports, epsilon = np.full(reported.shape, np.nan), description.epsilon_per_column
        for j, column in enumerate(description.columns):
            true = parts[j][reported[:, j]]
            reports[reported[:, j], j] = randomized_response(true, column.n_parts, epsilon, random_bytes)
        return reports

    def to_arrow(self, reports: TableLike) -> Any:
        """Return reports as an Arrow table, whose metadata contain everything the other party needs.

        Write it by ``pyarrow.feather.write_feather(table, path, compression="uncompressed")``: compressed files are not
        read, because a small one could fill the memory. Costs nothing, because it only copies reports.

        Parameters
        ----------
        reports : array-like of shape (n_samples, n_features)
            Result of `transform`.

        Returns
        -------
        pyarrow.Table
            Columns of small integers, null if a record does not report the column. The metadata ``skdpmic.reports``
            describe parts and budgets as JSON.

        Raises
        ------
        ValueError
            If `reports` do not come from this transformer.
        """
        check_is_fitted(self)
        columns = self._description.columns
        values = np.asarray(as_frame(reports).to_numpy() if is_frame(reports) else reports, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(columns):
            raise ValueError(f"reports must be of shape (n_samples, {len(columns)}), got shape {values.shape}.")
        parts = np.where(np.isnan(values), -1.0, values)
        most = np.array([column.n_parts for column in columns])
        is_part = (parts == np.floor(parts)) & (parts >= -1) & (parts < most)
        if not is_part.all() or np.any((parts >= 0).sum(axis=1) != self._description.columns_per_record):
            raise ValueError("reports must be the result of transform of this transformer.")
        return to_arrow(Reports(self._description, list(parts.astype(np.int64).T)))

    # --- Before anything is drawn --------------------------------------------------------------------------------

    def _check_parameters(self):
        check_epsilon(self.epsilon)
        check_ledger(self.ledger)
        entropy_source(self.random_state)
        n, most = self.n_parts, MOST_PARTS - 1
        require(is_auto(n) or (is_whole(n) and 2 <= n <= most), f"n_parts must be 'auto' or an int from 2 to {most}", n)
        if not is_auto(self.columns_per_record):
            check_whole(self.columns_per_record, "columns_per_record")
        require(isinstance(self.allow_missing, bool | np.bool_), "allow_missing must be a bool", self.allow_missing)

    def _described(self, table, facts):
        """The public description of future reports."""
        d, names = table.n_features, table.names_as_text()
        domains = facts.domains(d, names, table.declared())
        k = d if self.epsilon == math.inf else max(1, min(d, math.floor(self.epsilon / _INFORMATIVE)))
        k = k if is_auto(self.columns_per_record) else int(self.columns_per_record)
        require(k <= d, f"columns_per_record must be at most n_features={d}", self.columns_per_record)
        n_parts = 4 if self.epsilon / k < 1.5 else 6 if self.epsilon / k < 3 else 8  # more are less reliably reported
        n_parts = n_parts if is_auto(self.n_parts) else int(self.n_parts)
        n_equal = [None if isinstance(each, Labels) else parts_at_most(n_parts, each.encoded) for each in domains]
        columns = tuple(
            ReportedColumn(str(name), *of_column, bool(self.allow_missing))
            for name, *of_column in zip(names or [f"x{j}" for j in range(d)], domains, n_equal, strict=True)
        )
        description = ReportsDescription(float(self.epsilon), k, columns)
        description.check_sizes()
        return description

    def _warn(self):
        (before,) = self._n_releases
        if before > 0:
            warn(
                f"transform has already released reports {before} time(s), with epsilon={self._description.epsilon:g} "
                "each. The budgets of releases about the same records are summed: all these reports together have "
                f"epsilon={(before + 1) * self._description.epsilon:g}. Reuse the reports of the first call.",
                PrivacyLeakWarning,
            )

    def _shown(self):
        """The release of each `transform` of a :class:`RandomizedResponse`."""
        d, entry, of_part = self.n_features_in_, self._entry(), budget(self.epsilon_per_column_, 0)
        released = f"noisy parts of {self.columns_per_record_:,} of {counted(d, 'column')} of each record"
        broken = why_broken(entry)
        facts = [
            ("Released", f"by each transform: {released}"),
            ("Cost", f"{budget(entry.epsilon, 0)}, local, for each transform; {of_part} a part"),
            ("Covers", "no one" if broken else "each record, against anyone who sees its reports"),
        ]
        parts = ResultColumn("parts", [str(n_parts) for n_parts in self.n_parts_], "number")
        columns = [ResultColumn("column", names_of(self)), parts]
        return Summary(facts, broken, columns, np.arange(d), unit="column", entries=(entry,))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = bool(self.allow_missing)
        tags.input_tags.sparse = True
        return tags


# --- Randomised response ---------------------------------------------------------------------------------------------
#
# Randomised response among m parts, with exact probabilities (``docs/theory/two_parties.md``, Theorem 1).
#
# The true part is reported with probability exp(eps) / (exp(eps) + m - 1), each other with 1 / (exp(eps) + m - 1).


def randomized_response(parts, n_parts, epsilon, random_bytes):
    """The parts reported in place of the true ones.

    A uniform part is proposed, and accepted if it is the true one; any other is accepted with probability
    exp(-epsilon); otherwise there is a new proposal. The number of proposals does not depend on the true part.

    Parameters
    ----------
    parts : int ndarray of shape (n_samples,)
        In 0 ... n_parts - 1.
    n_parts : int
        Public.
    epsilon : int, Fraction or infinity, above 0
        Budget of one report.
    random_bytes : callable
        From :func:`skdpmic.privacy.noise.entropy_source`.

    Returns
    -------
    int64 ndarray of shape (n_samples,)
    """
    if epsilon == math.inf:
        return np.array(parts, dtype=np.int64)
    reports = np.empty(len(parts), dtype=np.int64)
    pending = np.arange(len(parts))
    while len(pending):
        proposals = uniform_below(n_parts, len(pending), random_bytes)
        accepted = bernoulli_exp(epsilon, len(pending), random_bytes) | (proposals == parts[pending])
        reports[pending[accepted]] = proposals[accepted]
        pending = pending[~accepted]
    return reports


def keep_probability(n_parts, epsilon):
    """The probability that the true part is reported."""
    return 1 / (1 + (n_parts - 1) * math.exp(-epsilon))


def inverse_response_matrix(n_parts, epsilon):
    """The inverse of R: entry [r, a] is the weight of a report r for part a that makes counts unbiased."""
    # The probability of a part other than the true one, and how much more likely the true one is, without cancellation.
    other = keep_probability(n_parts, epsilon) * math.exp(-epsilon)
    above = keep_probability(n_parts, epsilon) * -math.expm1(-epsilon)
    return (np.eye(n_parts) - other) / above


def drawn_columns(n_samples, n_columns, n_drawn, random_bytes):
    """The columns that each record reports: a uniformly random choice of `n_drawn`, independent of the data.

    Returns
    -------
    bool ndarray of shape (n_samples, n_columns)
    """
    if n_drawn == n_columns:
        return np.ones((n_samples, n_columns), dtype=bool)
    drawn = np.zeros((n_samples, n_columns), dtype=bool)
    at_once = max(1, 2**20 // n_columns)
    for first in range(0, n_samples, at_once):
        block = drawn[first : first + at_once]
        keys = np.frombuffer(random_bytes(8 * block.size), dtype=np.uint64).reshape(block.shape)
        np.put_along_axis(block, np.argpartition(keys, n_drawn - 1, axis=1)[:, :n_drawn], True, axis=1)
    return drawn
