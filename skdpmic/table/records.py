"""A table with its target: its public numbers, other public facts, the records themselves, and how they are read.

Errors quote no values.
"""

from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skdpmic._utils.readable import is_dask_collection, refuse_target_among
from skdpmic._utils.texts import SILENT, Progress, quoted
from skdpmic.table import values
from skdpmic.table.domains import NUMBERS, Ignored, Labels, Order, Range
from skdpmic.table.facts import FEWEST, KINDS, Description, kept_columns, refuse_faults
from skdpmic.table.tables import check_columns_seen, columns_seen, open_table
from skdpmic.table.values import ClassTarget, NumericTarget, People, make_target, read_people

_COPIED_AT_ONCE = 16  # two cache lines of a record
_COPIED_VALUES = 2**20  # of a long table, one column is enough to copy
_SHORT = 1500  # records: below, passing the interpreter's lock to a thread takes longer than scoring a feature


class Columns:
    """The columns of a table in memory, each made when it is needed.

    Parameters
    ----------
    source : list of callables or ndarray of shape (n_features, n_samples)
        Each callable returns an ndarray of shape (n_samples,). Integers and booleans become floats, which take up to 8
        times the memory.
    n_samples : int
    """

    def __init__(self, source, n_samples):
        self._source, self.shape = source, (len(source), n_samples)

    def __len__(self):
        return len(self._source)

    def __getitem__(self, some):
        return Columns(self._source[some], self.shape[1])

    def __iter__(self):
        return iter(self.made())

    def made(self):
        """All of them: a list, or float64 ndarray of shape (n_features, n_samples)."""
        if isinstance(self._source, np.ndarray):
            return self._source.astype(np.float64, order="C")
        return [make() for make in self._source]


def map_features(function, columns, domains, n_jobs, left_out=(), progress=SILENT, of_block=None):
    """``function(column, domain)`` for each feature that is not left out.

    Parameters
    ----------
    function : callable
    columns : sequence of length n_features
        Argument of the function for each feature: its values or counts. Slices are sent to workers.
    domains : list of length n_features
        As in :class:`skdpmic.table.records.Shape`.
    n_jobs : int or None
    left_out : sequence of int, default=()
    progress : Progress, default=SILENT
    of_block : callable, default=None
        ``of_block(columns, domains)`` returns a list, the function of several columns at once, if that is faster.

    Returns
    -------
    list of length n_features, minus those left out
        In order, for any `n_jobs`.
    """
    n_workers, n_scored = effective_n_jobs(n_jobs), len(columns) - len(left_out)
    ends = [-1, *sorted(left_out), len(columns)]
    runs = [slice(first + 1, last) for first, last in pairwise(ends)]  # between features left out; these need no copy
    is_short = isinstance(columns, np.ndarray | Columns) and columns.shape[1] < _SHORT
    if n_workers == 1 or is_short:  # the overhead of joblib equals several features of a small table
        results = (_each(function, of_block, columns[run], domains[run]) for run in runs)
        return list(progress.track(chain.from_iterable(results), n_scored, "columns"))
    size = -(-len(columns) // (n_workers * 4))

    def results_of(columns, domains):
        return list(_each(function, of_block, columns, domains))

    blocks = Parallel(n_jobs=n_jobs, prefer="threads", return_as=progress.return_as)(
        delayed(results_of)(columns[block], domains[block])
        for run in runs
        for block in (slice(first, min(first + size, run.stop)) for first in range(run.start, run.stop, size))
    )
    return list(chain.from_iterable(progress.track(blocks, n_scored, "columns", size=len)))


def _each(function, of_block, columns, domains):
    """The result for each column, a few of which are made, and near in memory, at a time.

    Columns of an array are copied: in a wide table, their values are so far apart that every access is a cache miss.
    """
    n_samples = columns.shape[1] if hasattr(columns, "shape") else _COPIED_VALUES  # counts need no copy
    few = max(1, min(_COPIED_AT_ONCE, _COPIED_VALUES // max(1, n_samples)))
    for first in range(0, len(columns), few):
        some, domains_of_some = columns[first : first + few], domains[first : first + few]
        some = some.made() if isinstance(some, Columns) else some
        some = np.ascontiguousarray(some) if isinstance(some, np.ndarray) else some
        yield from map(function, some, domains_of_some) if of_block is None else of_block(some, domains_of_some)


class Shape(NamedTuple):
    """The public numbers of a table."""

    n_samples: int
    domains: list
    """What kernels know of each feature: the range (lower, upper) of numbers, the number of labels of a nominal one, or
    None where a statistic needs none."""
    rows_per_group: int = 1
    """How many rows a person has, who is what is protected."""
    is_complete: bool = False
    """Whether missing values are refused, so that there is no part for them."""

    @property
    def n_features(self):
        """Number of features."""
        return len(self.domains)

    @property
    def n_groups(self):
        """Number of people."""
        return self.n_samples // self.rows_per_group


class PublicTable(NamedTuple):
    """The public facts about a table, which decide cost, noise and warnings; nothing here can read a record."""

    shape: Shape
    n_classes: int | None = None  # None with a numeric target, or none
    description: Description | None = None
    seen: dict[str, Any] = {}  # noqa: RUF012  # never changed: `n_features_in_` and `feature_names_in_`, as fitted
    kept: tuple[int, ...] = ()  # indices of the features kept in any case
    measure: Any = None  # of counts; None if it is still to be chosen
    has_rows: bool = True  # whether features can be counted together with others

    @property
    def names(self):
        """The names of the features; None if they have none."""
        return self.seen.get("feature_names_in_")


class TableRecords(NamedTuple):
    """Records of a table in memory. Raw data; not private."""

    public: PublicTable
    columns: np.ndarray | Columns  # (n_features, n_samples)
    target: NumericTarget | ClassTarget | None = None
    people: People | None = None  # if people have several rows of X
    rows: np.ndarray | None = None  # of X, the rows that count, after sampling
    progress: Progress = SILENT  # of loops over all columns

    def with_weights(self, weights):
        """The records, with weights in units."""
        return self._replace(target=self.target._replace(weights=weights))

    def of_people(self, groups, rows_per_group):
        """The records of people with several rows each; the same records without `groups`."""
        if groups is None:
            return self
        people = read_people(groups, rows_per_group, self.public.shape.n_samples)
        shape = self.public.shape._replace(n_samples=people.n_samples, rows_per_group=people.rows_per_group)
        return self._replace(public=self.public._replace(shape=shape), people=people)

    def sampled(self, progress):
        """The records that count: for people with several rows, the same number for each."""
        if self.people is None:
            return self._replace(progress=progress)
        rows = self.people.rows()
        target = self.target
        if target is not None:
            weights = None if target.weights is None else target.weights[rows]
            target = target._replace(values=target.values[rows], weights=weights)
        return self._replace(rows=rows, target=target, progress=progress)

    def target_counts(self, measure):
        """Counts of the target for a measure, the number of records, and the range of a numeric target."""
        return measure.target_counts(self.target), self.public.shape.n_samples, self.target.bounds

    def map_features(self, function, n_jobs, left_out=(), of_block=None):
        """``function(column, domain)`` for each feature that is not left out; `of_block` does the same for several."""
        if self.rows is not None:
            function, of_block = partial(_call_on_rows, function, self.rows), None
        domains = self.public.shape.domains
        return map_features(function, self.columns, domains, n_jobs, left_out, self.progress, of_block)

    def scores(self, measure, n_jobs, random_bytes, left_out=()):
        """Noise-free scores of shape (n_features,), without those left out."""
        with measure.in_numpy_if_little(self.public.shape.n_samples, self.public.shape.n_features):
            scorer = measure.scorer(self.target, random_bytes)
            return np.array(self.map_features(scorer.score, n_jobs, left_out, getattr(scorer, "score_block", None)))

    def scores_beside(self, j, measure, left_out, n_jobs):
        """Scores of features together with feature j by a measure, in order, without those left out."""
        (column,) = self.columns[j : j + 1]
        column = column if self.rows is None else column[self.rows]
        scorer = measure.scorer_beside(self.target, column, self.public.shape.domains[j])
        return np.array(self.map_features(scorer.score, n_jobs, left_out, of_block=scorer.score_block))

    def tables(self, measure, n_jobs):
        """The table of each feature, still without noise."""
        grids = measure.counts(self.target.bounds)
        count = partial(grids.count, target_parts=grids.place(self.target.values))
        return np.array(self.map_features(count, n_jobs), dtype=np.int64).reshape(-1, *grids.shape)


def _call_on_rows(function, rows, column, *public):
    return function(column[rows], *public)


# --- Reading a table in memory by its public description --------------------------------------------------------------


def read_records(facts, X, y, reader):
    """The records of a table in memory and its target, each read separately according to the public facts.

    Parameters
    ----------
    facts : PublicFacts
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    reader : str
        Name of the estimator in errors.
    """
    table = open_table(X, reader, takes_text=facts.takes_text, least=FEWEST)
    refuse_target_among(table.names, y)
    seen = columns_seen(table)
    description = facts.describe(table.n_features, table.names_as_text(), table.declared())
    columns = read_columns(table, description.domains)
    target = make_target(y, table.n_samples, description.target, description.classes, reader)
    kept = kept_columns(facts.keep, table.n_features, seen.get("feature_names_in_"))
    shape = Shape(table.n_samples, [domain.encoded for domain in description.domains])
    return TableRecords(PublicTable(shape, target.n_classes, description, seen, kept), columns, target)


def read_features(table, facts):
    """The records of a table without a target, of which only the order of the values is needed."""
    return _without_target(table, facts.domains(table.n_features, table.names_as_text(), table.declared()))


def read_labels_or_numbers(table, facts, X):
    """The records of a table without a target: numbers without a description, or columns with public parts.

    Parameters
    ----------
    table : Table
    facts : PublicFacts
    X : array-like
        The object from which the table was opened.

    Returns
    -------
    TableRecords
        The domains are all None, or each is a range or a :class:`skdpmic.table.domains.Nominal`.
    """
    declared = table.declared()
    if isinstance(X, np.ndarray) and X.dtype == np.bool_:
        declared = dict(enumerate(map(table.column_at, range(table.n_features))))
    columns = table.n_features, table.names_as_text(), declared
    domains = facts.domains_without_ranges(*columns) if facts.bounds is None else facts.domains(*columns)
    return _without_target(table, domains)


def _without_target(table, domains):
    shape = Shape(table.n_samples, [domain.encoded for domain in domains])
    columns = read_columns(table, domains)
    return TableRecords(PublicTable(shape, seen=columns_seen(table)), columns)


def open_chunk(X, domains, reader, least=0):
    """A chunk of a table with known domains."""
    takes_text = any(isinstance(domain, Labels) or domain.of != NUMBERS for domain in domains)
    return open_table(X, reader, takes_text=takes_text, least=least)


def check_enough(n_samples):
    """Raise unless there are enough records."""
    if n_samples < FEWEST:
        raise ValueError(f"Found array with {n_samples} sample(s) while a minimum of {FEWEST} is required.")


def refuse_dask(X):
    """Raise if X is a dask collection, whose rows would all be loaded into memory."""
    if is_dask_collection(X):
        raise TypeError(
            "X must be in memory to be counted in chunks, got a dask collection: pass it to fit, or count each of its "
            "partitions into a separate sketch."
        )


def read_numbers(X, estimator):
    """A table with the features of a fitted estimator, as floats: an ndarray or a sparse matrix."""
    table = open_table(X, type(estimator).__name__)
    check_columns_seen(estimator, table)
    if table.values is not None:
        return table.values.astype(np.float64) if table.values.dtype.kind in "biu" else table.values
    if table.is_sparse:
        return X
    return np.column_stack(read_values(table, [Range(0.0, 1.0)] * table.n_features))


# --- Columns ----------------------------------------------------------------------------------------------------------


def read_columns(table, domains):
    """The columns of a table, converted by their domains.

    Returns
    -------
    ndarray of shape (n_features, n_samples), or Columns
    """
    different = {id(domain): domain for domain in domains}.values()  # one, where all columns have the same bounds
    are_unchanged = (
        isinstance(domain, Order | Ignored) or (isinstance(domain, Range) and domain.of == NUMBERS)
        for domain in different
    )
    if table.values is not None and all(are_unchanged):
        values = table.values.T
        return Columns(values, table.n_samples) if values.dtype.kind in "biu" else values
    if table.is_sparse or table.values is not None:  # the table must not become dense, or floats, as a whole
        refuse_faults(dict(enumerate(domains)), table.column_at, table.name_of)
        return Columns([partial(_place, table, j, domain) for j, domain in enumerate(domains)], table.n_samples)
    columns = read_values(table, domains)
    makers = [partial(domain.encode, column) for domain, column in zip(domains, columns, strict=True)]
    return Columns(makers, table.n_samples)


def read_values(table, domains):
    """The values of each column before conversion by a domain: numbers, or codes of labels.

    Returns
    -------
    list of ndarrays of shape (n_samples,)
    """
    refuse_faults(dict(enumerate(domains)), table.column_at, table.name_of)
    return [_read(table, j, domain) for j, domain in enumerate(domains)]


def _place(table, j, domain):
    return domain.encode(_read(table, j, domain))


def _read(table, j, domain):
    if isinstance(domain, Ignored):
        return np.zeros(table.n_samples)
    name = f"column {quoted(table.name_of(j))} of X"
    column = table.read(j)
    if isinstance(domain, Labels):
        return values.as_codes(column, domain.labels, name)
    return values.as_numbers(column, KINDS[domain.of], name)
