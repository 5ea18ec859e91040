"""Sketches in threads: one thread at a time counts into a sketch, while nobody reads it."""

from skdpmic._utils.rollback import in_use

_REMEDY = "count into a sketch of its own in each thread, from empty(), and merge them"


def being_read(sketch):
    """While this lasts, nothing is counted into the sketch."""
    return in_use(sketch, only_reads=True, remedy=_REMEDY)


def being_filled(sketch):
    """While this lasts, nobody else reads the sketch or counts into it."""
    return in_use(sketch, remedy=_REMEDY)
