"""The columns of a table that identify the person behind each row."""

from skdpmic.table.normal_form.containers import open_column
from skdpmic.table.values import exact_labels


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
    labels = [open_column(frame[name]).read(name) for name in columns]
    incomplete = [name for name, column in zip(columns, labels, strict=True) if column.missing.any()]
    if incomplete:  # in combined labels, estimators cannot see missing values
        raise ValueError(f"groups must identify the person behind each row, got missing values in {incomplete}.")
    return list(zip(*map(exact_labels, labels), strict=True))
