"""Checks that the columns of a choice are in the codebook and the file, and its target in every record.

The estimators' errors name their arguments; a user of a terminal has a codebook, a file and options.
"""

import pyarrow
from pyarrow import compute, types

from skdpmic._utils.readable import abbreviated, almost
from skdpmic._utils.texts import quoted
from skdpmic.codebook.column import BOOLEAN, LABELS, is_pattern
from skdpmic.table.reading import FEWEST

_KEEP_COMPLETE = "keep only the {records} that have a value, whose number is then public"


def check_choice(arguments, codebook):
    """Raise unless the options name columns that the codebook describes, of a type that is used.

    Parameters
    ----------
    arguments : argparse.Namespace
        Options with `codebook`, `target`, `features` and `keep`.
    codebook : Codebook
    """
    features = arguments.features
    _check_described("--target", [arguments.target], arguments, codebook)
    _check_described("--features", features or [], arguments, codebook)
    _check_described("--keep", arguments.keep, arguments, codebook)
    for option, names in {"--keep": arguments.keep, "--features": features or []}.items():
        if arguments.target in names:
            raise ValueError(f"{option} must name columns other than --target, got {quoted(arguments.target)}.")
    if features is not None and (others := [name for name in arguments.keep if name not in features]):
        raise ValueError(f"--keep must be among --features, got {abbreviated(others)}.{almost(others, features)}")


def check_in_file(codebook_path, codebook, source, target=None, features=None):
    """Raise unless a file has the columns that are used, before a value is read.

    Parameters
    ----------
    codebook_path : str
    codebook : Codebook
    source : CsvFile or ParquetFile
    target : str, default=None
    features : list of str, default=None
        None for all described columns.
    """
    if features is None:
        features = [name for name, entry in codebook.columns.items() if entry.is_used and not is_pattern(name)]
    wanted = [*features, *codebook.groups, *([] if target is None else [target])]
    known = set(source.names)
    missing = [name for name in dict.fromkeys(wanted) if name not in known]
    if missing:
        raise ValueError(
            f"{source.name} must have all columns of {codebook_path}{source.place_of_names}, got none named "
            f"{abbreviated(missing)}.{almost(missing, source.names) or _about_names(source, codebook)}"
        )


def check_target(column, entry, source, target):
    """Raise if a record lacks the target, or has a label that the codebook does not list.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
        The target.
    entry : ColumnEntry
        Its description.
    source : CsvFile or ParquetFile
    target : str
        Its name.
    """
    first = _first(compute.is_null(column, nan_is_null=True))
    if first >= 0:
        raise ValueError(
            f"column {quoted(target)} of {source.name} must have a value in every {source.record}, because it is the "
            f"target, got none in {source.place_of(first)}: {_remedy(entry).format(records=source.record + 's')}."
            f"{source.about_blank_end()}"
        )
    first = _first(compute.invert(_is_label(column, entry))) if entry.kind == LABELS else -1
    if first >= 0:
        raise ValueError(
            f"column {quoted(target)} of {source.name} must hold labels that the codebook lists, because it is the "
            "target, "
            f"got another in {source.place_of(first)}: check spelling, case and spaces, or add it to its labels."
        )


def _first(flags):
    return compute.index(flags, pyarrow.scalar(True)).as_py()


def _is_label(column, entry):
    labels, kind = list(entry.labels), pyarrow.string() if entry.has_text_labels else pyarrow.float64()
    if pyarrow.types.is_integer(column.type):  # floats cannot tell all of them apart
        labels, kind = [int(label) for label in labels if label == int(label)], pyarrow.decimal128(38, 0)
    return compute.is_in(column.cast(kind), value_set=pyarrow.array(labels, kind))


def check_some(n_records, source):
    """Raise if a file has too few records."""
    if n_records < FEWEST:
        below = " below the names of the columns" if source.place_of_names else ""
        raise ValueError(f"{source.name} must hold at least {FEWEST} records{below}, got {n_records}.")


def _check_described(option, names, arguments, codebook):
    unknown = [name for name in names if codebook.entry(name) is None]
    if unknown:
        raise ValueError(
            f"{option} must name columns that {arguments.codebook} describes, got {abbreviated(unknown)}."
            f"{almost(unknown, [name for name in codebook.columns if not is_pattern(name)])}"
        )
    for name in names:
        if name in codebook.groups or not codebook.entry(name).is_used:
            what = "one of its groups" if name in codebook.groups else f"of type {codebook.entry(name).kind!r}"
            raise ValueError(
                f"{option} must name columns that are used, got {quoted(name)}, in {arguments.codebook} {what}."
            )


def _about_names(source, codebook):
    if any(codebook.entry(name) is not None for name in source.names):
        return " Add them to the file, or remove them from the codebook."
    if source.place_of_names:
        return (
            " It has none of the names in the codebook: if a title or a note stands above the names, delete the lines "
            "above them."
        )
    return " It has none of the names in the codebook: is it the file that the codebook describes?"


def _remedy(entry):
    """What to do about a target that is missing in some records."""
    if entry.kind == LABELS and entry.has_text_labels:
        return f"write a label such as unknown there, and add it to its labels in the codebook, or {_KEEP_COMPLETE}"
    if entry.kind == LABELS:
        return f"write a number there that is not yet a label, and add it to its labels, or {_KEEP_COMPLETE}"
    if entry.kind == BOOLEAN:
        return (
            'write unknown there, and describe it in the codebook by type = "labels" with all that it can be, such as '
            f'labels = ["no", "yes", "unknown"], or {_KEEP_COMPLETE}'
        )
    return _KEEP_COMPLETE


# --- Types that a file declares ---------------------------------------------------------------------------------------


def is_text(kind):
    """Whether an Arrow type holds text, perhaps as a dictionary."""
    if types.is_dictionary(kind):
        return is_text(kind.value_type)
    return types.is_string(kind) or types.is_large_string(kind)


def is_numeric_type(kind):
    """Whether an Arrow type holds numbers."""
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def check_type(kind, entry, name, file):
    """Raise if a column's declared type contradicts the codebook; the message has the line to write.

    Parameters
    ----------
    kind : pyarrow.DataType
    entry : ColumnEntry
    name, file : str
    """
    got = _in_words(kind)
    wanted = "text" if entry.has_text_labels else {"date": "dates", "duration": "durations"}.get(entry.kind, "numbers")
    fits = {
        "text": ("text",),
        "dates": ("dates",),
        "durations": ("durations", "numbers"),
        "numbers": ("numbers", "booleans"),
    }
    if got is None or got in fits[wanted] or (got == "text" and not entry.has_text_labels):  # text is read as in a CSV
        return
    line = {
        "numbers": 'labels without quotes, such as labels = [1, 2, 3], or type = "number" and a range',
        "booleans": 'type = "boolean"',
        "dates": 'type = "date" and a range, such as range = [2020-01-01, 2025-12-31]',
        "durations": 'type = "duration", a range and a unit',
    }[got]
    raise ValueError(
        f"column {quoted(name)} of {file} must hold {wanted}, as the codebook says, got {got}: describe it by {line}."
    )


def _in_words(kind):
    if is_text(kind):
        return "text"
    if types.is_boolean(kind):
        return "booleans"
    if is_numeric_type(kind):
        return "numbers"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "dates"
    return "durations" if types.is_duration(kind) else None
