"""The data that MICr needs from a table, collected in pieces: exact, mergeable counts on public grids."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import InputTags, Tags, TargetTags

from skdpmic._utils.arguments import is_number
from skdpmic._utils.rollback import in_use
from skdpmic._utils.texts import quoted
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, Correction, Range, Ranges, TableLike
from skdpmic._utils.user_files import check_regular, write_whole
from skdpmic.counting.chunks import count_into, differences, united
from skdpmic.counting.sketch_format import pack, unpack
from skdpmic.statistics.registry import check_mergeable, check_takes_weights, statistic_named
from skdpmic.table.domains import Nominal
from skdpmic.table.facts import PublicFacts
from skdpmic.table.reading import refuse_dask
from skdpmic.table.targets import WEIGHT_UNITS

_MAX_COUNT = 2**32 - 1  # counts are uint32
_DAMAGED = "the sketch is damaged: its features have not counted the same records."
_REMEDY = "count into a sketch of its own in each thread, from empty(), and merge them"


class RangeGridSketch:
    """Mergeable counts of records on public grids, from which scores of the whole table are computed exactly.

    You can count chunks of a table one after the other, or on many machines, and merge the counts in any order: the
    scores are those of the whole table, bit for bit (``docs/theory/sketch.md``). The size does not depend on the number
    of records.

    **A sketch is as sensitive as the data.** It contains exact counts without noise, as do its bytes, its file and its
    pickle. Only the release by `fit_sketch` of an estimator is private.

    Parameters
    ----------
    bounds : tuple, array-like or dict, default=None
        Public ranges of numeric features, as in :class:`DPMICScorer`. Values outside are clipped.
    categories : dict, default=None
        Public labels of nominal features, by name, or by number if they have no names. Boolean columns also need an
        entry, because no table declares them.
    target_bounds : tuple or array-like, default=None
        Public range of a continuous target. Give exactly one of `target_bounds` and `classes`.
    classes : array-like, default=None
        All labels a discrete target can have, in any order.
    statistic : {"mic_r", "mtv_r"}, default="mic_r"
        Statistic for scoring the features.
    B : float
        Maximum grid size: a number of cells from 4 to 10,000. The estimators' "auto" value depends on the number of
        records and on epsilon; :meth:`DPMICScorer.empty_sketch` makes a sketch with that B, for an expected number of
        records.
    c : float, default=None
        How many times finer than a merged partition its master partition is; above 0, with at most 10,000 parts in
        total. The default is 5, or follows from `n_parts`.
    correction : None or "miller-madow", default="miller-madow"
        Bias correction, as in :class:`DPMICScorer`.
    n_parts : int, default=None
        If given, the sketch has one table of counts per feature, as required by ``mechanism="geometric"``, with this
        many parts of the feature and of a continuous target; from 2 to 100.
    n_features : int, default=None
        Number of features; required if neither `bounds` nor `feature_names` determines it.
    max_weight : float, default=None
        If given, records have survey weights, which are clipped to this number; with ``statistic="mtv_r"`` only.
    feature_names : array-like of str, default=None
        Distinct names of the features. The default is the keys of `bounds` if it is a dict; otherwise the features have
        no names.

    Attributes
    ----------
    n_samples : int
        Number of records counted.
    n_classes : int or None
        Number of classes; None with a continuous target.
    nbytes : int
        Memory of the counts in bytes. A feature takes 45 kB at B = 150 and c = 5, and 320 kB at B = 400 and c = 8;
        without a correction, 330 kB and 4 MB; with classes, or for MTVr, at most 20 kB.
    description : Description
        Public description of the table: the domains of features and target, and the names.
    domains : list of length n_features
        The range of each feature as used by the kernels; for a nominal feature, its number of labels.
    classes, statistic, correction, B, c, n_parts, max_weight
        The parameters, checked.
    measure : Measure
        The grids and the sensitivity that follow from these parameters.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if they have names.

    See Also
    --------
    DPMICScorer.fit_sketch, DPMICSelector.fit_sketch : Publish noisy scores, or a choice of features.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import DPMICScorer
    >>> from skdpmic.counting import RangeGridSketch
    >>> X = np.random.default_rng(0).uniform(size=(5000, 3))
    >>> y = (X[:, 1] - 0.5) ** 2
    >>> empty = RangeGridSketch(bounds=(0, 1), target_bounds=(0, 0.25), B=60, n_features=3)
    >>> whole = empty.empty().update(X[:2000], y[:2000]).merge(empty.empty().update(X[2000:], y[2000:]))
    >>> RangeGridSketch.from_bytes(whole.to_bytes())
    <RangeGridSketch of 5,000 records and 3 features, as sensitive as the data>
    >>> DPMICScorer(epsilon=5).fit_sketch(whole).ranking_[1]
    np.int64(1)
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        *,
        bounds: Ranges | None = None,
        categories: Categories | None = None,
        target_bounds: Range | None = None,
        classes: ColumnLike | None = None,
        statistic: str = "mic_r",
        B: float,
        c: float | None = None,
        correction: Correction = "miller-madow",
        n_parts: int | None = None,
        max_weight: float | None = None,
        n_features: int | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> None:
        facts = PublicFacts(bounds, categories, target_bounds, classes)
        description = facts.describe_unseen(n_features, feature_names)
        self._set_up(description, statistic, B, c, correction, n_parts, max_weight)

    @classmethod
    def described(cls, description, *, statistic, B, c, correction, n_parts, max_weight=None):
        """The sketch of a table with a given description; for the estimators, and for files."""
        sketch = cls.__new__(cls)
        sketch._set_up(description, statistic, B, c, correction, n_parts, max_weight)
        return sketch

    def _set_up(self, description, statistic, B, c, correction, n_parts, max_weight):
        if not is_number(B) or not B >= 4:
            raise ValueError(
                f"B must be a number >= 4 in a sketch, because its number of records is open, got {quoted(B)}."
            )
        kind = statistic_named(statistic, correction)
        check_mergeable(kind)
        check_takes_weights(kind, max_weight)
        measure = kind.measure_of_any_number(B, c, n_parts, description.n_classes)
        self.measure = measure if max_weight is None else measure.of_weights()
        self.max_weight = None if max_weight is None else float(max_weight)
        self._most = _MAX_COUNT // (1 if max_weight is None else WEIGHT_UNITS)  # most records without an overflow
        if description.names is not None:
            self.feature_names_in_ = description.names
        self.description, self.n_features_in_ = description, description.n_features
        self.domains = description.encoded_domains
        self.classes, self.n_classes = description.classes, description.n_classes
        self.statistic, self.correction = statistic, correction
        self.B, self.c, self.n_parts = self.measure.B, self.measure.c, self.measure.n_parts
        self.n_samples, self._parts = 0, frozenset()  # identities of what was counted: skdpmic/counting/chunks.py
        self._grids = self.measure.counts(None if description.target is None else description.target.encoded)
        self._starts = self._place_features()
        self._counts = self._zeros()
        self._is_torn = False  # whether an update was interrupted, so that features may have counted different records

    def _zeros(self):
        return np.zeros(self._starts[-1], dtype=np.uint32)

    def _place_features(self):
        """The positions where the counts of each feature begin, and the end; their number depends on the domain."""
        nobody = self._grids.place(np.empty(0, dtype=np.float64 if self.classes is None else np.int64))

        @lru_cache(None)
        def length(domain):
            column = np.empty(0, dtype=np.uint32 if isinstance(domain, Nominal) else np.float64)
            return len(self._grids.count(column, domain, nobody))

        return np.cumsum([0, *map(length, self.domains)])

    @property
    def nbytes(self) -> int:
        """Memory of the counts, in bytes."""
        return self._counts.nbytes

    def __repr__(self):
        return (
            f"<{type(self).__name__} of {self.n_samples:,} records and {self.n_features_in_:,} features, "
            "as sensitive as the data>"
        )

    # --- Counting ---------------------------------------------------------------------------------------------

    def update(
        self, X: TableLike, y: BesideTable, n_jobs: int | None = None, *, sample_weight: BesideTable | None = None
    ) -> Self:
        """Count a chunk of records.

        Parameters
        ----------
        X : array-like, dataframe or sparse matrix of shape (n_chunk_samples, n_features)
            One record per row; may be empty. Columns are as described by `bounds` and `categories`.
        y : array-like of shape (n_chunk_samples,)
            The target: numbers or dates, clipped to `target_bounds`, or labels from `classes`.
        n_jobs : int, default=None
            Number of parallel jobs (see joblib).
        sample_weight : array-like of shape (n_chunk_samples,), default=None
            Survey weight of each row; given if and only if `max_weight` is.

        Returns
        -------
        self : RangeGridSketch

        Raises
        ------
        ValueError, TypeError
            If the chunk is invalid. The error quotes no values, and the sketch is left unchanged.
        RuntimeError
            If another thread uses the sketch. Let each thread count into its own sketch, and merge them.
        """
        refuse_dask(X)
        count_into(self, self, X, y, n_jobs, sample_weight=sample_weight)
        return self

    def merge(self, other: Self) -> Self:
        """Merge two sketches into a new one with the records of both.

        Merging is associative and commutative. A sketch knows what it was merged from, also after it was copied or
        saved, and counts nothing twice; but rows that were counted twice are not recognized.

        Parameters
        ----------
        other : RangeGridSketch
            A sketch with the same public parameters.

        Returns
        -------
        RangeGridSketch

        Raises
        ------
        ValueError
            If the public parameters differ; the message names them. If both contain the same counts: a sketch and
            itself, a copy of it, the same file, or a sketch with which it was merged. In a merge of more than 4,096
            sketches, some are forgotten.
        """
        if not isinstance(other, RangeGridSketch):
            raise TypeError(f"other must be a RangeGridSketch, got {type(other).__name__}.")
        different = differences(self, other)
        if different:
            raise ValueError(f"sketches must have the same public parameters to be merged, got different {different}.")
        with self._in_use(), other._in_use():
            self._check_addition(other.n_samples)
            other._check_addition(self.n_samples)
            parts = united(self._parts, other._parts)
            return self._with(self._counts + other._counts, self.n_samples + other.n_samples, parts)

    def empty(self) -> Self:
        """Return a sketch without records, with the same public parameters.

        Returns
        -------
        RangeGridSketch
        """
        return self._with(self._zeros(), 0, frozenset())

    def __copy__(self):
        return self._with(self._counts.copy(), self.n_samples, self._parts, self._is_torn)

    def _with(self, counts, n_samples, parts, is_torn=False):
        """A sketch with the same public parameters and other counts."""
        sketch = type(self).__new__(type(self))
        vars(sketch).update(vars(self))
        sketch._counts, sketch.n_samples, sketch._parts, sketch._is_torn = counts, n_samples, parts, is_torn
        return sketch

    def __eq__(self, other):
        if not isinstance(other, RangeGridSketch):
            return NotImplemented
        return not differences(self, other) and np.array_equal(self._counts, other._counts)

    def _counts_of(self, j):
        """The counts of feature j: raw data; not private."""
        return self._counts[self._starts[j] : self._starts[j + 1]]

    def _place(self, target):
        """The positions of the records of a chunk in the target."""
        return self._grids.place(target.values, *([] if target.weights is None else [target.weights]))

    def _check_addition(self, n_samples):
        """Raise unless this many records can be added."""
        if self._is_torn:
            raise ValueError(_DAMAGED)
        if self.n_samples + n_samples > self._most:
            raise ValueError(f"a sketch can count at most {self._most:,} records, got {self.n_samples + n_samples:,}.")

    def _check_undamaged(self):
        """Raise unless every feature has counted every record or its weight; an interrupted update may prevent that."""
        counted = np.add.reduceat(self._counts, self._starts[:-1], dtype=np.int64)
        n_tables = np.array([self._grids.n_tables(domain) for domain in self.domains])
        in_all = self.n_samples if self.max_weight is None else int(counted[0])
        is_possible = 0 <= self.n_samples <= self._most and in_all <= self.n_samples * WEIGHT_UNITS
        if self._is_torn or not is_possible or not (counted == in_all * n_tables).all():
            raise ValueError(_DAMAGED)

    def _in_use(self, only_reads=True):
        """Within this context, refuse other calls that use the sketch, unless this one and they only read it."""
        return in_use(self, only_reads=only_reads, remedy=_REMEDY)

    # --- Files ------------------------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Serialize the sketch to bytes, which are as sensitive as the data: they contain exact counts without noise.

        Equal sketches of the same counts have equal bytes, on every machine and for any order of merges. They are not a
        pickle and contain no code; `skdpmic/counting/sketch_format.py` describes them.

        Returns
        -------
        bytes
            ``zlib.compress(data, 1)`` makes them three to ten times smaller, because most counts are small.

        Raises
        ------
        ValueError
            If an update was interrupted, so that features may have counted different records.
        """
        with self._in_use():
            self._check_undamaged()
            return pack(self)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Self:
        """Restore the sketch from the bytes of `to_bytes`.

        Parameters
        ----------
        data : bytes, bytearray or memoryview

        Returns
        -------
        RangeGridSketch

        Raises
        ------
        ValueError
            If the bytes are not from `to_bytes`, are damaged, incomplete or of another format version, or if a feature
            has counted a different number of records. The checksum detects damage; it does not stop people who forge
            counts and their checksum.
        """
        sketch = unpack(data, cls.described)
        sketch._check_undamaged()
        return sketch

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bytes of the sketch to a file, which is as sensitive as the data.

        Only the owner may read the file. It appears only when it is complete, and replaces an existing file.

        Parameters
        ----------
        path : str or path-like
        """
        write_whole(path, self.to_bytes(), is_private=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a sketch written by `save`, with the errors of :meth:`from_bytes`.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        RangeGridSketch
        """
        check_regular(path)
        return cls.from_bytes(Path(os.fsdecode(path)).read_bytes())

    def __sklearn_tags__(self):
        # Attributes required by scikit-learn's checks of a chunk.
        tables = InputTags(allow_nan=True, sparse=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=tables)

    def __getstate__(self):
        state = vars(self).copy()
        if self.n_samples == 0:
            del state["_counts"]  # so that an empty sketch, which dask sends to every worker, is small
        return state

    def __setstate__(self, state):
        vars(self).update(state)
        if self.n_samples == 0:
            self._counts, self._is_torn = self._zeros(), False
