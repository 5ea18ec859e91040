"""Estimators that also accept records in pieces: chunks, sketches, dask collections."""

import math
import numbers
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self, TypeVar

from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if

from skdpmic._utils.arguments import check_whole
from skdpmic._utils.exceptions import warn
from skdpmic._utils.readable import is_dask_collection, refuse_masked
from skdpmic._utils.rollback import rollback_on_error
from skdpmic._utils.typing import BesideTable, TableLike
from skdpmic.counting.agreement import check_facts, check_grids, check_weights_agree
from skdpmic.counting.chunks import count_into
from skdpmic.counting.distributed import count_collection, feature_names, n_rows
from skdpmic.counting.sketch import RangeGridSketch
from skdpmic.counting.sketched import SketchedRecords
from skdpmic.counting.streams import count_batches
from skdpmic.statistics.registry import check_mergeable
from skdpmic.table.frames import column_of, note_columns, open_table
from skdpmic.table.normal_form.containers import in_memory, is_lazy
from skdpmic.table.reading import check_enough, refuse_dask


def _check_mergeable(estimator):
    """Raise unless scores can be computed from counts of pieces."""
    check_mergeable(estimator._statistic())
    if estimator.max_rows_per_group is not None:
        raise ValueError(
            "max_rows_per_group must be None if records come in pieces, got "
            f"{estimator.max_rows_per_group!r}: the rows of one person may be in several pieces."
        )


def _check_one_pass(estimator):
    """Raise if counts of each feature with the target are not enough."""
    estimator._check_one_pass()


def _check_public(estimator):
    """Raise if a public parameter is "data"."""
    estimator._facts().check_public()


_Method = TypeVar("_Method")


def _available_if(*checks: Callable[[Any], None]) -> Callable[[_Method], _Method]:
    """Whether an estimator has a method; if not, its AttributeError gives the reason."""

    def has_method(estimator):
        try:
            for check in checks:
                check(estimator)
        except ValueError as error:
            raise AttributeError(str(error)) from None
        return True

    return available_if(has_method)


class IncrementalFitMixin:
    """Lets a `PrivateScoring` estimator count records first, wherever they are stored, and release scores later."""

    n_jobs: int | None
    max_weight: float | None
    _sketch: RangeGridSketch
    _check_parameters: Callable[[], None]
    _publish: Callable[..., None]
    _reset: Callable[[], None]
    _kept: Callable[..., tuple[int, ...]]

    @_available_if(_check_mergeable, _check_one_pass)
    def fit_sketch(self, sketch: RangeGridSketch) -> Self:
        """Score every feature from the counts of a sketch, and store the noisy release.

        This is equivalent to `fit` on the records counted, and gives the same numbers for the same seed, with one
        exception: with ``statistic="mtv_r"``, a learnt `target_cut_` of a continuous target is a multiple of an eighth
        of its range.

        Parameters
        ----------
        sketch : RangeGridSketch
            Counts of at least 4 records. It is not changed, and remains as sensitive as the data.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            If `bounds`, `categories`, `target_bounds`, `classes`, `B` or `c` of the estimator is given and differs from
            that of the sketch, if `max_weight` differs, if `target_shares` are not as many as its target needs, or if
            `mechanism` needs other counts. The estimator is left unchanged. Those of the first six that are None or
            "auto", and a B that is an exponent, are taken from the sketch.
        BudgetError
            If the cost does not fit in `ledger`. The estimator is left unchanged, and no noise is drawn.
        RuntimeError
            If another call that changes the estimator or the sketch is not finished, in another thread. Nothing is
            charged.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        """
        with rollback_on_error(self):
            self._check_parameters()
            if not isinstance(sketch, RangeGridSketch):
                raise TypeError(f"sketch must be a RangeGridSketch, got {type(sketch).__name__}.")
            with sketch._in_use():
                self._publish(*self._from_sketch(sketch))
        return self

    @_available_if(_check_mergeable, _check_one_pass, _check_public)
    def partial_fit(
        self,
        X: TableLike,
        y: BesideTable,
        n_expected: int = 100_000,
        sample_weight: BesideTable | None = None,
    ) -> Self:
        """Count a chunk of records, for a later `publish`.

        **Until `publish`, the estimator holds exact counts and is as sensitive as the data**; it cannot be pickled. The
        first call deletes the results of an earlier fit. It costs no budget, because nothing is released. Available
        only if `bounds`, `target_bounds` and `classes` are public, not "data".

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_chunk_samples, n_features)
            As in `fit`, but in memory, and with any number of rows.
        y : array-like of shape (n_chunk_samples,)
        n_expected : int, default=100_000
            Approximate number of records in all chunks; public. The first call uses it to choose the parameters that
            depend on n_samples: B, if it is "auto" or an exponent, and c. Later calls ignore it. The noise does not
            depend on it.
        sample_weight : array-like of shape (n_chunk_samples,), default=None
            As in `fit`.

        Returns
        -------
        self : object
            The estimator, with the chunk counted.

        Raises
        ------
        ValueError, TypeError
            If a parameter or the chunk is invalid. The estimator is left unchanged.
        RuntimeError
            If another call that changes the estimator is not finished, in another thread.
        """
        refuse_dask(X)
        with rollback_on_error(self):
            self._check_parameters()
            X = in_memory(X)  # the first chunk is read twice
            is_first = "_sketch" not in vars(self)
            if is_first:
                self._reset()
                check_whole(n_expected, "n_expected", 4)
                self._sketch = self._sketch_for(n_expected, X)
            else:
                self._check_agreement(self._sketch)
            count_into(self._sketch, self, X, y, self.n_jobs, sample_weight=sample_weight, reset=is_first)
        return self

    @_available_if(_check_mergeable, _check_one_pass)
    def publish(self) -> Self:
        """Make the release that `fit` would make for all chunks since the last `publish`, and delete their counts.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        NotFittedError
            If there has been no `partial_fit` since the last `publish` or `fit`.
        ValueError
            If there are fewer than 4 records, or the parameters have changed since the first `partial_fit`.
        BudgetError
            If the cost does not fit in `ledger`. No noise is drawn, and the estimator keeps its counts.
        RuntimeError
            If another call that changes the estimator is not finished, in another thread. Nothing is charged.

        Warns
        -----
        PrivacyLeakWarning
            If `random_state` is set.
        UserWarning
            If the number of records is so far from `n_expected` that the scores are worse for it.
        """
        if "_sketch" not in vars(self):
            raise NotFittedError(f"This {type(self).__name__} has nothing to publish: call 'partial_fit' first.")
        with rollback_on_error(self):
            self._check_parameters()
            records, measure = self._from_sketch(self._sketch)
            self._warn_about_expected(records, measure)
            self._publish(records, measure)
        return self

    @_available_if(_check_mergeable, _check_one_pass)
    def empty_sketch(
        self,
        n_samples: int,
        *,
        n_features: int | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> RangeGridSketch:
        """Make an empty sketch for this estimator, to be filled elsewhere and passed to `fit_sketch`.

        Parameters
        ----------
        n_samples : int
            Approximate number of records in all; public. Every parameter that depends on it is chosen here.
        n_features : int, default=None
            Number of features; required if neither `bounds` nor `feature_names` determines it.
        feature_names : array-like of str, default=None
            Names of the features.

        Returns
        -------
        RangeGridSketch

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        self._check_parameters()
        check_whole(n_samples, "n_samples", 4)
        return self._empty_sketch(n_samples, n_features, feature_names)

    def __getstate__(self):
        if "_sketch" in vars(self):
            raise TypeError(
                f"cannot pickle or copy a {type(self).__name__} between partial_fit and publish: it holds exact "
                "counts, as sensitive as the data. To move counts deliberately, use a RangeGridSketch."
            )
        return super().__getstate__()

    def _check_one_pass(self):
        """Raise if records must be read again once the first scores are known."""

    # --- Read ------------------------------------------------------------------------------------------------

    def _read(self, X, y, groups, sample_weight=None):
        if is_dask_collection(X):
            return self._count_where_it_lies(X, y, sample_weight)
        if is_lazy(X) and groups is None and self._statistic().is_mergeable:
            return self._count_batches(X, y, sample_weight)
        return super()._read(X, y, groups, sample_weight)

    def _count_batches(self, X, y, sample_weight):
        """The records of a LazyFrame, read in batches, and their measure."""
        self._facts().check_public()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        y = column_of(y, "y", column_or_1d)
        check_enough(y.n_samples)
        weights = None if sample_weight is None else column_of(sample_weight, "sample_weight")
        if weights is not None and weights.n_samples != y.n_samples:
            lengths = f"{weights.n_samples} and {y.n_samples}"
            raise ValueError(f"sample_weight must have one weight for each row of X and y, got {lengths}.")
        count = partial(count_batches, owner=self, X=X, y=y, sample_weight=weights, n_jobs=self.n_jobs)
        return self._from_sketch(count(self._sketch_for(y.n_samples, X.head(0))), count)

    def _count_where_it_lies(self, X, y, sample_weight):
        """The records of a dask collection, counted by its workers, and their measure."""
        _check_mergeable(self)
        n_dimensions = getattr(X, "ndim", "no")
        if n_dimensions != 2:
            raise ValueError(f"X must be 2-dimensional, got a dask collection of {n_dimensions} dimension(s).")
        refuse_masked(y, "y")
        refuse_masked(sample_weight, "sample_weight")
        n_samples = n_rows(X) if self._grids_depend_on_n() else math.inf  # counting rows takes a pass over them
        check_enough(n_samples)
        names = feature_names(X)
        self._facts().domains(X.shape[1], names)  # raises if names in dicts are not columns
        count = partial(count_collection, X=X, y=y, sample_weight=sample_weight)
        sketch = count(self._empty_sketch(n_samples, X.shape[1], names))
        self._measure(sketch.n_samples, sketch.n_features_in_, sketch.n_classes)  # raises if it is too large for them
        return self._from_sketch(sketch, count)

    def _sketch_for(self, n_samples, X):
        """An empty sketch for a given table, whose columns must match the dicts."""
        facts = self._facts()
        table = open_table(X, type(self).__name__, takes_text=facts.takes_text)
        note_columns(self, table)
        columns = (table.n_features, table.names_as_text(), table.declared())
        facts.domains(*columns)
        return self._empty_sketch(n_samples, *columns)

    def _empty_sketch(self, n_samples, n_features, feature_names, declared=None):
        description = self._facts().describe_unseen(n_features, feature_names, declared)
        measure = self._measure(n_samples, description.n_features, description.n_classes)
        return RangeGridSketch.described(
            description,
            statistic=self.statistic,
            correction=self._grids().correction,
            B=measure.B,
            c=measure.c,
            n_parts=measure.n_parts,
            max_weight=self.max_weight,
        )

    def _from_sketch(self, sketch, recount=None):
        """The records of a sketch and its measure, if it suits this estimator; `recount` counts the records again."""
        self._check_agreement(sketch)
        kept = self._kept(sketch.n_features_in_, sketch.description.names)
        records = SketchedRecords(sketch, recount, kept=kept)
        self._reset()
        self.n_features_in_ = sketch.n_features_in_
        if hasattr(sketch, "feature_names_in_"):
            self.feature_names_in_ = sketch.feature_names_in_
        release = self._release_for(sketch.n_features_in_, None, sketch.n_classes)
        return records, self._told(release.told(sketch.measure))

    def _check_agreement(self, sketch):
        """Raise unless the sketch matches the parameters."""
        if self.statistic != sketch.statistic:
            raise ValueError(f"statistic must be that of the sketch, {sketch.statistic!r}, got {self.statistic!r}.")
        check_facts(sketch.description, self._facts())
        check_weights_agree(sketch, self.max_weight)
        B, c, _ = self._grids()
        correction = getattr(self, "correction", sketch.correction)
        check_grids(sketch, B, c, correction, getattr(self, "mechanism", None))
        self._told(sketch.measure)  # raises unless target_shares are as many as the sketch needs

    def _grids_depend_on_n(self):
        B, c, _ = self._grids()
        return "auto" in (B, c) or _is_exponent(B)

    def _warn_about_expected(self, records, measure):
        """Warn if B was chosen for a very different number of records."""
        B = self._grids().B
        if B != "auto" and not _is_exponent(B):
            return
        fitting = self._measure(records.n_samples, records.n_features, records.n_classes).B
        if not 0.5 <= measure.B / fitting <= 2:
            warn(
                f"B={measure.B:.4g} was chosen for the n_expected of the first partial_fit; {fitting:.4g} would suit "
                f"the {records.n_samples:,} records received.",
            )


def _is_exponent(B):
    return isinstance(B, numbers.Real) and B < 1
