"""``python -m skdpmic``: parse the options, run the command, print the result, and errors in one line."""

import contextlib
import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from skdpmic._utils.errors import BudgetError
from skdpmic._utils.texts import escaped, wrapped
from skdpmic.command_line.options import DECLINED, DONE, INVALID, REFUSED, SIGNALLED, UNWRITTEN, parse_options
from skdpmic.command_line.outputs import Outputs, UnwrittenError
from skdpmic.command_line.printed import UnfailingStream, show, write_all_letters
from skdpmic.command_line.spending import DeclinedError, Interrupts

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
