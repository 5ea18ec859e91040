"""Random identities of what sketches have counted, so that a merge notices counts that it already contains.

A sketch gets an identity with its first record, not before: copies of an empty sketch, filled elsewhere, differ. Copies
of a filled one, and everything they are merged into, share its identity. Identities come from the operating system, so
they tell nothing about records; two counts of the same rows have two identities.
"""

import heapq
import os

_SIZE = 16  # bytes, so that no two are equal by chance
MOST = 4096  # in a sketch; of more, the smallest are known, so that two large merges still know the same ones


def new_part():
    """The identity of a new count, in a set."""
    return frozenset([os.urandom(_SIZE)])


def united(here, there):
    """The identities in two sets, at most ``MOST``; a ValueError if some are in both."""
    if not here.isdisjoint(there):
        raise ValueError(
            "sketches must have no counts in common to be merged, or records would count twice, got the same sketch, a "
            "copy, or merged ones that contain the same sketch: merge each sketch once."
        )
    return frozenset(heapq.nsmallest(MOST, here | there))


def checked_parts(parts):
    """Identities from a file, in a set; a ValueError or TypeError if there are more than ``MOST``, or others."""
    parts = frozenset(parts)
    if len(parts) > MOST or any(len(part) != _SIZE for part in parts):
        raise ValueError
    return parts
