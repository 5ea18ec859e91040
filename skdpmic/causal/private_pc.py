"""Causal discovery by the PC algorithm, under differential privacy."""

import math
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, Self

import narwhals.stable.v2 as nw
import numpy as np
from scipy import stats

from skdpmic._utils.arguments import check_whole, is_number
from skdpmic._utils.private_estimator import check_published
from skdpmic._utils.summaries import ResultColumn, Summary, facts_of_release, why_broken
from skdpmic._utils.texts import counted, imported, names_of, require, warn
from skdpmic._utils.typing import BesideTable, ColumnLike, Ranges, TableLike
from skdpmic.causal.pc import Outcome, find_graph, markov_blanket
from skdpmic.causal.table_release import TablePlan, TablesRelease
from skdpmic.correlation import private_correlation as kendall
from skdpmic.release.path import run, store
from skdpmic.table.domains import Nominal
from skdpmic.table.facts import PublicFacts, allowed_keys, listed, numbers_of
from skdpmic.table.frames import as_frame, columns_by_columns, in_memory, is_frame, row_of_zeros
from skdpmic.table.records import read_labels_or_numbers

NUMERIC = "numeric"  # the kind of a release of correlations


@dataclass(eq=False, repr=False, kw_only=True)
class PrivatePC(kendall.PrivateMatrixEstimator):
    """Estimate a causal graph by the PC algorithm from one differentially private release.

    The PC algorithm tests which columns are independent given which others, and builds the causal graph that implies
    these independences. Here all tests use one noisy release: the Kendall correlations of a table of numbers, or tables
    of counts of every three columns if some have labels. The tests account for the noise. The release, and everything
    computed from it, satisfies (epsilon, delta)-differential privacy: replacing one record, which is a row with all its
    columns, changes the probability of any outcome by a factor of at most exp(epsilon), plus delta.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for everything it releases; above 0. Infinity adds no noise.
    delta : float, default=1e-6
        How much the probability of any outcome may change beyond the factor exp(epsilon), in (0, 1). Choose it far
        below ``1 / n_samples``.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric columns, as in :class:`skdpmic.PrivateSelectKBest`. They are required if other columns
        hold labels or booleans, or if values often repeat. Numbers are then cut into about 6 parts of nearly equal
        size, by noisy counts, and tested by tables, for any distribution. Without bounds, a table of numbers that
        hardly ever repeat is tested by Kendall's correlations.
    categories : dict, default=None
        Public labels of columns, by name, or by number if X is an array; not required for booleans and for types that
        declare their labels (Polars Enum). Labels that are not public have their own bin, as do missing values; without
        bounds, missing numbers come first and are equal to one another.
    alpha : float, default=0.01
        Significance level of the tests, in (0, 1): two columns lose their edge if a test of their independence has a
        p-value above this. Changing it after a fit costs nothing. If the algorithm requested tables during the fit
        (with more than 16 columns, or many labels), the alpha of the fit decided which.
    max_order : int, default=3
        Maximum number of columns that a test conditions on; at least 0. Changing it after a fit costs nothing; but a
        fit with less than 2 releases tables of two columns, not of three.
    max_rows_per_group : int, default=None
        If given, the guarantee covers all rows of a person together. `groups` in `fit` identifies the person behind
        each row, and each person contributes exactly this many rows: a sample, alike in every fit, if more,
        repeated rows if there are fewer. The number of people is public, as n_samples is otherwise.
    ledger : BudgetLedger, default=None
        Ledger that every `fit` charges, after the data is validated and before anything is computed.
    n_jobs : int, default=None
        Number of parallel jobs (see joblib). The result does not depend on it.
    verbose : int, default=0
        Verbosity of `fit`, which prints how many columns are done and the elapsed time: 0 prints nothing, 1 about ten
        lines in each pass over the columns, 2 more. The time is not covered by the guarantee: do not publish it.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests only: it breaks the guarantee and
        warns.

    Attributes
    ----------
    cpdag_ : ndarray of bool or dataframe of shape (n_features, n_features)
        The graph for the current `alpha` and `max_order`: ``[i, j]`` is True if there is an arrow from column i to j,
        or a line between them; for a line, ``[j, i]`` is also True. For a dataframe, this is a dataframe of the same
        library with the column names, which are also the index in pandas; in libraries without an index, the rows are
        in the order of the columns.
    skeleton_ : ndarray of bool or dataframe of shape (n_features, n_features)
        Pairs of columns with an edge of either kind; symmetric.
    p_values_ : ndarray or dataframe of shape (n_features, n_features)
        The largest p-value of all tests of each pair of columns, valid at every level if one of these makes the columns
        independent; so smaller is stronger evidence of an edge. It is at most `alpha` for an edge, unless a test of it
        is no evidence (see Notes): then it is larger, or NaN if the test has no p-value. Zeros on the diagonal.
    n_untested_ : int
        Number of tests that are no evidence, of all tests of the pairs of columns that have an edge.
    kind_ : {"numeric", "categorical", "mixed"}
        Type of the release: for numbers without `bounds`; for labels only; or for numbers in parts, with or without
        labels.
    noisy_correlation_ : ndarray of shape (n_features, n_features)
        The release for a table of numbers, with `untied_fraction_`: noisy tau-a of each pair of columns, as in
        :class:`skdpmic.correlation.PrivateCorrelation`.
    untied_fraction_ : ndarray of shape (n_features,)
        Noisy share of pairs of records with different values, for each column; for a table of numbers.
    noisy_counts_ : list of ndarray of shape (n_labels + 2,) or (n_cells + 1,)
        The first release for columns with parts: the noisy number of records with each label, other labels, and missing
        values; or in each of 64 cells of equal width of the range, or of fewer integers, and with missing values.
    parts_ : list of ndarray of shape (n_labels + 2,) or (n_cells + 1,)
        The part of each of these. Labels without evidence of records, because noise may hide them, share the part of
        the most frequent label.
    noisy_blanks_ : ndarray of shape (2,) or None
        The second release: the noisy number of records without and with a blank in any column of labels, which is a
        label that is not public or a missing value, without its own part. None if no test conditions on labels.
    noisy_tables_ : dict of tuple of int to ndarray
        The third release: the noisy number of records with each combination of parts of two, three or four columns, in
        increasing order; for all such sets, or for all pairs and for the triples that the algorithm requested.
    noise_scale_ : float
        Standard deviation of the noise on each correlation, about ``9 n_features / n_samples`` at epsilon=1 and
        delta=1e-6; or on each count in the tables of all sets of columns.
    noise_scales_ : dict of int to float
        For tables: standard deviation of the noise on a count, by the number of columns of the table, from 1 to 4; and
        at 0 that of `noisy_blanks_`.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person if `max_rows_per_group` is given.
    n_groups_ : int
        Number of people; only if `max_rows_per_group` is given.
    n_features_in_ : int
        Number of columns, at least 2.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if X has column names, which must be str.

    See Also
    --------
    skdpmic.correlation.PrivateCorrelation : Releases the correlations.
    skdpmic.plotting.GraphDisplay : Plots the graph.

    Notes
    -----
    **Interpretation.** Data identify a causal graph only up to graphs that imply the same independences. `cpdag_`
    represents all of these, as far as there is evidence: an arrow is in each of them; a line is an arrow of one
    direction in some of them and of the other direction in others, or its direction is not certain enough.

    **Arrows** take evidence of their own, because a removed edge may be one that noise hides. Two columns without an
    edge point to a third if they are independent given a set without it, by a test that would have seen a dependence as
    clear as the one found given the third as well; and the p-value of the latter is at most `alpha` divided by the
    number of pairs of columns. Of the arrows drawn, a few in a hundred are wrong (``docs/evidence/causal.md``).

    **Assumptions.** The columns have an acyclic causal graph; no common cause of two columns is missing from the table;
    columns are independent only if the graph implies it (faithfulness); records are independent. Without `bounds`, the
    columns are also assumed to be increasing functions of jointly normal columns, so that values hardly ever repeat.
    Data cannot confirm all of these assumptions.

    **Errors.** Each test declares two independent columns dependent with a probability of about `alpha`. Where that
    cannot be guaranteed, a test may remove an edge but is no evidence for one: it counts as a test that could not be
    made. This applies to tests given a number that was cut into parts, which hide what happens within them; given
    labels, if those that noise hides, or their combinations, might raise the p-value above `alpha`; or given columns
    that nearly determine another. With numbers without `bounds`, there is no test given other columns if one of the
    columns has many ties. A graph consists of many tests, and no error rate is guaranteed for all of them together.
    More often, an edge is missing because noise hides it: at epsilon=1 and delta=1e-6, about 300 records per column are
    needed to find most correlations of 0.1. Arrows that contradict one another, or would form a cycle, become lines;
    the graph then need not represent any causal graph.

    The result does not depend on the order of the columns, because all have the same noise distribution (PC-stable).

    See ``docs/theory/private_pc.md`` and ``docs/theory/kendall_matrix.md`` for the theorems, and
    ``docs/choose/causal.md`` for a guide. Not covered by the guarantee: errors raised on invalid data, timing.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.causal import PrivatePC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20_000, 4))
    >>> X[:, 2] += X[:, 0] + X[:, 1]
    >>> X[:, 3] += X[:, 2]
    >>> private = PrivatePC(epsilon=1.0, delta=1e-6, alpha=1e-4).fit(X)
    >>> private.cpdag_.astype(int)  # 0 -> 2 <- 1 and 2 -> 3
    array([[0, 0, 1, 0],
           [0, 0, 1, 0],
           [0, 0, 0, 1],
           [0, 0, 0, 0]])
    >>> private.markov_blanket(0).tolist()
    [1, 2]
    """

    bounds: Ranges | None = None
    alpha: float = 0.01
    max_order: int = 3

    def fit(self, X: TableLike, y: ColumnLike | None = None, groups: BesideTable | None = None) -> Self:
        """Release the correlations or tables from which the graph is computed.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            One record per row; at least 4 rows and 2 columns. Columns hold numbers, dates, durations or booleans, or
            labels as described by `categories`.
        y : None
            Ignored. To find the causes of a target, make it a column of X.
        groups : array-like of shape (n_samples,), default=None
            Identifies the person behind each row; given if and only if `max_rows_per_group` is. Hashable labels of at
            least 4 people, none missing.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is invalid, or if some columns have labels and others no bounds. The estimator is
            left unchanged.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left unchanged, and no noise is drawn.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            Before the charge: if the noise will exceed the signal, delta is above ``1 / n_samples``, or a table of
            numbers without bounds has columns of integer or categorical type, because many ties leave edges untested.
            After the charge: if the released `untied_fraction_` shows other columns with many ties, or if a column has
            only one part left, so that it has no edges.
        """
        plan = self._plan()
        X = in_memory(X)
        records = plan.read(X, None, groups)
        kind, names = _kind_of(records.public.shape.domains), records.public.names
        declared = declared_to_repeat(X) if kind == NUMERIC else []
        warn_about_declared_ties(declared, names)
        of_columns = {"kind_": kind, "_names": row_of_zeros(as_frame(X)) if is_frame(X) else None, "_tests": None}
        ready = plan.ready(records.public)
        published = run(ready.entry, partial(ready.draw, records), ledger=self.ledger, random_state=self.random_state)
        store(self, published | of_columns)
        if kind == NUMERIC:
            warn_about_released_ties(self.untied_fraction_, self.noise_scale_, names, but=declared)
        else:
            _warn_about_one_part(self.parts_, names)
        return self

    # All results are computed on access, with the current `alpha` and `max_order`, by tests that are functions of the
    # release. A fit sets their cache `_tests` to None.

    @property
    def cpdag_(self) -> Any:
        """The graph, with arrows and lines."""
        return self._attribute("cpdag")

    @property
    def skeleton_(self) -> Any:
        """The pairs of columns with an edge."""
        return self._attribute("skeleton")

    @property
    def p_values_(self) -> Any:
        """The largest p-value of the tests of each pair of columns."""
        return self._attribute("p_values")

    @property
    def n_untested_(self) -> int:
        """Number of tests of pairs of columns with an edge that are no evidence of it."""
        return self._attribute("n_untested")

    def p_value(self, i: int | str, j: int | str, given: Any = ()) -> float:
        """Test the independence of two columns given others, with the noise taken into account.

        Costs no privacy: it uses only what was released.

        Parameters
        ----------
        i, j : int or str
            Two columns, by name, or by number if they have no names.
        given : sequence of int or str, default=()
            Other columns.

        Returns
        -------
        float
            p-value in [0, 1]. If the columns are independent given the others, the probability of a p-value of at most
            a is about a or less, for every a: also if noise hides rare labels of `given`, or combinations of labels. 1
            if `given` nearly determines one of the columns. NaN if there is no p-value: if `given` has a number that
            was cut into parts, a column without bounds has many ties, or tables would be too large.

        Raises
        ------
        ValueError
            If the columns are not distinct.
        """
        check_published(self)
        i, j, *given = (self._number(column) for column in (i, j, *given))
        if len({i, j, *given}) < 2 + len(given):
            raise ValueError("i, j and given must be distinct columns, got one of them twice.")
        test, _ = self._computed()
        return test(min(i, j), max(i, j), tuple(sorted(given))).p_value

    def markov_blanket(self, target: int | str) -> np.ndarray:
        """Return the Markov blanket of a target: given these columns, all others are irrelevant for predicting it.

        Costs no privacy: it uses only what was released.

        Parameters
        ----------
        target : int or str
            Target column, by name, or by number if columns have no names.

        Returns
        -------
        ndarray
            The columns with an edge to the target, and those with an arrow into a child of the target; in the order of
            the table. Names if the columns have names, otherwise numbers.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        check_published(self)
        blanket = markov_blanket(self._found().cpdag, self._number(target))
        return getattr(self, "feature_names_in_", np.arange(self.n_features_in_))[blanket]

    def to_networkx(self) -> Any:
        """Return the graph as a networkx graph; requires ``pip install skdpmic[graphs]``.

        Costs no privacy: it uses only what was released.

        Returns
        -------
        networkx.DiGraph
            Columns are nodes, by name, or by number if they have no names. An arrow is an edge with ``directed=True``.
            A line is two edges, one each way, with ``directed=False``. Each edge has the `p_value` of `p_values_`.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        check_published(self)
        networkx = imported("networkx", "to_networkx requires networkx: pip install skdpmic[graphs]")
        found, graph = self._found(), networkx.DiGraph()
        labels = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))
        graph.add_nodes_from(labels)
        for i, j in np.argwhere(found.cpdag).tolist():
            p_value, is_directed = float(found.p_values[i, j]), not found.cpdag[j, i]
            graph.add_edge(labels[i], labels[j], directed=is_directed, p_value=p_value)
        return graph

    def _attribute(self, name):
        """A matrix of the result. Invalid parameters raise an AttributeError, because `dir` accesses all attributes."""
        check_published(self)
        try:
            found = getattr(self._found(), name)
            return self._labelled(found) if isinstance(found, np.ndarray) else found
        except ValueError as error:
            raise AttributeError(str(error)) from error

    def _check_algorithm(self):
        require(is_number(self.alpha) and 0 < self.alpha < 1, "alpha must be a number in (0, 1)", self.alpha)
        check_whole(self.max_order, "max_order", 0)

    def _found(self):
        """The result of the algorithm."""
        self._check_algorithm()
        _, graph = self._computed()
        return graph(float(self.alpha), int(self.max_order))

    def _computed(self):
        """A test by column numbers, and the result by alpha and maximum order: functions that compute each once."""
        if self._tests is None:
            test = cache(self._make_tests().test)
            self._tests = test, cache(partial(find_graph, self.n_features_in_, test))
        return self._tests

    def __getstate__(self):
        state = super().__getstate__()
        return state | {"_tests": None} if "_tests" in state else state  # the computed tests are not pickled

    def _number(self, column):
        """The number of a column, which is given by name, or by number without names."""
        columns = self.n_features_in_, getattr(self, "feature_names_in_", None)
        number = numbers_of(*columns)(column)
        require(number is not None, f"a column must be {allowed_keys(*columns)}", column)
        return number

    def _labelled(self, matrix):
        """A copy of a square matrix, with the column names if X was a dataframe."""
        return matrix.copy() if self._names is None else columns_by_columns(matrix, as_frame(self._names))

    def noise_scale_for(
        self, n_samples: int, n_features: int, kind: Literal["numeric", "categorical", "mixed"] = "numeric"
    ) -> float:
        """Compute `noise_scale_` of a fit to a table of this shape: the standard deviation of a correlation or count.

        Costs no privacy: it uses only the parameters and these numbers, and charges no ledger.

        Parameters
        ----------
        n_samples : int
            Number of records, at least 4; number of people with `max_rows_per_group`.
        n_features : int
            Number of columns, at least 2.
        kind : {"numeric", "categorical", "mixed"}, default="numeric"
            Type of the release, as in `kind_`.

        Returns
        -------
        float
        """
        require(kind in ("numeric", "categorical", "mixed"), "kind must be 'numeric', 'categorical' or 'mixed'", kind)
        of_correlations = super().noise_scale_for(n_samples, n_features)
        if kind == NUMERIC:
            return of_correlations
        each = self.max_rows_per_group or 1
        n_labels = [len(labels) + 2 for labels in (self.categories or {}).values()]
        n_parts = [*n_labels, *[1] * int(n_features)][: int(n_features)]
        shape = n_parts, int(n_samples) * each, each
        numbers = frozenset([int(n_features) - 1] if kind == "mixed" else [])
        return TablePlan.for_budget(self.epsilon, self.delta, *shape, self.max_order, numbers).noise_scale

    def _plan(self):
        bounds, each = self.bounds, self.max_rows_per_group
        facts = PublicFacts(bounds, self.categories, max_rows_per_group=each, needs_ranges=bounds is not None)
        release_of = partial(_release_of, self.epsilon, self.delta, self.alpha, self.max_order)
        plan = kendall.matrix_plan(self, facts, release_of, read_labels_or_numbers)
        self._check_algorithm()
        return plan

    def _make_tests(self):
        if self.kind_ == NUMERIC:
            return CorrelationTests(self.noisy_correlation_, self.untied_fraction_, self.noise_scale_, self._entry.n)
        released = self.noisy_tables_, self.noise_scales_, self.noisy_counts_, self.parts_, self.noisy_blanks_
        return self._mechanism.tests(*released)

    def _shown(self):
        """The edges of a :class:`PrivatePC`, strongest evidence first."""
        names, of_numbers, entry = names_of(self), self.kind_ == NUMERIC, self._entry
        what = "Kendall's correlations" if of_numbers else "counts and tables"
        released = f"{what} of {counted(len(names), 'column')}, from which the graph is computed"
        facts = facts_of_release(self, released, noisy="correlation" if of_numbers else "count")
        try:
            marks, p_values = np.asarray(self.cpdag_), np.asarray(self.p_values_)
        except AttributeError as error:  # of parameters changed since
            return Summary([*facts, ("Edges", str(error))], why_broken(entry), entries=(entry,))
        edges = [(i, j) for i, j in np.argwhere(marks).tolist() if i < j or not marks[j, i]]
        facts.append(("Edges", f"{len(edges):,}, by tests with alpha = {self.alpha:g}"))
        if self.n_untested_:
            facts.append(("Uncertain", f"{counted(self.n_untested_, 'test')} of these edges are no evidence"))
        found = [p_values[edge] for edge in edges]
        columns = [
            ResultColumn("column", [names[i] for i, _ in edges]),
            ResultColumn("", ["—" if marks[j, i] else "→" for i, j in edges]),
            ResultColumn("column", [names[j] for _, j in edges]),
            ResultColumn("largest p-value", ["not tested" if math.isnan(p) else f"{p:.1g}" for p in found], "number"),
        ]
        order = np.argsort(found, kind="stable")
        return Summary(facts, why_broken(entry), columns if edges else (), order, unit="edge", entries=(entry,))


def _release_of(epsilon, delta, alpha, max_order, domains):
    if _kind_of(domains) == NUMERIC:
        return kendall.KendallRelease(epsilon, delta)
    return TablesRelease(epsilon, delta, alpha, max_order)


def _kind_of(domains):
    if domains[0] is None:
        return NUMERIC
    return "categorical" if all(isinstance(domain, Nominal) for domain in domains) else "mixed"


def _warn_about_one_part(parts, names):
    columns = [j for j, of_column in enumerate(parts) if of_column.max() == 0]
    if columns:
        warn(
            f"noise hides all but one part of {listed(columns, names)}, or there is only one, so no test can find "
            "an edge of such a column. Use more records, a larger epsilon, fewer columns or coarser categories."
        )


_LEAST_EIGENVALUE = 1e-6
_NOISE_OF_EIGENVALUES = 0.1  # standard deviations of the noise, times the root of the number of columns
_DETERMINED = 1e-3  # residual share of a column's variance at which other columns determine it


class CorrelationTests:
    """Tests of conditional independence from noisy Kendall correlations: functions of released and public numbers.

    They are exact to first order for increasing functions of jointly normal columns; for other columns they test
    partial correlation after such transformations (``docs/theory/private_pc.md``).

    Parameters
    ----------
    noisy_correlation : ndarray of shape (n_columns, n_columns)
        Kendall's tau-a with independent noise, and a diagonal of ones.
    untied_fraction : ndarray of shape (n_columns,)
        Noisy shares of untied pairs of records.
    noise_scale : float
        Standard deviation of the noise on each.
    n_samples : int
        Number of independent records; of people, if these have several each.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic.causal.private_pc import CorrelationTests
    >>> pearson = np.array([[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]])  # a chain
    >>> tests = CorrelationTests(2 / np.pi * np.arcsin(pearson), np.ones(3), noise_scale=0.002, n_samples=10_000)
    >>> tests.test(0, 2, ()).p_value < 1e-9, round(tests.test(0, 2, (1,)).p_value, 2)
    (True, 1.0)
    """

    def __init__(self, noisy_correlation, untied_fraction, noise_scale, n_samples):
        noise_scale, self._n = min(noise_scale, 1.0), n_samples
        shares = kendall.known_shares(untied_fraction, noise_scale)
        correlation, noise = kendall.among_untied(noisy_correlation, shares, noise_scale)
        self._correlation = _regular(kendall.nearest_correlation(correlation), noise)
        self._tied = 2 - shares
        self._repeats = frozenset(np.flatnonzero(shares < kendall.FEW_TIES).tolist())
        # The derivative of the sine is pi / 2 times its cosine. Noise on a share changes all correlations of its
        # column.
        cosine = np.sqrt(1 - self._correlation**2)
        self._noise = (noise * cosine) ** 2
        self._bend = np.arcsin(self._correlation) * cosine
        np.fill_diagonal(self._bend, 0.0)
        self._of_shares = np.where(shares < 1, noise_scale / (2 * shares), 0.0)

    def test(self, i, j, given):
        """Test whether columns i and j are independent given others.

        Parameters
        ----------
        i, j : int
        given : tuple of int

        Returns
        -------
        Outcome
            From 0 to 1 if `given` determines one of the columns: it is then independent of all others, which says
            nothing about causes. Both are NaN if anything is given and a column has many ties: Greiner's formula
            then fails, and conditionally independent columns would not look independent.
        """
        if given and not self._repeats.isdisjoint((i, j, *given)):
            return Outcome(math.nan, math.nan)
        columns = [i, j, *given]
        correlation = self._correlation[np.ix_(columns, columns)]
        slopes = np.linalg.solve(correlation[2:, 2:], correlation[2:, :2])
        a, b = np.concatenate([np.eye(2), -slopes]).T
        left = a @ correlation @ a, b @ correlation @ b
        if min(left) < _DETERMINED:
            return Outcome(1.0, 0.0)
        root = math.sqrt(left[0] * left[1])
        moves = (np.outer(a, b) + np.outer(b, a)) / root
        of_correlations = np.triu(moves, 1) ** 2 * self._noise[np.ix_(columns, columns)]
        of_shares = (moves * self._bend[np.ix_(columns, columns)]).sum(axis=1) * self._of_shares[columns]
        # With ties, the variance of tau-b is larger by a factor of at most 2 - share (docs/theory/private_pc.md).
        sampling = (math.pi / 3) ** 2 * self._tied[i] * self._tied[j] / max(self._n - len(given) - 3, 1)
        variance = sampling + of_correlations.sum() + (of_shares**2).sum()
        p = float(2 * stats.norm.sf(abs(a @ correlation @ b) / root / math.sqrt(variance)))
        return Outcome(p, p)


def _regular(correlation, noise):
    """The correlations shrunk just enough to keep weights small if columns are nearly linear combinations of others."""
    least = max(_LEAST_EIGENVALUE, _NOISE_OF_EIGENVALUES * math.sqrt(len(noise)) * float(noise.mean()))
    ridge = max(least - np.linalg.eigvalsh(correlation)[0], 0.0)
    return (correlation + ridge * np.eye(len(noise))) / (1 + ridge)


# --- Columns with many ties ------------------------------------------------------------------------------------------
#
# Warnings about columns with many ties, for which tests of Kendall's correlations are not valid.
#
# Types of columns are declared, and shares of untied pairs are released with noise: values are never read.


_ASSUMED = (
    "Without bounds, a table of numbers is tested by Kendall's correlations, which assumes that values hardly ever "
    "repeat. If they do, no test given another column is made for such a column: its edges stay, and their p_values_ "
    "are NaN. Pass bounds (the public ranges of all columns) or categories (the public labels of some): the columns "
    "are then tested by tables of their parts."
)


def declared_to_repeat(X):
    """Indices of the columns whose types suggest that values repeat: integers and categories."""
    if is_frame(X):
        types = [column.dtype for column in as_frame(X).head(0).iter_columns()]
        return [j for j, dtype in enumerate(types) if dtype.is_integer() or dtype in (nw.Categorical, nw.Enum)]
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu":
        return list(range(X.shape[1]))
    return []


def warn_about_declared_ties(columns, names):
    """Warn, before the charge, about columns from :func:`declared_to_repeat`."""
    if columns:
        warn(
            f"the types of {listed(columns, names)} are integer or categorical, so values may repeat. "
            f"{_ASSUMED} To avoid this warning for integers that hardly repeat, pass them as floats."
        )


def warn_about_released_ties(untied_fraction, noise_scale, names, *, but):
    """Warn, after the release, about columns with many ties according to the noisy shares; some are excepted."""
    columns = [j for j in kendall.columns_with_ties(untied_fraction, noise_scale) if j not in but]
    if columns:
        warn(
            f"untied_fraction_ of {listed(columns, names)} is below {kendall.FEW_TIES:g}: values repeat. {_ASSUMED} "
            "That is a separate release; the present one has been charged and is kept."
        )
