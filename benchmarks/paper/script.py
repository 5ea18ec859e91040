"""What the scripts share: their options, and the tables that they write."""

import argparse
import csv
from pathlib import Path

from benchmarks.output import ROOT, add_output, folder_of_results
from benchmarks.paper.mechanisms import TUNED_N

RESULTS = Path(__file__).resolve().parent / "results"


def options_of(description, of_real_data, results, argv):
    """The options of a script, from its docstring; exit if they would replace one of its results.

    Parameters
    ----------
    description : str
    of_real_data : bool
        Whether it reads the two files, or samples of distributions.
    results : iterable of str
        The files that it writes.
    argv : list of str, optional
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small part of the experiment, in a minute or so")
    parser.add_argument("--runs", type=int, help="runs a data set, instead of the paper's")
    add_output(parser, RESULTS, "folder")
    if of_real_data:
        data = ROOT.parent / "shared" / "data"
        parser.add_argument("--data", type=Path, default=data, help="folder with baseball.csv and Spellman.csv")
    else:
        parser.add_argument("--n", type=int, nargs="+", choices=TUNED_N, help="only these numbers of records")
    options = parser.parse_args(argv)
    options.output = folder_of_results(parser, options, RESULTS, results)
    return options


def write_csv(path, rows):
    """A table of dicts with the same keys; floats to four digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_short(value) for value in row.values()] for row in rows)


def _short(value):
    return f"{value:.4g}" if isinstance(value, float) else value
