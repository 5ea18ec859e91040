"""Spending: the ledger, the consent of the user, and interruptions, which never lose a paid result."""

import contextlib
import os
import signal
import sys
import threading

from skdpmic._utils.texts import budget, budget_left, escaped, wrapped
from skdpmic._utils.user_files import check_regular
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.budget.ledger_database import is_url
from skdpmic.budget.ledger_entry import PERSON, per

# --- Interruptions ---------------------------------------------------------------------------------------------------


_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_CTRL_C_NOTICE = b"\nThe budget is charged: the result is finished and shown first. Press Ctrl-C again to lose it.\n"


class Interrupts:
    """Signals that came while a command ran.

    Attributes
    ----------
    number : int or None
        The last signal.
    is_paid : bool
        Whether a cost has been charged.
    """

    def __init__(self):
        self.number, self.is_paid, self._waits = None, False, False

    @contextlib.contextmanager
    def handled(self):
        """Within this context, a signal raises KeyboardInterrupt, so that files are tidied up, or waits."""
        before = {}
        try:
            if threading.current_thread() is threading.main_thread():  # others cannot
                for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
                    if signal.getsignal(number) not in (signal.SIG_IGN, None):  # as in the background, or by nohup
                        before[number] = signal.signal(number, self._arrived)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def paying(self):
        """A charge, which cannot be interrupted; nor can what follows, if it succeeds."""
        if self.number is not None:  # a library has ignored the KeyboardInterrupt
            raise KeyboardInterrupt
        self._waits = True
        try:
            yield
            self.is_paid = True
        finally:
            self._waits = self.is_paid

    def _arrived(self, number, frame):
        is_first, self.number = self.number is None, number
        if not (self._waits and is_first):
            raise KeyboardInterrupt
        with contextlib.suppress(OSError):
            os.write(2, _CTRL_C_NOTICE)  # print may be in the middle of a line


# --- Spending --------------------------------------------------------------------------------------------------------


class DeclinedError(Exception):
    """The user declined the cost."""


class PayingLedger(BudgetLedger):
    """A ledger that notifies `interrupts` of its charges."""

    interrupts: Interrupts

    def charge_entry(self, entry):
        """As in :meth:`BudgetLedger.charge_entry`."""
        with self.interrupts.paying():
            super().charge_entry(entry)


def open_ledger(path, kind=BudgetLedger):
    """The ledger in an existing file or database. A mistyped name must not create a new budget."""
    if not is_url(path):
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"there is no ledger {path!r}: 'python -m skdpmic ledger {escaped(path)} --create --epsilon E' "
                "creates it."
            )
        check_regular(path, "the ledger")
    return kind.open(path)


def open_to_pay(path, interrupts):
    """The ledger at a path, opened to be charged; None without a path."""
    if path is None:
        return None
    ledger = open_ledger(path, PayingLedger)
    ledger.interrupts = interrupts
    return ledger


def ask(arguments, ledger, *facts):
    """Raise unless the user agrees to the cost.

    Parameters
    ----------
    arguments : argparse.Namespace
    ledger : BudgetLedger or None
    *facts : str
        Information to print first, from public numbers.
    """
    if arguments.yes:
        return
    cost = f"This will spend {budget(arguments.epsilon, arguments.delta)}. {_remains(ledger)}"
    print(wrapped("\n".join([*facts, cost])), file=sys.stderr)
    if sys.stdin is None or not sys.stdin.isatty():
        print("There is no terminal to ask at: pass --yes to agree in advance.", file=sys.stderr)
        raise DeclinedError
    print("Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    if not _agrees():
        raise DeclinedError


def _agrees():
    try:
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return False


def spent_in_words(privacy_spent, ledger):
    """The spent and the remaining budget."""
    return " ".join([f"Spent {budget(*privacy_spent)}.", after_paying(_remains, ledger) or ""]).rstrip()


def _remains(ledger):
    if ledger is None:
        return "No ledger was given, so spending on these records is not tracked."
    limits, entries = ledger.limits, ledger.entries()
    limit, remaining, unit = budget(*limits[:2]), budget_left(*limits.remaining(entries)), limits.unit_of(entries)
    of_people = per(unit) if unit == PERSON else ""
    return f"Of {limit} in {escaped(os.path.basename(ledger.path))}, {remaining}{of_people} remains."


def after_paying(tell, *arguments):
    """``tell(*arguments)`` about a ledger; None, with a warning, if the ledger can no longer be read."""
    try:
        return tell(*arguments)
    except (OSError, ValueError) as error:
        warning = f"warning: the cost was charged, but the ledger could not be read again: {error}"
        print(wrapped(warning), file=sys.stderr)
        return None


def ledger_state(ledger, entries=None):
    """The state of a ledger with these entries, by default all, for JSON; None without one."""
    return None if ledger is None else {"file": ledger.path} | ledger.limits.standing(entries or ledger.entries())
