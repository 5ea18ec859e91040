"""Arrow columns and tables in unusual layouts; a test file that imports this is skipped without pyarrow."""

import pytest

pa = pytest.importorskip("pyarrow")


class Stream:
    """An object with only the Arrow stream protocol, which counts its reads."""

    def __init__(self, data):
        self._data, self.n_reads = data, 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.n_reads += 1
        return self._data.__arrow_c_stream__(requested_schema)


def encoded(values, dtype=None, index="int8", inside=False):
    """A dictionary column in two chunks with different entries, some unused; `inside` makes null an entry."""
    chunks = []
    for part in (values[:2], values[2:]):
        entries = [*dict.fromkeys(value for value in part if value is not None), *([None] if inside else []), part[0]]
        codes = [entries.index(value) if inside or value is not None else None for value in part]
        entries = pa.array(entries if part[0] is not None or inside else entries[:-1], dtype)
        chunks.append(pa.DictionaryArray.from_arrays(pa.array(codes, pa.type_for_alias(index)), entries))
    return pa.chunked_array(chunks)
