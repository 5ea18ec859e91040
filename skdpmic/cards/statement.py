"""A paragraph to publish with a result."""

import math

from skdpmic._utils.summaries import NOT_COVERED
from skdpmic._utils.texts import budget
from skdpmic.budget.ledger_entry import per


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
        not_covered = "; ".join([*own, "models and other results computed from the records"])
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
