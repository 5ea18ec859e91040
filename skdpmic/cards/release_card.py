"""The card of a release, made from its summary for notebooks, so that nothing is stated twice."""

import math
from typing import Any

from skdpmic import __version__
from skdpmic._utils.numbered_labels import about_numbered_labels
from skdpmic._utils.private_estimator import PrivateEstimator, check_published
from skdpmic._utils.summaries import MOST_ROWS, broken_by
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import PERSON, PLURAL
from skdpmic.cards.card_html import statement
from skdpmic.cards.privacy_card import PrivacyCard
from skdpmic.models.evaluation_result import PrivateEvaluation
from skdpmic.release.summary.summary_result import PrivateSummary

_BY_FUNCTION = {PrivateSummary: "private_summary", PrivateEvaluation: "private_evaluation"}
FORMAT, VERSION = "skdpmic privacy card", 2
_NOT_COVERED = (
    "the output of transform, and encoders or models fitted afterwards: they contain or have seen records",
    "earlier steps that learnt from all records, or copied, resampled or joined them, and parameters chosen by looking "
    "at the records",
    "cross-validated scores, and choices made by them without noise",
    "error messages, running time and memory of the computation",
    "conclusions about the population: these are what is published",
)
_REPORTS = "reports that the other party drew with a seed, or with bounds read from its data: this party cannot know"


def release_card(released: Any, *, ledger: BudgetLedger | None = None) -> PrivacyCard:
    """Make the privacy card of a release: what was published, the guarantee, its cost, and what is not covered.

    The card is made from released and public values only, so it may be published and costs nothing.

    Parameters
    ----------
    released : estimator, PrivateSummary or PrivateEvaluation
        A fitted private estimator of this package (for a pipeline, its private step), or the result of
        :func:`private_summary` or :func:`private_evaluation`.
    ledger : BudgetLedger, default=None
        Ledger whose entries are listed; the default is the estimator's `ledger` in its current state. The card lists
        *all* entries, with their purposes: everything spent on the table.

    Returns
    -------
    PrivacyCard
        Has `to_json`, `to_html` and `write`; its str is a paragraph to publish with the result.

    Raises
    ------
    TypeError
        If `released` is not of a type that has a card.
    NotFittedError
        If the estimator is not fitted.
    ValueError
        If nothing was published, as by a TwoPartyScorer without epsilon; or if the ledger has no entry of this type of
        release and its unit, so that it is not the one that was charged.

    See Also
    --------
    BudgetLedger.to_frame : Returns all charges as a table.

    Notes
    -----
    For the keys of the JSON, see ``docs/reference/privacy_card.md``. The table of results has at most 20 rows, as in a
    notebook.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import PrivateSelectKBest, release_card
    >>> X = np.random.default_rng(0).uniform(size=(5000, 3))
    >>> selector = PrivateSelectKBest(1, epsilon=2, bounds=(0, 1), target_bounds=(0, 1))
    >>> card = release_card(selector.fit(X, X[:, 2] ** 2))
    >>> card.fields["guarantees"][0]["epsilon"], card.fields["private"]
    (2.0, True)
    """
    by_function = next((by for kind, by in _BY_FUNCTION.items() if isinstance(released, kind)), None)
    if isinstance(released, type) or not (by_function or isinstance(released, PrivateEstimator)):
        raise TypeError(
            "released must be a fitted private estimator of skdpmic, a PrivateSummary or a PrivateEvaluation, got "
            f"{type(released).__name__}. {about_numbered_labels(released) or 'For a pipeline, pass the private step.'}"
        )
    if not by_function:
        check_published(released)
    check_ledger(ledger)
    by = by_function or type(released).__name__
    shown = released._shown()
    if not shown.entries:
        raise ValueError(
            f"released must have published something, got a {by} whose results are for the data holder only."
        )
    ledger = getattr(released, "ledger", None) if ledger is None else ledger
    unit = shown.entries[0].unit
    budget = None if ledger is None else _ledger_fields(ledger, by, unit)
    fields = {
        "format": FORMAT,
        "version": VERSION,
        "package": {"name": "skdpmic", "version": __version__},
        "by": by,
        "private": not shown.broken,
        "broken_by": list(dict.fromkeys(name for entry in shown.entries for name in broken_by(entry))),
        "why_broken": list(shown.broken),
        "published": _published(shown),
        "guarantees": [_guarantee(entry) for entry in shown.entries],
        "public": _public(unit, shown.entries[0].n, budget),
        "not_covered": [*_NOT_COVERED, *([_REPORTS] if len(shown.entries) == 2 else [])],
        "ledger": budget,
    }
    return PrivacyCard(fields | {"statement": statement(fields)})


def _published(shown):
    (_, what), *facts = shown.facts
    return {
        "what": what,
        "statistic": shown.entries[0].statistic,
        "mechanism": shown.entries[0].mechanism,
        "facts": [{"name": name, "text": text} for name, text in facts],
        "table": _table(shown),
    }


def _table(shown):
    columns = shown.all_columns()
    if not columns:
        return None
    rows = [int(i) for i in shown.order[:MOST_ROWS]]
    return {
        "unit": shown.unit,
        "columns": [column.title for column in columns],
        "rows": [[column.cells[i] for column in columns] for i in rows],
        "n_rows": len(shown.order),
    }


def _guarantee(entry):
    changed = "one record is replaced" if entry.covers is None else f"{entry.covers} of one record may change"
    return {
        "of": entry.covers,
        "model": entry.model,
        "epsilon": _finite(entry.epsilon),
        "delta": float(entry.delta),
        "epsilon_of_target": None if entry.epsilon_of_target is None else _finite(entry.epsilon_of_target),
        "unit": entry.unit,
        "n": None if entry.n is None else int(entry.n),
        "rows_per_person": None if entry.rows_per_person is None else int(entry.rows_per_person),
        "neighbours": "all records of one person are replaced" if entry.unit == PERSON else changed,
    }


def _public(unit, n, budget):
    number = f"the number of {PLURAL[unit]}"
    in_total = [] if budget is None else [entry["unit"] for entry in budget["entries"] if entry["unit"] != unit]
    return [
        number if n is None else f"{number}, {n:,}",
        *dict.fromkeys(f"the number of {PLURAL[other]}, for other charges of the ledger" for other in in_total),
        "names and types of the columns",
        "all parameters, such as bounds, categories, classes, k and epsilon",
    ]


def _ledger_fields(ledger, by, unit):
    entries = ledger.entries()
    if all((entry.what, entry.unit) != (by, unit) for entry in entries):
        raise ValueError(
            f"ledger must be the one that was charged for the release, got one without an entry of {by} per {unit}."
        )
    return ledger.limits.standing(entries) | {"entries": [entry._asdict() for entry in entries]}


def _finite(epsilon):
    """The number for JSON, which has no infinity: null, which why_broken explains."""
    return None if epsilon == math.inf else float(epsilon)
