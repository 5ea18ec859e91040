"""Printing."""

import contextlib
import json
import math
import os
import sys

import numpy as np

_MANY_VALUES = 10_000_000  # values that take a few seconds


def print_json(fields):
    """Print one JSON object with plain numbers, and null for absent ones."""
    print(json.dumps(_plain(fields), indent=2, allow_nan=False))


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(of_name) for name, of_name in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def printing_to_stderr():
    """Redirect stdout, where estimators print progress, to stderr."""
    return contextlib.redirect_stdout(sys.stderr)


def verbosity(arguments, n_values=_MANY_VALUES):
    """Whether to print progress: if requested, or if a user waits for a long table."""
    return int(arguments.verbose or (sys.stderr.isatty() and n_values >= _MANY_VALUES))


# --- Streams ----------------------------------------------------------------------------------------------------------


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
        with contextlib.suppress(AttributeError, OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self):
        """Flush the stream, if that is possible."""
        with contextlib.suppress(AttributeError, OSError, ValueError):
            self._stream.flush()

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


def show(text):
    """Print a text whole; return the error if that fails."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (AttributeError, OSError, ValueError) as error:  # no stream, no reader, a full disk, or closed
        return error
    return None


def leave_streams():
    """Keep the interpreter from failing at exit because of unwritten output."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            with contextlib.suppress(AttributeError, OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
