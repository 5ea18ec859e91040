"""Little work is done in numpy, so that the first fit of a small table need not wait for machine code.

Reading machine code takes a process 0.2 s, and compiling it more than 1 s. Where a kernel has a short twin in numpy,
that one does the first work of a process, with the same results, bit for bit.
"""

import contextlib


class Allowance:
    """The time that a process may spend in numpy instead of a kernel.

    Parameters
    ----------
    seconds : float
    """

    are_off = False

    def __init__(self, seconds):
        self._nanoseconds = int(seconds * 1e9)

    def covers(self, nanoseconds):
        """Whether numpy is to do what takes it about so long; to be told from shapes, which are public."""
        if self.are_off or nanoseconds > self._nanoseconds:
            return False
        self._nanoseconds -= nanoseconds
        return True


@contextlib.contextmanager
def only_kernels():
    """While this lasts, numpy does nothing in their place."""
    before, Allowance.are_off = Allowance.are_off, True
    try:
        yield
    finally:
        Allowance.are_off = before
