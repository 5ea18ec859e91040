"""``card``: a privacy card in JSON, in words or as a page."""

from pathlib import Path

from skdpmic.cards.privacy_card import PrivacyCard
from skdpmic.command_line.printed import check_outputs, print_json


def execute(arguments):
    """Read an untrusted card, and print or write it."""
    check_outputs(arguments.output)
    card = PrivacyCard.from_json(Path(arguments.file).read_bytes())
    if arguments.output is not None:
        card.write(arguments.output)
    if arguments.json:
        print_json({"command": "card"} | card.fields)
    elif arguments.output is None:
        print(card)
    else:
        print(f"The card was written to {arguments.output}.")
