"""A card as JSON, as an HTML page, and as a paragraph."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skdpmic._utils.texts import escaped, wrapped
from skdpmic._utils.user_files import write_whole
from skdpmic.cards.card_html import fragment, page

SUFFIXES = (".json", ".html")


@dataclass(frozen=True, repr=False)
class PrivacyCard:
    """Privacy card of a release, returned by :func:`release_card`; its str is a paragraph.

    It contains only released and public values, so it may be published.

    Attributes
    ----------
    fields : dict
        Contents of the JSON.

    Examples
    --------
    >>> import numpy as np
    >>> from skdpmic import private_summary, Codebook, release_card
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": np.random.default_rng(0).uniform(20, 90, 1000)})
    >>> card = release_card(private_summary(frame, Codebook({"age": (0, 110)}), epsilon=1))
    >>> str(card)[:49]
    'Published under differential privacy with ε = 1, '
    """

    fields: dict[str, Any]

    def to_json(self) -> str:
        """Return the card as JSON, with the keys of ``docs/reference/privacy_card.md``.

        Returns
        -------
        str
        """
        text = json.dumps(self.fields, indent=2, ensure_ascii=False, allow_nan=False)
        return escaped(text, but="\n", written=lambda letter: json.dumps(letter)[1:-1]) + "\n"

    def to_html(self) -> str:
        """Return the card as a self-contained HTML page, which can be printed.

        Returns
        -------
        str
        """
        return page(self.fields)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the card to a file, replacing an existing one at once.

        Parameters
        ----------
        path : str or path-like
            Path of a file ending in .json or .html.

        Raises
        ------
        ValueError
            If the path has another ending.
        """
        write_whole(path, file_content(self, path))

    def __str__(self):
        return wrapped(escaped(self.fields["statement"]))

    def __repr__(self):
        return wrapped(f"<PrivacyCard: {escaped(self.fields['statement'])}>")

    def _repr_html_(self):
        return fragment(self.fields)


def file_content(card, path):
    """The bytes of the file of a card, in the format of its ending."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"path must end in {' or '.join(SUFFIXES)}, got {os.fspath(path)!r}.")
    text = card.to_json() if suffix == ".json" else card.to_html()
    return text.encode("utf-8", errors="backslashreplace")  # names may contain lone surrogates
