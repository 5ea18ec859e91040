"""``python -m skdpmic``: parse the options, run the command, print the result, and errors in one line."""

import argparse
import contextlib
import csv
import io
import math
import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from skdpmic import __version__
from skdpmic._utils.errors import BudgetError
from skdpmic._utils.texts import aligned, escaped, quoted, wrapped
from skdpmic.command_line.outputs import (
    DeclinedError,
    Interrupts,
    Outputs,
    UnfailingStream,
    UnwrittenError,
    show,
    write_all_letters,
)

_SAFE = (ValueError, TypeError, ImportError, ModuleNotFoundError)  # raised by the package, without data
# How errors of the package call what is an option here.
_ONLY_IN_PYTHON = r" or 'all'(?=, got )| For the order of all, pass k='all'\.|n_features=(?=\d)"
_OPTIONS = "|".join(["k", "epsilon", "delta", "statistic", "keep", "features", "n_samples", "error"])
_TARGET_PARAMETERS = "|".join(["y", "classes", "target_bounds"])
_UNSHOWN = "the result could not be printed, and was written to no file; it follows on stderr"


class Run(NamedTuple):
    """What a command has besides its arguments."""

    outputs: Outputs
    interrupts: Interrupts


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
    write_all_letters()
    arguments = parse_options(argv)
    interrupts = Interrupts()
    with contextlib.redirect_stderr(UnfailingStream(sys.stderr)), interrupts.handled(), _warnings_in_short():
        run, printed = Run(Outputs(arguments), interrupts), io.StringIO()
        status, message = _executed(arguments, run, printed)
        if printed.getvalue():  # after the files, because a reader may close stdout
            status, message = _shown(printed.getvalue(), run, status, message)
        if message is not None:
            print(wrapped(f"skdpmic {arguments.command}: {message}"), file=sys.stderr)
    return status


def _executed(arguments, run, printed):
    """The exit status of a command and the message of its error; its output is kept for later."""
    try:
        with run.outputs, contextlib.redirect_stdout(printed):
            # Imported here, so that help and invalid options are fast.
            import_module(f"skdpmic.command_line.command_{arguments.command}").execute(arguments, run)
        return DONE, None
    except DeclinedError:
        return DECLINED, "declined: nothing was spent."
    except BudgetError as error:
        return REFUSED, str(error)
    except UnwrittenError as error:
        files = [f"{path!r} could not be written: {_without_data(one)}" for path, one in error.errors.items()]
        return UNWRITTEN, "\n".join(files)
    except KeyboardInterrupt:
        return SIGNALLED + (run.interrupts.number or signal.SIGINT), _or_charged("interrupted.", run)
    except Exception as error:
        if run.interrupts.number is not None:  # a library has turned it into another error
            return SIGNALLED + run.interrupts.number, _or_charged("interrupted.", run)
        return UNWRITTEN if run.interrupts.is_paid else INVALID, _or_charged(
            _in_words_of_options(_without_data(error), arguments), run
        )


def _or_charged(message, run):
    return f"{message} The cost was charged before." if run.interrupts.is_paid else message


def _shown(text, run, status, message):
    """Print a result, to stderr if stdout fails: what is paid for is kept, but a reader may stop early."""
    error = show(text)
    if error is None:
        return status, message
    if not run.outputs.written:
        print(_UNSHOWN, text, sep="\n", end="", file=sys.stderr)
    if isinstance(error, BrokenPipeError):
        return status, message
    return status or UNWRITTEN, f"stdout could not be written: {_without_data(error)}" if message is None else message


def _without_data(error):
    """The message of an error of this package or the operating system; other messages may quote values."""
    kind = type(error)
    if kind in _SAFE or (isinstance(error, OSError) and kind.__module__ == "builtins"):
        return escaped(str(error), but="\n")
    return f"failed with {kind.__name__}. Its message is not shown, because it may quote values."


def _in_words_of_options(message, arguments):
    """The message with the option, or the file, in place of the parameter that it begins with."""
    message = re.sub(rf"^({_OPTIONS}) must ", lambda found: f"--{found[1].replace('_', '-')} must ", message)
    message = re.sub(_ONLY_IN_PYTHON, "", message)
    message = re.sub(rf"^({_TARGET_PARAMETERS}) must ", "--target must ", message)
    return re.sub(r"^(frame|X) must ", f"{os.path.basename(getattr(arguments, 'data', 'DATA'))} must ", message)


def _warning(message):
    message = str(message).replace("skdpmic.plan_release", "python -m skdpmic plan")
    return wrapped(f"warning: {escaped(' '.join(message.split()))}")


@contextlib.contextmanager
def _warnings_in_short():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)  # the category used by this package
        warnings.showwarning = lambda message, *_: print(_warning(message), file=sys.stderr)
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
_PICTURES = (".png", ".svg", ".pdf")
_CARDS = (".html", ".json")


class _Parser(argparse.ArgumentParser):
    """A parser whose help and errors are broken between words to fit the terminal."""

    def __init__(self, description, **options):
        first, *others = [(f"  {status}", meaning) for status, meaning in _STATUSES.items()]
        super().__init__(
            description=wrapped(description),
            epilog=f"exit status:\n{aligned(first, others)}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **options,
        )

    def error(self, message):
        """Print the usage and the message, and exit."""
        self.print_usage(sys.stderr)
        self.exit(USAGE, wrapped(f"{self.prog}: error: {message}") + "\n")


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
    what = "Choose the columns of a table that predict a target, under differential privacy."
    parser = _Parser(what, prog="python -m skdpmic")
    parser.add_argument("--version", action="version", version=f"skdpmic {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_template(commands)
    _add_summary(commands)
    _add_plan(commands)
    _add_select(commands)
    _add_ledger(commands)
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help()
        raise SystemExit(USAGE)
    arguments = parser.parse_args(argv)
    arguments.check(arguments)
    return arguments


# --- Commands ---------------------------------------------------------------------------------------------------------


def _add_template(commands):
    command = _command(commands, "template", "print a codebook to fill in, from names and types of columns")
    _add_data(command)
    command.add_argument("-o", "--output", metavar="FILE", help="write it to a new file")


def _add_summary(commands):
    what = "check privately whether a codebook fits the data"
    command = _command(commands, "summary", what)
    _add_data(command)
    _add_codebook(command)
    _add_spending(command)
    _add_picture(command)
    _add_card_file(command)


def _add_plan(commands):
    command = _command(commands, "plan", "plan the noise of a choice, or the epsilon it needs; free")
    _add_codebook(command)
    _add_choice(command)
    command.add_argument("--n-samples", type=int, required=True, metavar="N", help="number of records (or people)")
    sought = command.add_mutually_exclusive_group(required=True)
    _add_epsilon(sought)
    sought.add_argument("--error", type=_finite, metavar="R", help="distinguish scores that differ by R")
    _add_delta(command)


def _add_select(commands):
    command = _command(commands, "select", "publish the names of the columns that predict a target best")
    _add_data(command)
    _add_codebook(command)
    _add_choice(command)
    _add_spending(command)
    command.add_argument("-o", "--output", metavar="FILE", help="write the names to a file, one per line")
    _add_picture(command)
    _add_card_file(command)


def _add_ledger(commands):
    command = _command(commands, "ledger", "print a privacy budget and its charges, or create one")
    command.add_argument("file", metavar="FILE", help="the ledger")
    command.add_argument("--create", action="store_true", help="create it, with the limits given by the other options")
    _add_epsilon(command)
    _add_delta(command)
    command.add_argument(
        "--max-rows-per-person", type=int, metavar="M", help="add up costs per person with at most M records"
    )
    _add_picture(command)

    def check(arguments):
        has_limits = arguments.delta or arguments.max_rows_per_person is not None
        if arguments.create != (arguments.epsilon is not None) or (has_limits and not arguments.create):
            command.error("--create requires --epsilon, and limits are allowed with --create only")

    command.set_defaults(check=check)


def _command(commands, name, what):
    command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    command.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    command.set_defaults(check=lambda arguments: None)
    return command


# --- Options ----------------------------------------------------------------------------------------------------------


def _add_data(command):
    what = "a .csv, .tsv or .txt file (or .gz of one) with column names in the first line, or a .parquet file"
    command.add_argument("data", metavar="DATA", help=what)
    command.add_argument(
        "--delimiter", type=_letter, metavar="C", help="delimiter of values in a text file (default: , or tab in .tsv)"
    )
    command.add_argument(
        "--decimal", type=_letter, default=".", metavar="C", help="decimal point of numbers in a CSV (default: .)"
    )
    command.add_argument(
        "--line-breaks", action="store_true", help="allow line breaks in quoted values, if a program wrote the CSV"
    )


def _add_codebook(command):
    command.add_argument("--codebook", type=_codebook, required=True, metavar="FILE", help="the codebook, a .toml file")


def _add_choice(command):
    command.add_argument("--target", required=True, metavar="COLUMN", help="column to predict")
    command.add_argument("--k", type=int, required=True, metavar="K", help="number of columns to choose")
    command.add_argument("--statistic", default="mtv_r", metavar="NAME", help="how columns are scored (default: mtv_r)")
    command.add_argument("--features", type=_names, metavar="A,B,...", help="choose among these columns only")
    command.add_argument(
        "--keep", type=_names, default=[], metavar="A,B,...", help="keep these columns in any case, at no cost"
    )


def _add_spending(command):
    _add_epsilon(command, required=True)
    _add_delta(command)
    command.add_argument("--ledger", metavar="FILE", help="ledger to charge; refuses if the cost does not fit")
    command.add_argument("--yes", action="store_true", help="spend without asking, for scripts")
    command.add_argument("--verbose", action="store_true", help="print progress to stderr; do not publish it")


def _add_epsilon(command, **options):
    command.add_argument("--epsilon", type=_finite, metavar="E", help="privacy budget, above 0", **options)


def _add_delta(command):
    command.add_argument(
        "--delta", type=_finite, default=0.0, metavar="D", help="delta, far below 1 / N if not 0 (default: 0)"
    )


def _add_picture(command):
    command.add_argument(
        "--picture", type=_picture, metavar="FILE", help="plot the result to a .png, .svg or .pdf file"
    )


def _add_card_file(command):
    what = "write a privacy card to publish with the result, as .html or .json"
    command.add_argument("--card", type=_card, metavar="FILE", help=what)


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


def _picture(text):
    return _ending_in(_PICTURES, text)


def _card(text):
    return _ending_in(_CARDS, text)


def _codebook(text):
    return _ending_in((".toml",), text, "; 'python -m skdpmic template DATA -o codebook.toml' writes one to fill in")


def _ending_in(suffixes, text, remedy=""):
    if Path(text).suffix.lower() not in suffixes:  # now, so that no error comes after the charge
        raise argparse.ArgumentTypeError(f"must end in {' or '.join(suffixes)}, got {quoted(text)}{remedy}")
    return text
