"""MTVr as a statistic: total variation from independence over grids of equal parts."""

import math
from dataclasses import dataclass

from skdpmic.dependence.grid_limits import check_B, check_c
from skdpmic.dependence.mic_r import grid_size
from skdpmic.dependence.mtv_r import AgainstClasses, AgainstNumbers, CountsScorer, class_family, numeric_family
from skdpmic.privacy.sensitivity import mtv_r_sensitivity
from skdpmic.statistics.measure import Measure

_AUTO = 32.0  # B, and c: near the best for 1,000 to 10,000 records, whatever epsilon


class MtvR:
    """The largest total variation from independence over grids that depend on public bounds only."""

    name = "mtv_r"
    needs_ranges = True
    adds_up = True
    has_tables = False

    def measure(self, B, c, n, epsilon, n_classes):
        """The grids for n records, on each of whose scores epsilon is spent; B and c are the user's."""
        B, c = (_AUTO if isinstance(given, str) and given == "auto" else given for given in (B, c))
        check_B(B, n, n_classes)
        check_c(c)
        return MtvRGrids(grid_size(B, n), float(c), n_classes)

    def measure_of_any_number(self, B, c, n_parts, n_classes):
        """The grids where the number of records is open; B is a number, c may be None."""
        if n_parts is not None:
            raise ValueError(f"n_parts must be None with statistic='mtv_r', got {n_parts!r}.")
        return self.measure(B, "auto" if c is None else c, math.inf, 1.0, n_classes)


@dataclass(frozen=True)
class MtvRGrids(Measure):
    """MTVr over the grids that B and c allow."""

    B: float
    c: float
    n_classes: int | None

    @property
    def _family(self):
        if self.n_classes is None:
            return numeric_family(self.B, self.c)
        return class_family(self.B, self.c, self.n_classes)

    def sensitivity(self, n):
        """Of the score in [0, 1]."""
        return mtv_r_sensitivity(n)

    def rounding_error(self, n):
        """Of the score in [0, 1]."""
        return CountsScorer(n, self._family).rounding_error

    def scorer(self, target, source):
        """What scores features against a target."""
        if self.n_classes is None:
            return AgainstNumbers(target.values, target.bounds, self._family)
        return AgainstClasses(target.values, self._family)
