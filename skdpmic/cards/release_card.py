"""The card of a release, made from its summary for notebooks, so that nothing is stated twice."""

import json
import os
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from skdpmic import __version__
from skdpmic._utils.summaries import MOST_ROWS, NOT_COVERED, and_more, breaks_guarantee, table_as_html
from skdpmic._utils.texts import budget, escaped, html_facts, html_rows, in_html, require, wrapped
from skdpmic._utils.user_files import plain, write_whole
from skdpmic.budget.ledger import BudgetLedger, check_ledger
from skdpmic.budget.ledger_entry import CHARGES, PERSON, PLURAL, charges_in_words, ledger_in_words, paid, per
from skdpmic.cards.together import BASIC, columns_of, releases_in, together
from skdpmic.search.nested import ordinary_steps

SUFFIXES = (".json", ".html")


@dataclass(frozen=True, repr=False)
class PrivacyCard:
    """Privacy card of releases, returned by :func:`release_card`; its str is a paragraph.

    It contains only released and public values, so it may be published.

    Attributes
    ----------
    fields : dict
        Contents of the JSON.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import private_summary, Codebook, release_card
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": np.random.default_rng(0).uniform(20, 90, 1000)})
    >>> card = release_card(private_summary(frame, Codebook({"age": (0, 110)}), epsilon=1))
    >>> str(card)[:49]
    'Published under differential privacy with ε = 1, '
    """

    fields: dict[str, Any]

    def to_json(self) -> str:
        """Return the card as JSON, with the keys of ``docs/reference/privacy_card.md``.

        Returns
        -------
        str
        """
        text = json.dumps(self.fields, indent=2, ensure_ascii=False, allow_nan=False)
        return escaped(text, but="\n", written=lambda letter: json.dumps(letter)[1:-1]) + "\n"

    def to_html(self) -> str:
        """Return the card as a self-contained HTML page, which can be printed.

        Returns
        -------
        str
        """
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width">\n'
            f"<title>Privacy card of {in_html(self.fields['by'])}</title>\n</head>\n"
            f"<body>\n{fragment(self.fields)}\n</body>\n</html>\n"
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the card to a file, replacing an existing one at once.

        Parameters
        ----------
        path : str or path-like
            Path of a file ending in .json or .html.

        Raises
        ------
        ValueError
            If the path has another ending.
        """
        write_whole(path, file_content(self, path))

    def __str__(self):
        return wrapped(escaped(self.fields["statement"]))

    def __repr__(self):
        return wrapped(f"<PrivacyCard: {escaped(self.fields['statement'])}>")

    def _repr_html_(self):
        return fragment(self.fields)


def file_content(card, path):
    """The bytes of the file of a card, in the format of its ending."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"path must end in {' or '.join(SUFFIXES)}, got {os.fspath(path)!r}.")
    text = card.to_json() if suffix == ".json" else card.to_html()
    return text.encode("utf-8", errors="backslashreplace")  # names may contain lone surrogates


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
    """Make the privacy card of releases: what was published, the guarantee, its cost, and what is not covered.

    The card is made from released and public values only, so it may be published and costs nothing.

    Parameters
    ----------
    released : estimator, Pipeline, PrivateSummary or PrivateEvaluation, or list of these
        A fitted private estimator of this package, a fitted Pipeline whose steps are private or learn nothing from
        records, or the result of :func:`private_summary` or :func:`private_evaluation`. Of a list, or of several
        private steps, each counts once, and the card states what they cost together.
    ledger : BudgetLedger, default=None
        Ledger whose entries are listed; the default is the estimators' `ledger` in its current state. The card lists
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
        If nothing was published, as by a TwoPartyScorer without epsilon; if a step of a pipeline is private and not
        fitted, or was fitted to records without privacy; if several releases have no common guarantee, because one has
        local privacy or they protect records and people; or if the ledger has no entry of this type of release and its
        unit, so that it is not the one that was charged.

    See Also
    --------
    BudgetLedger.to_frame : Returns all charges as a table.

    Notes
    -----
    The total of several releases is computed by the composition of the ledger; without one, it is their sum. For the
    keys of the JSON, see ``docs/reference/privacy_card.md``. The table of results has at most 20 rows, as in a
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
    check_ledger(ledger)
    several = list(released) if isinstance(released, list | tuple) else [released]
    require(several, "released must be a release, or a list of at least one", released)
    releases = releases_in(several)
    ledgers = {release.ledger for release in releases if getattr(release, "ledger", None) is not None}
    require(ledger is not None or len(ledgers) < 2, "ledger must be given, if releases have several", ledger)
    ledger = next(iter(ledgers), None) if ledger is None else ledger
    each = [release._shown() for release in releases]
    shown = each[0] if len(each) == 1 else together(each, BASIC if ledger is None else ledger.limits)
    if not shown.entries:
        raise ValueError("released must have published something, got results that are for the data holder only.")
    entries = [part.entries[0] for part in each]
    account = None if ledger is None else _ledger_fields(ledger, entries)
    fields = {
        "format": FORMAT,
        "version": VERSION,
        "package": {"name": "skdpmic", "version": __version__},
        **_release(shown),
        "private": not shown.broken,
        "broken_by": list(dict.fromkeys(name for entry in shown.entries for name in breaks_guarantee(entry))),
        "why_broken": list(shown.broken),
        "parts": [_release(part) for part in each] if len(each) > 1 else [],
        "columns": columns_of(several),
        "public": _public(entries, account, several),
        "not_covered": [*_NOT_COVERED, *([_REPORTS] if len(shown.entries) == 2 else [])],
        "ledger": account,
    }
    return PrivacyCard(fields | {"statement": statement(fields)})


def _release(shown):
    """What was published, by what and under which guarantees."""
    (_, what), *facts = shown.facts
    entry = shown.entries[0]
    return {
        "by": entry.what,
        "published": {
            "what": what,
            "statistic": entry.statistic,
            "mechanism": entry.mechanism,
            "facts": [{"name": name, "text": text} for name, text in facts],
            "table": shown.table(),
        },
        "guarantees": [plain(_guarantee(entry)) for entry in shown.entries],  # null for infinity: see why_broken
    }


def _guarantee(entry):
    names = ("model", "epsilon", "delta", "epsilon_of_target", "unit", "n", "rows_per_person")
    changed = "one record is replaced" if entry.covers is None else f"{entry.covers} of one record may change"
    neighbours = "all records of one person are replaced" if entry.unit == PERSON else changed
    return {"of": entry.covers} | {name: getattr(entry, name) for name in names} | {"neighbours": neighbours}


def _public(entries, account, several):
    units = {entry.unit for entry in entries}
    others = [] if account is None else [entry["unit"] for entry in account["entries"] if entry["unit"] not in units]
    numbers = [f"the number of {PLURAL[e.unit]}{'' if e.n is None else f', {e.n:,}'}" for e in entries]
    numbers += [f"the number of {PLURAL[other]}, for other charges of the ledger" for other in others]
    steps = [name for each in several for name, learnt in ordinary_steps(each).items() if not learnt]
    return [
        *dict.fromkeys(numbers),
        "names and types of the columns",
        "all parameters, such as bounds, categories, classes, k and epsilon",
        *(f"what {step} does, which learns nothing from records" for step in steps),
    ]


def _ledger_fields(ledger, charged):
    entries = ledger.entries()
    missing = Counter((e.what, e.unit) for e in charged) - Counter((e.what, e.unit) for e in entries)
    for by, unit in missing:
        raise ValueError(f"ledger must be the one charged for it, got one without an entry of {by} per {unit}.")
    return ledger.limits.standing(entries) | {"entries": [entry._asdict() for entry in entries]}


# --- The paragraph ---------------------------------------------------------------------------------------------------


def statement(fields):
    """The fields of a card in a few sentences.

    Parameters
    ----------
    fields : dict
        Fields of a card, as in ``docs/reference/privacy_card.md``.

    Returns
    -------
    str
    """
    published, guarantees = fields["published"], fields["guarantees"]
    made = f"by {fields['by']} of {fields['package']['name']} {fields['package']['version']}: {published['what']}."
    if not fields["private"]:
        sentences = [f"Published without privacy, {made}"]
        sentences += [f"There is no privacy: {why}." for why in fields["why_broken"]]
    else:
        in_total = " in total" if fields["parts"] else ""
        sentences = [f"Published under {' and '.join(map(_kind_and_cost, guarantees))}{in_total}, {made}"]
        sentences += dict.fromkeys(map(_protects, guarantees))
        own = [fact["text"] for fact in published["facts"] if fact["name"] == NOT_COVERED]
        not_covered = "; ".join([*own, "other models and results computed from the records"])
        sentences.append(f"Not covered by the guarantee: {not_covered}.")
    looked_at = [f"Columns that were looked at: {len(fields['columns']):,}."] if fields["parts"] else []
    return " ".join([*sentences, *looked_at, _total(fields["ledger"])])


def _kind_and_cost(guarantee):
    local = "local " if guarantee["model"] == "local" else ""
    of = "" if guarantee["of"] is None else f" of {guarantee['of']}"
    return f"{local}differential privacy{of} with {paid(guarantee)}"


def _protects(guarantee):
    unit, n = guarantee["unit"], guarantee["n"]
    covered = f"each {unit}" if n is None else f"each of {n:,} {PLURAL[unit]}"
    rows = " with all their records" if unit == PERSON else ""
    number = f"the number of {PLURAL[unit]}" if n is None else "their number"
    return f"The guarantee covers {covered}{rows}; {number} is public."


def _total(ledger):
    if ledger is None:
        return "Other spending on the same records is unknown."
    most, unit = ledger["max_rows_per_person"], per(ledger["unit"])
    rows = "" if most is None else f" (with at most {most:,} records)"
    spent, limit = paid(ledger["spent"]), paid(ledger["limit"])
    return f"In total, {spent}{unit}{rows} was spent on this table, of a limit of {limit}{unit}."


# --- The page --------------------------------------------------------------------------------------------------------


_STYLE = (files("skdpmic.cards") / "cards.css").read_text(encoding="utf-8")
_MOST_ENTRIES, _BUDGET = 20, "The budget of the table"
_TITLES = {  # of fields of a guarantee
    "model": "Model",
    "unit": "Unit of protection",
    "neighbours": "Neighbours",
    "n": "Number of units",
    "rows_per_person": "Records counted per person",
}


def fragment(fields):
    """A fragment for another page."""
    columns = ", ".join(fields["columns"][:MOST_ROWS]) + and_more(len(fields["columns"]))
    limits = [("Public", "; ".join(fields["public"])), ("Not covered", "; ".join(fields["not_covered"]))]
    parts = [
        "<h1>Privacy card</h1>",
        *(f'<p class="broken">No privacy: {in_html(why)}.</p>' for why in fields["why_broken"]),
        f"<p>{in_html(fields['statement'])}</p>",
        _published_in_html("What was published", fields, ("By", fields["by"]), ("Columns", columns)),
        *map(_guarantee_in_html, fields["guarantees"]),
        *(_published_in_html(f"Part {i}: {part['by']}", part) for i, part in enumerate(fields["parts"], 1)),
        _section("What is public, and what the guarantee does not cover", limits),
        _ledger_in_html(fields["ledger"]),
    ]
    return f'<div class="skdpmic-card"><style>\n{_STYLE}</style>\n' + "\n".join(filter(None, parts)) + "\n</div>"


def _published_in_html(title, release, *further):
    published = release["published"]
    facts = [("What", published["what"]), *further, *((fact["name"], fact["text"]) for fact in published["facts"])]
    return _section(title, facts) + ("" if published["table"] is None else table_as_html(**published["table"]))


def _guarantee_in_html(guarantee):
    of, target = "" if guarantee["of"] is None else f" of {guarantee['of']}", guarantee["epsilon_of_target"]
    facts = [("Budget", paid(guarantee))]
    facts += [] if target is None else [("Part for the target", budget(target))]
    stated = [(title, guarantee[name]) for name, title in _TITLES.items() if guarantee[name] is not None]
    facts += [(title, f"{value:,}" if isinstance(value, int) else value) for title, value in stated]
    return _section(f"The guarantee{of}", facts)


def _ledger_in_html(ledger):
    if ledger is None:
        return _section(_BUDGET, [("Ledger", "none was given, so other spending is unknown")])
    facts = ledger_in_words(ledger) | {"Composition": ledger["composition"]}
    charges = html_rows(CHARGES, charges_in_words(ledger["entries"][-_MOST_ENTRIES:]))
    n_earlier = len(ledger["entries"]) - _MOST_ENTRIES
    earlier = f"<p>after {n_earlier:,} earlier charges</p>" if n_earlier > 0 else ""
    return _section(_BUDGET, facts.items()) + charges + earlier


def _section(title, facts):
    return f"<h2>{in_html(title)}</h2>{html_facts(facts)}"
