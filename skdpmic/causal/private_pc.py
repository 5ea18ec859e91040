"""Causal structure of a table by the PC algorithm, under differential privacy."""

import math
import warnings
from dataclasses import KW_ONLY
from typing import Literal, Self

from skdpmic._utils.constructors import parameters
from skdpmic._utils.rollback import rollback_on_error
from skdpmic._utils.summaries import shown_graph
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, RandomState, Ranges, TableLike
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.causal.correlation_tests import CorrelationTests
from skdpmic.causal.graph_result import GraphResultMixin
from skdpmic.causal.table_plan import TablePlan
from skdpmic.causal.table_release import TablesRelease, columns_of_numbers
from skdpmic.causal.table_tests import TableTests
from skdpmic.causal.ties import declared_to_repeat, warn_about_declared_ties, warn_about_released_ties
from skdpmic.correlation.kendall_release import PrivateMatrixEstimator
from skdpmic.table.facts import PublicFacts
from skdpmic.table.features import listed
from skdpmic.table.frames import as_frame, in_memory, is_frame, row_of_zeros
from skdpmic.table.nominal import Nominal
from skdpmic.table.people import check_given_together
from skdpmic.table.reading import read_labels_or_numbers

_DROWNS = 9.0  # standard deviations of the noise on the counts of a column, for a part is to have three of them


@parameters
class PrivatePCParameters:
    """What :class:`PrivatePC` is told; apart from it, as type checkers cannot read its other bases."""

    epsilon: float = 1.0
    delta: float = 1e-6
    _: KW_ONLY
    bounds: Ranges | None = None
    categories: Categories | None = None
    alpha: float = 0.01
    max_order: int = 3
    max_rows_per_group: int | None = None
    ledger: BudgetLedger | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: RandomState = None


class PrivatePC(PrivatePCParameters, GraphResultMixin, PrivateMatrixEstimator):
    """Causal structure of a table by the PC algorithm, from one differentially private release.

    The PC algorithm asks which columns are independent given which others, and draws the graph of causes that says the
    same. Here it asks one release with noise: all Kendall correlations of a table of numbers, or tables of counts of
    each three columns where some have labels. Every test knows how large the noise is. The release satisfies (epsilon,
    delta)-differential privacy, and so does all that follows from it: replacing one record, which is a row with all its
    columns, changes the probability of any outcome by a factor of at most exp(epsilon), apart from delta.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget of one `fit`, for all that it releases together; above 0. Infinity adds no noise.
    delta : float, default=1e-6
        How much the probability of any outcome may change beyond that factor, in (0, 1); far below ``1 / n_samples``.
    bounds : tuple, array-like or dict, default=None
        Public ranges of numbers, as of :class:`skdpmic.PrivateSelectKBest`. They are needed beside columns of labels or
        booleans, and where values often repeat: numbers are then cut into about 6 parts of nearly equal size, by
        noisy counts, and tested by tables, whatever their law. Without bounds, a table of numbers that hardly ever
        repeat is tested by Kendall's correlations.
    categories : dict, default=None
        Public labels of columns, by name or number, but of those whose types declare their labels: booleans, and Enum
        of Polars. Labels that are not public have their own bin, and so do missing values; without bounds, missing
        numbers come first and are equal to one another.
    alpha : float, default=0.01
        Two columns lose their edge if a test of their independence has a p-value above this; in (0, 1). After a fit,
        another alpha costs nothing; where tables were released as the algorithm asked for them (of more than 16
        columns, or of many labels), the alpha of the fit decided which.
    max_order : int, default=3
        Most columns that a test of two others takes as given; from 0 on. After a fit, another one costs nothing; but
        below 2, tables of two columns are released, not of three.
    max_rows_per_group : int, default=None
        If given, each person is protected as a whole, with all their rows: `groups` tells `fit` whose row each one is,
        and everybody counts for exactly this many rows, drawn at random if there are more, repeated if there are fewer.
        The number of people is public, as n_samples otherwise is.
    ledger : BudgetLedger, default=None
        Where every `fit` writes its cost, after the data is validated and before anything is computed.
    n_jobs : int, default=None
        Number of parallel jobs (see joblib). The result does not depend on it.
    verbose : int, default=0
        Whether `fit` prints how many columns are done, and the time that it took: 0 prints nothing, 1 about ten lines
        in each pass over the columns, 2 more. Time is not covered by the guarantee: keep the lines to yourself.
    random_state : None, int or RandomState, default=None
        None draws noise from the operating system's entropy. A seed is for tests; it breaks the guarantee, and warns.

    Attributes
    ----------
    cpdag_ : ndarray of bool or dataframe of shape (n_features, n_features)
        The graph: ``[i, j]`` is True if there is an arrow from column i to j, or a line between them, of which ``[j,
        i]`` is True as well. With the current `alpha` and `max_order`. For a dataframe, it is a dataframe of the same
        library with the names of the columns, which are also the index in pandas; in libraries without an index, the
        rows are in the order of the columns.
    skeleton_ : ndarray of bool or dataframe of shape (n_features, n_features)
        Which columns have an edge of either kind; symmetric.
    p_values_ : ndarray or dataframe of shape (n_features, n_features)
        The largest p-value of all tests of each two columns that the algorithm did: at most `alpha` where there is an
        edge, which is surer the smaller it is; but NaN of an edge that a test might have removed which could not be
        made: of numbers without `bounds`, one that is given a column, where any of the columns has many ties. Zeros on
        the diagonal.
    kind_ : {"numeric", "categorical", "mixed"}
        What the release was made for: numbers without `bounds`; labels only; or numbers in parts, alone or with labels.
    noisy_correlation_ : ndarray of shape (n_features, n_features)
        What was released of a table of numbers, with `untied_fraction_`: tau-a of each pair of columns, as by
        :class:`skdpmic.correlation.PrivateCorrelation`.
    untied_fraction_ : ndarray of shape (n_features,)
        Share of the pairs of records whose values differ, with noise, for each column; of a table of numbers.
    noisy_counts_ : list of ndarray of shape (n_labels + 2,) or (65,)
        What was released of each column with parts: the number of records with each label, with others, and with
        missing values; or in each of 64 cells of equal width of a range, and with missing values.
    parts_ : list of ndarray of shape (n_labels + 2,) or (65,)
        The part of each of these. Labels that are not seen to have records, as noise may hide them, are in the part of
        the most frequent one.
    noisy_tables_ : dict of tuple of int to ndarray
        What was released after that, with noise: the number of records with each combination of the parts of two,
        three or four columns, in increasing order; of all such sets, or of each two and of those three that the
        algorithm asked for.
    noise_scale_ : float
        Standard deviation of the noise on each correlation, about ``9 n_features / n_samples`` at epsilon=1 and
        delta=1e-6; or on each count of the tables of all sets of columns.
    noise_scales_ : dict of int to float
        Of tables, that on a count of a table of so many columns, from 1 to 4.
    privacy_spent_ : (float, float)
        Epsilon and delta of this fit; per person, with `max_rows_per_group`.
    n_groups_ : int
        Number of people; only with `max_rows_per_group`.
    n_features_in_ : int
        Number of columns, at least 2.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns; only if X has string column names.

    See Also
    --------
    skdpmic.correlation.PrivateCorrelation : The correlations by themselves.
    skdpmic.correlation.PrivateForwardSelector : Chooses features for a target, from such a matrix.
    skdpmic.plotting.GraphDisplay : The picture of the graph.

    Notes
    -----
    **What the graph says.** Data tell causes apart only up to graphs that make the same columns independent. `cpdag_`
    stands for all of these: an arrow is in each of them; a line is an arrow of one direction in some and of the other
    in others.

    **What it assumes.** That the columns have a causal graph without cycles; that no cause of two columns is missing
    from the table; that columns are independent only where the graph says so (faithfulness); that records are
    independent. Of numbers without `bounds`, that the columns are jointly normal, or increasing functions of such
    columns, so that values hardly ever repeat. Nothing in the data can confirm all of this.

    **How often it errs.** Each test takes two independent columns for dependent with a probability of about `alpha`;
    a graph is many tests, and no error rate is promised for all of them together. More often an edge is missing,
    because noise hides it: it takes about 300 records per column to find most correlations of 0.1 at epsilon=1
    and delta=1e-6. Where tests contradict one another, the surest count, and arrows that would form a cycle are lines;
    the graph then need not be that of any set of causes.

    The result does not depend on the order of the columns, the law of the noise being the same for all (PC-stable; of
    all sets that make two columns independent, the one with the largest p-value decides which arrows there are).

    See ``docs/theory/private_pc.md`` and ``docs/theory/kendall_matrix.md`` for the theorems, and
    ``docs/choose/causal.md`` for a guide. Not covered by the guarantee: errors on invalid data, and time.

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

    def fit(self, X: TableLike, y: ColumnLike | None = None, groups: BesideTable | None = None) -> Self:
        """Release what the graph follows from.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_samples, n_features)
            One record per row; at least 4 rows and 2 columns. Columns hold numbers, dates, durations or booleans; or
            all of them hold labels, as `categories` say.
        y : None
            Ignored. A target whose causes are wanted is a column of X.
        groups : array-like of shape (n_samples,), default=None
            The person each row belongs to, given if and only if `max_rows_per_group` is: labels of at least 4 people,
            hashable, and none of them missing.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data is not as described, or some columns have labels and others no bounds. The
            estimator is then left as it was.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left as it was, and no noise is drawn.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If the noise will exceed the signal, or delta is above ``1 / n_samples``; or if a table of numbers without
            bounds has columns whose types are integer or categorical, as many ties leave edges untested. All this
            before the charge. After it, if the released `untied_fraction_` show other columns with many ties, or if a
            column is left with one part, so that it has no edges.
        """
        with rollback_on_error(self):
            self._check_parameters()
            check_given_together(groups, self.max_rows_per_group)
            X = in_memory(X)
            records, measure = self._read(X, y, groups)
            declared, names = self._declared_to_repeat(X), getattr(self, "feature_names_in_", None)
            warn_about_declared_ties(declared, names, stacklevel=2)
            self._publish(records, measure)
            self._names = row_of_zeros(as_frame(X)) if is_frame(X) else None
        # Where warnings are errors, what has been paid for is kept.
        if self.kind_ == "numeric":
            warn_about_released_ties(self.untied_fraction_, self.noise_scale_, names, stacklevel=2, but=declared)
        else:
            self._warn_about_one_part(names, stacklevel=2)
        return self

    def noise_scale_for(
        self, n_samples: int, n_features: int, kind: Literal["numeric", "categorical", "mixed"] = "numeric"
    ) -> float:
        """`noise_scale_` in a fit to a table of this shape: standard deviation on each correlation, or each count.

        Costs no privacy: nothing but the parameters and these numbers is used, and no ledger is charged.

        Parameters
        ----------
        n_samples : int
            Number of records, at least 4; of people, with `max_rows_per_group`.
        n_features : int
            Number of columns, at least 2.
        kind : {"numeric", "categorical", "mixed"}, default="numeric"
            What the release is made for, as `kind_` will say.

        Returns
        -------
        float
        """
        if kind not in ("numeric", "categorical", "mixed"):
            raise ValueError(f"kind must be 'numeric', 'categorical' or 'mixed', got {kind!r}.")
        of_correlations = super().noise_scale_for(n_samples, n_features)
        if kind == "numeric":
            return of_correlations
        each = self.max_rows_per_group or 1
        n_labels = [len(labels) + 2 for labels in (self.categories or {}).values()]
        n_parts = [*n_labels, *[1] * int(n_features)][: int(n_features)]
        shape = n_parts, int(n_samples) * each, each
        numbers = frozenset([int(n_features) - 1] if kind == "mixed" else [])
        return TablePlan.for_budget(self.epsilon, self.delta, *shape, self.max_order, numbers).noise_scale

    def _facts(self):
        return PublicFacts(
            bounds=self.bounds,
            categories=self.categories,
            max_rows_per_group=self.max_rows_per_group,
            needs_ranges=self.bounds is not None,
        )

    def _records(self, X, y):
        records = read_labels_or_numbers(self._open(X), self._facts(), X)
        self.kind_ = _kind_of(records.scales)
        return records

    def _declared_to_repeat(self, X):
        return declared_to_repeat(X) if self.kind_ == "numeric" else []

    def _release_for(self, n_features, n_groups=None):
        if self.kind_ == "numeric":
            return super()._release_for(n_features, n_groups)
        return TablesRelease(self.epsilon, self.delta, self.alpha, self.max_order)

    @property
    def _computed(self) -> str | None:  # type: ignore[override]
        return "kendall" if self.kind_ == "numeric" else None

    def _store(self, released, release, mechanism, measure, records):
        super()._store(released, release, mechanism, measure, records)
        self._numbers = columns_of_numbers(records.scales)
        self._tests = self._kept = None

    def _make_tests(self):
        n, each = self._terms.n_protected, self._terms.rows_per_person or 1
        if self.kind_ == "numeric":
            return CorrelationTests(self.noisy_correlation_, self.untied_fraction_, self.noise_scale_, n)
        return TableTests(self.noisy_tables_, self.noise_scales_, n * each, each, self._numbers)

    def _warn_about_noise(self, release, mechanism, measure, shape, stacklevel):
        if self.kind_ == "numeric":
            super()._warn_about_noise(release, mechanism, measure, shape, stacklevel + 1)
            return
        scale = math.sqrt(mechanism.count_variance())
        if _DROWNS * scale > shape.n_samples:
            advice = (
                "It falls as epsilon grows and as n_features falls, and counts for less as n_samples grows: "
                "noise_scale_for tells how large it is."
            )
            self._warn_that_noise_drowns("each count of a table", mechanism, shape, advice, stacklevel + 1)

    def _warn_about_one_part(self, names, stacklevel):
        columns = [j for j, parts in enumerate(self.parts_) if parts.max() == 0]
        if columns:
            warnings.warn(
                f"noise hides all but one part of {listed(columns, names)}, or there is but one, so no test is made "
                "that could find an edge of such a column. More records, a larger epsilon, fewer columns or coarser "
                "categories help.",
                stacklevel=stacklevel + 1,
            )

    def _check_parameters(self):
        super()._check_parameters()
        self._check_algorithm()

    _shown = shown_graph

    def __sklearn_is_fitted__(self):
        return hasattr(self, "noise_scale_")


def _kind_of(scales):
    if scales[0] is None:
        return "numeric"
    return "categorical" if all(isinstance(scale, Nominal) for scale in scales) else "mixed"
