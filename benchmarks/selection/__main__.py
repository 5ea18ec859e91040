"""Feature selection from end to end: python -m benchmarks.selection [--quick]. Results: docs/results_selection.md.

Needs ``pip install -e ".[benchmarks]"``. An interrupted run goes on where it stopped. The full run takes a quarter of
an hour on one core, the quick one less than a minute.
"""

import argparse
from functools import partial
from pathlib import Path

from benchmarks.selection import real, relationships, report
from benchmarks.selection.store import completed

RESULTS = Path(__file__).parent / "results"


def quick_relationships(folder):
    """Two tables of 1,000 and two of 10,000 records, d = 20 and 100."""
    run = partial(relationships.run, sizes=(20, 100), epsilons=(0.1, 1.0, 10.0), with_slow=False)
    configurations = [("relationships", n, repeat) for n in (1000, 10_000) for repeat in range(2)]
    return completed(folder, configurations, run, "relationships")


def quick_tables(folder):
    """Two splits of scikit-learn's tables, one of RAND health."""
    run = partial(real.run, n_draws=5, epsilons=(0.1, 1.0, 10.0), with_slow=False)
    configurations = [("breast cancer", 0), ("breast cancer", 1), ("digits", 0), ("digits", 1), ("RAND health", 0)]
    return completed(folder, configurations, run, "real tables")


def full_relationships(folder):
    configurations = [
        ("relationships", n, repeat) for n, repeats in relationships.REPEATS.items() for repeat in range(repeats)
    ]
    return completed(folder, configurations, relationships.run, "relationships")


def full_tables(folder):
    configurations = [(name, split) for name, splits in real.SPLITS.items() for split in range(splits)]
    return completed(folder, configurations, real.run, "real tables")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Feature selection, private and not, from end to end.")
    parser.add_argument("--quick", action="store_true", help="a small part of the experiment, in less than a minute")
    parser.add_argument("--output", type=Path, help="folder of results")
    options = parser.parse_args(argv)
    output = options.output or (RESULTS / "quick" if options.quick else RESULTS)
    if options.quick:
        frames = quick_relationships(output / "raw"), quick_tables(output / "raw")
    else:
        frames = full_relationships(output / "raw"), full_tables(output / "raw")
    report.write(*frames, output)


if __name__ == "__main__":
    main()
