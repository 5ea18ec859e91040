"""Where results go. No benchmark replaces an existing result without --overwrite.

A script calls `add_output` for its parser, and `refuse_to_overwrite` before it measures anything.
"""

import argparse
import csv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def add_output(parser, default=None, what="file"):
    """Add the options --output and --overwrite.

    Parameters
    ----------
    parser : ArgumentParser
    default : Path, optional
        Where the results of this script are kept in the project.
    what : str
        What --output names: "file" or "folder".
    """
    kept = f"; by default {default.relative_to(ROOT)}" if default else ""
    parser.add_argument("--output", type=Path, default=default, help=f"{what} to write{kept}")
    parser.add_argument("--overwrite", action="store_true", help="replace existing results")


def refuse_to_overwrite(parser, options, paths=None):
    """Exit if a result exists that may not be replaced, or if the folder of the result file does not exist.

    Parameters
    ----------
    parser : ArgumentParser
    options : Namespace
        With `overwrite`, and with `output` if that is the file to write.
    paths : iterable of Path, optional
        The result files, if there are several; their folders need not exist yet.
    """
    if paths is None and not options.output.parent.is_dir():
        parser.error(f"--output must be in a folder that exists, got {options.output}")
    there = [path for path in ([options.output] if paths is None else paths) if path.exists()]
    if there and not options.overwrite:
        parser.error(f"{there[0]} exists: name another place with --output, or replace it with --overwrite")


def print_or_write(description, markdown, argv=None):
    """Run a report's command: print what `markdown` returns, or write it to the --output file."""
    parser = argparse.ArgumentParser(description=description)
    add_output(parser)
    options = parser.parse_args(argv)
    if options.output:
        refuse_to_overwrite(parser, options)
        options.output.write_text(markdown(), encoding="utf-8")
    else:
        print(markdown(), end="")


def measure_into_file(description, kept, rows, argv=None):
    """Run a script's command: write the rows that it measures, header first, to --output.

    Parameters
    ----------
    description : str
    kept : Path
        Where the result is kept in the project.
    rows : callable
        Returns an iterable of rows.
    argv : list of str, optional
    """
    parser = argparse.ArgumentParser(description=description)
    add_output(parser, kept)
    options = parser.parse_args(argv)
    refuse_to_overwrite(parser, options)
    write_csv(options.output, rows())


def results_folder(parser, options, kept, names):
    """The --output folder; by default, that of the kept results or, for quick runs, its subfolder "quick".

    Only the latter is overwritten without --overwrite.

    Parameters
    ----------
    parser : ArgumentParser
    options : Namespace
        With `output`, `overwrite` and `quick`.
    kept : Path
        Where the results are kept in the project, the default of --output.
    names : iterable of str
        Names of the result files.
    """
    if options.quick and options.output == kept:
        return kept / "quick"
    refuse_to_overwrite(parser, options, [options.output / name for name in names])
    return options.output


def write_csv(path, rows):
    """Write a table, header first, once all its rows are there: a run that stops earlier leaves the file unchanged."""
    rows = list(rows)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def table(head, body):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
