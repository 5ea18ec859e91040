"""``card``: a privacy card that was written as JSON, in words or as a page."""

from pathlib import Path

from skdpmic.cards.privacy_card import PrivacyCard
from skdpmic.command_line.printed import check_outputs, print_json


def execute(arguments):
    """Read a card, which may come from anybody, and print or write it."""
    check_outputs(arguments.output)
    card = PrivacyCard.from_json(Path(arguments.file).read_bytes())
    if arguments.output is not None:
        card.write(arguments.output)
    if arguments.json:
        print_json({"command": "card"} | card.fields)
    elif arguments.output is None:
        print(card)
    else:
        print(f"The card is in {arguments.output}.")
