"""The data that MICr needs from a table, collected in pieces: exact, mergeable counts on public grids."""

import hashlib
import heapq
import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import InputTags, Tags, TargetTags

from skdpmic._utils.arguments import is_number
from skdpmic._utils.private_estimator import in_use
from skdpmic._utils.readable import refuse_target_among
from skdpmic._utils.texts import require, require_type
from skdpmic._utils.typing import BesideTable, Categories, ColumnLike, Correction, Range, Ranges, TableLike
from skdpmic._utils.user_files import check_regular, read_json, write_whole
from skdpmic.statistics.registry import check_mergeable, check_takes_weights, statistic_named
from skdpmic.table.domains import Ignored, Labels, Nominal, to_json
from skdpmic.table.facts import Description, PublicFacts, as_names, check_n_features, from_json
from skdpmic.table.records import map_features, open_chunk, read_columns, refuse_dask
from skdpmic.table.tables import check_columns_seen
from skdpmic.table.values import WEIGHT_UNITS, check_classes, check_kind, check_weights_given, make_target, read_weights

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
        must = "B must be a number >= 4 in a sketch, because its number of records is open"
        require(is_number(B) and B >= 4, must, B)
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
        self.domains = [domain.encoded for domain in description.domains]
        self.classes, self.n_classes = description.classes, description.n_classes
        self.statistic, self.correction = statistic, correction
        self.B, self.c, self.n_parts = self.measure.B, self.measure.c, self.measure.n_parts
        self.n_samples, self._parts = 0, frozenset()  # identities of what was counted: skdpmic/counting/sketch.py
        self._grids = self.measure.counts(None if description.target is None else description.target.encoded)
        self._starts = self._place_features()
        self._counts = np.zeros(self._starts[-1], dtype=np.uint32)
        self._is_torn = False  # whether an update was interrupted, so that features may have counted different records

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
        require_type(isinstance(other, RangeGridSketch), "other must be a RangeGridSketch", other)
        if different := differences(self, other):
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
        return self._with(np.zeros_like(self._counts), 0, frozenset())

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
        pickle and contain no code; `skdpmic/counting/sketch.py` describes them.

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
            counts = self._counts.astype(_COUNTS, copy=False).tobytes()
            content = b"".join([_NAME, _VERSION, b"\n", _line(self, self.n_samples, self._parts), b"\n", counts])
            return content + hashlib.sha256(content).digest()

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
        line, counts = _contents(data)
        try:
            sketch, n_samples, identities = _without_records(line, cls.described, len(counts) // _COUNTS.itemsize)
            is_whole = len(counts) == sketch._counts.nbytes and _line(sketch, n_samples, identities) == line
            is_valid = is_whole and (n_samples > 0) == (len(identities) > 0)
        except MemoryError:
            raise
        except Exception:
            is_valid = False  # raised below, because the error and its traceback hold what is in the file
        if not is_valid:
            raise ValueError(_FOREIGN)
        sketch._counts[:] = np.frombuffer(counts, dtype=_COUNTS)
        sketch.n_samples, sketch._parts = n_samples, identities
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
            self._counts, self._is_torn = np.zeros(self._starts[-1], dtype=np.uint32), False


# --- Identities ------------------------------------------------------------------------------------------------------
#
# Random identities of what sketches have counted, so that a merge notices counts that it already contains.
#
# A sketch gets an identity with its first record, not before: copies of an empty sketch, filled elsewhere, differ.
# Copies of a filled one, and everything they are merged into, share its identity. Identities come from the operating
# system, so they reveal nothing about records; two counts of the same rows have two identities.


_SIZE = 16  # bytes, so that no two are equal by chance
MOST = 4096  # in a sketch; of more, the smallest are kept, so that two large merges keep the same ones


def united(here, there):
    """The identities in two sets, at most ``MOST``; a ValueError if some are in both."""
    if not here.isdisjoint(there):
        raise ValueError(
            "sketches must have no counts in common to be merged, or records would count twice, got the same sketch, a "
            "copy, or merged ones that contain the same sketch: merge each sketch once."
        )
    return frozenset(heapq.nsmallest(MOST, here | there))


# --- Public parameters -----------------------------------------------------------------------------------------------


_NAMES = {"domains": "bounds or categories", "names": "feature_names", "target": "target_bounds"}


def differences(here, there):
    """Names of the public parameters in which two sketches differ, as str; their counts can then not be summed."""
    here, there = (public | public["parameters"] for public in map(_public, (here, there)))
    names = [name for name in here if here[name] != there.get(name) and name != "parameters"]
    return ", ".join(_NAMES.get(name, name) for name in names)


def _public(sketch):
    """The public parameters as plain lists and numbers; without weights, as in versions before weights existed."""
    names, classes = sketch.description.names, sketch.description.classes
    values = {name: getattr(sketch, name) for name in _PARAMETERS}
    return {
        "domains": [to_json(domain) for domain in sketch.description.domains],
        "names": None if names is None else names.tolist(),
        "target": to_json(sketch.description.target),
        "classes": None if classes is None else _labels_to_json(classes),
        "parameters": {name: value for name, value in values.items() if name != "max_weight" or value is not None},
    }


def are_equal(labels, others):
    """Whether two arrays of labels, of which the second may be None, are equal and of one kind."""
    return others is not None and labels.dtype.kind == others.dtype.kind and np.array_equal(labels, others)


# --- Counting --------------------------------------------------------------------------------------------------------


_FEATURES_AT_ONCE = 256  # features counted before they are added, which limits the memory of an update


def count_into(sketch, owner, X, y, n_jobs, *, sample_weight=None, reader=None):
    """Count a chunk, with the columns of `owner` (an estimator or the sketch); `reader` is named in errors.

    Returns the columns and the target, as read.
    """
    check_weights_given(sample_weight, sketch.max_weight)
    description, name = sketch.description, reader or type(owner).__name__
    table = open_chunk(X, description.domains, name)
    check_columns_seen(owner, table)
    refuse_target_among(table.names, y)
    columns = read_columns(table, description.domains)
    target = make_target(y, table.n_samples, description.target, description.classes, name)
    if sample_weight is not None:
        target = target._replace(weights=read_weights(sample_weight, sketch.max_weight, table.n_samples))
    with sketch._in_use(only_reads=False):
        _add(sketch, columns, target, n_jobs)
    return columns, target


def _add(sketch, columns, target, n_jobs):
    n_samples = columns.shape[1]
    sketch._check_addition(n_samples)
    target = sketch._place(target)

    def count(column, domain):
        return sketch._grids.count(column, domain, target)

    sketch._is_torn = True
    for first in range(0, sketch.n_features_in_, _FEATURES_AT_ONCE):
        block = slice(first, first + _FEATURES_AT_ONCE)
        counts = map_features(count, columns[block], sketch.domains[block], n_jobs)
        for j, counts_j in enumerate(counts, first):
            sketch._counts_of(j)[:] += counts_j
    sketch.n_samples += n_samples
    if sketch.n_samples > 0 and not sketch._parts:
        sketch._parts = frozenset([os.urandom(_SIZE)])
    sketch._is_torn = False


_NAME = b"skdpmic RangeGridSketch "
_VERSION = b"7"  # of the format, and of the order of the grids
_COUNTS = np.dtype("<u4")
_DIGEST_BYTES = hashlib.sha256().digest_size
_PARAMETERS = ("statistic", "correction", "B", "c", "n_parts", "max_weight")  # besides the description
_WIDEST_DTYPE = {"i": np.int64, "u": np.uint64, "f": np.float64}  # labels of one kind are equal for any item size
_FOREIGN = "the data must come from RangeGridSketch.to_bytes or save, got other or damaged data."


def _contents(data):
    """The line of public parameters, and the bytes of the counts."""
    require_type(isinstance(data, bytes | bytearray | memoryview), "data must be bytes", data)
    data = bytes(data)
    content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if not content.startswith(_NAME):
        raise ValueError(_FOREIGN)
    version, line, counts = [*content.removeprefix(_NAME).split(b"\n", 2), b"", b""][:3]
    if version != _VERSION and version.isdigit():
        raise ValueError(
            f"the sketch has format version {int(version)}, but this version of skdpmic reads {int(_VERSION)}: count "
            "the records again with this version."
        )
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(f"{_FOREIGN.removesuffix('.')}: the checksum does not match.")
    return line, counts


def _line(sketch, n_samples, identities):
    """The public parameters as one line, the same for equal sketches of the same counts."""
    public = _public(sketch) | {"n_samples": n_samples, "parts": sorted(part.hex() for part in identities)}
    return json.dumps(public, sort_keys=True, separators=(",", ":")).encode("ascii")


def _without_records(line, described, n_counts):
    """A sketch that has not counted the records yet, their number, and the identities of what was counted.

    `described` makes a sketch without records from a description and keywords.
    """
    public = read_json(line)
    identities = frozenset(map(bytes.fromhex, public["parts"]))
    are_ours = len(identities) <= MOST and all(len(identity) == _SIZE for identity in identities)
    if type(public["n_samples"]) is not int or not are_ours:
        raise ValueError
    domains, names = list(map(from_json, public["domains"])), public["names"] and as_names(public["names"])
    check_n_features(len(domains), names)
    check_kind(public["target"], public["classes"])
    target, classes = public["target"] and from_json(public["target"]), public["classes"]
    if isinstance(target, Labels | Ignored):
        raise ValueError
    description = Description(domains, names, target, classes and _labels_of_json(*classes))
    _check_size(description, public["parameters"], n_counts)
    return described(description, **public["parameters"]), public["n_samples"], identities


def _check_size(description, parameters, n_counts):
    """Raise if the grids have more counts than the file: a forged B could take any amount of memory.

    A numeric feature and target have at least B counts, and without a correction at least B**2 / 4.
    """
    are_labels = description.target is None or all(isinstance(domain, Labels) for domain in description.domains)
    if are_labels or (parameters["statistic"], parameters["n_parts"]) != ("mic_r", None):
        return
    B = parameters["B"]
    if n_counts < (B * B / 4 if parameters["correction"] is None else B):
        raise ValueError


def _labels_to_json(labels):
    """Labels as their kind and a list; bytes as str."""
    kind = labels.dtype.kind
    if kind == "S":
        return [kind, [label.decode("latin-1") for label in labels.tolist()]]
    if kind == "f":
        labels = labels + 0.0  # turns -0 into 0
    return [kind, labels.astype(_WIDEST_DTYPE.get(kind, labels.dtype)).tolist()]


def _labels_of_json(kind, labels):
    if kind == "S":
        labels = [label.encode("latin-1") for label in labels]
    classes = check_classes(np.array(labels, dtype=_WIDEST_DTYPE.get(kind)))
    if classes.dtype.kind != kind:
        raise ValueError
    return classes
