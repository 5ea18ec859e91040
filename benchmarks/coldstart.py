"""Processor time of importing the package, and of the first call of each kind, without cached machine code.

    python benchmarks/coldstart.py --output FILE  # measure, print and write a CSV file
    python benchmarks/coldstart.py --report       # print the kept result, benchmarks/results/coldstart.csv

Processor time is the user and system time of the process and its children. The time of a call excludes importing; that
of the whole process includes it. Imports are timed from bytecode, as pip installs it, alternating with a reference: the
imports of other packages that they cannot do without. Ratios are medians over rounds.
"""

import argparse
import csv
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from benchmarks.output import ROOT, add_output, refuse_to_overwrite, table, write_csv

RESULT = ROOT / "benchmarks" / "results" / "coldstart.csv"
_DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.random((1000, 3))
y = (2 * X[:, 0] - 1) ** 2
"""
_STATISTICS = ("mic_r", "mtv_r", "kendall")
_ESTIMATORS = {"scores": "DPMICScorer(", "names": "PrivateSelectKBest(k=1, "}
_TARGETS = {
    "numbers": "target_bounds=(0, 1)).fit(X, y)",
    "classes": "classes=[False, True]).fit(X, y > 0.5)",
}
IMPORTS = {  # and their references
    "import skdpmic": "import sklearn, numba",
    "from skdpmic import mic_r": "import sklearn, numba",
    "from skdpmic import DPMICScorer": "import sklearn.feature_selection, numba",
    "from skdpmic import PrivateSelectKBest": "import sklearn.feature_selection, numba",
    "from skdpmic import *": "import sklearn.feature_selection, sklearn.model_selection, numba",
}
CALLS = (
    {
        f"{statistic}, {target}, {release}": (
            "from skdpmic import DPMICScorer, PrivateSelectKBest",
            f"{estimator}statistic={statistic!r}, epsilon=1, bounds=(0, 1), {fit}",
        )
        for statistic in _STATISTICS
        for target, fit in _TARGETS.items()
        for release, estimator in _ESTIMATORS.items()
    }
    | {
        f"geometric, {target}": (
            "from skdpmic import DPMICScorer",
            f"DPMICScorer(mechanism='geometric', epsilon=1, bounds=(0, 1), {fit}",
        )
        for target, fit in _TARGETS.items()
    }
    | {"mic_e": ("from skdpmic import mic_e", "mic_e(X[:, 0], y)")}
)
_IMPORTED = "{imports}\nimport os\nprint(sum(os.times()[:4]))"
_SPEED = "import time; s = 0\nfor i in range(5_000_000): s += i\nprint(time.process_time())"
_TIMED = """
{imports}
{data}
import os
before = sum(os.times()[:4])
{call}
print(sum(os.times()[:4]) - before, sum(os.times()[:4]))
"""


def _numbers_printed(code, folder):
    """The numbers that a new process prints, with its caches in a folder."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder), "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(map(float, done.stdout.split()))


def seconds(name):
    """Processor seconds of the call `name`, and of the whole new process that makes it."""
    imports, call = CALLS[name]
    with tempfile.TemporaryDirectory() as cache:
        return _numbers_printed(_TIMED.format(imports=imports, data=_DATA, call=call), cache)


def import_rows(rounds):
    """Rows of median seconds for an import and for its reference, and their ratio."""
    for imports, reference in IMPORTS.items():
        pairs = []
        with tempfile.TemporaryDirectory() as cache:
            for _ in range(rounds + 1):
                codes = [_IMPORTED.format(imports=code) for code in (imports, reference)]
                pairs.append([_numbers_printed(code, cache)[0] for code in codes])
        pairs = pairs[1:]  # the first round may have compiled bytecode
        medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
        ratio = statistics.median(here / there for here, there in pairs)
        yield [imports, f"{medians[0]:.2f}", reference, f"{medians[1]:.2f}", f"{ratio:.3f}"]


def loop_seconds():
    """Processor seconds of a plain Python loop, to compare machines, or one machine over time."""
    with tempfile.TemporaryDirectory() as folder:
        return statistics.median(_numbers_printed(_SPEED, folder)[0] for _ in range(5))


def call_rows(rounds):
    """Rows of median seconds for each call."""
    for name in CALLS:
        of_rounds = zip(*(seconds(name) for _ in range(rounds)), strict=True)
        yield [name, *(f"{statistics.median(times):.2f}" for times in of_rounds)]


# --- Results ----------------------------------------------------------------------------------------------------------

HEADS = {
    "import": ["import", "seconds", "reference", "seconds", "ratio"],
    "call": ["first call of", "call", "process"],
}


def kept(kind):
    """Rows of this kind in the kept result."""
    with open(RESULT, encoding="utf-8", newline="") as file:
        return [row for of, *row in csv.reader(file) if of == kind]


def report(kind, rows):
    """A Markdown table of the rows."""
    code = (0, 2) if kind == "import" else (0,)
    return table(HEADS[kind], [[f"`{cell}`" if i in code else cell for i, cell in enumerate(row)] for row in rows])


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--report", action="store_true", help="print the kept result")
    add_output(parser)
    options = parser.parse_args(argv)
    if options.output:
        refuse_to_overwrite(parser, options)
    if options.report:
        return print("\n\n".join(report(kind, kept(kind)) for kind in HEADS))
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"Processor seconds, medians of {options.rounds} rounds. 5 million steps of a Python loop:", loop_seconds())
    found = {"import": list(import_rows(options.rounds)), "call": list(call_rows(options.rounds))}
    print("\n\n".join(report(kind, rows) for kind, rows in found.items()))
    return options.output and write_csv(options.output, [[kind, *row] for kind in found for row in found[kind]])


if __name__ == "__main__":
    main()
