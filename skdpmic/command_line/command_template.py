"""``template``: a codebook template."""

import os

from skdpmic.codebook.codebook import Codebook
from skdpmic.command_line.data_source import open_data
from skdpmic.command_line.printed import print_json


def execute(arguments):
    """Print a codebook template, or write it to a new file. No record is read."""
    source = open_data(arguments)
    text = Codebook.template(source.outline)
    if arguments.output is not None:
        _write_new(arguments.output, text)
    if arguments.json:
        print_json({"command": "template", "columns": source.names, "codebook": text, "file": arguments.output})
    elif arguments.output is None:
        print(text, end="")
    else:
        print(f"{len(source.names)} columns were written to {arguments.output}: fill in the blanks.")


def _write_new(path, text):
    """Write a new file; an existing one may already be filled in."""
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FileExistsError(f"{os.fspath(path)!r} already exists, and is not overwritten.") from None
