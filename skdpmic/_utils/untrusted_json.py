"""Untrusted JSON and other trees: not too deep, without repeated keys, with numbers that can be computed with."""

import json

MOST_LEVELS = 32


def read_json(text):
    """The value of a JSON text; a ValueError if it is not valid, repeats a key or goes too deep.

    The error may quote the text.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    for _ in levels(value):  # raises
        pass
    return value


_TOO_DEEP = f"there must be at most {MOST_LEVELS} levels of lists and tables in one another"


def levels(value):
    """All values of a tree, level by level; a ValueError if lists and dicts are nested too deeply."""
    level = [value]
    for _ in range(MOST_LEVELS):
        yield level
        parents = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [child for parent in parents for child in parent]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def _refuse(constant):
    raise ValueError(f"{constant} is not a number of JSON")


def _without_repeats(pairs):
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("keys must be distinct")
    return values
