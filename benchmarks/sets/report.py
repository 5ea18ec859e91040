"""Tables of what sets of columns are worth, in Markdown."""

import numpy as np
import pandas

from benchmarks.output import table
from benchmarks.selection.report import summarise, where
from benchmarks.selection.ways import NOT_PRIVATE
from benchmarks.sets.promises import found
from benchmarks.sets.ways import FREE, NEED_ORDER, PRIVATE, REMOVED, RIVAL, SINGLE
from benchmarks.sets.worth import load, metric

MAIN = (SINGLE, "joint", "auto", RIVAL, "mRMR, quotient", "forward, boosting", "all columns")


def worth(rows):
    """Mean over splits and its standard error, for each way on each table at each epsilon; and the table's size."""
    summary = summarise(rows, ["table", "way", "epsilon"], ["worth"])
    sizes = {name: (*load(name).X.shape, load(name).k, metric(load(name))) for name in set(summary["table"])}
    summary[["n", "d", "k", "metric"]] = [sizes[name] for name in summary["table"]]
    splits = rows.groupby(["table", "way", "epsilon"], sort=False)["repeat"].nunique()
    return summary.assign(splits=splits.to_numpy())


def over_tables(rows):
    """Means over the tables on which all ways can be compared: of the worth, and of the lead over single scores.

    Standard errors come from the spread between tables. The lead is over single scores at the same epsilon.
    """
    means = rows.groupby(["table", "way", "epsilon"], sort=False)["worth"].mean().unstack("table")
    means = means.dropna(axis=1, subset=[key for key in means.index if key[0] in NEED_ORDER])
    single = means.loc[SINGLE].reindex(means.index.get_level_values("epsilon")).to_numpy()
    lead, n_tables = means - single, means.shape[1]
    columns = {
        "n_tables": n_tables,
        "worth": means.mean(axis=1),
        "lead": lead.mean(axis=1),
        "lead se": lead.std(axis=1, ddof=1) / np.sqrt(n_tables),
    }
    return pandas.DataFrame(columns, index=means.index).reset_index()


def of_results(folder):
    """The tables, from the files of a run."""
    return markdown(*(pandas.read_csv(folder / f"{name}.csv") for name in ("worth", "over_tables", "promised")))


def markdown(worth, over, promised):
    """All tables."""
    names = dict.fromkeys(worth["table"])
    parts = [
        "# Sets of columns: all tables",
        "`python -m benchmarks.sets --report` prints this from the CSV files beside it.",
        "## In short",
        over_table(over[over["way"].isin(MAIN)], "worth", "mean worth"),
        over_table(over[over["way"].isin(MAIN)], "lead", "lead over single scores"),
        "## Over tables",
        over_table(over, "worth", "mean worth"),
        over_table(over, "lead", "lead over single scores"),
        "## Each table",
        *(worth_table(worth, name) for name in names),
        "## Promised and found",
        promised_table(promised),
    ]
    return "\n\n".join(parts) + "\n"


def worth_table(worth, name):
    """A row for each way, a column for each epsilon."""
    rows = where(worth, table=name)
    first, known = rows.iloc[0], rows.set_index(["way", "epsilon"])
    title = f"{name}: {first['metric']}, {first['k']} of {first['d']}, {first['n']:,} rows, {first['splits']} splits"
    return _by_epsilon(rows, title, lambda key: "{:.3f} ± {:.3f}".format(*known.loc[key, ["worth", "worth se"]]))


def over_table(over, column, title):
    """The same, for means over tables."""
    known = over.set_index(["way", "epsilon"])
    if column == "lead":
        return _by_epsilon(over, title, lambda key: "{:+.3f} ± {:.3f}".format(*known.loc[key, ["lead", "lead se"]]))
    shown = lambda key: "" if np.isnan(known.loc[key, column]) else f"{known.loc[key, column]:.3f}"  # noqa: E731
    return _by_epsilon(over, f"{title}, {over['n_tables'].iloc[0]} tables", shown)


def _by_epsilon(rows, title, shown):
    """Private ways first; the others, which have no epsilon, in the last column."""
    epsilons, keys = sorted(set(rows["epsilon"])), set(zip(rows["way"], rows["epsilon"], strict=True))
    heads = ["no noise" if epsilon == NOT_PRIVATE else f"ε = {epsilon:g}" for epsilon in epsilons]
    present = dict.fromkeys(rows["way"])
    ways = [way for way in (*PRIVATE, *REMOVED, *FREE) if way in present]
    body = [[way, *(shown((way, e)) if (way, e) in keys else "" for e in epsilons)] for way in ways]
    return table([title, *heads], body)


def promised_table(promised):
    """A row for each table, a column for each epsilon: what is found, and what the plan states; the means come last."""
    epsilons = sorted(set(promised["epsilon"]))
    known = promised.set_index(["table", "epsilon"])
    stated = "promised, weak"

    def shown(rows, epsilon):
        of_epsilon = rows.xs(epsilon, level="epsilon")
        share, promise = found(of_epsilon), of_epsilon[stated].mean()
        return f"{'all count' if np.isnan(share) else f'{share:.2f}'} / {promise:.2f}"

    names = dict.fromkeys(promised["table"])
    body = [[name, *(shown(known.loc[[name]], epsilon) for epsilon in epsilons)] for name in names]
    body.append(["all tables", *(shown(known, epsilon) for epsilon in epsilons)])
    off = (known.groupby(level=["table", "epsilon"]).apply(found) - known[stated]).abs().groupby("epsilon").mean()
    body.append(["mean distance", *(f"{off[epsilon]:.2f}" for epsilon in epsilons)])
    return table(["found / promised", *(f"ε = {epsilon:g}" for epsilon in epsilons)], body)
