"""The keys of a card (``docs/reference/privacy_card.md``). Within a version, keys are only added."""

import sys

FORMAT, VERSION = "skdpmic privacy card", 2

_NUMBER, _OR_NONE = (int, float), type(None)
_COST = {"epsilon": _NUMBER, "delta": _NUMBER}
_ENTRY = {"what": (str,), "when": (str,), **_COST, "purpose": (str, _OR_NONE), "unit": (str,)}
KEYS = {
    "format": (str,),
    "version": (int,),
    "package": {"name": (str,), "version": (str,)},
    "by": (str,),
    "statement": (str,),
    "private": (bool,),
    "broken_by": [(str,)],
    "why_broken": [(str,)],
    "published": {
        "what": (str,),
        "statistic": (str, _OR_NONE),
        "mechanism": (str,),
        "facts": [{"name": (str,), "text": (str,)}],
        "table": ({"unit": (str,), "columns": [(str,)], "rows": [[(str,)]], "n_rows": (int,)}, _OR_NONE),
    },
    "guarantees": [
        {
            "of": (str, _OR_NONE),
            "model": (str,),
            "epsilon": (*_NUMBER, _OR_NONE),
            "delta": _NUMBER,
            "epsilon_of_target": (*_NUMBER, _OR_NONE),
            "unit": (str,),
            "n": (int, _OR_NONE),
            "rows_per_person": (int, _OR_NONE),
            "neighbours": (str,),
        }
    ],
    "public": [(str,)],
    "not_covered": [(str,)],
    "ledger": (
        {
            "composition": (str,),
            "unit": (str,),
            "max_rows_per_person": (int, _OR_NONE),
            **dict.fromkeys(("limit", "spent", "remaining"), _COST),
            "entries": [_ENTRY],
        },
        _OR_NONE,
    ),
}


def check_card(fields):
    """Raise unless these are the fields of a card that this version reads. Unknown keys are allowed."""
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ValueError("text must be a privacy card of skdpmic.")
    if fields.get("version") != VERSION:
        version = fields.get("version")
        written = version if isinstance(version, int) else type(version).__name__
        raise ValueError(
            f"the card has version {written}, but this version of skdpmic reads {VERSION}: ask for one of that version."
        )
    _check(fields, KEYS, "the card")


def _check(value, expected, where):
    if isinstance(expected, tuple):
        if not any(_is(value, kind) for kind in expected):
            raise ValueError(f"{where} is damaged: it contains {type(value).__name__}.")
        expected = next((kind for kind in expected if isinstance(kind, dict)), None)
        if value is None or expected is None:
            return
    elif not _is(value, expected):
        raise ValueError(f"{where} is damaged: it contains {type(value).__name__}.")
    if isinstance(expected, list):
        for item in value:
            _check(item, expected[0], where)
        return
    for name, of_name in expected.items():
        if name not in value:
            raise ValueError(f"{where} is damaged: it lacks {name!r}.")
        _check(value[name], of_name, f"{name!r} of the card")


def _is(value, kind):
    if isinstance(kind, dict | list):
        return isinstance(value, type(kind))
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool)) and _is_float(value)


def _is_float(value):
    """Whether a number is in the range of floats; true for other values."""
    return not isinstance(value, int | float) or abs(value) <= sys.float_info.max
