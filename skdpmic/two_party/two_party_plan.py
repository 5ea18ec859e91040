"""What a fit of a TwoPartyScorer computes and publishes, decided by public inputs: parameters and reports."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from skdpmic._utils.readable import refuse_target_among
from skdpmic.budget.filters import Cost
from skdpmic.budget.ledger_entry import LedgerEntry, broken_by_seed
from skdpmic.release.kinds import places
from skdpmic.release.path import Ready
from skdpmic.table.facts import PublicFacts
from skdpmic.table.reading import check_enough
from skdpmic.table.targets import make_target, target_domain
from skdpmic.two_party import distance_correlation
from skdpmic.two_party.reports import Reports, open_reports
from skdpmic.two_party.response_tables import (
    STEPS,
    beyond_chance,
    count_reports,
    inverse_response_matrix,
    known_score,
    n_target_parts,
    noise_scale,
    noise_scale_of_score,
    noisy_score,
    score_of_independent,
    sensitivity_in_steps,
    table_score,
    target_parts,
    with_laplace_noise,
)

_LEAST = 1e-6  # epsilon per report: with less, even the most reports that can be read would be uninformative


class Terms(NamedTuple):
    """Public numbers of one fit."""

    inverses: list  # of the response matrices, by column; those of equal columns are the same object
    n_target: int  # parts of a numeric target
    scale: Any = 0  # of the noise on counts, a Fraction; 0 for none
    scales: Any = None  # of the noise on each score, in steps, if the shares of the target are known
    null_scores: Any = None  # mean scores of independent targets with these shares


class ReportsAndTarget(NamedTuple):
    """The reports of records, and the target of the same records."""

    reports: Reports
    target: Any


@dataclass(frozen=True, eq=False)
class TwoPartyPlan:
    """What a fit does, as a frozen value: it decides on cost and noise from the reports, which are public."""

    reader: str  # the estimator, in errors and ledgers
    facts: PublicFacts
    statistic: str
    epsilon: float | None  # None if nothing is published: then there is no noise
    shares: Any  # of the target, if they are public
    random_state: Any

    def read(self, reports, y):
        """The reports, and the target; the number of records is compared before reports are read."""
        with open_reports(reports) as opened:
            check_enough(opened.n_samples)
            refuse_target_among(opened.description.names, y)
            facts, domain = self.facts, None
            if facts.classes is None:
                domain = target_domain(facts.target_bounds, facts.needs_ranges or facts.target_bounds is not None)
            target = make_target(y, opened.n_samples, domain, facts.classes, self.reader)
            return ReportsAndTarget(opened.read(), target)

    def ready(self, reports):
        """The release of the target of the reported records."""
        terms = (terms_of_tables if self.shares is None else terms_of_known_shares)(self, reports)
        entry = None if self.epsilon is None else self.entry(reports)
        return Ready(entry, partial(_results, self, terms, entry))

    def entry(self, reports):
        """The entry of the ledger."""
        of_tables, k = self.shares is None, reports.description.columns_per_record
        n_changed = 2 * k if of_tables else k  # number of counts or scores that a record changes
        return LedgerEntry(
            self.reader,
            *Cost.of_parts(self.epsilon, Fraction(1, n_changed))[:3],
            n=reports.n_samples,
            d=len(reports.parts),
            statistic=self.statistic,
            release="tables" if of_tables else "scores",
            mechanism="geometric",
            covers="the target",
            broken_by=broken_by_seed(self.random_state),
        )

    @property
    def spent(self):
        """Budget of what is computed: infinite without noise."""
        return math.inf if self.epsilon is None else self.epsilon


def terms_of_tables(plan, reports):
    """The terms if tables of counts are scored."""
    k = reports.description.columns_per_record
    n_target = n_target_parts(plan.statistic, plan.spent * reports.n_samples / len(reports.parts))
    return Terms(_inverses(reports.description), n_target, noise_scale(plan.spent, k))


def terms_of_known_shares(plan, reports):
    """The terms if the shares of the target are public."""
    k, inverses, scales, null_scores = reports.description.columns_per_record, _inverses(reports.description), [], []
    for parts, inverse in zip(reports.parts, inverses, strict=True):
        reported = np.bincount(parts[parts >= 0], minlength=len(inverse))
        n_steps = sensitivity_in_steps(reported.sum(), inverse, plan.shares)
        scales.append(noise_scale_of_score(plan.spent, k, n_steps))
        null_scores.append(score_of_independent(reported, inverse, plan.shares))
    return Terms(inverses, len(plan.shares), scales=scales, null_scores=np.array(null_scores))


def _inverses(description):
    epsilon = float(description.epsilon_per_column)
    if epsilon < _LEAST:
        raise ValueError(
            f"reports must have an epsilon of at least {_LEAST:g} for each column that a record reports, to tell "
            f"anything, got {epsilon:g}."
        )
    sizes = [column.n_parts for column in description.columns]
    of_size = {n_parts: inverse_response_matrix(n_parts, epsilon) for n_parts in set(sizes)}
    return [of_size[n_parts] for n_parts in sizes]


# --- What is published, or computed for this party --------------------------------------------------------------------


def _results(plan, terms, entry, records, random_bytes):
    """What the scorer stores."""
    description = records.reports.description
    seen = {
        "n_features_in_": len(description.columns),
        "feature_names_in_": np.array(description.names, dtype=object),
        "n_reported_": np.array([(parts >= 0).sum() for parts in records.reports.parts]),
        "privacy_of_reports_": (description.epsilon, 0.0),
        "privacy_spent_": (0.0 if plan.epsilon is None else float(plan.epsilon), 0.0),
        "_n_records": records.reports.n_samples,
        "_scored_by": plan.statistic,
        "_entry": entry,
    }
    of_records = plan.statistic == "distance_correlation" and plan.epsilon is None
    tables = None if of_records else _tables(records, terms)
    if plan.shares is not None:
        return seen | _known_scores(plan, terms, tables, random_bytes)
    published = {}
    if plan.epsilon is not None:
        tables = [with_laplace_noise(table, terms.scale, random_bytes) for table in tables]
        published = {"noisy_counts_": tables, "noise_scale_": float(terms.scale)}
    score = _correlations if plan.statistic == "distance_correlation" else _table_scores
    return seen | published | score(plan, terms, records, tables)


def _tables(records, terms):
    """The counts of each feature and the target."""
    of_target, n_target = target_parts(records.target, terms.n_target)
    columns = zip(records.reports.parts, terms.inverses, strict=True)
    return [count_reports(parts, of_target, (len(inverse), n_target)) for parts, inverse in columns]


def _correlations(plan, terms, records, tables):
    (description, parts), target = records
    columns = description.columns, terms.inverses
    if tables is None:
        of_records = zip(parts, *columns, strict=True)
        found = [distance_correlation.estimate_from_records(own, target, *column) for own, *column in of_records]
    else:
        n_reported = [(of_column >= 0).sum() for of_column in parts]
        is_discrete, of_counts = target.n_classes is not None, zip(tables, n_reported, *columns, strict=True)
        found = [
            distance_correlation.estimate_from_counts(table, n, is_discrete, terms.scale, *column)
            for table, n, *column in of_counts
        ]
    squared = np.array([estimate.value for estimate, _ in found])
    return {
        "_estimates": [estimate for estimate, _ in found],
        "distance_covariances_": np.array([covariance for _, covariance in found]),
    } | _ranked(squared, np.sqrt(np.clip(squared, 0.0, 1.0)))


def _table_scores(plan, terms, records, tables):
    is_discrete = records.target.n_classes is not None
    columns = zip(tables, terms.inverses, strict=True)
    scores = [table_score(plan.statistic, table, inverse, is_discrete, terms.scale) for table, inverse in columns]
    return _ranked(np.array(scores))


def _known_scores(plan, terms, tables, random_bytes):
    columns, published = zip(tables, terms.inverses, strict=True), {"null_scores_": terms.null_scores}
    scores = [float(known_score(table, inverse, plan.shares)) for table, inverse in columns]
    if plan.epsilon is not None:
        scores = [noisy_score(*column, random_bytes) for column in zip(scores, terms.scales, strict=True)]
        scales = np.array([float(scale / STEPS) for scale in terms.scales])
        published |= {"noisy_scores_": np.array(scores), "noise_scales_": scales}
    return published | _ranked(beyond_chance(np.array(scores), terms.null_scores))


def _ranked(unclamped, scores=None):
    scores = np.clip(unclamped, 0.0, 1.0) if scores is None else scores
    return {"scores_": scores, "ranking_": places(np.argsort(-unclamped, kind="stable"))}
