"""The columns of a table that identify the person behind each row."""


def checked_groups(groups):
    """The names of the columns that identify a person; may be empty."""
    names = (groups,) if isinstance(groups, str) else groups
    is_list = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not is_list or len(set(names)) < len(names):
        raise ValueError(f"groups must be a column name or a list of distinct names, got {groups!r}.")
    return tuple(names)


def labels_of_people(frame, columns):
    """A label for the person behind each row: the values of one column, or of several combined."""
    if len(columns) == 1:
        return frame[columns[0]].to_native()
    incomplete = [name for name in columns if _has_missing(frame[name])]
    if incomplete:  # in combined labels, estimators cannot see missing values
        raise ValueError(f"groups must identify the person behind each row, got missing values in {incomplete}.")
    return list(zip(*(frame[name].to_list() for name in columns), strict=True))


def _has_missing(column):
    return bool(column.is_null().any() or (column.dtype.is_float() and column.is_nan().any()))
