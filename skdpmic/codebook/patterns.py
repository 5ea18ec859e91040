"""Names of columns, and patterns that stand for several: ``*`` for any letters, ``?`` for one."""

import fnmatch

from skdpmic._utils.readable import abbreviated


def is_pattern(name):
    """Whether a name stands for several columns."""
    return "*" in name or "?" in name


def matches(name, pattern):
    """Whether a column is one of those that a pattern stands for; names that are no text are in none."""
    return isinstance(name, str) and fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def as_names(features):
    """Names that a user gives, as a list."""
    if isinstance(features, str):
        raise ValueError(f"features must be a list of names or a dataframe, got {features!r}.")
    return list(features)


def check_columns(codebook, names, features, target):
    """Raise if a frame lacks columns that a codebook describes for use, or those of them that are wanted.

    Parameters
    ----------
    codebook : Codebook
    names : dict or set of str
        Of the columns that the frame has.
    features : list of str or None
        Those that are wanted; None for all.
    target : str or None

    Returns
    -------
    list of str
        Columns that are not described.
    """
    if features is None:
        features = [name for name, entry in codebook.columns.items() if entry.is_used and not is_pattern(name)]
    wanted = [*features, *codebook.groups, *([] if target is None else [target])]
    missing = [name for name in dict.fromkeys(wanted) if name not in names]
    if missing:
        raise ValueError(f"frame must have the columns that are described, got none named {abbreviated(missing)}.")
    return [name for name in names if name not in codebook.groups and codebook.entry(name) is None]
