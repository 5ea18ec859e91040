"""Rollback of an object's attributes on errors."""

import contextlib


@contextlib.contextmanager
def rollback_on_error(thing):
    """Restore the attributes of `thing` if the block raises."""
    before = vars(thing).copy()
    try:
        yield
    except BaseException:
        vars(thing).clear()
        vars(thing).update(before)
        raise
