"""What a command gives to its user: files written whole, one text, questions, and the state of a ledger."""

import contextlib
import importlib.util
import io
import json
import os
import signal
import sys
import threading
from operator import attrgetter
from pathlib import Path

from skdpmic._utils.texts import budget, budget_left, escaped, wrapped
from skdpmic._utils.user_files import Draft, check_regular, plain
from skdpmic.budget.ledger import BudgetLedger
from skdpmic.budget.ledger_database import is_url
from skdpmic.budget.ledger_entry import PERSON, LedgerEntry, per

_READ, _WRITTEN = ("data", "codebook", "ledger", "file"), ("output", "card", "picture")
_OF_A_LEDGER = ("", "-journal", "-wal", "-shm")  # endings of its files, which SQLite writes


class UnwrittenError(Exception):
    """A file could not be written although it was writable before; its argument is the error of each file by path."""


class Outputs(contextlib.ExitStack):
    """The files named by the options of a command, found to be writable first; unwritten ones leave nothing behind.

    Parameters
    ----------
    arguments : argparse.Namespace
    interrupts : Interrupts
        Signals that come while the command runs; an attribute, too.

    Attributes
    ----------
    shown : str
        The result, to be printed when all files are written; empty if there is none.
    written : list of str
        Paths of the files written so far.
    """

    def __init__(self, arguments, interrupts):
        super().__init__()
        self._paths = {name: path for name in _WRITTEN if (path := getattr(arguments, name, None)) is not None}
        read = [path for name in _READ if (path := getattr(arguments, name, None)) and not is_url(path)]
        self._read = [path + ending for path in read for ending in _OF_A_LEDGER] + ["/dev/stdout"]  # if redirected
        self._drafts, self._arguments = {}, arguments
        self.shown, self.written, self.interrupts = "", [], interrupts

    def begin(self):
        """Begin all files, before anything is charged; an error if any cannot be written."""
        for name, path in self._paths.items():
            self._refuse_existing(path)
            draft = self.enter_context(Draft(path))
            for other in [*self._read, *(draft.target for draft in self._drafts.values())]:
                if os.path.realpath(other) == draft.target:
                    raise ValueError(f"{path!r} must be a file of its own, got one that is also another argument.")
            self._drafts[name] = draft
        if "picture" in self._paths:
            _check_plotting()

    def show(self, fields, text):
        """Keep a result for later: the fields of one JSON object, or a text, which functions without arguments make."""
        if self._arguments.json:
            self.shown = json.dumps(plain({"command": self._arguments.command} | fields()), indent=2, allow_nan=False)
        else:
            self.shown = text()

    def write(self, **contents):
        """Write the files that were asked for.

        Parameters
        ----------
        **contents : callable
            By the name of the option, a function without arguments that returns the bytes.

        Raises
        ------
        UnwrittenError
            If any could not be written, after all others have been.
        """
        errors = {}
        for name in [name for name in contents if name in self._drafts]:
            path = self._paths[name]
            try:
                self._refuse_existing(path)
                self._drafts[name].finish(contents[name]())
                self.written.append(path)
            except Exception as error:
                errors[path] = error
        if errors:
            raise UnwrittenError(errors)

    def _refuse_existing(self, path):
        # An existing codebook may already be filled in.
        if self._arguments.command == "template" and os.path.lexists(path):
            raise FileExistsError(f"{path!r} already exists, and is not overwritten.")


# --- Pictures ---------------------------------------------------------------------------------------------------------


def _check_plotting():
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError("--picture requires matplotlib: pip install 'skdpmic[command-line]'")
    import matplotlib

    matplotlib.use("Agg")  # no window needed
    import skdpmic.plotting  # noqa: F401  # now, so that no import fails after the charge


def picture(arguments, display, shown):
    """The bytes of a plot by a display of `skdpmic.plotting`, in the format of the ending of its path."""
    from matplotlib import pyplot

    from skdpmic import plotting

    figure, content = attrgetter(display)(plotting)(shown).figure_, io.BytesIO()
    figure.savefig(content, dpi=150, format=Path(arguments.picture).suffix[1:].lower())
    pyplot.close(figure)
    return content.getvalue()


# --- Streams ----------------------------------------------------------------------------------------------------------


STREAM_ERRORS = (AttributeError, OSError, ValueError)  # no stream, no reader, a full disk, or closed


class UnfailingStream:
    """A stream for messages that survives a pipe without a reader, and a full disk.

    Parameters
    ----------
    stream : file-like or None
    """

    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        """Write a text, if that is possible."""
        with contextlib.suppress(*STREAM_ERRORS):
            self._stream.write(text)
            self._stream.flush()

    def flush(self):
        """Nothing is left to be written."""

    def isatty(self):
        """Whether a person reads it."""
        return self._stream is not None and self._stream.isatty()


def write_all_letters():
    """Write results to files and pipes in UTF-8, as codebooks are read, and replace characters that a terminal lacks.

    So no result that was paid for is lost to an encoding error.
    """
    if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def leave_streams():
    """Keep the interpreter from failing at exit because of unwritten output."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except STREAM_ERRORS:
            with contextlib.suppress(*STREAM_ERRORS):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


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


def open_ledger(path, interrupts):
    """The ledger in an existing file or database; None without a path. A mistyped name must not create a new budget."""
    if path is None:
        return None
    if not is_url(path):
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"there is no ledger {path!r}: 'python -m skdpmic ledger {escaped(path)} --create --epsilon E' "
                "creates it."
            )
        check_regular(path, "the ledger")
    ledger = PayingLedger.open(path)
    ledger.interrupts = interrupts
    return ledger


def refuse_unpaid(arguments, ledger, unit):
    """Raise, before anything is read, if the cost does not fit, or if nobody can agree to it."""
    if ledger is not None and ledger.composition == "basic" and not arguments.delta:  # others depend on the noise
        entry = LedgerEntry(arguments.command, arguments.epsilon, unit=unit)
        ledger.limits.check(entry, ledger.entries(), ledger.path)
    if not _is_terminal():
        ask(arguments, ledger)


def _is_terminal():
    return sys.stdin is not None and sys.stdin.isatty()


def ask(arguments, ledger, facts=()):
    """Raise unless the user agrees to the cost.

    Parameters
    ----------
    arguments : argparse.Namespace
    ledger : BudgetLedger or None
    facts : iterable of str, default=()
        Information to print first, from public numbers; made only if the user is asked.
    """
    if arguments.yes:
        return
    cost = f"This will spend {budget(arguments.epsilon, arguments.delta)}. {_remains(ledger)}"
    print(wrapped("\n".join([*facts, cost])), file=sys.stderr)
    if not _is_terminal():
        print("There is no terminal to ask at: pass --yes to agree in advance.", file=sys.stderr)
        raise DeclinedError
    print("Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise DeclinedError


def spent_in_words(privacy_spent, ledger):
    """The spent and the remaining budget."""
    return " ".join([f"Spent {budget(*privacy_spent)}.", _after_paying(_remains, ledger) or ""]).rstrip()


def _remains(ledger):
    if ledger is None:
        return "No ledger was given, so spending on these records is not tracked."
    limits, entries = ledger.limits, ledger.entries()
    limit, remaining, unit = budget(*limits[:2]), budget_left(*limits.remaining(entries)), limits.unit_of(entries)
    of_people = per(unit) if unit == PERSON else ""
    return f"Of {limit} in {escaped(os.path.basename(ledger.path))}, {remaining}{of_people} remains."


def _after_paying(tell, ledger):
    """``tell(ledger)``; None, with a warning, if the ledger can no longer be read."""
    try:
        return tell(ledger)
    except (OSError, ValueError) as error:
        warning = f"warning: the cost was charged, but the ledger could not be read again: {error}"
        print(wrapped(warning), file=sys.stderr)
        return None


def fields_of_cost(privacy_spent, ledger):
    """The cost, and the state of the ledger after it, for the JSON."""
    return dict(zip(("epsilon", "delta"), privacy_spent, strict=True)) | {"ledger": _after_paying(_state, ledger)}


def _state(ledger):
    return None if ledger is None else {"file": ledger.path} | ledger.limits.standing(ledger.entries())
