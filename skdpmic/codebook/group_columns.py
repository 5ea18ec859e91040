"""The columns of a table that say whose row each row is."""


def checked_groups(groups):
    """The names of the columns that identify a person, none or several."""
    names = (groups,) if isinstance(groups, str) else groups
    is_list = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not is_list or len(set(names)) < len(names):
        raise ValueError(f"groups must be the name of a column, or different names, got {groups!r}.")
    return tuple(names)


def labels_of_people(frame, columns):
    """A label of each row's person: the values of a column, or those of several together."""
    if len(columns) == 1:
        return frame[columns[0]].to_native()
    incomplete = [name for name in columns if _has_missing(frame[name])]
    if incomplete:  # of several together, no estimator sees what is missing
        raise ValueError(f"groups must identify the person behind each row, got missing values in {incomplete}.")
    return list(zip(*(frame[name].to_list() for name in columns), strict=True))


def _has_missing(column):
    return bool(column.is_null().any() or (column.dtype.is_float() and column.is_nan().any()))
