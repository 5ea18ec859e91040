"""Processor time of the command line, whole processes, beside pyarrow reading the same file of a million rows.

    python benchmarks/command_line.py --output FILE  # measure, print and write a CSV file
    python benchmarks/command_line.py --report       # print the kept result, benchmarks/results/command_line.csv

The table has 31 columns, 10 of them labels and one the target. Every process has bytecode and compiled kernels at hand:
the first round, which makes them, does not count. Ratios are medians over rounds, each beside a reading of that round.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from benchmarks.output import ROOT, add_output, refuse_to_overwrite, table, write_csv

RESULT = ROOT / "benchmarks" / "results" / "command_line.csv"
HEADS = ["command", "file", "processor seconds", "of reading", "memory, GB"]
FORMATS = {"csv": "csv.read_csv", "parquet": "parquet.read_table"}
_SPENDING = ["--codebook", "people.toml", "--epsilon", "1", "--yes"]
_OF_ROWS = {  # commands that read all rows of a file
    "select": ["--target", "target", "--k", "5", *_SPENDING],
    "summary": _SPENDING,
}
_IMPORTS = "import sklearn.feature_selection, numba, pyarrow.parquet"  # which `select` cannot do without
_OTHERS = {  # and those that read none
    "--help": ["--help"],
    "template": ["template", "people.csv"],
    "template, Parquet": ["template", "people.parquet"],
    "refused: no terminal": ["select", "people.csv", "--target", "target", "--k", "5", *_SPENDING[:-1]],
    "refused: wrong column": ["select", "people.csv", "--target", "none", "--k", "5", *_SPENDING],
}


def write_files(folder, n_rows):
    """A table as CSV and Parquet, and its codebook."""
    import numpy as np
    import pyarrow.csv
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    labels = np.array([f"answer {j}" for j in range(12)])
    columns = {f"label_{j}": labels[rng.integers(0, 3 + j, n_rows)] for j in range(10)}
    columns |= {f"integer_{j}": rng.integers(0, 100, n_rows) for j in range(10)}
    columns |= {f"number_{j}": rng.normal(50, 12, n_rows).round(2) for j in range(10)}
    gaps = {name: pyarrow.array(values, mask=rng.random(n_rows) < 0.02) for name, values in columns.items()}
    people = pyarrow.table(gaps | {"target": (columns["number_0"] + columns["integer_0"]).round(2)})
    unquoted = pyarrow.csv.WriteOptions(quoting_style="none")
    pyarrow.csv.write_csv(people, folder + "/people.csv", unquoted)
    pyarrow.parquet.write_table(people, folder + "/people.parquet")
    with open(folder + "/people.toml", "w", encoding="utf-8") as file:
        file.write("version = 1\n")
        for name in people.column_names:
            entry = f"labels = {labels.tolist()}" if name.startswith("label") else "range = [0, 200]"
            file.write(f"[columns.{name}]\n{entry}\n")


def used(folder, *arguments):
    """Processor seconds and gigabytes that a new process uses, with its children."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    streams = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
    process = subprocess.Popen([sys.executable, *arguments], cwd=folder, env=environment, **streams)
    usage = os.wait4(process.pid, 0)[2]
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def measured(folder, rounds):
    """Rows of the result, from files in a folder."""
    runs = {(_IMPORTS, ""): ["-c", _IMPORTS]} | {
        (name, ""): ["-m", "skdpmic", *options] for name, options in _OTHERS.items()
    }
    for kind, reader in FORMATS.items():
        code = f"import pyarrow.{reader.partition('.')[0]}; pyarrow.{reader}('people.{kind}')"
        runs[f"pyarrow.{reader}", kind] = ["-c", code]
        runs |= {(name, kind): ["-m", "skdpmic", name, f"people.{kind}", *rest] for name, rest in _OF_ROWS.items()}
    found = [{run: used(folder, *options) for run, options in runs.items()} for _ in range(rounds + 1)][1:]
    for name, kind in runs:
        seconds, memory = (
            statistics.median(values) for values in zip(*(each[name, kind] for each in found), strict=True)
        )
        reading = (f"pyarrow.{FORMATS.get(kind)}", kind)
        ratios = [each[name, kind][0] / each[reading][0] for each in found if kind]
        yield [name, kind, f"{seconds:.2f}", f"{statistics.median(ratios):.2f}" if kind else "", f"{memory:.2f}"]


def report(rows):
    """A Markdown table of the rows."""
    return table(HEADS, [[f"`{name}`", *rest] for name, *rest in rows])


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--report", action="store_true", help="print the kept result")
    parser.add_argument("--write", metavar="FOLDER", help="only write the files")
    add_output(parser)
    options = parser.parse_args(argv)
    if options.write:
        return write_files(options.write, options.rows)
    if options.output:
        refuse_to_overwrite(parser, options)
    if options.report:
        with open(RESULT, encoding="utf-8", newline="") as file:
            return print(report(list(csv.reader(file))[1:]))
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own, as the peak memory of a child is at least that of its parent when it began.
        command = [sys.executable, __file__, "--write", folder, "--rows", str(options.rows)]
        subprocess.run(command, check=True)
        rows = list(measured(folder, options.rounds))
    print(report(rows))
    return options.output and write_csv(options.output, [HEADS, *rows])


if __name__ == "__main__":
    main()
