"""Printing and plotting."""

import contextlib
import importlib.util
import json
import math
import os
import sys

import numpy as np

from skdpmic._utils.texts import escaped

_MANY = 10_000_000  # values that take a few seconds


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


def aligned(names, rows):
    """A table as text, with one line for each row, whatever its cells contain.

    Parameters
    ----------
    names : sequence of str
    rows : sequence of sequences of str
    """
    names, *rows = ([escaped(cell) for cell in row] for row in (names, *rows))
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = [map(str.ljust, row, widths) for row in (names, *rows)]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def printing_to_stderr():
    """Redirect stdout, where estimators print progress, to stderr."""
    return contextlib.redirect_stdout(sys.stderr)


def verbosity(arguments, n_values=_MANY):
    """Whether to print progress: if requested, or if a user waits for a long table."""
    return int(arguments.verbose or (sys.stderr.isatty() and n_values >= _MANY))


def check_outputs(*paths, picture=None):
    """Raise unless these files can be written, before anything is charged."""
    for path in (*paths, picture):
        folder = os.path.dirname(path or "") or "."
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"there is no folder {folder!r} for {path!r}.")
    if picture is not None and importlib.util.find_spec("matplotlib") is None:
        raise ImportError("--picture requires matplotlib: pip install matplotlib")


def draw(display, thing, path):
    """Write the plot of a class method of :mod:`skdpmic.plotting` to a file."""
    import matplotlib

    matplotlib.use("Agg")  # no window needed
    from matplotlib import pyplot

    figure = display(thing).figure_
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
