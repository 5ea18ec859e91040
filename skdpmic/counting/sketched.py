"""The records counted by a sketch, as estimators read them, and checks that these agree with the estimators."""

from functools import partial
from typing import NamedTuple

import numpy as np

from skdpmic._utils.arguments import one_of
from skdpmic._utils.progress import SILENT
from skdpmic._utils.texts import quoted
from skdpmic.counting.chunks import are_equal
from skdpmic.privacy.mechanisms import MECHANISMS
from skdpmic.statistics.grids import check_B, check_c
from skdpmic.statistics.mtv.counts import Placed
from skdpmic.statistics.mtv.pairs import pair_codes, pair_labels
from skdpmic.table.columns import map_features
from skdpmic.table.domains import Ignored, Labels, Order
from skdpmic.table.features import feature_domains, listed
from skdpmic.table.normal_form.form import TEXT, ColumnSource
from skdpmic.table.reading import FEWEST
from skdpmic.table.records import PublicTable, Shape
from skdpmic.table.targets import check_classes, target_domain


class SketchedRecords:
    """The interface of `Records`, computed from the counts of a sketch.

    Parameters
    ----------
    sketch : RangeGridSketch
    count_pairs : callable, default=None
        ``count_pairs(j)`` returns the counts of each feature together with feature j, from rows that were held while
        they were counted. None if none were held.
    progress : Progress, default=SILENT
        Progress of loops over all columns.
    kept : tuple of int, default=()
        Indices of the features kept in any case.
    """

    def __init__(self, sketch, count_pairs=None, progress=SILENT, kept=()):
        if sketch.n_samples < FEWEST:
            raise ValueError(f"the sketch must have counted at least 4 records, got {sketch.n_samples}.")
        sketch._check_undamaged()
        self._sketch, self._count_pairs, self.progress, self._kept = sketch, count_pairs, progress, kept
        self.n_samples, self.n_features = sketch.n_samples, sketch.n_features_in_

    @property
    def public(self):
        """The public facts about the table."""
        sketch, description = self._sketch, self._sketch.description
        seen = {"n_features_in_": sketch.n_features_in_}
        if description.names is not None:
            seen["feature_names_in_"] = description.names
        return PublicTable(
            Shape(sketch.n_samples, sketch.domains),
            sketch.n_classes,
            description.target,
            description,
            seen,
            self._kept,
            sketch.measure,
            has_rows=self._count_pairs is not None,
        )

    def sampled(self, progress):
        """The records to use: all of them, because each is a person."""
        return SketchedRecords(self._sketch, self._count_pairs, progress, self._kept)

    def release_target_shares(self, measure, epsilon, random_bytes):
        """A measure with shares of the target, released with epsilon, from the counts of the first feature."""
        counts = self._sketch._grids.of_target(self._sketch._counts_of(0))
        return measure.release_target_shares(counts, self.n_samples, None, epsilon, random_bytes)

    def map_features(self, function, n_jobs, left_out=(), of_block=None):
        """``function(counts, domain)`` for each feature that is not left out."""
        counts = [self._sketch._counts_of(j) for j in range(self.n_features)]
        return map_features(function, counts, self._sketch.domains, n_jobs, left_out, self.progress)

    def scores(self, measure, n_jobs, random_bytes, left_out=()):
        """Noise-free scores of shape (n_features,), without those left out."""
        scorer = measure.scorer_of_counts(self._sketch._grids, self.n_samples)
        return np.array(self.map_features(scorer.score, n_jobs, left_out))

    def scores_beside(self, j, measure, left_out, n_jobs):
        """Scores of features together with feature j, in order, without those left out."""
        domains = self._sketch.domains
        scorer = measure.scorer_of_pair_counts(measure.pair_counts(None, domains[j]), self.n_samples)
        counts = self._count_pairs(j)
        return np.array(map_features(scorer.score, counts, domains, n_jobs, left_out, self.progress))

    def tables(self, measure, n_jobs):
        """The table of each feature, from its counts, still without noise."""
        shape = (self.n_features, *self._sketch._grids.shape)
        return np.array([self._sketch._counts_of(j) for j in range(self.n_features)], dtype=np.int64).reshape(shape)


# --- Rows held for joint scores --------------------------------------------------------------------------------------


class HeldRows(NamedTuple):
    """Rows as joint scores see them, held while a table is read once, before the charge. Raw data; not private."""

    codes: np.ndarray  # uint8 (n_features, n_samples)
    target: Placed


def hold(sketch, columns, target):
    """The rows of a chunk that a sketch has counted, with one byte for each value."""
    return HeldRows(np.array(map_features(pair_codes, columns, sketch.domains, None)), sketch._place(target))


def pair_counts(sketch, rows, j, n_jobs=None):
    """The counts of each feature together with feature j, in rows that are held."""
    labels = [pair_labels(domain) for domain in sketch.domains]
    grids = sketch.measure.pair_counts(None, labels[j])
    placed = grids.place(*rows.target, rows.codes[j])
    return map_features(partial(_count, grids, placed), rows.codes, labels, n_jobs)


def _count(grids, placed, codes, labels):
    return grids.count(codes.astype(np.uint32), labels, placed)


def added(counts):
    """The sums, feature by feature, of the counts of several chunks."""
    return [sum(of_each[1:], of_each[0]) for of_each in zip(*counts, strict=True)]


# --- Agreement with an estimator -------------------------------------------------------------------------------------


def check_facts(description, facts):
    """Raise unless the given public facts match the sketch; None counts as not given."""
    facts.check_public()
    _check_features(description, facts)
    if facts.target_bounds is not None and target_domain(facts.target_bounds) != description.target:
        target = description.target
        allowed = "None with a sketch of classes" if target is None else f"None or those of the sketch, {target.bounds}"
        raise ValueError(f"target_bounds must be {allowed}, got {quoted(facts.target_bounds)}.")
    if facts.classes is not None and not are_equal(check_classes(facts.classes), description.classes):
        target = description.classes
        allowed = "None with a sketch of numbers" if target is None else f"None or those of the sketch, {target}"
        raise ValueError(f"classes must be {allowed}, got {quoted(facts.classes)}.")


def _check_features(description, facts):
    """Raise if bounds or categories are given and differ; columns declared by the sketch's table need no entry."""
    domains, bounds, categories = description.domains, facts.bounds, facts.categories
    ignored = facts.ignored(len(domains), description.names)
    uncounted = [j for j, domain in enumerate(domains) if isinstance(domain, Ignored) and j not in ignored]
    if uncounted:
        raise ValueError(f"keep must include {listed(uncounted, description.names)}, which the sketch did not count.")
    if bounds is None and categories is None:
        return
    declared = {
        j: ColumnSource(TEXT, None, domain.labels) for j, domain in enumerate(domains) if isinstance(domain, Labels)
    }
    columns = (len(domains), description.names, declared)
    given = feature_domains(bounds, categories, *columns, needs_ranges=bounds is not None, ignored=ignored)
    if bounds is None:
        domains = [domain if isinstance(domain, Labels) else Order() for domain in domains]
    if any(given[j] != domain for j, domain in enumerate(domains) if j not in ignored):
        raise ValueError("bounds and categories must be None or those of the sketch, got different ones.")


def check_weights_agree(sketch, max_weight):
    """Raise unless the sketch and the estimator have the same `max_weight`."""
    if max_weight != sketch.max_weight:
        raise ValueError(f"max_weight must be that of the sketch, {sketch.max_weight}, got {quoted(max_weight)}.")


def check_grids(sketch, B, c, correction, mechanism):
    """Raise unless the grids and the mechanism match the sketch.

    "auto" always matches, as does an exponent B, because the sketch was built for an expected number of records.
    """
    if sketch.statistic == "mic_r" and sketch.n_parts is None and correction != sketch.correction:
        raise ValueError(
            f"correction must be that of the sketch, {quoted(sketch.correction)}, got {quoted(correction)}."
        )
    if B != "auto":
        check_B(B)
        if B >= 1 and B != sketch.B:
            raise ValueError(f"B must be 'auto', an exponent or that of the sketch, {sketch.B}, got {quoted(B)}.")
    if c != "auto":
        check_c(c)
        if c != sketch.c:
            raise ValueError(f"c must be 'auto' or that of the sketch, {sketch.c}, got {quoted(c)}.")
    if mechanism is None and sketch.n_parts is not None:
        raise ValueError(f"the sketch must have n_parts=None to choose features, got n_parts={sketch.n_parts}.")
    if (mechanism == "geometric") != (sketch.n_parts is not None):
        kind = one_of(MECHANISMS) if sketch.n_parts is None else "'geometric', because the sketch has n_parts,"
        raise ValueError(f"mechanism must be {kind} with this sketch, got {quoted(mechanism)}.")
