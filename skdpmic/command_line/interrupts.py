"""Ctrl-C, and requests to end: they stop a command at once, but wait for a result that has been paid for."""

import contextlib
import os
import signal
import threading

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_TOLD = b"\nThe budget is charged: the result is finished and shown first. Press Ctrl-C again to lose it.\n"


class Interrupts:
    """Signals that came while a command ran.

    Attributes
    ----------
    number : int or None
        The last signal.
    is_paid : bool
        Whether a cost has been charged.
    """

    def __init__(self):
        self.number, self.is_paid, self._waits = None, False, False

    @contextlib.contextmanager
    def handled(self):
        """While this lasts, a signal raises KeyboardInterrupt, so that files are tidied up, or waits."""
        before = {}
        try:
            if threading.current_thread() is threading.main_thread():  # others cannot
                for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
                    if signal.getsignal(number) not in (signal.SIG_IGN, None):  # as in the background, or by nohup
                        before[number] = signal.signal(number, self._arrived)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def paying(self):
        """A charge, in the middle of which nothing is interrupted; nor afterwards, if it succeeds."""
        if self.number is not None:  # a library has ignored the KeyboardInterrupt
            raise KeyboardInterrupt
        self._waits = True
        try:
            yield
            self.is_paid = True
        finally:
            self._waits = self.is_paid

    def _arrived(self, number, frame):
        is_first, self.number = self.number is None, number
        if not (self._waits and is_first):
            raise KeyboardInterrupt
        with contextlib.suppress(OSError):
            os.write(2, _TOLD)  # print may be in the middle of a line
