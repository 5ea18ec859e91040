"""``template``: a codebook template."""

from skdpmic.codebook.codebook import Codebook
from skdpmic.command_line.data import open_data
from skdpmic.command_line.outputs import print_json


def execute(arguments, run):
    """Print a codebook template, or write it to a new file. No record is read."""
    source = open_data(arguments)
    text = Codebook.template(source.outline)
    run.outputs.write(output=text.encode)
    if arguments.json:
        print_json({"command": "template", "columns": source.names, "codebook": text, "file": arguments.output})
    elif arguments.output is None:
        print(text, end="")
    else:
        print(f"{len(source.names)} columns were written to {arguments.output}: fill in the blanks.")
