"""The unit that a guarantee protects: a record, or a person with all their records (``docs/theory/ledger.md``)."""

RECORD, PERSON = UNITS = ("record", "person")
PLURAL = {RECORD: "records", PERSON: "people"}


def unit_of(max_rows_per_group):
    """The unit of a release: people, if a limited number of rows counts for each."""
    return RECORD if max_rows_per_group is None else PERSON


def per(unit):
    """The unit after a cost; nothing if no unit is known, because nothing has been charged."""
    return "" if unit is None else f" per {unit}"
