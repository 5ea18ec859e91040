"""A card as JSON, as a page of HTML, and as a paragraph."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from skdpmic.cards.card_format import check_card
from skdpmic.cards.card_html import fragment, page

SUFFIXES = (".json", ".html")


@dataclass(frozen=True, repr=False)
class PrivacyCard:
    """What a release is, and what its guarantee covers, as :func:`release_card` makes it. As text, it is a paragraph.

    It holds released and public values only, so it may be published.

    Attributes
    ----------
    fields : dict
        What the JSON holds.
    """

    fields: dict[str, Any]

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The card that `to_json` wrote. The text may come from anybody: it holds no code, and is checked.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        PrivacyCard

        Raises
        ------
        ValueError
            If it is no card, or of a version that is not known here.
        """
        try:
            fields = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):  # whose message may quote what is in the file
            raise ValueError("this is no privacy card: it cannot be read as JSON.") from None
        check_card(fields)
        return cls(fields)

    def to_json(self) -> str:
        """The card for programs, with the keys of ``docs/reference/privacy_card.md``.

        Returns
        -------
        str
        """
        return json.dumps(self.fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_html(self) -> str:
        """The card as a page that can be printed, complete in itself.

        Returns
        -------
        str
        """
        return page(self.fields)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the card to a file; one that is there is replaced.

        Parameters
        ----------
        path : str or path-like
            Ending in .json or .html.

        Raises
        ------
        ValueError
            If it ends in something else.
        """
        suffix = Path(path).suffix.lower()
        if suffix not in SUFFIXES:
            raise ValueError(f"path must end in {' or '.join(SUFFIXES)}, got {os.fspath(path)!r}.")
        text = self.to_json() if suffix == ".json" else self.to_html()
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")  # names may hold half a letter

    def __str__(self):
        return self.fields["statement"]

    def __repr__(self):
        return f"<PrivacyCard: {self}>"

    def _repr_html_(self):
        return fragment(self.fields)


def _refuse(constant):
    raise ValueError(f"{constant} is no number of JSON")
