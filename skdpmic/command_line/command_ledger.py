"""``ledger``: a privacy budget and its charges."""

import os

from skdpmic._utils.texts import aligned, budget, budget_left, wrapped
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.budget.ledger_entry import per
from skdpmic.command_line.outputs import ledger_state, open_ledger, picture, print_json


def execute(arguments, run):
    """Create or open a ledger, and print it."""
    ledger = _created(arguments) if arguments.create else open_ledger(arguments.file)
    if arguments.json:
        entries = ledger.entries()
        print_json({"command": "ledger"} | ledger_state(ledger, entries) | {"entries": [e._asdict() for e in entries]})
    else:
        print(_text(ledger))
    run.outputs.write(picture=lambda: _picture(ledger, arguments.picture))


def _created(arguments):
    if os.path.exists(arguments.file):
        raise FileExistsError(f"{arguments.file!r} already exists, and is not overwritten.")
    rows = arguments.max_rows_per_person
    return BudgetLedger(arguments.file, arguments.epsilon, arguments.delta, max_rows_per_person=rows)


def _picture(ledger, path):
    from skdpmic.plotting import LedgerDisplay

    return picture(LedgerDisplay.from_ledger, ledger, path)


def _text(ledger):
    entries, limits = ledger.entries(), ledger.limits
    unit = per(limits.unit_of(entries))
    texts = {
        "Limit": budget(*limits[:2]),
        "Spent": budget(*limits.spent(entries)),
        "Remaining": budget_left(*limits.remaining(entries)),
    }
    lines = [f"{name + ':':10} {text}{unit}" for name, text in texts.items()]
    if limits.max_rows_per_person is not None:
        lines.append(f"A cost per record counts {limits.max_rows_per_person:,} times, the most records of a person.")
    text = wrapped("\n".join(lines))
    if entries:
        rows = [(_time(entry), budget(entry.epsilon, entry.delta) + per(entry.unit), str(entry)) for entry in entries]
        text += f"\n\n{aligned(('time (UTC)', 'cost', 'what'), rows)}"
    return text


def _time(entry):
    return entry.when[:19].replace("T", " ")
