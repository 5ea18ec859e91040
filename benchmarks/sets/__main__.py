"""Which columns together? python -m benchmarks.sets [--quick]: docs/evidence/sets.md.

Columns are chosen on two thirds of a table's rows (:mod:`benchmarks.sets.tables`), in each of the ways of
:mod:`benchmarks.sets.ways`. A model of the chosen columns, always gradient boosting without privacy, is scored on the
other third. Private ways are fits as users make them, but with seeded noise. An interrupted run resumes where it
stopped, and no set of columns is fitted twice. The full run takes two hours on one core, the quick one less than a
minute. Existing results are replaced only with --overwrite. Results of ways that the package no longer has stay in
``results/removed.csv``.
"""

import argparse
from functools import lru_cache
from pathlib import Path

import pandas

from benchmarks.output import add_output, results_folder
from benchmarks.selection.report import saved
from benchmarks.selection.ways import NOT_PRIVATE
from benchmarks.sets import pictures, promises, report
from benchmarks.sets.copies import COPIES
from benchmarks.sets.tables import TABLES
from benchmarks.sets.ways import FREE, NEED_ORDER, PRIVATE, WAYS
from benchmarks.sets.worth import Split, load
from benchmarks.store import completed

RESULTS = Path(__file__).parent / "results"
FILES = ("worth.csv", "over_tables.csv", "promised.csv", "sets.png", "promised.png", "report.md")
EPSILONS = (0.1, 0.3, 1.0, 3.0)
REPEATS = 10
_QUICK = {"names": ["churn", "nursery"], "repeats": 2, "epsilons": (1.0,), "n_draws": 5}


def configurations(names, repeats, epsilons):
    """All configurations; those that share a split are adjacent, and one split of each table comes first."""
    for repeat in range(repeats):
        for name in names:
            has_order = load(name).n_classes in (None, 2)
            ways = [(way, epsilon) for way in PRIVATE for epsilon in (*epsilons, NOT_PRIVATE)]
            for way, epsilon in (*ways, *((way, NOT_PRIVATE) for way in FREE)):
                if has_order or way not in NEED_ORDER:
                    yield {"table": name, "repeat": repeat, "way": way, "epsilon": epsilon}


def run(output, names, repeats, epsilons, copies=(), n_draws=promises.N_DRAWS):
    """Write all results to files in a folder, and return the report in Markdown."""
    split = lru_cache(maxsize=1)(lambda name, repeat: Split(name, repeat, output / "raw"))

    def compare(configuration, seed):
        of = split(configuration["table"], configuration["repeat"])
        return {"worth": of.worth(WAYS[configuration["way"]](of, configuration["epsilon"], seed % 2**31))}

    todo = list(configurations([*names, *copies], repeats, epsilons))
    rows = with_removed(pandas.DataFrame(completed(output / "raw" / "sets.csv", todo, compare, "sets")))
    worth = saved(report.worth(rows), output / "worth.csv", digits=5)
    over = saved(report.over_tables(rows[rows["table"].isin(names)]), output / "over_tables.csv", digits=5)
    promised = saved(promises.promised(output / "raw", names, n_draws), output / "promised.csv", digits=5)
    pictures.draw_worth(worth, over, copies, output / "sets.png")
    pictures.draw_promises(promised, output / "promised.png")
    text = report.markdown(worth, over, promised)
    (output / "report.md").write_text(text, encoding="utf-8")
    return text


def with_removed(rows):
    """The rows, and those of ways that the package no longer has, on the same splits at the same epsilons."""
    keys = ["table", "repeat", "epsilon"]
    removed = pandas.read_csv(RESULTS / "removed.csv").merge(rows[keys].drop_duplicates(), on=keys)
    return pandas.concat([rows, removed], ignore_index=True)


def main(argv=None):
    parser = argparse.ArgumentParser(description="What sets of columns are worth, chosen with and without privacy.")
    parser.add_argument("--quick", action="store_true", help="two tables, two splits, one epsilon")
    parser.add_argument("--tables", nargs="*", choices=TABLES, help="only these tables")
    parser.add_argument("--repeats", type=int, help="number of splits")
    parser.add_argument("--report", action="store_true", help="print the tables of the kept results")
    add_output(parser, RESULTS, "folder")
    options = parser.parse_args(argv)
    if options.report:
        return print(report.of_results(RESULTS), end="")
    output = results_folder(parser, options, RESULTS, FILES)
    whole = {"names": list(TABLES), "repeats": REPEATS, "epsilons": EPSILONS, "copies": list(COPIES)}
    given = {"names": options.tables, "repeats": options.repeats}
    asked = (_QUICK if options.quick else whole) | {name: value for name, value in given.items() if value}
    print(run(output, **asked))


if __name__ == "__main__":
    main()
