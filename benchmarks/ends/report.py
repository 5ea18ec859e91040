"""Means over splits, as a table and in a file."""

import numpy as np


def summarised(rows, keys, path):
    """Means and standard errors of the ROC AUC, also written to a file.

    Parameters
    ----------
    rows : dataframe
        A row for each split, with the columns of `keys`, `repeat` and `auc`.
    keys : list of str
    path : Path

    Returns
    -------
    dataframe
    """
    groups = rows.groupby(keys, sort=False)["auc"]
    summary = groups.agg(auc="mean", se=lambda auc: auc.std() / np.sqrt(len(auc)), runs="count").reset_index()
    summary = summary.round({"auc": 4, "se": 4})
    path.parent.mkdir(parents=True, exist_ok=True)
    summary.to_csv(path, index=False, lineterminator="\n")
    return summary
