"""The public numbers of a table, on which the sensitivity of a score may depend."""

from typing import NamedTuple


class Shape(NamedTuple):
    """The public numbers of a table."""

    n_samples: int
    domains: list
    """What kernels know of each feature: the range (lower, upper) of numbers, the number of labels of a nominal one, or
    None where a statistic needs none."""
    rows_per_group: int = 1
    """How many rows a person has, who is what is protected."""
    is_complete: bool = False
    """Whether missing values are refused, so that there is no part for them."""

    @property
    def n_features(self):
        """Number of features."""
        return len(self.domains)

    @property
    def n_groups(self):
        """Number of people."""
        return self.n_samples // self.rows_per_group
