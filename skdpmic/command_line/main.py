"""``python -m skdpmic``: parse the options, run the command, and print errors in one line."""

import sys
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from importlib import import_module

from skdpmic._utils.exceptions import BudgetError
from skdpmic._utils.texts import escaped
from skdpmic.command_line.options import DECLINED, DONE, INTERRUPTED, INVALID, REFUSED, parse
from skdpmic.command_line.spending import DeclinedError

_SAFE = (ValueError, TypeError, ImportError, ModuleNotFoundError)  # raised by the package, without data


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
    _write_all_letters()
    arguments = parse(argv)
    with _warnings_in_one_line():
        try:
            # Imported here, so that help and invalid options are fast.
            import_module(f"skdpmic.command_line.command_{arguments.command}").execute(arguments)
            return DONE
        except DeclinedError:
            status, message = DECLINED, "declined: nothing was spent."
        except BudgetError as error:
            status, message = REFUSED, str(error)
        except KeyboardInterrupt:
            status, message = INTERRUPTED, "interrupted."
        except Exception as error:
            status, message = INVALID, _without_data(error)
    print(f"skdpmic {arguments.command}: {message}", file=sys.stderr)
    return status


def _without_data(error):
    """The message of an error of this package or the operating system; other messages may quote values."""
    kind = type(error)
    if kind in _SAFE or (isinstance(error, OSError) and kind.__module__ == "builtins"):
        return escaped(str(error), but="\n")
    return f"failed with {kind.__name__}. Its message is not shown, because it may quote values."


def _write_all_letters():
    """Replace characters that a terminal lacks, so that no paid result is lost to an encoding error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _warning(message):
    return f"warning: {escaped(' '.join(str(message).split()))}"


@contextmanager
def _warnings_in_one_line():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)  # the category used by this package
        warnings.showwarning = lambda message, *_: print(_warning(message), file=sys.stderr)
        yield
