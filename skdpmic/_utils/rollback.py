"""An object is as it was before what failed."""

import contextlib


@contextlib.contextmanager
def rollback_on_error(thing):
    """Give `thing` back the attributes that it had before, if the block raises."""
    before = vars(thing).copy()
    try:
        yield
    except BaseException:
        vars(thing).clear()
        vars(thing).update(before)
        raise
