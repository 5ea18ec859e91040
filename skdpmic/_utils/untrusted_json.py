"""JSON and other trees of strangers: limited in size, in depth and in their numbers, and never quoted."""

import json
import math

MOST_LEVELS = 32
_IN_64_BITS = range(-(2**63), 2**64)


def read_json(text, most_bytes):
    """The value of a JSON text; a ValueError without its words if it is not valid, or above a limit.

    Parameters
    ----------
    text : str or bytes
    most_bytes : int
    """
    try:
        if len(text) > most_bytes:
            raise ValueError
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_without_repeats)
        check_tree(value)
        return value
    except (ValueError, RecursionError):  # whose message may quote the text
        pass
    raise ValueError(
        f"the text must be valid JSON of at most {most_bytes} bytes and {MOST_LEVELS} levels, with distinct keys and "
        "with finite numbers of at most 64 bits."
    )


def check_tree(value, most_values=math.inf):
    """Raise a ValueError if lists and dicts lie too deep in one another, hold too many values, or too large integers.

    A value that several lists hold counts as often as it is met, as it does for all who read it.
    """
    level, n_values = [value], 0
    for _ in range(MOST_LEVELS):
        if any(type(one) is int and one not in _IN_64_BITS for one in level):
            raise ValueError("integers must have at most 64 bits.")
        parents = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        n_values += sum(map(len, parents))
        if n_values > most_values:
            raise ValueError(f"there must be at most {most_values} values.")
        level = [child for parent in parents for child in parent]
        if not level:
            return
    raise ValueError(f"there must be at most {MOST_LEVELS} levels of lists and tables in one another.")


def _finite(digits):
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError
    return number


def _refuse(constant):
    raise ValueError


def _without_repeats(pairs):
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError
    return values
