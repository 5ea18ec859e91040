"""Feature selection from end to end: python -m benchmarks.selection [--quick]. Results: docs/results_selection.md.

Needs ``pip install -e ".[benchmarks]"``. An interrupted run goes on where it stopped. The full run takes a quarter of
an hour on one core, the quick one less than a minute.
"""

import argparse
from pathlib import Path

import pandas
from joblib import Memory
from tqdm import tqdm

from benchmarks.selection import real, relationships, report

RESULTS = Path(__file__).parent / "results"

# Each experiment: a function, how many tables or splits of each kind it is run on, and its options.
FULL = ((relationships.run, relationships.REPEATS, {}), (real.run, real.SPLITS, {}))
_FEW = {"epsilons": (0.1, 1.0, 10.0), "with_slow": False}
QUICK = (
    (relationships.run, {1000: 2, 10_000: 2}, {"sizes": (20, 100), **_FEW}),
    (real.run, {"breast cancer": 2, "digits": 2, "RAND health": 1}, {"n_draws": 5, **_FEW}),
)


def completed(folder, run, repeats, options):
    """Rows of all tables, a DataFrame, also saved; what an interrupted run has left in the folder is not run again."""
    kept = Memory(folder, verbose=0).cache(run)
    tasks = [(kind, repeat) for kind, count in repeats.items() for repeat in range(count)]
    name = run.__module__.split(".")[-1]
    rows = [row for task in tqdm(tasks, desc=name) for row in kept(*task, **options)]
    return report.saved(pandas.DataFrame(rows), folder / f"{name}.csv", digits=5)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Feature selection, private and not, from end to end.")
    parser.add_argument("--quick", action="store_true", help="a small part of the experiment, in less than a minute")
    parser.add_argument("--output", type=Path, help="folder of results")
    options = parser.parse_args(argv)
    output = options.output or (RESULTS / "quick" if options.quick else RESULTS)
    frames = [completed(output / "raw", *experiment) for experiment in (QUICK if options.quick else FULL)]
    report.write(*frames, output)
    return frames


if __name__ == "__main__":
    main()
