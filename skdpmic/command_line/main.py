"""``python -m skdpmic``: parse the options, run the command, print the result, and errors in one line."""

import argparse
import contextlib
import csv
import math
import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from skdpmic import __version__
from skdpmic._utils.texts import BudgetError, aligned, escaped, quoted, wrapped
from skdpmic.command_line import outputs
from skdpmic.command_line.outputs import Interrupts, Outputs

_SAFE = (ValueError, TypeError, ImportError, ModuleNotFoundError)  # raised by the package, without data
_IN_PYTHON = {  # how errors of the package name what is an option, a file or the codebook here
    r"^(k|epsilon|delta|statistic|keep|features|error|found) must ": r"--\1 must ",
    r"^n_samples must ": "--n-samples must ",
    r"^(y|classes|target_bounds) must ": "--target must ",
    r"^(frame|X) must ": "{data} must ",
    r"must match bounds and categories(, got .*? must be \w+)\..*": r"must match the codebook\1: correct one of them.",
    r"\bin classes\b": "in the codebook",
    r" or 'all'(?=, got )| For the order of all, pass k='all'\.|n_features=(?=\d)": "",
}
_UNSHOWN = "the result could not be printed, and was written to no file; it follows on stderr"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments of ``python -m skdpmic``; None takes them from the command line.

    Returns
    -------
    int
        Exit status, as listed by ``--help``.

    Raises
    ------
    SystemExit
        If the options are invalid, with status 2, or ask for help.
    """
    outputs.write_all_letters()
    arguments = parse_options(argv)
    run, stderr = Outputs(arguments, Interrupts()), outputs.UnfailingStream(sys.stderr)
    with contextlib.redirect_stderr(stderr), run.interrupts.handled(), _warnings_in_short():
        status, message = _executed(arguments, run)
        if run.shown:  # after the files, because a reader may close stdout
            status, message = _shown(run, status, message)
        if message is not None:
            print(wrapped(f"skdpmic {arguments.command}: {message}"), file=sys.stderr)
    return status


def _executed(arguments, run):
    """The exit status of a command and the message of its error; its result is kept for later."""
    try:
        with run:
            run.begin()
            with contextlib.redirect_stdout(sys.stderr):  # of progress
                # Imported now, so that help and invalid options are fast.
                getattr(import_module("skdpmic.command_line.commands"), arguments.command)(arguments, run)
        return DONE, None
    except outputs.DeclinedError:
        return DECLINED, "declined: nothing was spent."
    except BudgetError as error:
        return REFUSED, str(error)
    except outputs.UnwrittenError as error:
        files = [f"{path!r} could not be written: {_without_data(one)}" for path, one in error.args[0].items()]
        return UNWRITTEN, "\n".join(files)
    except (KeyboardInterrupt, Exception) as error:
        number, is_paid = run.interrupts.number, run.interrupts.is_paid
        if number is not None or isinstance(error, KeyboardInterrupt):  # a library may turn it into another error
            status, message = SIGNALLED + (number or signal.SIGINT), "interrupted."
        else:
            status, message = UNWRITTEN if is_paid else INVALID, _in_words_of_options(_without_data(error), arguments)
        return status, f"{message} The cost was charged before." if is_paid else message


def _shown(run, status, message):
    """Print a result, to stderr if stdout fails: what is paid for is kept, but a reader may stop early."""
    try:
        sys.stdout.write(run.shown + "\n")
        sys.stdout.flush()
    except outputs.STREAM_ERRORS as error:
        if not run.written:
            print(_UNSHOWN, run.shown, sep="\n", file=sys.stderr)
        if not isinstance(error, BrokenPipeError):
            return status or UNWRITTEN, message or f"stdout could not be written: {_without_data(error)}"
    return status, message


def _without_data(error):
    """The message of an error of this package or the operating system; other messages may quote values."""
    kind = type(error)
    if kind in _SAFE or (isinstance(error, OSError) and kind.__module__ == "builtins"):
        return escaped(str(error), but="\n")
    return f"failed with {kind.__name__}. Its message is not shown, because it may quote values."


def _in_words_of_options(message, arguments):
    data = os.path.basename(getattr(arguments, "data", "DATA"))
    for in_python, here in _IN_PYTHON.items():
        message = re.sub(in_python, lambda found, here=here: found.expand(here).replace("{data}", data), message)
    return message


def _warn(message, *_):
    message = str(message).replace("skdpmic.plan_release", "python -m skdpmic plan")
    print(wrapped(f"warning: {escaped(' '.join(message.split()))}"), file=sys.stderr)


@contextlib.contextmanager
def _warnings_in_short():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)  # the category used by this package
        warnings.showwarning = _warn
        yield


DONE, INVALID, USAGE, REFUSED, DECLINED, UNWRITTEN = range(6)
SIGNALLED = 128  # added to the number of the signal
_STATUSES = {
    DONE: "done",
    INVALID: "invalid input or data; a message explains, without values of the data",
    USAGE: "invalid options",
    REFUSED: "refused by the ledger: the cost exceeds what remains",
    DECLINED: "you declined, or there was no terminal to ask at; nothing was spent",
    UNWRITTEN: "charged, but a file could not be written; the result is printed",
    SIGNALLED + 2: f"interrupted (Ctrl-C; {SIGNALLED + 15} by SIGTERM); a message says so if it was charged",
}


def parse_options(argv):
    """Parse the options of a command; its name is `command`.

    Parameters
    ----------
    argv : sequence of str or None
        Arguments; None takes them from the command line.

    Returns
    -------
    argparse.Namespace
    """
    done, *failed = [(f"  {status}", meaning) for status, meaning in _STATUSES.items()]
    end = {"epilog": f"exit status:\n{aligned(done, failed)}", "formatter_class": argparse.RawDescriptionHelpFormatter}
    what = wrapped("Choose the columns of a table that predict a target, under differential privacy.")
    parser = argparse.ArgumentParser("python -m skdpmic", description=what, **end)
    parser.add_argument("--version", action="version", version=f"skdpmic {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (what, required, others) in _COMMANDS.items():
        command = commands.add_parser(name, help=what, description=wrapped(f"{what[0].upper()}{what[1:]}."), **end)
        for option in [*required, *others, "--json"]:
            command.add_argument(*option.split(), **_OPTIONS[option]).required = option in required
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help()
        raise SystemExit(USAGE)
    arguments = parser.parse_args(argv)
    fail = commands.choices[arguments.command].error
    if arguments.command == "plan":
        goals = [arguments.error, arguments.found]
        if [arguments.n_samples, arguments.epsilon, *goals].count(None) != 2 or None not in goals:
            fail("pass two of --n-samples, --epsilon and a goal: --found or --error")
    if arguments.command == "ledger":
        has_limits = arguments.delta or arguments.max_rows_per_person is not None
        if arguments.create != (arguments.epsilon is not None) or (has_limits and not arguments.create):
            fail("--create requires --epsilon, and limits are allowed with --create only")
    return arguments


# --- Values of options ------------------------------------------------------------------------------------------------


def _finite(text):
    with contextlib.suppress(ValueError):
        if math.isfinite(number := float(text)):  # an infinite epsilon adds no noise
            return number
    raise argparse.ArgumentTypeError(f"must be a finite number, got {quoted(text)}")


def _letter(text):
    letter = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(letter) != 1 or not letter.isascii():
        raise argparse.ArgumentTypeError(f"must be one character, or tab, got {quoted(text)}")
    return letter


def _names(text):
    """Names separated by commas; a name with a comma is in quotes, as in a CSV."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def _ending_in(*suffixes):
    def path(text):
        if Path(text).suffix.lower() not in suffixes:  # now, so that no error comes after the charge
            raise argparse.ArgumentTypeError(f"must end in {' or '.join(suffixes)}, got {quoted(text)}")
        return text

    return path


# --- Commands and their options ---------------------------------------------------------------------------------------


def _value(metavar, help_, **more):
    return {"metavar": metavar, "help": help_} | more


def _switch(help_):
    return {"action": "store_true", "help": help_}


_TABLE = "a .csv, .tsv or .txt file (or .gz of one) with column names in the first line, or a .parquet file"
_CARD = "write a privacy card to publish with the result, as .html or .json"
_PICTURE = "plot the result to a .png, .svg or .pdf file"
_STATISTICS = ("mtv_r", "mic_r", "kendall")  # of the registry, which takes long to import
_OPTIONS = {  # as argparse takes them
    "data": _value("DATA", _TABLE),
    "file": _value("FILE", "the ledger"),
    "--codebook": _value("FILE", "the codebook: template writes one to fill in", type=_ending_in(".toml")),
    "--target": _value("COLUMN", "column to predict"),
    "--k": _value("K", "number of columns to choose", type=int),
    "--n-samples": _value("N", "number of records (or people)", type=int),
    "--epsilon": _value("E", "privacy budget, above 0", type=_finite),
    "--delta": _value("D", "delta, far below 1 / N if not 0 (default: 0)", type=_finite, default=0.0),
    "--found": _value("R", "find this share of the best columns, such as 0.8", type=_finite),
    "--error": _value("R", "distinguish scores that differ by R", type=_finite),
    "--statistic": _value("NAME", "how columns are scored (default: mtv_r)", default="mtv_r", choices=_STATISTICS),
    "--features": _value("A,B,...", "choose among these columns only", type=_names),
    "--keep": _value("A,B,...", "keep these columns in any case, at no cost", type=_names, default=[]),
    "--delimiter": _value("C", "delimiter of values in a text file (default: , or tab in .tsv)", type=_letter),
    "--decimal": _value("C", "decimal point of numbers in a CSV (default: .)", type=_letter, default="."),
    "--line-breaks": _switch("allow line breaks in quoted values, if a program wrote the CSV"),
    "--ledger": _value("FILE", "ledger to charge; refuses if the cost does not fit"),
    "--create": _switch("create it, with the limits given by the other options"),
    "--max-rows-per-person": _value("M", "add up costs per person with at most M records", type=int),
    "--yes": _switch("spend without asking, for scripts"),
    "--verbose": _switch("print progress to stderr; do not publish it"),
    "-o --output": _value("FILE", "write the codebook to a new file, or the names to a file, one per line"),
    "--card": _value("FILE", _CARD, type=_ending_in(".html", ".json")),
    "--picture": _value("FILE", _PICTURE, type=_ending_in(".png", ".svg", ".pdf")),
    "--json": _switch("print one JSON object and nothing else"),
}
_FORMAT = ("--delimiter", "--decimal", "--line-breaks")
_OF_TABLE = ("data", "--codebook", "--epsilon")
_GOAL = ("--codebook", "--target", "--k")
_CHOICE = ("--statistic", "--features", "--keep")
_PLANNED = ("--n-samples", "--epsilon", "--found", "--error", "--delta")
_SPENDING = ("--delta", "--ledger", "--yes", "--verbose", "--card", "--picture")
_LIMITS = ("--create", "--epsilon", "--delta", "--max-rows-per-person", "--picture")
_COMMANDS = {  # what each is for, the options that it requires, and others
    "template": ("print a codebook to fill in, from names and types of columns", ("data",), (*_FORMAT, "-o --output")),
    "summary": ("check privately whether a codebook fits the data", _OF_TABLE, _FORMAT + _SPENDING),
    "plan": ("plan the noise of a choice, or the epsilon or people it needs; free", _GOAL, _CHOICE + _PLANNED),
    "select": (
        "publish the names of the columns that predict a target best",
        ("data", *_GOAL, "--epsilon"),
        (*_FORMAT, *_CHOICE, *_SPENDING, "-o --output"),
    ),
    "ledger": ("print a privacy budget and its charges, or create one", ("file",), _LIMITS),
}
