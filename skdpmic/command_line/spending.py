"""What is spent: where that is written down, and whether the user agrees to it."""

import os
import sys

from skdpmic._utils.texts import budget
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.budget.ledger_exports import standing


class DeclinedError(Exception):
    """The user does not want to spend it."""


def open_ledger(path):
    """The ledger in an existing file, as a mistyped name must not begin a new budget; None without a path."""
    if path is None:
        return None
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no ledger {path!r}: 'python -m skdpmic ledger {path} --create' makes one.")
    return BudgetLedger.open(path)


def ask(arguments, ledger, *facts):
    """Raise unless the user agrees to the cost.

    Parameters
    ----------
    arguments : argparse.Namespace
    ledger : BudgetLedger or None
    *facts : str
        What is to be known beforehand, from public numbers.
    """
    if arguments.yes:
        return
    cost = f"This will spend {budget(arguments.epsilon, arguments.delta)}. {_remains(ledger)}"
    print(*facts, cost, sep="\n", file=sys.stderr)
    if not sys.stdin.isatty():
        print("There is no terminal to ask at: give --yes to agree beforehand.", file=sys.stderr)
        raise DeclinedError
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if not _agrees():
        raise DeclinedError


def _agrees():
    try:
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return False


def spent_in_words(privacy_spent, ledger):
    """What was spent, and what remains."""
    return f"Spent {budget(*privacy_spent)}. {_remains(ledger)}"


def _remains(ledger):
    if ledger is None:
        return "No ledger was given, so nothing keeps count of what is spent on these records."
    limit, remaining = budget(ledger.epsilon, ledger.delta), ledger.remaining()
    return f"Of {limit} in {os.path.basename(ledger.path)}, {budget(*remaining)} remains."


def of_ledger(ledger):
    """What a ledger says, for JSON; None without one."""
    return None if ledger is None else {"file": ledger.path} | standing(ledger)
