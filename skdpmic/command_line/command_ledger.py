"""``ledger``: a privacy budget and its charges."""

import os

from skdpmic._utils.texts import budget
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.command_line.outputs import picture
from skdpmic.command_line.printed import aligned, print_json
from skdpmic.command_line.spending import of_ledger, open_ledger


def execute(arguments, run):
    """Create or open a ledger, and print it."""
    ledger = _created(arguments) if arguments.create else open_ledger(arguments.file)
    if arguments.json:
        print_json({"command": "ledger"} | of_ledger(ledger) | {"entries": [e._asdict() for e in ledger.entries()]})
    else:
        print(_text(ledger))
    run.outputs.write(picture=lambda: _picture(ledger, arguments.picture))


def _created(arguments):
    if os.path.exists(arguments.file):
        raise FileExistsError(f"{arguments.file!r} already exists, and is not overwritten.")
    return BudgetLedger(arguments.file, arguments.epsilon, arguments.delta)


def _picture(ledger, path):
    from skdpmic.plotting import LedgerDisplay

    return picture(LedgerDisplay.from_ledger, ledger, path)


def _text(ledger):
    costs = {"Limit": (ledger.epsilon, ledger.delta), "Spent": ledger.spent(), "Remaining": ledger.remaining()}
    lines = [f"{name + ':':10} {budget(*cost)}" for name, cost in costs.items()]
    entries = ledger.entries()
    if entries:
        rows = [(_time(entry), budget(entry.epsilon, entry.delta), str(entry)) for entry in entries]
        lines += ["", aligned(("time (UTC)", "cost", "what"), rows)]
    return "\n".join(lines)


def _time(entry):
    return entry.when[:19].replace("T", " ")
