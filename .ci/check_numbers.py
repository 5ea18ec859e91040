"""Check that pages show what the commands beside their numbers print: python .ci/check_numbers.py.

Only commands that take at most half a minute are run; together they take about a minute. The others keep their results
in files, with which benchmarks/tests compares the pages.
"""

import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def rows(printed):
    """The rows of all tables, without their headers."""
    lines = printed.splitlines()
    is_rule = [line.startswith("| -") for line in lines]
    return [
        line
        for line, rule, head in zip(lines, is_rule, [*is_rule[1:], False], strict=True)
        if line.startswith("| ") and not rule and not head
    ]


def cells(printed):
    """The cells of these rows."""
    return [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows(printed)]


def pairs_found(printed):
    """The table of docs/choose/causal.md, in which a row combines three lines of benchmarks.causal.records."""
    by_table = {}
    for columns, tau, _, found, false_edges in cells(printed):
        by_table.setdefault((columns, tau), []).append([text.split(" ± ")[0] for text in (found, false_edges)])
    for table, of_each_n in by_table.items():
        found, false_edges = zip(*of_each_n, strict=True)
        yield f"| {' | '.join([*table, *found, ', '.join(false_edges)])} |"


def sentences_on_picture(printed):
    """What the first screen says about its picture."""
    ours, _, rival, with_noise = ([share.rstrip("%") for share in row[1:]] for row in cells(printed))
    yield f"PrivateSelectKBest finds {ours[1]}% at ε = 0.03 and {ours[2]}% at 0.1"
    yield f"the strongest private rival {rival[1]}% and {rival[2]}%"
    yield f"SelectKBest on data with noise at most {max(map(int, with_noise))}%, even at ε = 10"
    yield f"At ε = 0.01 the rival leads, {rival[0]}% to {ours[0]}%"


def epsilon_needed(printed):
    """The README's sentence on the epsilon that finds 80% of the best 5 of 100 columns."""
    most = {row[0]: row[2] for row in cells(printed)}
    yield f"1,000 people need ε = {most['1,000']}, and 20,000 people {most['20,000']}"


# Each command, what is made of its output, and the page that shows it.
CHECKS = [
    ("python benchmarks/noise.py", rows, "docs/choose/planning.md"),
    ("python benchmarks/rows.py", rows, "docs/choose/planning.md"),
    ("python benchmarks/rows.py", epsilon_needed, "README.md"),
    ("python -m benchmarks.first_picture --report", rows, "docs/evidence/index.md"),
    ("python -m benchmarks.first_picture --report", sentences_on_picture, "README.md"),
    ("python -m benchmarks.first_picture --report", sentences_on_picture, "docs/index.md"),
    ("python -m benchmarks.selection --report", rows, "benchmarks/selection/results/tables.md"),
    ("python -m benchmarks.sets --report", rows, "benchmarks/sets/results/report.md"),
    ("python -m benchmarks.paper.report", rows, "benchmarks/paper/results/report.md"),
    ("python -m benchmarks.causal.report", rows, "benchmarks/results/causal.md"),
    ("python -m benchmarks.causal.private_pc", rows, "docs/evidence/causal.md"),
    ("python -m benchmarks.defaults", rows, "benchmarks/results/defaults.md"),
    ("python -m benchmarks.causal.records", pairs_found, "docs/choose/causal.md"),
    ("python -m benchmarks.models.report", rows, "benchmarks/models/results/report.md"),
]


def output_of(command):
    """What a command prints."""
    run = subprocess.run(
        [sys.executable, *shlex.split(command)[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise SystemExit(f"{command}: {run.stderr}")
    return run.stdout


def missing(lines, page):
    """The lines that a page does not show."""
    return [line for line in lines if line not in page]


def main():
    """Run each command once, and print what its pages do not show."""
    outputs, wrong = {}, []
    for command, made, path in CHECKS:
        if command not in outputs:
            start = time.monotonic()
            outputs[command] = output_of(command)
            print(f"{time.monotonic() - start:5.1f} s  {command}", flush=True)
        lines = list(made(outputs[command]))
        wrong += [] if lines else [f"{command}: no numbers for {path}"]
        wrong += [f"{path} does not show: {line}" for line in missing(lines, (ROOT / path).read_text(encoding="utf-8"))]
    print("\n".join(wrong) or "the pages show what the commands print")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
