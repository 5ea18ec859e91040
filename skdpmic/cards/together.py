"""What a card of several releases is about: those in pipelines and lists, each counted once, and their total cost."""

import math

from sklearn.pipeline import Pipeline

from skdpmic._utils.private_estimator import PrivateEstimator, about_numbered_labels, check_published
from skdpmic._utils.summaries import NOT_COVERED, Summary, why_broken
from skdpmic._utils.texts import budget, require, require_type
from skdpmic.budget.ledger import Limits
from skdpmic.budget.ledger_entry import LedgerEntry
from skdpmic.models.evaluation_result import PrivateEvaluation
from skdpmic.release.summary import PrivateSummary
from skdpmic.search import nested

BASIC = Limits(1.0, 0.0, "basic", None)  # adds up epsilons and deltas, whatever the limit


def releases_in(several):
    """Each release once, of a pipeline those of its steps; a private search includes the releases of its refit."""
    found = [release for each in several for release in _releases_of(each)]
    inside = (place for each in found for place in nested.private_places(each, is_fitted=True))
    refitted = {id(place.part) for place in inside if place.host is not None}
    return list({id(release): release for release in found if id(release) not in refitted}.values())


def _releases_of(released):
    if isinstance(released, Pipeline):
        return _private_steps(released)
    is_release = isinstance(released, PrivateEstimator | PrivateSummary | PrivateEvaluation)
    kinds = "a fitted private estimator of skdpmic, a Pipeline, a PrivateSummary or a PrivateEvaluation, or a list"
    require_type(is_release, f"{about_numbered_labels(released)} released must be {kinds} of these".strip(), released)
    if isinstance(released, PrivateEstimator):
        check_published(released)
    return [released]


def _private_steps(pipeline):
    """The private steps of a fitted pipeline; an error if another step may have learnt from records."""
    nested.cost_of_fit(pipeline)  # an error if it is not known how many releases a fit makes
    private = [place for place in nested.private_places(pipeline, is_fitted=True) if place.host is None]
    parts = [place.part for place in private]  # of one in two places, only the last release is known
    own = [part for part in parts if parts.count(part) == 1 and getattr(part, "__sklearn_is_fitted__", bool)()]
    unfitted = [place.name for place in private if place.part not in own]
    learnt = [name for name, may_have_learnt in nested.ordinary_steps(pipeline).items() if may_have_learnt]
    wrong = [*(f"{name} without a release of its own (is it fitted?)" for name in unfitted), *learnt]
    steps = "private steps, and of others that learn nothing from records, or a list of the private steps before these"
    require(private and not wrong, f"released must be a fitted Pipeline of {steps}", wrong)
    return own


def columns_of(several):
    """The columns that were looked at, once each; they are numbered if no release knows names."""
    own = [[column.name for column in getattr(each, "columns", ())] for each in several]  # of a summary
    names = [name for each, its in zip(several, own, strict=True) for name in getattr(each, "feature_names_in_", its)]
    most = max(getattr(each, "n_features_in_", 0) for each in several)
    return list(dict.fromkeys(map(str, names))) or [f"feature {j}" for j in range(most)]


def together(each, limits):
    """The summary of summaries of releases, with their total by these limits as its entry."""
    entries = [entry for shown in each for entry in shown.entries]
    unit, by = limits.unit_of(entries), ", ".join(dict.fromkeys(entry.what for entry in entries))
    is_whole = len(entries) == len(each) and all(entry.model == "central" for entry in entries)
    require(is_whole, "released must not be a list if it is private for each report or each party", by)
    is_in_unit = limits.max_rows_per_person is not None or all(entry.unit == unit for entry in entries)
    require(is_in_unit, "ledger must have max_rows_per_person, if releases are for records and for people", None)
    cost = limits.spent(entries) if all(entry.epsilon < math.inf for entry in entries) else (math.inf, 0.0)
    numbers = {(entry.n, entry.rows_per_person) if entry.unit == unit else (None, None) for entry in entries}
    n, rows = numbers.pop() if len(numbers) == 1 else (None, None)
    broken_by = ", ".join(dict.fromkeys(name for entry in entries for name in entry.broken_by.split(", ") if name))
    total = LedgerEntry(by, *cost, unit=unit, n=n, rows_per_person=rows, broken_by=broken_by)
    facts = [
        ("Released", "; ".join(f"({i}) {shown.facts[0][1]}" for i, shown in enumerate(each, 1))),
        ("Cost", f"{budget(*cost)} in total"),
        *(fact for shown in each for fact in shown.facts if fact[0] == NOT_COVERED),
    ]
    return Summary(facts, why_broken(total), entries=(total,))
