"""Progress messages of long computations, for estimators with `verbose`.

They contain the numbers of columns, pairs or fits done and in total, and the elapsed time: public numbers and time.
"""

import time

_MOST_LINES = 10  # per pass with verbose=1


class Progress:
    """Progress messages of a fit.

    Parameters
    ----------
    name : str
        Name at the start of each line.
    verbose : int, default=0
        0 prints nothing, 1 about ten lines in each pass over the columns, more prints a line at every step.
    """

    def __init__(self, name, verbose=0):
        self._name, self._verbose = name, verbose
        self._start, self._n_passes = time.monotonic(), 0

    @property
    def return_as(self):
        """How joblib returns results: as a generator if they are counted."""
        return "generator" if self._verbose else "list"

    def track(self, results, total, unit, size=None):
        """Yield the results, and print a line occasionally.

        Parameters
        ----------
        results : iterable
        total : int
            Number of units in all results.
        unit : str
            Name of the units, in the plural.
        size : callable, default=None
            Number of units in a result; None counts one per result.
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
