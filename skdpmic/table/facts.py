"""The public arguments of a table in one object, and the description of a table that follows from them.

Readers, sketches, plans and other parties use both.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skdpmic._utils.arguments import is_whole
from skdpmic._utils.readable import refuse_repeated
from skdpmic._utils.texts import quoted
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, Ignored, Labels, domain_of
from skdpmic.table.features import feature_domains, kept_columns, labels_of, n_features_of
from skdpmic.table.targets import check_classes, check_kind, target_domain

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
    def encoded_domains(self):
        """The encoded domain of each feature, for kernels."""
        return [domain.encoded for domain in self.domains]

    @property
    def n_classes(self):
        """Number of classes; None with a numeric target."""
        return None if self.classes is None else len(self.classes)


def check_description(description):
    """The description, if a user could have passed it; a ValueError or TypeError otherwise."""
    domains, names, target, classes = description
    check_kind(target, classes)
    check_n_features(len(domains), names)
    if names is not None:
        names = as_names(names)
    return Description(
        [checked_domain(domain) for domain in domains], names, None if target is None else _given_range(target), classes
    )


def checked_domain(domain):
    """The domain for the same description passed by a user; a ValueError or TypeError if it is invalid."""
    if isinstance(domain, Ignored):
        return domain
    return labels_of(list(domain.labels), "labels") if isinstance(domain, Labels) else _given_range(domain)


def _given_range(domain):
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
        is_known = self.needs_ranges and not self.allows_other_columns
        return n_features_of(self.bounds, self.categories, self.keep) if is_known else None

    @property
    def takes_text(self):
        """Whether arrays of text may hold labels."""
        return self.categories is not None or len(self.keep) > 0

    def ignored(self, n_features, names):
        """Indices of the features whose values are not used."""
        kept = kept_columns(self.keep, n_features, names)
        return () if self.reads_kept else kept

    def check_target(self):
        """Raise unless exactly one kind of target is described."""
        check_kind(self.target_bounds, self.classes, self.needs_ranges)

    def domains(self, n_features, names, declared=None):
        """The domain of each feature."""
        bounds, categories = self._entries_for(self.bounds, names), self._entries_for(self.categories, names)
        columns = (n_features, names, declared)
        return feature_domains(bounds, categories, *columns, self.needs_ranges, self.ignored(n_features, names))

    def _entries_for(self, entries, names):
        """The entries of a dict for these names, if it may have others."""
        if not self.allows_other_columns or not isinstance(entries, dict):
            return entries
        if names is None and any(isinstance(key, str) for key in entries):
            raise ValueError(
                "bounds and categories are by column name, but X has no column names: pass a dataframe whose column "
                "names are all str. A pipeline passes one on after set_output(transform='pandas') or 'polars'."
            )
        if names is None:
            return entries
        return {key: entry for key, entry in entries.items() if key in set(names) or not isinstance(key, str)}

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
        domains = self.domains(n_features, names, declared)
        names = None if names is None else np.asarray(names, dtype=object)
        if self.classes is None:
            return Description(domains, names, target_domain(self.target_bounds, self.needs_ranges), None)
        return Description(domains, names, None, check_classes(self.classes))

    def describe_unseen(self, n_features, feature_names, declared=None):
        """The description of a table that is not available; a ValueError if the arguments are not sufficient."""
        self.check_target()
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
