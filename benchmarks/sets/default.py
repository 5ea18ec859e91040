"""What the default criterion is worth beside single scores: python -m benchmarks.sets.default (a quarter of an hour).

Three kinds of tables: the twelve of :mod:`benchmarks.sets.tables`, the 25 on which the rule was tuned, and ten on which
nothing was tuned, chosen by a rule. Worth is measured as in :mod:`benchmarks.sets.worth`, on three splits, each with
its own noise. An interrupted run resumes where it stopped.
"""

import argparse
from functools import lru_cache
from pathlib import Path

import pandas

from benchmarks.output import add_output, refuse_to_overwrite, table
from benchmarks.selection.report import saved, summarise
from benchmarks.selection.ways import NOT_PRIVATE
from benchmarks.sets.kept_back import KEPT_BACK
from benchmarks.sets.other_tables import OTHER_TABLES
from benchmarks.sets.tables import TABLES
from benchmarks.sets.ways import SINGLE, WAYS
from benchmarks.sets.worth import Split
from benchmarks.store import completed

RESULT = Path(__file__).parent / "results" / "default.csv"
EPSILONS = (0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0, NOT_PRIVATE)
REPEATS = 3
KINDS = {"the twelve tables": TABLES, "ten kept back": KEPT_BACK, "25 tuned on": OTHER_TABLES}


def rows(raw, names, repeats=REPEATS, epsilons=EPSILONS):
    """A row for each table and epsilon: the mean worth of single scores, and how much more the default's choice has."""
    split = lru_cache(maxsize=1)(lambda name, repeat: Split(name, repeat, raw))

    def compare(configuration, seed):
        of = split(configuration["table"], configuration["repeat"])
        ways = {"single": SINGLE, "default": "auto"}
        return {name: of.worth(WAYS[way](of, configuration["epsilon"], seed % 2**31)) for name, way in ways.items()}

    keys = ("table", "repeat", "epsilon")
    each = [(name, repeat, epsilon) for name in names for repeat in range(repeats) for epsilon in epsilons]
    todo = [dict(zip(keys, one, strict=True)) for one in each]
    done = pandas.DataFrame(completed(raw / "default.csv", todo, compare, "default"))
    return summarise(done.assign(lead=done["default"] - done["single"]), ["table", "epsilon"], ["single", "lead"])


def markdown(results):
    """A row for each kind of tables, a column for each epsilon: the mean lead and its standard error over tables."""
    kind_of = {name: kind for kind, tables in KINDS.items() for name in tables}
    over = summarise(results.assign(kind=results["table"].map(kind_of)), ["kind", "epsilon"], ["lead"])
    cells = {(row["kind"], row["epsilon"]): f"{row['lead']:+.3f} ± {row['lead se']:.3f}" for _, row in over.iterrows()}
    heads = ["no noise" if epsilon == NOT_PRIVATE else f"ε = {epsilon:g}" for epsilon in over["epsilon"].unique()]
    body = [[kind, *(cells[kind, epsilon] for epsilon in over["epsilon"].unique())] for kind in over["kind"].unique()]
    return table(["lead over single scores", *heads], body)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", action="store_true", help="print the table of the kept results")
    add_output(parser, RESULT)
    options = parser.parse_args(argv)
    if not options.report:
        refuse_to_overwrite(parser, options)
        names = [name for tables in KINDS.values() for name in tables]
        saved(rows(options.output.parent / "raw", names), options.output, digits=4)
    print(markdown(pandas.read_csv(options.output)))


if __name__ == "__main__":
    main()
