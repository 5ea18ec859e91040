"""The public arguments of a table: the domains of its features, and all of them in one object.

Readers, sketches, plans and other parties use them, and the description of a table that follows from them.
"""

import numbers
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skdpmic._utils.arguments import is_whole
from skdpmic._utils.readable import abbreviated, almost, refuse_masked, refuse_repeated
from skdpmic._utils.texts import quoted, require, warn
from skdpmic.table import domains as forms
from skdpmic.table import values
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, Ignored, Labels, Order, domain_of, domains_of
from skdpmic.table.normal_form import CODED, OBJECTS, TEXT, exact_number
from skdpmic.table.values import check_classes, check_kind, target_domain

# --- The domains of features -----------------------------------------------------------------------------------------


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
            f"{' Features with names are given by name.' if names is not None and any(map(is_whole, unknown)) else ''}"
            f"{almost(unknown, () if names is None else names)}"
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
        return lambda key: int(key) if is_whole(key) and 0 <= key < n_features else None
    number_of = {name: j for j, name in enumerate(names)}
    return lambda key: number_of.get(key) if isinstance(key, str) else None


def allowed_keys(n_features, names):
    """What :func:`numbers_of` takes, for a message."""
    return f"an int from 0 to {n_features - 1}" if names is None else "a name in feature_names_in_"


def _label(parameter, j, names):
    return f"{parameter} of feature {quoted(j if names is None else names[j])}"


def listed(columns, names):
    """Columns by their names, or by number, for a message."""
    return abbreviated([j if names is None else str(names[j]) for j in columns])


_RECORDS_A_LABEL = 20
_FEW_INTEGERS = 20  # may be meant as labels


def warn_about_many_labels(shape, names, domains=()):
    """Warn about nominal features with too many labels for the number of records, or with integers for labels."""
    for j, domain in enumerate(domains):
        if run := _integers_of(domain):
            key = quoted(j if names is None else str(names[j]))
            warn(
                f"categories of feature {key} are integers, whose order labels lose: write bounds={{{key}: {run}}}, "
                'or in a codebook, type = "integer", unless they are codes without an order.'
            )
    most = shape.n_groups // _RECORDS_A_LABEL
    many = [j for j, domain in enumerate(shape.domains) if isinstance(domain, forms.Nominal) and domain.n_labels > most]
    if many:
        warn(
            f"categories of {listed(many, names)} have more than one label per {_RECORDS_A_LABEL} of the "
            f"{shape.n_groups:,} samples, so chance alone makes scores of these features higher and less certain. "
            "Group labels by public knowledge, such as towns by region, not by the data.",
        )


def _integers_of(domain):
    """The labels of a feature as a range, if they are many integers and none between them is missing; or None."""
    labels = domain.labels if isinstance(domain, Labels) else ()
    if len(labels) <= _FEW_INTEGERS or isinstance(labels[0], str) or min(labels) % 1:  # NaN for infinity
        return None
    run = range(int(min(labels)), int(min(labels)) + len(labels))
    return run if set(labels) == set(run) else None


# --- Labels ----------------------------------------------------------------------------------------------------------


def labels_of(labels, name):
    """The domain of a nominal feature with these public labels, in order."""
    refuse_masked(labels, name)
    array = np.asarray(labels, dtype=object) if np.ndim(labels) == 1 else np.empty(0)
    items = [item.item() if isinstance(item, np.generic) else item for item in array.tolist()]
    items = [str(item) if hasattr(item, "closed_left") else item for item in items]  # of pandas.cut, as its columns
    if len(items) > 1:
        values.refuse_missing(array, name)
    are_text, are_numbers = (all(isinstance(item, kind) for item in items) for kind in (str, numbers.Real))
    items = items if are_text or not are_numbers else list(map(exact_number, items))
    is_ordered = not isinstance(labels, str | dict | set)
    if not is_ordered or len(items) < 2 or not (are_text or are_numbers) or len(set(items)) < len(items):
        allowed = "a list or array of at least 2 distinct labels, all str or all numbers"
        raise ValueError(f"{name} must be {allowed}, got {quoted(labels)}.")
    return Labels(tuple(items))


# --- Features kept in any case ----------------------------------------------------------------------------------------


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


def refuse_no_choice(k, keep, n_features):
    """Raise if the names of the best k features are known before anything is released: all of those to choose from."""
    among = n_candidates(keep, n_features)
    if among == 1 or (k != "all" and k >= among):
        kept = f", without the {len(keep)} of keep" if len(keep) else ""
        order = " For the order of all, pass k='all'." if among > 1 else ""
        raise ValueError(
            f"k must be less than the number of features to choose from, n_features={among}{kept}, got {quoted(k)}: "
            f"nothing would be chosen, at a cost of epsilon.{order}"
        )


def refuse_unordered(statistic, n_classes):
    """Raise unless a statistic can score with a target of this many classes: ranks need an order, which two have."""
    must = "classes must be 2 labels with statistic='kendall', because more labels have no order"
    require(statistic != "kendall" or n_classes is None or n_classes <= 2, must, n_classes)


FEWEST = 4  # smallest number of records for scores
UNDESCRIBED = object()  # in place of the domain of a feature that bounds do not describe
# Of columns, by the kind of values that a domain describes.
KINDS = {kind: (kind, OBJECTS) for kind in (NUMBERS, DATES, DURATIONS, TEXT)} | {Order.of: values.ANY_ORDER}
_BOUNDS = (
    "Write what is publicly known, such as bounds={{{0}: (0, 120)}} for ages in years, never the least and the "
    "greatest value found; where nothing is known, private_bounds learns bounds, at a cost of epsilon"
)
_LABELS = "List their public labels, such as categories={{{0}: ['no', 'yes']}}"
_NOT_DECLARED = f"{_LABELS}; those of a categorical type are not taken, because they may have been read from the data"
_CONVERT = "Convert them to {1}, or leave them out, in pandas by X = X.drop(columns={2})"
_TO_NUMBERS = (
    "If they are numbers, perhaps with ',' between thousands or '%', write, in pandas, X[{0}] = "
    "pd.to_numeric(X[{0}].str.replace('[,%]', '', regex=True), errors='coerce'), which makes other text missing; if "
    "they are labels, list those that are public, such as categories={{{0}: ['no', 'yes']}}"
)
_FOR_KINDS = {  # what to write for a column of this kind that has no entry, or that of numbers
    NUMBERS: _BOUNDS,
    TEXT: _LABELS,
    CODED: _NOT_DECLARED,
    DATES: "Write public dates, as in bounds={{{0}: (datetime.date(1900, 1, 1), datetime.date(2030, 1, 1))}}",
    DURATIONS: "Write public durations, as in bounds={{{0}: (datetime.timedelta(0), datetime.timedelta(days=365))}}",
}
_FOR_OTHERS = {  # what to write for a column of this kind that must be of that kind
    (TEXT, NUMBERS): _TO_NUMBERS,
    (TEXT, DATES): "Convert text to dates, in pandas by X[{0}] = pd.to_datetime(X[{0}], format='%Y-%m-%d', "
    "errors='coerce'), with the format that it has",
    (NUMBERS, TEXT): "Labels of numbers are numbers in categories, too: [1, 2, 3], not ['1', '2', '3']",
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
    faults = {}
    for j, domain in domains.items():
        if not isinstance(domain, Ignored) and (fault := _fault(domain, source_of(j), name_of(j))):
            faults.setdefault(fault, []).append((j, name_of(j)))
    if not faults:
        return
    lines = [_line(*fault, [name for _, name in pairs]) for fault, pairs in faults.items()]
    undescribed = sorted(pair for (_, said), pairs in faults.items() if said is None for pair in pairs)
    text = "X must match bounds and categories, got"
    if undescribed:
        names = abbreviated([name for _, name in undescribed])
        text = f"bounds must have an entry for every feature that is not in categories, got none for {names}"
    if len(faults) > 1:
        raise ValueError(text + "".join(f"\n- {found}. {line}." for found, line in lines))
    found, line = lines[0]
    raise ValueError(f"{text}. {line}." if undescribed else f"{text} {found}. {line}.")


def _fault(domain, source, name):
    """The kind of a column and what it must be; None if that is the same, or can be read as such."""
    found = None if source is None else CODED if source.is_coded else source.kind
    if domain is UNDESCRIBED:
        return found, None
    said = values.kind_of_labels(domain.labels) if isinstance(domain, Labels) else domain.of
    if source is None or source.kind in KINDS[said]:
        return None
    column = source.read(f"column {quoted(name)} of X")  # empty, or text of numbers
    is_readable = column.missing.all() or (said in (NUMBERS, Order.of) and values.are_numerals(column))
    return None if is_readable else (found, said)


def _line(found, said, names):
    """What was found in columns, and what to write, for the first of them."""
    allowed = "numbers, dates or durations" if said == Order.of else said
    must = "" if said is None else f", which must be {allowed}"
    if said is None:
        line = _FOR_KINDS.get(found, f"{_BOUNDS}. {_LABELS}, if they hold labels")
    else:
        line = _FOR_OTHERS.get((found, said)) or (said == NUMBERS and _FOR_KINDS.get(found)) or _CONVERT
    line = line.format(quoted(names[0]), allowed or "numbers or text", abbreviated(names))
    return f"{found or 'no entry'} in {abbreviated(names)}{must}", line


# --- The description of a table --------------------------------------------------------------------------------------


class Description(NamedTuple):
    """The public description of a table."""

    domains: list  # of n_features
    names: np.ndarray | None  # (n_features,)
    target: object  # the domain of a numeric target
    classes: np.ndarray | None  # (n_classes,)

    @property
    def n_features(self):
        """Number of features."""
        return len(self.domains)

    @property
    def n_classes(self):
        """Number of classes; None with a numeric target."""
        return None if self.classes is None else len(self.classes)


def from_json(values):
    """The domain of a plain form, as if a user had passed it; a KeyError, ValueError or TypeError if none could."""
    kind, *fields = values
    domain = forms.DOMAINS[kind](*(tuple(field) if isinstance(field, list) else field for field in fields))
    if isinstance(domain, Labels | Ignored):
        return labels_of(list(domain.labels), "labels") if isinstance(domain, Labels) else domain
    given = domain_of(domain.bounds, "bounds")
    if type(given) is not type(domain) or domain.of not in (NUMBERS, DATES, DURATIONS):
        raise ValueError(f"bounds must hold numbers, dates or durations, got {quoted(domain)}.")
    return given if domain.of == NUMBERS else replace(given, of=domain.of)


def as_names(feature_names):
    """The names of features as an array; a ValueError unless they are distinct str."""
    names = np.asarray(feature_names, dtype=object)
    if names.ndim != 1 or not all(isinstance(name, str) for name in names):
        raise ValueError("feature_names must be None or an array-like of str, of shape (n_features,).")
    refuse_repeated(names, "feature_names must be distinct")
    return names


def check_n_features(n_features, names):
    """The number of features, from their names if known."""
    if n_features is None and names is not None:
        n_features = len(names)
    if not is_whole(n_features) or n_features < 1:
        raise ValueError(f"n_features must be an int >= 1 if bounds do not determine it, got {quoted(n_features)}.")
    if names is not None and len(names) != n_features:
        raise ValueError(f"feature_names must have n_features={n_features} names, got {len(names)}.")
    return int(n_features)


# --- The public arguments --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PublicFacts:
    """Public arguments in the user's form.

    Parameters
    ----------
    bounds, categories, target_bounds, classes
        As in :class:`skdpmic.DPMICScorer`.
    max_rows_per_group : int, default=None
        Number of rows that each person contributes, if people may have several.
    needs_ranges : bool, default=True
        Whether ranges of numbers are needed. If not, `bounds` and `target_bounds` are ignored.
    keep : sequence of str or int, default=()
        Features kept in any case.
    reads_kept : bool, default=False
        Whether their values are used, so that they must be described.
    allows_other_columns : bool, default=False
        Whether `bounds` and `categories` may have entries for names that are not in the table, such as columns that
        an earlier step did not choose.
    """

    bounds: Any = None
    categories: Any = None
    target_bounds: Any = None
    classes: Any = None
    max_rows_per_group: int | None = None
    needs_ranges: bool = True
    keep: Any = ()
    reads_kept: bool = False
    allows_other_columns: bool = False

    @property
    def n_classes(self):
        """Number of classes of a discrete target; None if not given."""
        return None if self.classes is None else len(check_classes(self.classes))

    @property
    def n_features(self):
        """Number of features described by the arguments; None if they fit any number."""
        if not self.needs_ranges or self.allows_other_columns:
            return None
        if isinstance(self.bounds, dict):
            return len({*self.bounds, *(self.categories or ()), *self.keep})
        ends = self.bounds if isinstance(self.bounds, tuple | list | np.ndarray) else ()
        return max((len(end) for end in ends if np.ndim(end) == 1), default=None)

    @property
    def takes_text(self):
        """Whether arrays of text may hold labels."""
        return self.categories is not None or len(self.keep) > 0

    def ignored(self, n_features, names):
        """Indices of the features whose values are not used."""
        kept = kept_columns(self.keep, n_features, names)
        return () if self.reads_kept else kept

    def domains(self, n_features, names, declared=None):
        """The domain of each feature.

        Parameters
        ----------
        n_features : int
        names : array-like of str, or None
            Names of the features.
        declared : dict, default=None
            The ColumnSource of a column, by number, whose type may declare labels. Bounds and categories come first.

        Returns
        -------
        list of length n_features
        """
        bounds, categories = (self._entries_for(entries, names) for entries in (self.bounds, self.categories))
        bounds, declared = bounds if self.needs_ranges else None, declared or {}
        nominal = by_number(categories or {}, "categories", n_features, names)
        nominal = {j: labels_of(labels, _label("categories", j, names)) for j, labels in nominal.items()}
        domains = [UNDESCRIBED if self.needs_ranges else Order()] * n_features
        if isinstance(bounds, dict | None):
            for j, entry in by_number(bounds or {}, "bounds", n_features, names).items():
                domains[j] = domain_of(entry, _label("bounds", j, names))
        else:
            domains = domains_of(bounds, n_features)
        both = sorted(j for j in nominal if domains[j] is not UNDESCRIBED)
        if isinstance(bounds, dict) and both:
            raise ValueError(f"a feature must be in bounds or in categories, got both for {listed(both, names)}.")
        for j, source in declared.items():  # labels of a type, unless they are numbers with their own entry
            are_text = source.labels and isinstance(source.labels[0], str) and not isinstance(self.bounds, dict)
            if source.labels and (domains[j] is UNDESCRIBED or are_text):
                domains[j] = Labels(source.labels)
        for j, domain in (nominal | dict.fromkeys(self.ignored(n_features, names), Ignored())).items():
            domains[j] = domain
        if UNDESCRIBED in domains:
            refuse_faults(dict(enumerate(domains)), declared.get, lambda j: j if names is None else names[j])
        return domains

    def domains_without_ranges(self, n_features, names, declared):
        """The domain of each feature without ranges: labels for all, or an order for all.

        Parameters as in :meth:`domains`.
        """
        domains = replace(self, needs_ranges=False).domains(n_features, names)
        for j, source in declared.items():
            if source.labels and isinstance(domains[j], Order):
                domains[j] = Labels(source.labels)
        labelled = [j for j, domain in enumerate(domains) if isinstance(domain, Labels)]
        if labelled and len(labelled) < n_features:
            others = [j for j in range(n_features) if j not in labelled]
            raise ValueError(
                f"bounds must have an entry for every feature without labels, because {listed(labelled, names)} have "
                f"labels, got none for {listed(others, names)}. With labels, numbers are cut into parts of their "
                "public ranges."
            )
        return domains

    def _entries_for(self, entries, names):
        """The entries of a dict for these names, if it may have others."""
        if not self.allows_other_columns or not isinstance(entries, dict):
            return entries
        if names is not None:
            return {key: entry for key, entry in entries.items() if key in set(names) or not isinstance(key, str)}
        if any(isinstance(key, str) for key in entries):
            raise ValueError(
                "bounds and categories are by column name, but X has no column names: pass a dataframe whose column "
                "names are all str. A pipeline passes one on after set_output(transform='pandas') or 'polars'."
            )
        return entries

    def describe(self, n_features, names, declared=None):
        """The description of a table with these columns.

        Parameters
        ----------
        n_features : int
        names : array-like of str, or None
        declared : dict, default=None
            Labels declared by column types, by the number of the column.

        Returns
        -------
        Description
        """
        is_numeric = check_kind(self.target_bounds, self.classes, self.needs_ranges)
        domains = self.domains(n_features, names, declared)
        names = None if names is None else np.asarray(names, dtype=object)
        target = target_domain(self.target_bounds, self.needs_ranges) if is_numeric else None
        return Description(domains, names, target, None if is_numeric else check_classes(self.classes))

    def describe_unseen(self, n_features, feature_names, declared=None):
        """The description of a table that is not available; a ValueError if the arguments are not sufficient."""
        names = self._names() if feature_names is None else as_names(feature_names)
        if n_features is None and names is None:
            n_features = self.n_features
        return self.describe(check_n_features(n_features, names), names, declared)

    def _names(self):
        """The feature names from dicts of bounds and categories, if these are complete."""
        if not isinstance(self.bounds, dict):
            return None
        names = list(dict.fromkeys([*self.bounds, *(self.categories or {}), *self.keep]))
        return as_names(names) if all(isinstance(name, str) for name in names) else None

    def public_domains(self, n_features):
        """The domains of this many features, for kernels; without labels, those of arbitrary numbers."""
        nominal = self.categories.values() if self.categories and self.needs_ranges else ()
        domains = [labels_of(labels, "categories").encoded for labels in nominal]
        return domains + [(0.0, 1.0)] * (n_features - len(domains))
