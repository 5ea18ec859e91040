"""Dictionaries of Arrow that hold a column in an odd way."""

import pyarrow as pa


def encoded(values, dtype=None, index="int8", inside=False):
    """A dictionary, in chunks of different entries, in which missing values may be entries; one is never used."""
    chunks = []
    for part in (values[:2], values[2:]):
        entries = [*dict.fromkeys(value for value in part if value is not None), *([None] if inside else []), part[0]]
        codes = [entries.index(value) if inside or value is not None else None for value in part]
        entries = pa.array(entries if part[0] is not None or inside else entries[:-1], dtype)
        chunks.append(pa.DictionaryArray.from_arrays(pa.array(codes, pa.type_for_alias(index)), entries))
    return pa.chunked_array(chunks)
