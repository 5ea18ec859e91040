"""Column names, and patterns that match several: ``*`` for any characters, ``?`` for one."""

import fnmatch

from skdpmic._utils.readable import abbreviated


def is_pattern(name):
    """Whether a name is a pattern."""
    return "*" in name or "?" in name


def matches(name, pattern):
    """Whether a pattern matches a column; names that are not str never match."""
    return isinstance(name, str) and fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def as_column_names(features):
    """Names given by the user, as a list."""
    if isinstance(features, str):
        raise ValueError(f"features must be a list of names or a dataframe, got {features!r}.")
    return list(features)


def check_columns(codebook, names, features, target):
    """Raise if a frame lacks usable columns of a codebook, or the requested ones.

    Parameters
    ----------
    codebook : Codebook
    names : dict or set of str
        Names of the columns of the frame.
    features : list of str or None
        Requested features; None for all.
    target : str or None

    Returns
    -------
    list of str
        Columns that the codebook does not describe.
    """
    if features is None:
        features = [name for name, entry in codebook.columns.items() if entry.is_used and not is_pattern(name)]
    wanted = [*features, *codebook.groups, *([] if target is None else [target])]
    missing = [name for name in dict.fromkeys(wanted) if name not in names]
    if missing:
        raise ValueError(f"frame must have all columns of the codebook, got none named {abbreviated(missing)}.")
    return [name for name in names if name not in codebook.groups and codebook.entry(name) is None]
