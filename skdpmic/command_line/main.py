"""What ``python -m skdpmic`` does: read the options, run the command, and say in one line what went wrong."""

import sys
import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from importlib import import_module

from skdpmic._utils.exceptions import BudgetError
from skdpmic.command_line.options import DECLINED, DONE, INTERRUPTED, INVALID, REFUSED, parse
from skdpmic.command_line.spending import DeclinedError

_SAFE = (ValueError, TypeError, ImportError, ModuleNotFoundError)  # as the package raises them, without data


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, default=None
        What follows ``python -m skdpmic``; None takes it from the command line.

    Returns
    -------
    int
        The exit status, as ``--help`` lists them.

    Raises
    ------
    SystemExit
        If the options cannot be understood, with status 2, or ask for help.
    """
    _write_all_letters()
    arguments = parse(argv)
    with _warnings_in_one_line():
        try:
            # Imported here, so that help and a mistyped option take no time.
            import_module(f"skdpmic.command_line.command_{arguments.command}").execute(arguments)
            return DONE
        except DeclinedError:
            status, message = DECLINED, "declined, nothing was spent."
        except BudgetError as error:
            status, message = REFUSED, str(error)
        except KeyboardInterrupt:
            status, message = INTERRUPTED, "interrupted."
        except Exception as error:
            status, message = INVALID, _without_data(error)
    print(f"skdpmic {arguments.command}: {message}", file=sys.stderr)
    return status


def _without_data(error):
    """What an error says, if it is one of this package or of the operating system; others may quote values."""
    kind = type(error)
    if kind in _SAFE or (isinstance(error, OSError) and kind.__module__ == "builtins"):
        return str(error)
    return f"failed with {kind.__name__}. What it said is not repeated, as it may quote values."


def _write_all_letters():
    """Have letters that a terminal lacks replaced, as a result that has been paid for must not be lost to one."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _warnings_in_one_line():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)  # those of this package are such
        warnings.showwarning = lambda message, *_: print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)
        yield
