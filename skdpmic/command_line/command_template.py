"""``template``: a codebook to be filled in."""

import os

from skdpmic.codebook.codebook import Codebook
from skdpmic.command_line.data_source import open_data
from skdpmic.command_line.printed import print_json


def execute(arguments):
    """Print a codebook with blanks, or write it to a new file. No record is read."""
    source = open_data(arguments)
    text = Codebook.template(source.outline)
    if arguments.output is not None:
        _write_new(arguments.output, text)
    if arguments.json:
        print_json({"command": "template", "columns": source.names, "codebook": text, "file": arguments.output})
    elif arguments.output is None:
        print(text, end="")
    else:
        print(f"{len(source.names)} columns are in {arguments.output}: fill in the blanks.")


def _write_new(path, text):
    """Write a file that is not there yet, as somebody may have filled in an earlier one."""
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FileExistsError(f"{os.fspath(path)!r} is there already, and is not overwritten.") from None
