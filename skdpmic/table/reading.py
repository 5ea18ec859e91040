"""Reading a table in memory by its public description; errors quote no values."""

from functools import partial

import numpy as np

from skdpmic._utils.arguments import asks_for_data
from skdpmic._utils.readable import is_dask_collection, refuse_target_among
from skdpmic._utils.texts import quoted
from skdpmic.table import values
from skdpmic.table.domains import NUMBERS, Ignored, Labels, Order, Range, with_range_of_data
from skdpmic.table.features import domains_without_ranges, kept_columns, ordered_kinds, read_each, refuse_faults
from skdpmic.table.frames import check_columns_seen, columns_seen, open_table
from skdpmic.table.records import Columns, Integers, TableRecords
from skdpmic.table.targets import make_target

FEWEST = 4  # smallest number of records for scores


def open_records(facts, X, reader):
    """A table with enough records; `reader` is the name of the estimator in errors."""
    return open_table(X, reader, takes_text=facts.takes_text, least=FEWEST)


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
    facts.check_target()
    table = open_records(facts, X, reader)
    refuse_target_among(table.names, y)
    seen = columns_seen(table)
    description = facts.describe(table.n_features, table.names_as_text(), table.declared())
    columns, domains = read_columns(table, description.domains)
    classes = facts.classes if asks_for_data(facts.classes) else description.classes
    target = make_target(y, table.n_samples, description.target, classes, reader)
    kept = kept_columns(facts.keep, table.n_features, seen.get("feature_names_in_"))
    return TableRecords(columns, _encoded_domains(domains), target, description, kept=kept, seen=seen)


def read_features(table, facts):
    """The records of a table without a target, of which only the order of the values is needed."""
    columns, domains = read_columns(table, facts.domains(table.n_features, table.names_as_text(), table.declared()))
    return TableRecords(columns, [domain.encoded for domain in domains], None, seen=columns_seen(table))


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
    domains = domains_without_ranges(facts.categories, *columns) if facts.bounds is None else facts.domains(*columns)
    columns, domains = read_columns(table, domains)
    return TableRecords(columns, [domain.encoded for domain in domains], None, seen=columns_seen(table))


def _encoded_domains(domains):
    """The encoded domains; one object for equal domains, because there may be very many."""
    encoded = {id(domain): domain.encoded for domain in domains}
    return [encoded[id(domain)] for domain in domains]


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
    refuse_other_kinds(table, dict.fromkeys(range(table.n_features), Range(0.0, 1.0)))
    return np.column_stack([_read(table, j, Range(0.0, 1.0)) for j in range(table.n_features)])


# --- Columns ----------------------------------------------------------------------------------------------------------


def read_columns(table, domains):
    """The columns of a table, converted by their domains, and the domains.

    A domain that is None is replaced by the range of the data.

    Returns
    -------
    columns : ndarray of shape (n_features, n_samples), or Columns
    domains : list of length n_features
    """
    different = {id(domain): domain for domain in domains}.values()  # one, where all columns have the same bounds
    if table.values is not None and all(map(_leaves_numbers, different)):
        return Integers(table.values.T) if table.values.dtype.kind in "biu" else table.values.T, domains
    # The values of these are checked, and the table must not become dense, or floats, as a whole.
    if (table.is_sparse or table.values is not None) and None not in domains:
        refuse_other_kinds(table, dict(enumerate(domains)))
        return Columns(
            [partial(_place, table, j, domain) for j, domain in enumerate(domains)], table.n_samples
        ), domains
    columns = read_values(table, domains)
    if None in domains:
        columns, domains = zip(*map(_with_domain, columns, domains), strict=True)
    makers = [partial(domain.encode, column) for domain, column in zip(domains, columns, strict=True)]
    return Columns(makers, table.n_samples), list(domains)


def read_values(table, domains):
    """The values of each column before conversion by a domain: numbers, or codes of labels.

    Returns
    -------
    list of ndarrays of shape (n_samples,)
    """
    refuse_other_kinds(table, dict(enumerate(domains)))
    return read_each(lambda j: _read(table, j, domains[j]), range(table.n_features), table.name_of)


def _leaves_numbers(domain):
    """Whether a domain leaves numbers unchanged."""
    return isinstance(domain, Order | Ignored) or (isinstance(domain, Range) and domain.of == NUMBERS)


def _place(table, j, domain):
    return domain.encode(_read(table, j, domain))


def _read(table, j, domain):
    if isinstance(domain, Ignored):
        return np.zeros(table.n_samples)
    name = f"column {quoted(table.name_of(j))} of X"
    column = table.read(j)
    if isinstance(domain, Labels):
        return values.as_codes(column, domain.labels, name)
    return values.as_numbers(column, ordered_kinds(domain), name)


def _with_domain(column, domain):
    return with_range_of_data(column) if domain is None else (column, domain)


def refuse_other_kinds(table, domains):
    """Raise if a column has another type than its domain, given by column number."""
    refuse_faults(domains, table.column_at, table.name_of)
