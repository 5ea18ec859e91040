"""A table in a Parquet file, which declares its types."""

import os

import pyarrow.parquet

from skdpmic._utils.errors import read_by_engine
from skdpmic._utils.readable import refuse_repeated
from skdpmic.command_line.spelled_values import with_durations


class ParquetFile:
    """A Parquet file.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path):
        self._name = os.path.basename(path)
        open(path, "rb").close()  # raises if it may not be read
        self._file = read_by_engine(self._name, pyarrow.parquet.ParquetFile, path)
        self.outline = self._file.schema_arrow
        self.names = self.outline.names
        refuse_repeated(self.names, f"{self._name} must have distinct column names")

    def read(self, entries, note):
        """The columns with an entry, in the order of the file; as in :meth:`CsvFile.read`."""
        names = [name for name in self.names if name in entries]
        table = read_by_engine(self._name, self._file.read, columns=names)
        note(len(table))
        return with_durations(table.select(names), entries, self._name)
