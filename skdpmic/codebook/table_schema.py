"""The columns of a Frictionless Table Schema, read by the frictionless library."""

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from skdpmic._utils.untrusted_json import check_levels, read_json
from skdpmic._utils.user_files import content_of
from skdpmic.codebook.column import entry_of
from skdpmic.codebook.toml_text import MOST_BYTES

_IN_ORDER = ("number", "integer", "year", "date", "datetime")  # types that can have a range
_MOST_VALUES = 10**6  # of a descriptor, counted as often as YAML repeats them
_WITH_LABELS = ("string", "number", "integer", "year")


def read_table_schema(source):
    """Read the columns of a schema.

    Parameters
    ----------
    source : str, path-like or dict
        A JSON or YAML file, or its contents as a dict.

    Returns
    -------
    title : str or None
    columns : dict of str to ColumnEntry
    left_out : list of str
        Columns without a sufficient description.
    """
    frictionless = _library()
    if isinstance(source, str | os.PathLike):
        where, descriptor = os.fspath(source), _descriptor(source)
    elif isinstance(source, Mapping):
        where, descriptor = "source", dict(source)
    else:
        raise TypeError(f"source must be a path or a dict, got {type(source).__name__}.")
    try:
        check_levels(descriptor, _MOST_VALUES)
        schema = frictionless.Schema.from_descriptor(descriptor)
    except (ValueError, frictionless.FrictionlessException) as error:
        raise ValueError(f"{where} must be a Table Schema, got: {error}") from None
    columns = {field.name: _entry(field, schema, where) for field in schema.fields}
    left_out = [name for name, entry in columns.items() if entry is None]
    if len(left_out) == len(columns):
        raise ValueError(
            f"{where} must give the possible values of at least one column, by the constraints minimum and maximum or "
            f"enum, got none in {len(columns)} fields."
        )
    return schema.title, {name: entry for name, entry in columns.items() if entry is not None}, left_out


def _descriptor(path):
    """The dict in a JSON or YAML file, which need not be trusted; frictionless would accept a URL, and any size."""
    import yaml  # frictionless requires it

    content = content_of(path, MOST_BYTES)
    is_yaml = Path(path).suffix.lower() in (".yaml", ".yml")
    try:
        descriptor = yaml.safe_load(content) if is_yaml else read_json(content)
    except (ValueError, RecursionError, yaml.YAMLError):
        descriptor = None  # the message might be as long as the file
    if not isinstance(descriptor, dict):
        kind = "YAML" if is_yaml else "JSON"
        raise ValueError(f"{os.fspath(path)} must be a Table Schema, got: no valid {kind} of one.")
    return descriptor


def _library():
    try:
        import frictionless
    except ImportError as error:
        raise ImportError("reading a Table Schema requires frictionless: pip install skdpmic[table-schema]") from error
    return frictionless


def _entry(field, schema, where):
    """The entry of one field; None if its description is not sufficient."""
    values = _values(field, schema)
    if values is None:
        return None
    texts = {"unit": field.to_descriptor().get("unit"), "description": field.description or field.title}
    texts = {name: text for name, text in texts.items() if isinstance(text, str)}
    return entry_of(values | texts, f"column {field.name!r} of {where}")


def _values(field, schema):
    """The codebook fields for the possible values of a column."""
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
    """Values in the type of the field; values of other types are returned unchanged, to be refused."""
    read = field.create_value_reader()
    pairs = [(value, read(value)) for value in values]
    return [value if cell is None else float(cell) if isinstance(cell, Decimal) else cell for value, cell in pairs]


def _is_called_identifier(field):
    """Whether the `rdfType` is an identifier, as defined by schema.org or Dublin Core."""
    return (field.rdf_type or "").endswith(("/identifier", "#identifier"))


def _labels(field):
    """The allowed labels: the constraint `enum`, or else `categories`, from a later version of the standard."""
    categories = field.to_descriptor().get("categories", [])
    return field.constraints.get("enum") or [
        category["value"] if isinstance(category, dict) else category for category in categories
    ]
