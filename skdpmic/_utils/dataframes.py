"""Results as dataframes of pandas, which need not be installed for anything else."""


def dataframe(data, columns=None):
    """A pandas dataframe, for all `to_frame` methods."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame requires pandas: pip install pandas") from error
    return pandas.DataFrame(data, columns=columns)


def with_intervals(frame, what):
    """A dataframe that says what its intervals are for."""
    frame.attrs["interval"] = f"95% interval for {what}"
    return frame
