"""Processor time of the first call of each kind in a new process, without any cache of machine code.

    python benchmarks/coldstart.py                          # this checkout
    python benchmarks/coldstart.py --against f837e77        # beside a revision, or the folder of another checkout

Processor time is user and system time of the process and of what it starts. That of the call alone leaves out what
importing takes, and that of the whole process does not. With `--against`, both checkouts are timed in turn, so that a
drift of the machine's speed meets both; ratios are medians over rounds.
"""

import argparse
import contextlib
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.random((1000, 3))
y = (2 * X[:, 0] - 1) ** 2
bounds = ((0, 1), (0, 1))
"""
CALLS = {
    "numbers": (
        "from skdpmic import DPMICScorer",
        "DPMICScorer(epsilon=1, bounds=(0, 1), target_bounds=(0, 1)).fit(X, y)",
    ),
    "classes": (
        "from skdpmic import DPMICScorer",
        "DPMICScorer(epsilon=1, bounds=(0, 1), classes=[False, True]).fit(X, y > 0.5)",
    ),
    "mic_e": ("from skdpmic import mic_e", "mic_e(X[:, 0], y)"),
    "mic_r": ("from skdpmic import mic_r", "mic_r(X[:, 0], y, bounds=bounds)"),
    "mic_r_laplace": ("from skdpmic import mic_r_laplace", "mic_r_laplace(X[:, 0], y, epsilon=1, bounds=bounds)"),
    "mic_r_geometric": (
        "from skdpmic import mic_r_geometric",
        "mic_r_geometric(X[:, 0], y, epsilon=1, bounds=bounds)",
    ),
    "mic_e_laplace": ("from skdpmic import mic_e_laplace", "mic_e_laplace(X[:, 0], y, epsilon=1)"),
    "characteristic_matrix": ("from skdpmic import characteristic_matrix", "characteristic_matrix(X[:, 0], y)"),
}
_TIMED = """
{imports}
{data}
import os
before = sum(os.times()[:4])
{call}
print(sum(os.times()[:4]) - before, sum(os.times()[:4]))
"""


def seconds(checkout, name):
    """Processor seconds of the call `name` and of its whole process, in a new one, with the package in a folder."""
    imports, call = CALLS[name]
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", _TIMED.format(imports=imports, data=_DATA, call=call)],
            cwd=cache,
            env=os.environ | {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return tuple(map(float, done.stdout.split()))


@contextlib.contextmanager
def checkout_of(place):
    """The folder `place`, or one that holds the revision of that name."""
    if Path(place).is_dir():
        yield Path(place).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", place], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        yield Path(folder)


def rows(names, rounds, other=None):
    """Lines of a table: for each call the median seconds, and the medians of the ratios to those of `other`."""
    for name in names:
        here, there = [], []
        for _ in range(rounds):
            here.append(seconds(ROOT, name))
            if other:
                there.append(seconds(other, name))
        columns = [f"{statistics.median(times):.2f}" for times in zip(*here, strict=True)]
        if other:
            columns += [f"{statistics.median(times):.2f}" for times in zip(*there, strict=True)]
            columns += [
                f"{statistics.median(a[i] / b[i] for a, b in zip(here, there, strict=True)):.3f}" for i in (0, 1)
            ]
        yield f"| `{name}` | {' | '.join(columns)} |"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", help="folder of another checkout, or a revision of this one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", nargs="+", default=list(CALLS), choices=list(CALLS))
    parser.add_argument("--output", help="write the table to this file, too")
    options = parser.parse_args(argv)

    report = [
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    ]
    report += [f"Processor seconds, medians of {options.rounds} rounds.", ""]
    headings = ["first call of", "call", "process"]
    if options.against:
        headings += [f"{options.against}: call", "process", "ratio: call", "process"]
    report += [f"| {' | '.join(headings)} |", "| --- |" + " ---: |" * (len(headings) - 1)]
    print("\n".join(report))
    with checkout_of(options.against) if options.against else contextlib.nullcontext() as other:
        for row in rows(options.calls, options.rounds, other):
            print(row, flush=True)
            report.append(row)
    if options.output:
        command = f"`python {' '.join(['benchmarks/coldstart.py', *(argv or sys.argv[1:])])}`"
        Path(options.output).write_text("\n".join(["# First call", "", command, "", *report, ""]))


if __name__ == "__main__":
    main()
