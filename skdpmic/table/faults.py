"""What is wrong with the columns of a table: all of it in one message, by what users can write about it."""

from skdpmic._utils.readable import abbreviated
from skdpmic._utils.texts import quoted
from skdpmic.table import values
from skdpmic.table.domains import DATES, DURATIONS, NUMBERS, Ignored, Labels, Order
from skdpmic.table.normal_form.form import CODED, OBJECTS, TEXT

UNDESCRIBED = object()  # in place of the domain of a feature that bounds do not describe
_ANY = "numbers, dates or durations"
_KINDS = {
    NUMBERS: (NUMBERS, OBJECTS),
    DATES: (DATES, OBJECTS),
    DURATIONS: (DURATIONS, OBJECTS),
    TEXT: (TEXT, OBJECTS),
    Order.of: values.ANY_ORDER,
}
_BOUNDS = (
    "Write what is publicly known, such as bounds={{{0}: (0, 120)}} for ages in years, never the least and the "
    "greatest value found; where nothing is known, private_bounds learns bounds, at a cost of epsilon"
)
_IF_NOT_TAKEN = "; an estimator without categories takes no labels: leave them out by X = X.drop(columns={2})"
_CONVERT = "Convert them to {1}, or leave them out by X = X.drop(columns={2})"
_LABELS = "List their public labels, such as categories={{{0}: ['no', 'yes']}}"
_NOT_DECLARED = "; those of a categorical type are not taken, because they may have been read from the data"
_TO_NUMBERS = (
    "If they are numbers, perhaps with ',' between thousands or '%', write X[{0}] = pd.to_numeric(X[{0}].str.replace("
    "'[,%]', '', regex=True), errors='coerce'), which makes other text missing; if they are labels, list those that "
    "are public, such as categories={{{0}: ['no', 'yes']}}"
)
_LINES: dict[
    tuple[str | None, str | None], str
] = {  # what to write for a column of this kind that must be of that kind; None is a column without an entry
    (NUMBERS, None): _BOUNDS,
    (TEXT, None): _LABELS,
    (CODED, None): _LABELS + _NOT_DECLARED,
    (DATES, None): "Write public dates, as in bounds={{{0}: (pd.Timestamp('1900-01-01'), pd.Timestamp('2030-01-01'))}}",
    **dict.fromkeys([(OBJECTS, None), (None, None)], f"{_BOUNDS}. {_LABELS}, if they hold labels"),
    (DURATIONS, None): "Write public durations, as in bounds={{{0}: (pd.Timedelta(0), pd.Timedelta(days=365))}}",
    (TEXT, NUMBERS): _TO_NUMBERS,
    (TEXT, Order.of): _TO_NUMBERS + _IF_NOT_TAKEN,
    (TEXT, DATES): "Convert text to dates by X[{0}] = pd.to_datetime(X[{0}], format='%Y-%m-%d', errors='coerce'), with "
    "the format that it has",
    (CODED, NUMBERS): _LABELS + _NOT_DECLARED,
    (CODED, Order.of): _LABELS + _NOT_DECLARED + _IF_NOT_TAKEN,
    (NUMBERS, TEXT): "Labels of numbers are numbers in categories, too: [1, 2, 3], not ['1', '2', '3']",
    (DURATIONS, NUMBERS): "Write bounds of durations as durations, as in bounds={{{0}: (pd.Timedelta(0), "
    "pd.Timedelta(days=365))}}",
    (DATES, NUMBERS): "Write bounds of dates as dates, as in bounds={{{0}: (pd.Timestamp('1900-01-01'), "
    "pd.Timestamp('2030-01-01'))}}",
}
_IN_POLARS = {  # what to write in place of a part of these lines
    "X[{0}] = pd.to_numeric(X[{0}].str.replace('[,%]', '', regex=True), errors='coerce')": "X = X.with_columns(pl.col("
    "{0}).str.replace_all('[,%]', '').str.strip_chars().cast(pl.Float64, strict=False))",
    "X[{0}] = pd.to_datetime(X[{0}], format='%Y-%m-%d', errors='coerce')": "X = X.with_columns(pl.col({0}).str.to_date("
    "'%Y-%m-%d', strict=False))",
    "X.drop(columns={2})": "X.drop({2})",
    "pd.Timestamp('1900-01-01')": "datetime.date(1900, 1, 1)",
    "pd.Timestamp('2030-01-01')": "datetime.date(2030, 1, 1)",
    "pd.Timedelta(": "datetime.timedelta(",
}


def refuse_faults(domains, source_of, name_of, is_empty=False):
    """Raise if columns have no entry, or another type than their domain: all of them are named.

    Parameters
    ----------
    domains : dict
        Domains, or UNDESCRIBED, by column number.
    source_of : callable
        Gives the ColumnSource of a number, or None if it is not known.
    name_of : callable
        Gives the name of a column, or its number.
    is_empty : bool, default=False
        Whether there is no entry at all.
    """
    faults, of_polars = {}, False
    for j, domain in domains.items():
        if not isinstance(domain, Ignored) and (fault := _fault(domain, source := source_of(j), name_of(j))):
            of_polars = source is not None and source.is_of_polars
            faults.setdefault(fault, []).append((j, name_of(j)))
    if not faults:
        return
    undescribed = sorted(pair for (_, said), pairs in faults.items() if said is None for pair in pairs)
    lines = [_line(*fault, [name for _, name in pairs], of_polars) for fault, pairs in faults.items()]
    text = "X must match bounds and categories, got"
    if undescribed:
        names = abbreviated([name for _, name in undescribed])
        text = (
            "bounds must give the public range of the features, got None"
            if is_empty
            else (f"bounds must have an entry for every feature that is not in categories, got none for {names}")
        )
    if len(faults) > 1:
        text += "".join(f"\n- {found}. {line}." for found, line in lines)
    else:
        text += f". {lines[0][1]}." if undescribed else f" {lines[0][0]}. {lines[0][1]}."
    raise ValueError(text)


def read_each(read, columns, name_of):
    """The results of ``read(j)`` for columns, in order; one error for all columns that cannot be read.

    Parameters
    ----------
    read : callable
        Its errors name their column as "column 'a' of X".
    columns : iterable of int
    name_of : callable
    """
    found, faults = [], {}
    for j in columns:
        try:
            found.append(read(j))
        except ValueError as error:
            without_name = str(error).replace(f"column {quoted(name_of(j))} of X", "{0}")
            faults.setdefault(without_name, []).append(name_of(j))
    if faults:
        raise ValueError("\n".join(map(_of_columns, faults, faults.values())))
    return found


def _of_columns(message, names):
    one = f"column {quoted(names[0])} of X"
    return message.replace("{0}", one if len(names) == 1 else f"columns {abbreviated(names)} of X")


def _fault(domain, source, name):
    """The kind of a column and what it must be; None if that is the same, or can be read as such."""
    found = None if source is None else CODED if source.is_coded else source.kind
    if domain is UNDESCRIBED:
        return found, None
    said = None if source is None else described(domain)
    if said is None or source.kind in _KINDS[said] or _is_readable(source.read(f"column {quoted(name)} of X"), said):
        return None
    return found, said


def _line(found, said, names, of_polars):
    """What was found in columns, and what to write, for the first of them."""
    must = "" if said is None else f", which must be {_ANY if said == Order.of else said}"
    line = _LINES.get((found, said), _CONVERT)
    for of_pandas, in_polars in _IN_POLARS.items() if of_polars else ():
        line = line.replace(of_pandas, in_polars)
    line = line.format(quoted(names[0]), said or "numbers or text", abbreviated(names))
    return f"{found or 'no entry'} in {abbreviated(names)}{must}", line


def _is_readable(column, said):
    """Whether a column of another declared type is empty, or text of numbers."""
    return column.missing.all() or (said in (NUMBERS, Order.of) and values.are_numerals(column))


def ordered_kinds(domain):
    """The kinds allowed for a column that is ordered."""
    return () if isinstance(domain, Labels) else _KINDS[described(domain)]


def described(domain):
    """The kind of values that a domain describes."""
    if isinstance(domain, Labels):
        return values.kind_of_labels(domain.labels)
    return Order.of if domain is None else domain.of
