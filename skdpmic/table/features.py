"""The public description of all features: their domains, from `bounds` and `categories`, and those of `keep`."""

import numbers

import numpy as np

from skdpmic._utils.errors import warn
from skdpmic._utils.readable import abbreviated, almost, is_position, refuse_masked
from skdpmic._utils.texts import quoted
from skdpmic.table import values
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, Ignored, Labels, Nominal, Order, domain_of, domains_of
from skdpmic.table.normal_form import CODED, OBJECTS, TEXT, exact_number, is_missing


def feature_domains(bounds, categories, n_features, names, declared=None, needs_ranges=True, ignored=()):
    """The domain of each feature.

    Parameters
    ----------
    bounds, categories
        In the user's form.
    n_features : int
    names : array-like of str, or None
        Names of the features.
    declared : dict, default=None
        The ColumnSource of a column, by number, whose type may declare labels. `bounds` and `categories` come first.
    needs_ranges : bool, default=True
        Whether ranges of numbers are needed. If not, `bounds` are ignored.
    ignored : sequence of int, default=()
        Features whose values are not used.

    Returns
    -------
    list of length n_features
    """
    declared = declared or {}
    nominal = by_number(categories or {}, "categories", n_features, names)
    nominal = {j: labels_of(labels, _label("categories", j, names)) for j, labels in nominal.items()}
    domains = _numeric_domains(bounds, n_features, names) if needs_ranges else [Order()] * n_features
    both = sorted(j for j in nominal if domains[j] is not UNDESCRIBED)
    if isinstance(bounds, dict) and needs_ranges and both:
        raise ValueError(f"a feature must be in bounds or in categories, got both for {listed(both, names)}.")
    others = _declared_domains(declared, domains, bounds) | nominal | dict.fromkeys(ignored, Ignored())
    for j, domain in others.items():
        domains[j] = domain
    if UNDESCRIBED in domains:
        refuse_faults(dict(enumerate(domains)), declared.get, lambda j: j if names is None else names[j])
    return domains


def domains_without_ranges(categories, n_features, names, declared):
    """The domain of each feature without ranges: labels for all, or an order for all.

    Parameters as in :func:`feature_domains`.
    """
    domains = feature_domains(None, categories, n_features, names, needs_ranges=False)
    domains = [
        Labels(declared[j].labels) if isinstance(domain, Order) and j in declared and declared[j].labels else domain
        for j, domain in enumerate(domains)
    ]
    labelled = [j for j, domain in enumerate(domains) if isinstance(domain, Labels)]
    if labelled and len(labelled) < n_features:
        others = [j for j in range(n_features) if j not in labelled]
        raise ValueError(
            f"bounds must have an entry for every feature without labels, because {listed(labelled, names)} have "
            f"labels, got none for {listed(others, names)}. With labels, numbers are cut into parts of their public "
            "ranges."
        )
    return domains


def _numeric_domains(bounds, n_features, names):
    """The domain of each feature that `bounds` describe, as numbers."""
    if bounds is not None and not isinstance(bounds, dict):
        return domains_of(bounds, n_features)
    domains = [UNDESCRIBED] * n_features
    for j, entry in by_number(bounds or {}, "bounds", n_features, names).items():
        domains[j] = domain_of(entry, _label("bounds", j, names))
    return domains


def _declared_domains(declared, domains, bounds):
    """Axes of columns whose type declares labels, unless these are numbers with a separate entry."""
    return {
        j: Labels(source.labels)
        for j, source in declared.items()
        if source.labels and (domains[j] is UNDESCRIBED or (_are_text(source.labels) and not isinstance(bounds, dict)))
    }


def _are_text(labels):
    return isinstance(labels[0], str)


def by_number(entries, parameter, n_features, names):
    """The entries of a dict by name, or by number if features have no names, by number."""
    if not isinstance(entries, dict):
        raise ValueError(
            f"{parameter} must be a dict by name of a feature, or by number without names, such as "
            f"{{{quoted(0 if names is None else str(names[0]))}: ...}}, got {quoted(entries)}."
        )
    number_of = numbers_of(n_features, names)
    found = {key: number_of(key) for key in entries}
    unknown = [key for key, j in found.items() if j is None]
    if unknown and names is None and any(isinstance(key, str) for key in unknown):
        raise ValueError(
            f"{parameter} is a dict by feature name, but X has no feature names: pass X as a dataframe whose column "
            "names are all str, or entries by number, in the order of the columns. (SelectKBest always passes its "
            "score_func an array.)"
        )
    if unknown:
        raise ValueError(
            f"{parameter} must have entries for features of X only, got others, {abbreviated(unknown)}."
            f"{_advice_on_numbers(unknown, n_features, names)}{almost(unknown, () if names is None else names)}"
        )
    return {j: entries[key] for key, j in found.items()}


def numbers_of(n_features, names):
    """The function that gives the number of a feature, or None for anything that is not a feature.

    Features are given by name, and by number only if they have no names, like the columns of an array: the number of a
    named one could be mistaken for its name.

    Parameters
    ----------
    n_features : int
    names : array-like of str, or None
    """
    if names is None:
        return lambda key: int(key) if is_position(key) and 0 <= key < n_features else None
    number_of = {name: j for j, name in enumerate(names)}
    return lambda key: number_of.get(key) if isinstance(key, str) else None


def allowed_keys(n_features, names):
    """What :func:`numbers_of` takes, for a message."""
    return f"an int from 0 to {n_features - 1}" if names is None else "a name in feature_names_in_"


def _advice_on_numbers(keys, n_features, names):
    """What to do about numbers of features that have names; empty if there are none."""
    given = [key for key in keys if is_position(key)]
    if names is None or not given:
        return ""
    meant = [f"{quoted(names[key])} for {key}" for key in given[:3] if 0 <= key < n_features]
    example = f", such as {', '.join(meant)}" if meant else ""
    return f" Features with names are given by name{example}; numbers are for arrays."


def _label(parameter, j, names):
    return f"{parameter} of feature {quoted(j if names is None else names[j])}"


def listed(columns, names):
    """Columns by their names, or by number, for a message."""
    return abbreviated([j if names is None else str(names[j]) for j in columns])


def n_features_of(bounds, categories, keep=()):
    """Number of features described by bounds, categories and `keep`; None if they fit any number."""
    keys = [key for entries in (bounds, categories) if isinstance(entries, dict) for key in entries] + list(keep)
    if isinstance(bounds, dict):
        return len(set(keys))
    if isinstance(bounds, tuple | list | np.ndarray) and len(bounds) == 2:
        ends = [len(end) for end in bounds if np.ndim(end) == 1]
        if ends:
            return max(ends)
    elif isinstance(bounds, list | tuple | np.ndarray) and np.ndim(bounds[0]) > 0:
        return len(bounds)  # probably a pair for each feature; the check of bounds explains the correct form
    return None


_RECORDS_A_LABEL = 20


def warn_about_many_labels(shape, names):
    """Warn about nominal features with too many labels for the number of records."""
    most = shape.n_groups // _RECORDS_A_LABEL
    many = [j for j, domain in enumerate(shape.domains) if isinstance(domain, Nominal) and domain.n_labels > most]
    if many:
        warn(
            f"categories of {listed(many, names)} have more than one label per {_RECORDS_A_LABEL} of the "
            f"{shape.n_groups:,} samples, so chance alone makes scores of these features higher and less certain. "
            "Group labels by public knowledge, such as towns by region, not by the data.",
        )


# --- Labels ----------------------------------------------------------------------------------------------------------


def labels_of(labels, name):
    """The domain of a nominal feature with these public labels, in order."""
    refuse_masked(labels, name)
    array = np.asarray(labels, dtype=object) if np.ndim(labels) == 1 else np.empty(0)
    items = [item.item() if isinstance(item, np.generic) else item for item in array.tolist()]
    items = [str(item) if hasattr(item, "closed_left") else item for item in items]  # of pandas.cut, as its columns
    allowed = f"{name} must be a list or array of at least 2 distinct labels, all str or all numbers"
    if isinstance(labels, str | dict | set) or len(items) < 2:
        raise ValueError(f"{allowed}, got {quoted(labels)}.")
    refuse_missing(array, name)
    if not all(isinstance(item, str) for item in items):
        if not all(isinstance(item, numbers.Real) for item in items):
            raise ValueError(f"{allowed}, got {quoted(labels)}.")
        items = list(map(exact_number, items))
    if len(set(items)) < len(items):
        raise ValueError(f"{allowed}, got {quoted(labels)}.")
    return Labels(tuple(items))


# --- Features kept in any case ----------------------------------------------------------------------------------------


def refuse_missing(labels, name):
    """Raise if public labels, as an array of objects, include a missing value."""
    if is_missing(labels).any():
        raise ValueError(
            f"{name} must hold labels only, got a missing value such as NaN or None. Leave it "
            "out: missing values of a feature have their own bin, and a target must have none."
        )


def check_keep(keep):
    """Raise unless `keep` is a list of distinct names and numbers of columns."""
    is_list = isinstance(keep, list | tuple | np.ndarray) and np.ndim(keep) <= 1
    items = list(keep) if is_list else []
    are_columns = all(isinstance(item, str | numbers.Integral) and not isinstance(item, bool) for item in items)
    if not is_list or not are_columns or len(set(items)) < len(items):
        raise ValueError(f"keep must be a list of distinct names or numbers of features, got {quoted(keep)}.")


def kept_columns(keep, n_features, names):
    """The numbers of the columns kept, ascending.

    Parameters
    ----------
    keep : list of str or int
    n_features : int
    names : array-like of str, or None

    Returns
    -------
    tuple of int
    """
    check_keep(keep)
    if not len(keep):
        return ()
    kept = by_number(dict.fromkeys(list(keep)), "keep", n_features, names)
    n_candidates(keep, n_features)
    return tuple(sorted(kept))


def n_candidates(keep, n_features):
    """The number of features to choose from; a ValueError if all are kept."""
    if len(keep) >= n_features:
        raise ValueError(f"keep must leave at least one feature to choose, got all {n_features}.")
    return n_features - len(keep)


UNDESCRIBED = object()  # in place of the domain of a feature that bounds do not describe
_ANY = "numbers, dates or durations"
_KINDS = {
    NUMBERS: (NUMBERS, OBJECTS),
    DATES: (DATES, OBJECTS),
    DURATIONS: (DURATIONS, OBJECTS),
    TEXT: (TEXT, OBJECTS),
    Order.of: values.ANY_ORDER,
}
_BOUNDS = (
    "Write what is publicly known, such as bounds={{{0}: (0, 120)}} for ages in years, never the least and the "
    "greatest value found; where nothing is known, private_bounds learns bounds, at a cost of epsilon"
)
_IF_NOT_TAKEN = "; an estimator without categories takes no labels: leave them out by X = X.drop(columns={2})"
_CONVERT = "Convert them to {1}, or leave them out by X = X.drop(columns={2})"
_LABELS = "List their public labels, such as categories={{{0}: ['no', 'yes']}}"
_NOT_DECLARED = "; those of a categorical type are not taken, because they may have been read from the data"
_TO_NUMBERS = (
    "If they are numbers, perhaps with ',' between thousands or '%', write X[{0}] = pd.to_numeric(X[{0}].str.replace("
    "'[,%]', '', regex=True), errors='coerce'), which makes other text missing; if they are labels, list those that "
    "are public, such as categories={{{0}: ['no', 'yes']}}"
)
_LINES: dict[
    tuple[str | None, str | None], str
] = {  # what to write for a column of this kind that must be of that kind; None is a column without an entry
    (NUMBERS, None): _BOUNDS,
    (TEXT, None): _LABELS,
    (CODED, None): _LABELS + _NOT_DECLARED,
    (DATES, None): "Write public dates, as in bounds={{{0}: (pd.Timestamp('1900-01-01'), pd.Timestamp('2030-01-01'))}}",
    **dict.fromkeys([(OBJECTS, None), (None, None)], f"{_BOUNDS}. {_LABELS}, if they hold labels"),
    (DURATIONS, None): "Write public durations, as in bounds={{{0}: (pd.Timedelta(0), pd.Timedelta(days=365))}}",
    (TEXT, NUMBERS): _TO_NUMBERS,
    (TEXT, Order.of): _TO_NUMBERS + _IF_NOT_TAKEN,
    (TEXT, DATES): "Convert text to dates by X[{0}] = pd.to_datetime(X[{0}], format='%Y-%m-%d', errors='coerce'), with "
    "the format that it has",
    (CODED, NUMBERS): _LABELS + _NOT_DECLARED,
    (CODED, Order.of): _LABELS + _NOT_DECLARED + _IF_NOT_TAKEN,
    (NUMBERS, TEXT): "Labels of numbers are numbers in categories, too: [1, 2, 3], not ['1', '2', '3']",
    (DURATIONS, NUMBERS): "Write bounds of durations as durations, as in bounds={{{0}: (pd.Timedelta(0), "
    "pd.Timedelta(days=365))}}",
    (DATES, NUMBERS): "Write bounds of dates as dates, as in bounds={{{0}: (pd.Timestamp('1900-01-01'), "
    "pd.Timestamp('2030-01-01'))}}",
}
_IN_POLARS = {  # what to write in place of a part of these lines
    "X[{0}] = pd.to_numeric(X[{0}].str.replace('[,%]', '', regex=True), errors='coerce')": "X = X.with_columns(pl.col("
    "{0}).str.replace_all('[,%]', '').str.strip_chars().cast(pl.Float64, strict=False))",
    "X[{0}] = pd.to_datetime(X[{0}], format='%Y-%m-%d', errors='coerce')": "X = X.with_columns(pl.col({0}).str.to_date("
    "'%Y-%m-%d', strict=False))",
    "X.drop(columns={2})": "X.drop({2})",
    "pd.Timestamp('1900-01-01')": "datetime.date(1900, 1, 1)",
    "pd.Timestamp('2030-01-01')": "datetime.date(2030, 1, 1)",
    "pd.Timedelta(": "datetime.timedelta(",
}


def refuse_faults(domains, source_of, name_of):
    """Raise if columns have no entry, or another type than their domain: all of them are named.

    Parameters
    ----------
    domains : dict
        Domains, or UNDESCRIBED, by column number.
    source_of : callable
        Gives the ColumnSource of a number, or None if it is not known.
    name_of : callable
        Gives the name of a column, or its number.
    """
    faults, of_polars = {}, False
    for j, domain in domains.items():
        if not isinstance(domain, Ignored) and (fault := _fault(domain, source := source_of(j), name_of(j))):
            of_polars = source is not None and source.is_of_polars
            faults.setdefault(fault, []).append((j, name_of(j)))
    if not faults:
        return
    undescribed = sorted(pair for (_, said), pairs in faults.items() if said is None for pair in pairs)
    lines = [_line(*fault, [name for _, name in pairs], of_polars) for fault, pairs in faults.items()]
    text = "X must match bounds and categories, got"
    if undescribed:
        names = abbreviated([name for _, name in undescribed])
        text = f"bounds must have an entry for every feature that is not in categories, got none for {names}"
    if len(faults) > 1:
        text += "".join(f"\n- {found}. {line}." for found, line in lines)
    else:
        text += f". {lines[0][1]}." if undescribed else f" {lines[0][0]}. {lines[0][1]}."
    raise ValueError(text)


def read_each(read, columns, name_of):
    """The results of ``read(j)`` for columns, in order; one error for all columns that cannot be read.

    Parameters
    ----------
    read : callable
        Its errors name their column as "column 'a' of X".
    columns : iterable of int
    name_of : callable
    """
    found, faults = [], {}
    for j in columns:
        try:
            found.append(read(j))
        except ValueError as error:
            without_name = str(error).replace(f"column {quoted(name_of(j))} of X", "{0}")
            faults.setdefault(without_name, []).append(name_of(j))
    if faults:
        raise ValueError("\n".join(map(_of_columns, faults, faults.values())))
    return found


def _of_columns(message, names):
    one = f"column {quoted(names[0])} of X"
    return message.replace("{0}", one if len(names) == 1 else f"columns {abbreviated(names)} of X")


def _fault(domain, source, name):
    """The kind of a column and what it must be; None if that is the same, or can be read as such."""
    found = None if source is None else CODED if source.is_coded else source.kind
    if domain is UNDESCRIBED:
        return found, None
    said = None if source is None else described(domain)
    if said is None or source.kind in _KINDS[said] or _is_readable(source.read(f"column {quoted(name)} of X"), said):
        return None
    return found, said


def _line(found, said, names, of_polars):
    """What was found in columns, and what to write, for the first of them."""
    must = "" if said is None else f", which must be {_ANY if said == Order.of else said}"
    line = _LINES.get((found, said), _CONVERT)
    for of_pandas, in_polars in _IN_POLARS.items() if of_polars else ():
        line = line.replace(of_pandas, in_polars)
    line = line.format(quoted(names[0]), said or "numbers or text", abbreviated(names))
    return f"{found or 'no entry'} in {abbreviated(names)}{must}", line


def _is_readable(column, said):
    """Whether a column of another declared type is empty, or text of numbers."""
    return column.missing.all() or (said in (NUMBERS, Order.of) and values.are_numerals(column))


def ordered_kinds(domain):
    """The kinds allowed for a column that is ordered."""
    return () if isinstance(domain, Labels) else _KINDS[described(domain)]


def described(domain):
    """The kind of values that a domain describes."""
    if isinstance(domain, Labels):
        return values.kind_of_labels(domain.labels)
    return domain.of
