"""A table of records, and what is public about it."""

from typing import NamedTuple

import numpy as np


class Table(NamedTuple):
    """Records and their public bounds."""

    X: np.ndarray  # (n_samples, n_features)
    y: np.ndarray  # (n_samples,); class numbers 0 ... n_classes - 1 if the target is discrete
    lower: np.ndarray  # (n_features,), public
    upper: np.ndarray
    target_bounds: tuple | None  # public; None for a discrete target
    n_classes: int | None = None

    def columns(self, chosen):
        """The table with only these features."""
        return self._replace(X=self.X[:, chosen], lower=self.lower[chosen], upper=self.upper[chosen])

    def in_unit_square(self):
        """Features and target clipped to their bounds, and scaled to [0, 1]. Class numbers count as numbers."""
        lo, hi = self.target_bounds or (0, self.n_classes - 1)
        X = (np.clip(self.X, self.lower, self.upper) - self.lower) / (self.upper - self.lower)
        return X, (np.clip(self.y, lo, hi) - lo) / (hi - lo)
