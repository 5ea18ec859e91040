"""Checks that data can be read as numbers row by row: no dates, no hidden values, unique column names."""

import datetime
import sys
import unicodedata
from collections import Counter
from difflib import get_close_matches

import numpy as np

from skdpmic._utils.arguments import is_whole
from skdpmic._utils.texts import as_python, quoted

_DATES = (datetime.date, datetime.time, datetime.timedelta)  # pandas' types are subclasses of these, except Period
_MOST_NAMES = 20  # columns named in a message
_MOST_KNOWN, _MOST_LETTERS = 10_000, 100  # names among which similar ones are sought, and the length of these
_SIMILAR = 0.84  # similarity of two names that may be the same: one letter of six may differ


def check_names(X, name="X"):
    """Raise unless each column of a dataframe has one name, and one meaning.

    The columns of a dataframe are named by its labels, those of an array are numbered. If labels were other numbers, a
    number could mean either; so they must be text, or the column numbers, which pandas gives to unnamed columns.
    """
    names = column_names(X)
    if names is not None and not names:
        raise ValueError(f"Found array with 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
    refuse_repeated(names or [], f"{name} must have distinct column names")
    check_meaning(names or [], name)


def check_meaning(names, name="X"):
    """Raise unless column names are all text, or the numbers of the columns."""
    if are_text(names) or all(is_whole(label) and label == j for j, label in enumerate(names)):
        return
    raise TypeError(
        "Feature names are only supported if all input features have string names, or if they are the numbers of the "
        f"columns, 0, 1, 2, ..., but {name} has {abbreviated(names)}, which might mean names or positions. Convert "
        f"them all to strings, by {name}.columns = {name}.columns.map(str) for example, and use these names."
    )


def are_text(names):
    """Whether all names are str."""
    return all(isinstance(label, str) for label in names)


def refuse_masked(data, name):
    """Raise if `data` is a masked array, or a list of these: numpy would read the hidden values."""
    rows = data if isinstance(data, list | tuple) else (data,)
    if any(isinstance(row, np.ma.MaskedArray) for row in rows):
        raise TypeError(
            f"{name} must not be a masked array, whose hidden values would be read: pass {name}.filled(value), with a "
            "constant chosen without looking at the data."
        )


def refuse_name(values, name):
    """Raise if one column is given by its name in place of its values."""
    if isinstance(values, str):
        rest = ", and X.drop(columns=...) as X" if name == "y" else ""
        raise ValueError(f"{name} must hold a value for each row, got a str: pass the column itself, X[...]{rest}.")


def dates_refused(name):
    """The message about dates or durations in place of numbers."""
    return (
        f"{name} must hold numbers, got dates or durations, whose unit may depend on all rows: subtract a "
        "public date and divide by a fixed unit, for instance "
        "(column - pd.Timestamp('2020-01-01')) / pd.Timedelta(days=1)."
    )


def is_dask_collection(data):
    """Whether `data` is a dask array or dataframe; none exists before dask is imported."""
    dask = sys.modules.get("dask")
    return dask is not None and dask.is_dask_collection(data)


def refuse_collection(data, name):
    """Raise if `data` is a dask collection, whose rows are not in memory."""
    if is_dask_collection(data):
        raise TypeError(f"{name} must be in memory, got a dask collection: call .compute() first.")


def is_date(value):
    """Whether a scalar is a date or a duration."""
    is_numpy = getattr(getattr(value, "dtype", None), "kind", None) in ("m", "M")
    return isinstance(value, _DATES) or is_numpy or type(value).__name__ == "Period"


# --- Columns --------------------------------------------------------------------------------------------------------


def refuse_target_among(names, y):
    """Raise if the target is a name, or has that of a column of the table, which would then predict itself.

    Parameters
    ----------
    names : sequence or None
        Names of the columns; None without names.
    y : array-like
    """
    refuse_name(y, "y")
    of_target = column_names(y)
    name = getattr(y, "name", None) if of_target is None else of_target[0] if len(of_target) == 1 else None
    if names is not None and isinstance(name, str) and name in list(names):
        raise ValueError(
            f"y must not be a column of X, which would predict itself, got {quoted(name)} in both: leave it out, in "
            f"pandas by X.drop(columns={quoted(name)}), or rename y if it holds other values, by y.rename('target')."
        )


def column_names(data):
    """The column names of a dataframe of any library; None for other data."""
    if hasattr(data, "collect_schema"):  # of Polars, which warns about the columns of a LazyFrame
        return list(data.collect_schema())
    if hasattr(data, "column_names"):  # Arrow
        return list(data.column_names)
    is_table = hasattr(data, "columns") and getattr(data, "ndim", 2) == 2  # a dask column also has columns
    return list(data.columns) if is_table else None


def refuse_repeated(names, allowed):
    """Raise if column names are not unique; names that are not str are ignored."""
    repeated = [name for name, count in Counter(names).items() if count > 1 and isinstance(name, str)]
    if repeated:
        raise ValueError(f"{allowed}, got several named {abbreviated(repeated)}.")


def abbreviated(labels):
    """Labels as text: all of them, or the first few and the number of the others."""
    more = f" and {len(labels) - _MOST_NAMES} more" if len(labels) > _MOST_NAMES else ""
    return as_python(list(labels[:_MOST_NAMES])) + more


def almost(names, known):
    """For a message: the known name that each of a few unknown names almost equals, if any.

    Case, spaces, invisible marks and variants of a letter are ignored, and one letter may differ.
    """
    known = [name for name in known if isinstance(name, str) and len(name) <= _MOST_LETTERS][:_MOST_KNOWN]
    of_form, pairs = {_simplified(name): name for name in known}, []
    for name in names[:_MOST_NAMES]:
        close = get_close_matches(_simplified(str(name)[:_MOST_LETTERS]), of_form, n=1, cutoff=_SIMILAR)
        pairs += [f"{quoted(of_form[form])} for {quoted(name)}" for form in close]
    return f" Did you mean {', '.join(pairs)}?" if pairs else ""


def _simplified(name):
    letters = (letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return "".join("".join(letters).casefold().split())
