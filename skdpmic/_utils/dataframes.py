"""Results as dataframes of pandas, which need not be installed for anything else."""

from skdpmic._utils.texts import imported


def dataframe(data, columns=None):
    """A pandas dataframe, for all `to_frame` methods."""
    pandas = imported("pandas", "to_frame requires pandas: pip install pandas")
    return pandas.DataFrame(data, columns=columns)


def with_intervals(frame, what):
    """A dataframe that says what its intervals are for."""
    frame.attrs["interval"] = f"95% interval for {what}"
    return frame
