"""``card``: a privacy card in JSON, in words or as a page."""

from skdpmic._utils.user_files import content_of
from skdpmic.cards.privacy_card import MOST_BYTES, PrivacyCard, file_content
from skdpmic.command_line.printed import print_json


def execute(arguments, run):
    """Read an untrusted card, and print or write it."""
    card = PrivacyCard.from_json(content_of(arguments.file, MOST_BYTES))
    run.outputs.write(output=lambda: file_content(card, arguments.output))
    if arguments.json:
        print_json({"command": "card"} | card.fields)
    elif arguments.output is None:
        print(card)
    else:
        print(f"The card was written to {arguments.output}.")
