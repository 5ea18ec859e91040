"""What a Table Schema of Frictionless says of each column, read by the library of that name."""

import os
from decimal import Decimal
from pathlib import Path

from skdpmic.codebook.column import entry_of

_IN_ORDER = ("number", "integer", "year", "date", "datetime")  # types that a range suits
_WITH_LABELS = ("string", "number", "integer", "year")


def read_table_schema(source):
    """What a schema says.

    Parameters
    ----------
    source : str, path-like or dict
        A file, JSON or YAML, or what is in it.

    Returns
    -------
    title : str or None
    columns : dict of str to ColumnEntry
    left_out : list of str
        Columns of which it does not say enough.
    """
    frictionless = _library()
    if isinstance(source, str | os.PathLike):
        where = source = os.fspath(source)
        with Path(source).open("rb"):  # raises if it is no file; frictionless would take the address of one
            pass
    else:
        where, source = "source", dict(source)
    try:
        schema = frictionless.Schema.from_descriptor(source)
    except frictionless.FrictionlessException as error:
        raise ValueError(f"{where} must be a Table Schema, got: {error}") from None
    columns = {field.name: _entry(field, schema, where) for field in schema.fields}
    left_out = [name for name, entry in columns.items() if entry is None]
    if len(left_out) == len(columns):
        raise ValueError(
            f"{where} must say of one column at least what its values can be, by constraints minimum and maximum, or "
            f"enum, got none in {len(columns)} fields."
        )
    return schema.title, {name: entry for name, entry in columns.items() if entry is not None}, left_out


def _library():
    try:
        import frictionless
    except ImportError as error:
        raise ImportError("a Table Schema is read by frictionless: pip install skdpmic[table-schema]") from error
    return frictionless


def _entry(field, schema, where):
    """The entry of one field; None if the schema does not say enough of it."""
    values = _values(field, schema)
    if values is None:
        return None
    texts = {"unit": field.to_descriptor().get("unit"), "description": field.description or field.title}
    texts = {name: text for name, text in texts.items() if isinstance(text, str)}
    return entry_of(values | texts, f"column {field.name!r} of {where}")


def _values(field, schema):
    """The fields of a codebook that say which values a column can have."""
    constraints = field.constraints
    if schema.primary_key == [field.name] or constraints.get("unique") or _is_called_identifier(field):
        return {"type": "identifier"}
    if field.type == "boolean":
        return {"type": "boolean"}
    labels = [label for label in _labels(field) if label not in schema.missing_values]
    if len(labels) > 1 and field.type in _WITH_LABELS:
        return {"labels": _read(labels, field)}
    if field.type in _IN_ORDER and {"minimum", "maximum"} <= constraints.keys():
        return {"range": _read([constraints["minimum"], constraints["maximum"]], field)}
    return None


def _read(values, field):
    """Values in the type of the field; what is not of this type stays as it is, to be refused."""
    read = field.create_value_reader()
    pairs = [(value, read(value)) for value in values]
    return [value if cell is None else float(cell) if isinstance(cell, Decimal) else cell for value, cell in pairs]


def _is_called_identifier(field):
    """Whether its `rdfType` is that of an identifier, as of schema.org and Dublin Core."""
    return (field.rdf_type or "").endswith(("/identifier", "#identifier"))


def _labels(field):
    """Labels that are allowed: of the constraint `enum`, or else `categories`, as a later version has them."""
    categories = field.to_descriptor().get("categories", [])
    return field.constraints.get("enum") or [
        category["value"] if isinstance(category, dict) else category for category in categories
    ]
