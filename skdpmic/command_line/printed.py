"""What is printed and drawn."""

import contextlib
import importlib.util
import json
import math
import os
import sys

import numpy as np

_MANY = 10_000_000  # values, which take a few seconds


def print_json(fields):
    """Print one JSON object: plain numbers, null where there is none."""
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
    """A table as text.

    Parameters
    ----------
    names : sequence of str
    rows : sequence of sequences of str
    """
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = [map(str.ljust, row, widths) for row in (names, *rows)]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def printing_to_stderr():
    """What is printed meanwhile, as estimators say how much is done, goes to stderr."""
    return contextlib.redirect_stdout(sys.stderr)


def verbosity(arguments, n_values=_MANY):
    """Whether to say how much is done: if it was asked for, or if somebody waits for a long table."""
    return int(arguments.verbose or (sys.stderr.isatty() and n_values >= _MANY))


def check_outputs(*paths, picture=None):
    """Raise unless files can be written there, before anything is spent on what they are to hold."""
    for path in (*paths, picture):
        folder = os.path.dirname(path or "") or "."
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"there is no folder {folder!r} for {path!r}.")
    if picture is not None and importlib.util.find_spec("matplotlib") is None:
        raise ImportError("--picture needs matplotlib: pip install matplotlib")


def draw(display, thing, path):
    """Draw what a class method of :mod:`skdpmic.plotting` draws, to a file."""
    import matplotlib

    matplotlib.use("Agg")  # a file needs no window
    from matplotlib import pyplot

    figure = display(thing).figure_
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
