"""Whether sketches agree with one another, and with the parameters of an estimator."""

import numpy as np

from skdpmic._utils.arguments import one_of
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.statistics.grids import check_B, check_c
from skdpmic.table.domains import Ignored, Labels, Order
from skdpmic.table.features import feature_domains, listed
from skdpmic.table.targets import check_classes, target_domain


def differences(here, there):
    """Names of the public parameters in which two sketches differ, as str; their counts can then not be summed."""
    here, there = _public(here), _public(there)
    return ", ".join(name for name in here if not _are_equal(here[name], there[name]))


def _public(sketch):
    domains = dict(enumerate(sketch.description.domains))
    nominal = {j: domain for j, domain in domains.items() if isinstance(domain, Labels)}
    return {
        "n_features": sketch.n_features_in_,
        "feature_names": sketch.description.names,
        "bounds": {j: domain for j, domain in domains.items() if j not in nominal},
        "categories": nominal,
        "target_bounds": sketch.description.target,
        "classes": sketch.classes,
        "statistic": sketch.statistic,
        "correction": sketch.correction,
        "B": sketch.B,
        "c": sketch.c,
        "n_parts": sketch.n_parts,
        "max_weight": sketch.max_weight,
    }


def _are_equal(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    return type(a) is type(b) and a == b


def check_facts(description, facts):
    """Raise unless the given public facts match the sketch; None counts as not given."""
    facts.check_public()
    _check_features(description, facts)
    if facts.target_bounds is not None and target_domain(facts.target_bounds) != description.target:
        target = description.target
        allowed = "None with a sketch of classes" if target is None else f"None or those of the sketch, {target.bounds}"
        raise ValueError(f"target_bounds must be {allowed}, got {facts.target_bounds!r}.")
    if facts.classes is not None and not _are_equal(check_classes(facts.classes), description.classes):
        target = description.classes
        allowed = "None with a sketch of numbers" if target is None else f"None or those of the sketch, {target}"
        raise ValueError(f"classes must be {allowed}, got {facts.classes!r}.")


def _check_features(description, facts):
    """Raise if bounds or categories are given and differ; columns declared by the sketch's table need no entry."""
    domains, bounds, categories = description.domains, facts.bounds, facts.categories
    ignored = facts.ignored(len(domains), description.names)
    uncounted = [j for j, domain in enumerate(domains) if isinstance(domain, Ignored) and j not in ignored]
    if uncounted:
        raise ValueError(f"keep must include {listed(uncounted, description.names)}, which the sketch did not count.")
    if bounds is None and categories is None:
        return
    declared = {j: domain.labels for j, domain in enumerate(domains) if isinstance(domain, Labels)}
    columns = (len(domains), description.names, declared)
    given = feature_domains(bounds, categories, *columns, needs_ranges=bounds is not None, ignored=ignored)
    if bounds is None:
        domains = [domain if isinstance(domain, Labels) else Order() for domain in domains]
    if any(given[j] != domain for j, domain in enumerate(domains) if j not in ignored):
        raise ValueError("bounds and categories must be None or those of the sketch, got different ones.")


def check_weights_agree(sketch, max_weight):
    """Raise unless the sketch and the estimator have the same `max_weight`."""
    if max_weight != sketch.max_weight:
        raise ValueError(f"max_weight must be that of the sketch, {sketch.max_weight}, got {max_weight!r}.")


def check_grids(sketch, B, c, correction, mechanism):
    """Raise unless the grids and the mechanism match the sketch.

    "auto" always matches, as does an exponent B, because the sketch was built for an expected number of records.
    """
    if sketch.statistic == "mic_r" and sketch.n_parts is None and correction != sketch.correction:
        raise ValueError(f"correction must be that of the sketch, {sketch.correction!r}, got {correction!r}.")
    if B != "auto":
        check_B(B)
        if B >= 1 and B != sketch.B:
            raise ValueError(f"B must be 'auto', an exponent or that of the sketch, {sketch.B}, got {B!r}.")
    if c != "auto":
        check_c(c)
        if c != sketch.c:
            raise ValueError(f"c must be 'auto' or that of the sketch, {sketch.c}, got {c!r}.")
    if mechanism is None and sketch.n_parts is not None:
        raise ValueError(f"the sketch must have n_parts=None to choose features, got n_parts={sketch.n_parts}.")
    if (mechanism == "geometric") != (sketch.n_parts is not None):
        kind = one_of(MECHANISMS) if sketch.n_parts is None else "'geometric', because the sketch has n_parts,"
        raise ValueError(f"mechanism must be {kind} with this sketch, got {mechanism!r}.")
