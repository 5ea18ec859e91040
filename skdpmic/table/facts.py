"""What a user says is public about a table: one value, which readers, sketches, plans and other parties take."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdpmic.table.description import Description, as_names, check_n_features
from skdpmic.table.features import feature_axes, labels_of, n_features_of
from skdpmic.table.kept import kept_columns
from skdpmic.table.public import asks_for_data, check_public, warn_about_data
from skdpmic.table.targets import check_classes, check_kind, target_axis


@dataclass(frozen=True, eq=False)
class PublicFacts:
    """Public arguments as a user gives them. Nothing in them is read from the data, unless one of them is "data".

    Parameters
    ----------
    bounds, categories, target_bounds, classes
        As of :class:`skdpmic.DPMICScorer`.
    max_rows_per_group : int, default=None
        For how many rows each person counts, where a person may have several.
    needs_ranges : bool, default=True
        Whether the ranges of numbers are needed. If not, `bounds` and `target_bounds` are not looked at.
    keep : sequence of str or int, default=()
        Features that are no candidates.
    reads_kept : bool, default=False
        Whether they are looked at, and so have to be described.
    """

    bounds: Any = None
    categories: Any = None
    target_bounds: Any = None
    classes: Any = None
    max_rows_per_group: int | None = None
    needs_ranges: bool = True
    keep: Any = ()
    reads_kept: bool = False

    @property
    def read_from_data(self):
        """Names of the arguments that are to be read from the data, which breaks the guarantee."""
        return [name for name in self._used if asks_for_data(getattr(self, name))]

    @property
    def _used(self):
        return ("bounds", "categories", "target_bounds", "classes") if self.needs_ranges else ("classes",)

    @property
    def n_classes(self):
        """How many classes a discrete target is said to have; None if nothing is said."""
        is_said = self.classes is not None and not asks_for_data(self.classes)
        return len(check_classes(self.classes)) if is_said else None

    @property
    def n_features(self):
        """How many features the arguments tell of; None if they are the same for any number."""
        return n_features_of(self.bounds, self.categories, self.keep) if self.needs_ranges else None

    @property
    def takes_text(self):
        """Whether an array of text may hold labels."""
        return self.categories is not None or len(self.keep) > 0

    def unread(self, n_features, names):
        """The numbers of the features that are not looked at."""
        kept = kept_columns(self.keep, n_features, names)
        return () if self.reads_kept else kept

    def warn_about_data(self, stacklevel):
        """Warn of each argument that is to be read from the data."""
        for name in self.read_from_data:
            warn_about_data(name, stacklevel + 1)

    def check_target(self):
        """Raise unless exactly one kind of target is described."""
        check_kind(self.target_bounds, self.classes, self.needs_ranges)

    def check_public(self):
        """Raise if an argument is to be read from the data, all of which is never there at once."""
        for name in ("bounds", "categories", "target_bounds", "classes"):
            check_public(name, getattr(self, name))

    def axes(self, n_features, names, declared=None):
        """The axis of each feature; None where its range is to be read from the data."""
        columns = (n_features, names, declared)
        return feature_axes(self.bounds, self.categories, *columns, self.needs_ranges, self.unread(n_features, names))

    def describe(self, n_features, names, declared=None):
        """What these arguments say of a table with these columns.

        Parameters
        ----------
        n_features : int
        names : array-like of str, or None
        declared : dict, default=None
            Labels that the types of columns declare, by the number of the column.

        Returns
        -------
        Description
            With None in the place of what is to be read from the data.
        """
        axes = self.axes(n_features, names, declared)
        names = None if names is None else np.asarray(names, dtype=object)
        if self.classes is None:
            return Description(axes, names, target_axis(self.target_bounds, self.needs_ranges), None)
        return Description(axes, names, None, None if asks_for_data(self.classes) else check_classes(self.classes))

    def describe_unseen(self, n_features, feature_names, declared=None):
        """What these arguments say of a table that is not at hand; a ValueError if they do not say enough."""
        self.check_public()
        self.check_target()
        names = self._names() if feature_names is None else as_names(feature_names)
        if n_features is None and names is None:
            n_features = self.n_features
        return self.describe(check_n_features(n_features, names), names, declared)

    def _names(self):
        """The names that a dict of bounds gives with categories, if it gives all."""
        if not isinstance(self.bounds, dict):
            return None
        names = list(dict.fromkeys([*self.bounds, *(self.categories or {}), *self.keep]))
        return as_names(names) if all(isinstance(name, str) for name in names) else None

    def public_scales(self, n_features):
        """What kernels will know of so many features; without labels, the same as about any numbers."""
        nominal = self.categories.values() if self.categories and self.needs_ranges else ()
        scales = [labels_of(labels, "categories").scale for labels in nominal]
        return scales + [(0.0, 1.0)] * (n_features - len(scales))
