"""What the scripts share: their options, and the tables that they write."""

import argparse
import csv
from pathlib import Path

from benchmarks.paper.mechanisms import TUNED_N

ROOT = Path(__file__).resolve().parents[2]


def parser_of(description, of_real_data):
    """The options of a script, from its docstring."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small part of the experiment, in a minute or so")
    parser.add_argument("--runs", type=int, help="runs a data set, instead of the paper's")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results", help="folder of results")
    if of_real_data:
        data = ROOT.parent / "shared" / "data"
        parser.add_argument("--data", type=Path, default=data, help="folder with baseball.csv and Spellman.csv")
    else:
        parser.add_argument("--n", type=int, nargs="+", choices=TUNED_N, help="only these numbers of records")
    return parser


def result_path(options, name):
    """Where a result goes; that of a quick run does not replace that of a full one."""
    stem, suffix = name.rsplit(".", 1)
    return options.output / f"{stem}{'_quick' if options.quick else ''}.{suffix}"


def write_csv(path, rows):
    """A table of dicts with the same keys; floats to four digits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_short(value) for value in row.values()] for row in rows)


def _short(value):
    return f"{value:.4g}" if isinstance(value, float) else value
