"""Thresholds of scores: a number, or a part of the largest possible score."""

from typing import NamedTuple

from skdpmic._utils.arguments import is_number
from skdpmic._utils.texts import quoted

_POSSIBLE = "possible"


class Threshold(NamedTuple):
    """The least score of a feature that is kept."""

    value: float
    is_relative: bool = False  # whether it is a part of the largest possible score


def read_threshold(threshold):
    """The threshold of a selector, a number such as 0.2 or a text such as "0.5*possible"; a ValueError otherwise."""
    value = _part_of_possible(threshold) if isinstance(threshold, str) else threshold
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(
            "threshold must be None, a number in [0, 1], or a share of the largest possible score, such as "
            f"'0.5*possible', got {quoted(threshold)}."
        )
    return Threshold(float(value), isinstance(threshold, str))


def _part_of_possible(text):
    """The number before "*possible"; None if there is none."""
    part, _, of = text.partition("*")
    try:
        return float(part) if of.strip() == _POSSIBLE else None
    except ValueError:
        return None
