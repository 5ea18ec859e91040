"""The public description of a table whose records come in pieces: domains, classes and names."""

import numbers
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from skdpmic._utils.readable import refuse_repeated
from skdpmic.table.dates import DATES, DURATIONS, NUMBERS
from skdpmic.table.domains import Ignored, Labels, domain_of
from skdpmic.table.features import labels_of
from skdpmic.table.targets import check_kind


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
    """The same description, if a user could have passed it; a ValueError or TypeError otherwise."""
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
        raise ValueError(f"bounds must hold numbers, dates or durations, got {domain!r}.")
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
    if not isinstance(n_features, numbers.Integral) or n_features < 1:
        raise ValueError(f"n_features must be an int >= 1 if bounds do not determine it, got {n_features!r}.")
    if names is not None and len(names) != n_features:
        raise ValueError(f"feature_names must have n_features={n_features} names, got {len(names)}.")
    return int(n_features)
