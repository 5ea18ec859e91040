"""Choosing k features without publishing a score: the one-shot mechanism (``docs/theory/top_k.md``)."""

import numpy as np

from skdpmic.privacy.mechanisms import GRID, scale_for_budget, to_grid
from skdpmic.privacy.noise import geometric


class OneShotTopK:
    """Adds one-sided geometric noise to every score and publishes which k are the largest, in order.

    Parameters
    ----------
    k : int
    scale : int
        Scale of the noise in grid steps; 0 for none.
    """

    def __init__(self, k, scale):
        self.k = k
        self.scale = scale

    @classmethod
    def for_budget(cls, epsilon, k, steps):
        """The mechanism with budget `epsilon` for scores of sensitivity `steps`: scale 2 k steps / epsilon."""
        return cls(k, scale_for_budget(epsilon, 2 * k * steps))

    @property
    def noise_scale(self):
        """Scale of the noise as a score."""
        return self.scale * GRID

    def release(self, scores, source):
        """Indices of the k largest noisy scores, largest first, ties broken by index. Nothing else is published."""
        if self.scale == 0:
            return np.argsort(-scores, kind="stable")[: self.k]
        noisy = to_grid(scores) + geometric(self.scale, len(scores), source)
        return np.array(sorted(range(len(noisy)), key=lambda i: -noisy[i])[: self.k], dtype=np.int64)
