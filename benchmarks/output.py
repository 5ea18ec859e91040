"""Where results go. No benchmark replaces a result that is there, unless --overwrite says so.

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
    parser.add_argument("--overwrite", action="store_true", help="replace results that are there")


def refuse_to_overwrite(parser, options, paths=None):
    """Exit if a result is there that may not be replaced, or if the file of results has no folder to be in.

    Parameters
    ----------
    parser : ArgumentParser
    options : Namespace
        With `overwrite`, and with `output` if that is the file to write.
    paths : iterable of Path, optional
        The files of results, if there are several, in folders that need not be there yet.
    """
    if paths is None and not options.output.parent.is_dir():
        parser.error(f"--output must be in a folder that exists, got {options.output}")
    there = [path for path in ([options.output] if paths is None else paths) if path.exists()]
    if there and not options.overwrite:
        parser.error(f"{there[0]} exists: name another place with --output, or replace it with --overwrite")


def print_or_write(description, markdown, argv=None):
    """The command of a report: print what `markdown` returns, or write it to the file of --output."""
    parser = argparse.ArgumentParser(description=description)
    add_output(parser)
    options = parser.parse_args(argv)
    if options.output:
        refuse_to_overwrite(parser, options)
        options.output.write_text(markdown(), encoding="utf-8")
    else:
        print(markdown(), end="")


def folder_of_results(parser, options, kept, names):
    """The folder of --output; without it, that of the results that are kept, or beside them that of quick runs.

    Only the folder of quick runs is written to again and again.

    Parameters
    ----------
    parser : ArgumentParser
    options : Namespace
        With `output`, `overwrite` and `quick`.
    kept : Path
        Where the results are kept in the project, the default of --output.
    names : iterable of str
        Of the files of results.
    """
    if options.quick and options.output == kept:
        return kept / "quick"
    refuse_to_overwrite(parser, options, [options.output / name for name in names])
    return options.output


def write_csv(path, rows):
    """Write a table, its head first, once all its rows are there: a run that stops before leaves the file as it was."""
    rows = list(rows)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def table(head, body):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
