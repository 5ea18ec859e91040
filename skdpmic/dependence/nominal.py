"""What kernels know of a nominal feature."""

from typing import NamedTuple


class Nominal(NamedTuple):
    """The scale of a nominal feature, whose column holds codes.

    Codes 0 ... n_labels - 1 stand for public labels, n_labels for any other label, n_labels + 1 for a missing value.
    """

    n_labels: int

    @property
    def n_parts(self):
        """Number of codes."""
        return self.n_labels + 2
