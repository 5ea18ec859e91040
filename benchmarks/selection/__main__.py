"""Feature selection from end to end: python -m benchmarks.selection [--quick]. Results: docs/evidence/selection.md.

It needs ``pip install -e ".[benchmarks]"``. An interrupted run resumes where it stopped. The full run takes half an
hour on one core, the quick one less than a minute. Existing results are replaced only with --overwrite.
"""

import argparse
from pathlib import Path

import pandas
from joblib import Memory
from tqdm import tqdm

from benchmarks.output import add_output, results_folder
from benchmarks.selection import monotone, no_functions, relationships, report, wide_bounds
from benchmarks.selection.statistics import STATISTICS
from benchmarks.selection.ways import COUNTS, REFERENCES

RESULTS = Path(__file__).parent / "results"
ALL = (*STATISTICS, COUNTS, REFERENCES)
ONLY_PRIVATE = tuple(STATISTICS)

# Each experiment: its function, the number of tables of each size, what is compared, and its options.
FULL = (
    (relationships.run, relationships.REPEATS, ALL, {}),
    (monotone.run, monotone.REPEATS, ONLY_PRIVATE, {}),
    (no_functions.run, no_functions.REPEATS, (*STATISTICS, REFERENCES), {}),
    (wide_bounds.run, wide_bounds.REPEATS, ONLY_PRIVATE, {}),
)
_FEW = {"epsilons": (0.1, 1.0, 10.0)}
QUICK = (
    (relationships.run, {1000: 2, 10_000: 2}, ONLY_PRIVATE, {"sizes": (20, 100), **_FEW}),
    (monotone.run, {1000: 2}, ONLY_PRIVATE, _FEW),
    (no_functions.run, {3000: 2}, ONLY_PRIVATE, _FEW),
    (wide_bounds.run, {3000: 2}, ONLY_PRIVATE, {"widths": (1, 10, 100)}),
)


def completed(folder, run, repeats, statistics, options):
    """Rows of all tables: a DataFrame, which is also saved.

    Rows that an interrupted run left in the folder are reused, unless the code of `run` itself has changed.
    """
    name = run.__module__.split(".")[-1]
    kept = Memory(folder, verbose=0).cache(run)
    tasks = [(kind, repeat, of) for kind, count in repeats.items() for repeat in range(count) for of in statistics]
    rows = [row for task in tqdm(tasks, desc=name) for row in kept(*task, **options)]
    return report.saved(pandas.DataFrame(rows), folder / f"{name}.csv", digits=5)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Feature selection, private and not, from end to end.")
    parser.add_argument("--quick", action="store_true", help="a small part of the experiment, in less than a minute")
    add_output(parser, RESULTS, "folder")
    parser.add_argument("--report", action="store_true", help="print the tables of the kept results")
    options = parser.parse_args(argv)
    if options.report:
        return print(report.of_results(RESULTS), end="")
    output = results_folder(parser, options, RESULTS, report.FILES)
    experiments = QUICK if options.quick else FULL
    frames = [completed(output / "raw", *experiment) for experiment in experiments]
    report.write(*frames, output)
    return frames


if __name__ == "__main__":
    main()
