"""A card as a paragraph and as HTML; everything is escaped, because cards are untrusted."""

import math
from importlib.resources import files

from skdpmic._utils.summaries import NOT_COVERED
from skdpmic._utils.tables import html_facts, html_rows
from skdpmic._utils.texts import budget, budget_left, in_html
from skdpmic.budget.ledger_entry import per

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
    package, guarantees = fields["package"], fields["guarantees"]
    made = f"{fields['by']} of {package['name']} {package['version']}"
    what = fields["published"]["what"]
    if not fields["private"]:
        sentences = [f"Published without privacy, by {made}: {what}."]
        sentences += [f"There is no privacy: {why}." for why in fields["why_broken"]]
    else:
        costs = " and ".join(map(_cost, guarantees))
        sentences = [f"Published under {costs}, by {made}: {what}.", *dict.fromkeys(map(_protects, guarantees))]
        own = [fact["text"] for fact in fields["published"]["facts"] if fact["name"] == NOT_COVERED]
        not_covered = "; ".join([*own, "other models and results computed from the records"])
        sentences.append(f"Not covered by the guarantee: {not_covered}.")
    return " ".join([*sentences, _total(fields["ledger"])])


def _cost(guarantee):
    kind = "local differential privacy" if guarantee["model"] == "local" else "differential privacy"
    of = "" if guarantee["of"] is None else f" of {guarantee['of']}"
    return f"{kind}{of} with {cost(guarantee)}"


def _protects(guarantee):
    if guarantee["unit"] == "person":
        return f"The guarantee covers each of {guarantee['n']:,} people with all their records; their number is public."
    if guarantee["n"] is None:
        return "The guarantee covers each record; the number of records is public."
    return f"The guarantee covers each of {guarantee['n']:,} records; their number is public."


def _total(ledger):
    if ledger is None:
        return "Other spending on the same records is unknown."
    most, unit = ledger["max_rows_per_person"], per(ledger["unit"])
    rows = "" if most is None else f" (with at most {most:,} records)"
    spent, limit = cost(ledger["spent"]), cost(ledger["limit"])
    return f"In total, {spent}{unit}{rows} was spent on this table, of a limit of {limit}{unit}."


def cost(guarantee):
    """Epsilon and delta in words; null is infinity."""
    epsilon = guarantee["epsilon"]
    return budget(math.inf if epsilon is None else epsilon, guarantee["delta"])


# --- The page --------------------------------------------------------------------------------------------------------


_STYLE = (files("skdpmic.cards") / "cards.css").read_text(encoding="utf-8")
_MOST_ENTRIES = 20


def page(fields):
    """A complete page."""
    title = in_html(f"Privacy card of {fields['by']}")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n</head>\n'
        f"<body>\n{fragment(fields)}\n</body>\n</html>\n"
    )


def fragment(fields):
    """A fragment for another page."""
    published, package = fields["published"], fields["package"]
    made = f"{fields['by']}, {package['name']} {package['version']}"
    parts = [
        "<h1>Privacy card</h1>",
        *(f'<p class="broken">No privacy: {in_html(why)}.</p>' for why in fields["why_broken"]),
        f"<p>{in_html(fields['statement'])}</p>",
        _section("What was published", [("What", published["what"]), ("By", made), *_pairs(published["facts"])]),
        _results(published["table"]),
        *(_guarantee(guarantee) for guarantee in fields["guarantees"]),
        _list("What is public", fields["public"]),
        _list("What the guarantee does not cover", fields["not_covered"]),
        _ledger(fields["ledger"]),
    ]
    return f'<div class="skdpmic-card"><style>\n{_STYLE}</style>\n' + "\n".join(filter(None, parts)) + "\n</div>"


def _pairs(facts):
    return [(fact["name"], fact["text"]) for fact in facts]


def _guarantee(guarantee):
    of = "" if guarantee["of"] is None else f" of {guarantee['of']}"
    n, rows = guarantee["n"], guarantee["rows_per_person"]
    target = guarantee["epsilon_of_target"]
    facts = [
        ("Budget", cost(guarantee)),
        *([] if target is None else [("Part for the target", cost({"epsilon": target, "delta": 0}))]),
        ("Model", guarantee["model"]),
        ("Unit of protection", guarantee["unit"]),
        ("Neighbours", guarantee["neighbours"]),
        *([] if n is None else [("Number of units", f"{n:,}")]),
        *([] if rows is None else [("Records counted per person", f"{rows:,}")]),
    ]
    return _section(f"The guarantee{of}", facts)


def _ledger(ledger):
    if ledger is None:
        return _list("The budget of the table", ["No ledger was given, so other spending is unknown."])
    unit, most, entries = per(ledger["unit"]), ledger["max_rows_per_person"], ledger["entries"]
    left = budget_left(ledger["remaining"]["epsilon"], ledger["remaining"]["delta"])
    stated = {"Limit": cost(ledger["limit"]), "Spent": cost(ledger["spent"]), "Remaining": left}
    facts = [(title, text + unit) for title, text in stated.items()]
    facts += (
        []
        if most is None
        else [("Records per person", f"at most {most:,}, for each of which a cost per record counts")]
    )
    rows = [
        [entry["when"][:19].replace("T", " "), cost(entry) + per(entry["unit"]), entry["what"], entry["purpose"] or ""]
        for entry in entries[-_MOST_ENTRIES:]
    ]
    earlier = len(entries) - len(rows)
    return "".join(
        [
            _section("The budget of the table", [*facts, ("Composition", ledger["composition"])]),
            html_rows(["time (UTC)", "cost", "what", "purpose"], rows),
            f"<p>after {earlier:,} earlier charges</p>" if earlier else "",
        ]
    )


def _results(table):
    if table is None:
        return ""
    more = table["n_rows"] - len(table["rows"])
    rest = f"<p>… and {more:,} more (unit: {in_html(table['unit'])})</p>" if more > 0 else ""
    return html_rows(table["columns"], table["rows"]) + rest


def _section(title, facts):
    return f"<h2>{in_html(title)}</h2>{html_facts(facts)}"


def _list(title, items):
    return f"<h2>{in_html(title)}</h2><ul>{''.join(f'<li>{in_html(item)}</li>' for item in items)}</ul>"
