"""Lines that say how much of a long computation is done, for estimators with `verbose`.

They tell how many columns, pairs or fits are done, of how many, and how long it took: public numbers and time.
"""

import time

_MOST_LINES = 10  # of a pass with verbose=1


class Progress:
    """What is printed while a fit goes on.

    Parameters
    ----------
    name : str
        Whose lines these are.
    verbose : int, default=0
        0 prints nothing, 1 about ten lines in each pass over the columns, more a line at every step.
    """

    def __init__(self, name, verbose=0):
        self._name, self._verbose = name, verbose
        self._start, self._n_passes = time.monotonic(), 0

    @property
    def return_as(self):
        """How joblib is to return results: those that are to be counted, as they come."""
        return "generator" if self._verbose else "list"

    def track(self, results, total, unit, size=None):
        """The results, one after the other, and a line now and then.

        Parameters
        ----------
        results : iterable
        total : int
            How many units there are in all results.
        unit : str
            What they are, in the plural.
        size : callable, default=None
            How many units a result has; None counts one for each.
        """
        if not self._verbose:
            yield from results
            return
        self._n_passes += 1
        done = 0
        for result in results:
            before, done = done, done + (1 if size is None else size(result))
            if self._verbose > 1 or before * _MOST_LINES // total < done * _MOST_LINES // total:
                self._print(f"{done}/{total} {unit}")
            yield result

    def _print(self, text):
        which = "" if self._n_passes == 1 else f"pass {self._n_passes}: "
        print(f"[{self._name}] {which}{text}, {time.monotonic() - self._start:.1f} s", flush=True)


SILENT = Progress("")
