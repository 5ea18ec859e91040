"""The files that a command writes: checked to be writable before anything is charged, and written whole."""

import contextlib
import importlib.util
import io
import os
import sys
from pathlib import Path

from skdpmic._utils.user_files import Draft
from skdpmic.budget.ledger_database import is_url

_READ, _WRITTEN = ("data", "codebook", "ledger", "file"), ("output", "card", "picture")
_BESIDE_A_LEDGER = ("-journal", "-wal", "-shm")  # files of SQLite
_RESERVED_BYTES = 2**18  # bytes, more than most cards and pictures have


class UnwrittenError(Exception):
    """A file could not be written although it was writable before: the disk may be full by now.

    Attributes
    ----------
    errors : dict of str to Exception
        The error of each file.
    """

    def __init__(self, errors):
        super().__init__(errors)
        self.errors = errors


class Outputs:
    """The files named by the options of a command, each with reserved disk space; unwritten ones leave nothing behind.

    Parameters
    ----------
    arguments : argparse.Namespace

    Attributes
    ----------
    written : list of str
        Paths of the files written so far.
    """

    def __init__(self, arguments):
        self._paths = {name: getattr(arguments, name, None) for name in _WRITTEN}
        self._read = [path for name in _READ if (path := getattr(arguments, name, None)) and not is_url(path)]
        self._is_new = arguments.command == "template"  # an existing codebook may already be filled in
        self._drafts, self.written = {}, []

    def __enter__(self):
        try:
            for name, path in self._paths.items():
                if path is not None:
                    self._reserve(name, path)
            if self._paths["picture"] is not None:
                _check_plotting()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception):
        for draft in self._drafts.values():
            draft.discard()

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
        for name, content in contents.items():
            if name in self._drafts:
                path = self._paths[name]
                try:
                    self._refuse_existing(path)
                    self._drafts[name].finish(content())
                    self.written.append(path)
                except Exception as error:
                    errors[path] = error
        if errors:
            raise UnwrittenError(errors)

    def _reserve(self, name, path):
        self._refuse_existing(path)
        draft = self._drafts[name] = Draft(path, room=_RESERVED_BYTES)
        taken = [*self._read, *(read + ending for read in self._read for ending in _BESIDE_A_LEDGER)]
        others = [other.target for other in self._drafts.values() if other is not draft]
        for other in map(os.path.realpath, [*taken, *others]):
            if other == draft.target or _are_same(other, draft.target):
                raise ValueError(f"{path!r} must be a file of its own, got one that is also another argument.")
        if any(_is_printed_to(stream, draft.target) for stream in (sys.stdout, sys.stderr)):
            raise ValueError(f"{path!r} must be a file of its own, got the one to which the output is redirected.")

    def _refuse_existing(self, path):
        if self._is_new and os.path.lexists(path):
            raise FileExistsError(f"{path!r} already exists, and is not overwritten.")


def _are_same(path, other):
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def _is_printed_to(stream, path):
    with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or not a file
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(path))
    return False


# --- Pictures ---------------------------------------------------------------------------------------------------------


def _check_plotting():
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError("--picture requires matplotlib: pip install 'skdpmic[command-line]'")
    import matplotlib

    matplotlib.use("Agg")  # no window needed
    import skdpmic.plotting  # noqa: F401  # now, so that no import fails after the charge


def picture(display, thing, path):
    """The bytes of a plot by a class method of :mod:`skdpmic.plotting`, in the format of the ending of a path."""
    from matplotlib import pyplot

    figure, content = display(thing).figure_, io.BytesIO()
    figure.savefig(content, dpi=150, format=Path(path).suffix[1:].lower())
    pyplot.close(figure)
    return content.getvalue()
