"""One column of a codebook: what its values can be, and what they mean."""

import datetime
from dataclasses import dataclass, replace

import numpy as np

from skdpmic._utils.readable import is_date
from skdpmic.table.bounds import axis_of
from skdpmic.table.dates import DATES, DURATIONS, NUMBERS
from skdpmic.table.features import labels_of

NUMBER, DATE, DURATION, LABELS, BOOLEAN = "number", "date", "duration", "labels", "boolean"
IDENTIFIER, TEXT = "identifier", "text"
KINDS = (NUMBER, DATE, DURATION, LABELS, BOOLEAN, IDENTIFIER, TEXT)
UNITS_OF_TIME = ("weeks", "days", "hours", "minutes", "seconds")  # of a duration in a file, which has no type for it
_FIELDS = ("type", "range", "scale", "knots", "labels", "unit", "description")
_VALUES = ("range", "knots", "labels")  # of which a column has one, at most
_FARTHEST = 2.0**43  # seconds, of which numpy can count all microseconds
_KIND_OF_AXIS = {NUMBERS: NUMBER, DATES: DATE, DURATIONS: DURATION}


@dataclass(frozen=True)
class ColumnEntry:
    """What is public about one column.

    Parameters
    ----------
    kind : {"number", "date", "duration", "labels", "boolean", "identifier", "text"}
    bounds : tuple, default=None
        Of numbers, dates and durations: an entry of `bounds`, as estimators take it.
    labels : tuple, default=None
        The public labels.
    unit, description : str, default=None
        The unit of a duration is that in which a file has it.
    """

    kind: str
    bounds: tuple | None = None
    labels: tuple | None = None
    unit: str | None = None
    description: str | None = None

    @property
    def is_used(self):
        """Whether anything is ever computed from the column."""
        return self.kind not in (IDENTIFIER, TEXT)

    @property
    def public_labels(self):
        """An entry of `categories`, or `classes`, as estimators take it."""
        return [0, 1] if self.kind == BOOLEAN else list(self.labels)

    def fields(self):
        """What a file says of it, by name of a field."""
        texts = {"unit": self.unit, "description": self.description}
        return {"type": self.kind} | self._values() | {name: text for name, text in texts.items() if text is not None}

    def _values(self):
        if self.labels is not None:
            return {"labels": list(self.labels)}
        if self.bounds is None:
            return {}
        values, further = list(self.bounds), {}
        if values[-1:] == ["log"]:
            values, further = values[:2], {"scale": "log"}
        if self.kind == DURATION:
            values = [_count(value, self.unit) for value in values]
        return {"range" if len(values) == 2 else "knots": values} | further


def entry_of(given, where):
    """The entry that a user, or a file, gives for a column.

    Parameters
    ----------
    given : tuple, list, str or dict
        A tuple is a range or knots, as in `bounds`; a list holds labels, as in `categories`; a text is a type that
        needs nothing more; a dict has the fields of a file.
    where : str
        What an error is to call the column.

    Returns
    -------
    ColumnEntry
    """
    if isinstance(given, ColumnEntry):
        return given
    if isinstance(given, dict):
        return _of_fields(given, where)
    if isinstance(given, tuple):
        return _of_bounds(given, where)
    if isinstance(given, list):
        return ColumnEntry(LABELS, labels=_labels(given, where))
    if isinstance(given, str) and given in (BOOLEAN, IDENTIFIER, TEXT):
        return ColumnEntry(given)
    raise ValueError(
        f"{where} must be a tuple (a range or knots), a list (of labels), 'boolean', 'identifier', 'text' or a dict of "
        f"{list(_FIELDS)}, got {given!r}."
    )


def _of_bounds(bounds, where):
    axis = axis_of(bounds, f"the range of {where}")
    plain = tuple(_as_python(value) for value in bounds)
    kind = _KIND_OF_AXIS[axis.of]
    if kind != NUMBER and (max(map(abs, axis.bounds)) > _FARTHEST or not all(map(is_date, plain))):
        raise ValueError(f"the range of {where} must be of what Python can hold, years 1 to 9999, got {bounds!r}.")
    return ColumnEntry(kind, bounds=plain, unit=_unit_in_use(plain) if kind == DURATION else None)


def _as_python(value):
    """A number, a date or a duration as one of Python's; dates in UTC, without the time if that is midnight."""
    if hasattr(value, "to_numpy"):  # of pandas
        value = value.to_numpy()
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = value.astype(f"{value.dtype.kind}8[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
        return value.date() if value.time() == datetime.time() else value
    return value if isinstance(value, int | float | str) or is_date(value) else float(value)


def _labels(given, where):
    if not all(map(np.isscalar, given)):
        raise ValueError(f"the labels of {where} must be texts or numbers, got {given!r}.")
    labels_of(list(given), f"the labels of {where}")  # raises
    return tuple(_as_python(label) for label in given)


# --- As a file has it -------------------------------------------------------------------------------------------------


def _of_fields(fields, where):
    _check_names(fields, where)
    texts = {name: _text(fields.get(name), f"{name} of {where}") for name in ("unit", "description")}
    entry = _of_values(fields, where)
    kind = fields.get("type", entry.kind)
    if kind != entry.kind:
        raise ValueError(f"the type of {where} must be {entry.kind!r} with these values, got {kind!r}.")
    unit = texts["unit"] or entry.unit
    if kind == DURATION:
        _check_unit(unit, where)
    return replace(entry, unit=unit, description=texts["description"])


def _check_names(fields, where):
    unknown = [name for name in fields if name not in _FIELDS]
    if unknown:
        are_names = any(isinstance(fields[name], dict) for name in unknown)
        advice = ". A name with a dot is to be in quotes" if are_names else ""
        raise ValueError(f"{where} must have fields among {list(_FIELDS)}, got others, {unknown}{advice}.")
    kind = fields.get("type", NUMBER)
    if kind not in KINDS:
        raise ValueError(f"the type of {where} must be one of {list(KINDS)}, got {kind!r}.")
    if "scale" in fields and (fields["scale"] not in ("linear", "log") or "range" not in fields):
        raise ValueError(f"the scale of {where} must be 'linear' or 'log', of a range, got {fields['scale']!r}.")


def _of_values(fields, where):
    kind = fields.get("type")
    values = {name: fields[name] for name in _VALUES if name in fields and not _is_blank(fields[name])}
    if kind in (BOOLEAN, IDENTIFIER, TEXT) and not values:
        return ColumnEntry(kind)
    if len(values) != 1:
        wanted = {LABELS: "labels", None: "a type, range, knots or labels"}.get(kind, "range or knots")
        blank = [f"{name} left blank" for name in _VALUES if name in fields]
        got = " and ".join(list(values) or blank) or "none"
        raise ValueError(f"{where} must have {wanted}, got {got}.")
    ((name, value),) = values.items()
    if not isinstance(value, list | tuple):
        raise ValueError(f"the {name} of {where} must be a list, got {value!r}.")
    if name == "labels":
        return ColumnEntry(LABELS, labels=_labels(value, where))
    if name == "range" and len(value) != 2:
        raise ValueError(f"the range of {where} must be [lower, upper], got {value!r}: three or more are knots.")
    if name == "knots" and len(value) < 3:
        raise ValueError(f"the knots of {where} must be three or more, got {value!r}: two are a range.")
    if any(isinstance(end, str) for end in value):
        raise ValueError(f"the {name} of {where} must be numbers or dates, not in quotes, got {value!r}.")
    if kind == DURATION:
        value = _durations(value, fields.get("unit"), where)
    return _of_bounds((*value, "log") if fields.get("scale") == "log" else tuple(value), where)


def _is_blank(value):
    return isinstance(value, list | tuple | str) and len(value) == 0


def _text(value, name):
    if value is not None and not isinstance(value, str):
        raise ValueError(f"the {name} must be a text, got {value!r}.")
    return value or None


# --- Durations, of which a file has the number of units ---------------------------------------------------------------


def _durations(values, unit, where):
    if all(map(is_date, values)):
        return values
    _check_unit(unit, where)
    try:
        values = [_as_python(value) for value in values]
        return [value if is_date(value) else datetime.timedelta(**{unit: value}) for value in values]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"the range of {where} must hold numbers of {unit}, got {values!r}.") from None


def _check_unit(unit, where):
    if unit not in UNITS_OF_TIME:
        raise ValueError(f"the unit of {where}, a duration, must be one of {list(UNITS_OF_TIME)}, got {unit!r}.")


def _unit_in_use(durations):
    """The longest unit of which all are whole numbers; or seconds."""
    is_whole = {unit: not any(value % datetime.timedelta(**{unit: 1}) for value in durations) for unit in UNITS_OF_TIME}
    return next((unit for unit in UNITS_OF_TIME if is_whole[unit]), "seconds")


def _count(duration, unit):
    count = duration / datetime.timedelta(**{unit: 1})
    return int(count) if count.is_integer() else count
