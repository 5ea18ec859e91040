"""Small jobs run in numpy, so that the first fit to a small table does not wait for machine code.

Loading machine code takes 0.2 s per process, and compiling it more than 1 s. If a kernel has a numpy twin, the twin
does the first work of a process, with the same results, bit for bit.
"""

import contextlib

_NANOSECONDS_PER_CALL = 1000  # of numpy, however little it does


class Allowance:
    """Time that a process may spend in numpy instead of a kernel.

    Parameters
    ----------
    seconds : float
    """

    is_off = False

    def __init__(self, seconds):
        self._nanoseconds = int(seconds * 1e9)

    def covers(self, n_calls, nanoseconds):
        """Whether numpy should do a job of about this many calls and this length beside them.

        Both are estimated from shapes, which are public.
        """
        nanoseconds += n_calls * _NANOSECONDS_PER_CALL
        if self.is_off or nanoseconds > self._nanoseconds:
            return False
        self._nanoseconds -= nanoseconds
        return True


@contextlib.contextmanager
def only_kernels():
    """Use kernels only, never their numpy twins, within this context."""
    before, Allowance.is_off = Allowance.is_off, True
    try:
        yield
    finally:
        Allowance.is_off = before
