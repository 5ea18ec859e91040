"""Choosing k features one after the other, each by what it adds to those before it (``docs/theory/joint.md``).

What a feature adds depends on those that were chosen, so noise is drawn anew for each choice. It has the scale that it
has where all k are chosen at once.
"""

import numpy as np

from skdpmic.privacy.mechanisms import NoiseOnGrid
from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.top_k import OneShotTopK


class ChoicesInTurn(NoiseOnGrid):
    """Publishes k features in the order in which they were chosen, and nothing else.

    Parameters
    ----------
    at_once : OneShotTopK or ExponentialTopK
        What would choose all k of them at once.
    own_scale : int
        Of the Laplace noise on what each feature but the last that was chosen is worth by itself; in grid steps.
    """

    def __init__(self, at_once, own_scale):
        self._own_scale = own_scale
        self.k, self._one_choice = at_once.k, type(at_once)(1, at_once.scale)
        # The noise in each choice, and how far it moves two scores against one another there.
        self.scale, self._law, self.margin = at_once.scale, at_once._law, at_once.margin

    @property
    def name(self):
        """One-sided exponential noise, drawn for one choice, chooses like "permute-and-flip"."""
        return "permute-and-flip" if isinstance(self._one_choice, OneShotTopK) else self._one_choice.name

    def release(self, worths, worths_beside, random_bytes):
        """Indices of the k features chosen, in order.

        Parameters
        ----------
        worths : ndarray of shape (n_features,) of Python integers
            In grid steps, before any feature is chosen.
        worths_beside : callable
            ``worths_beside(feature, chosen)`` is what each feature that was not chosen is worth together with one that
            was, in ascending order, and what that one is worth by itself; in grid steps, too. Asked for once for each
            feature that was chosen but the last. What counts is how much a feature adds to the one it adds least to.
        random_bytes : callable
            Random bytes.
        """
        remaining, chosen = np.arange(len(worths)), []
        least = worths
        while True:
            place = self._one_choice.choose(least, random_bytes)
            chosen.append(int(remaining[place]))
            remaining, least = np.delete(remaining, place), np.delete(least, place)
            if len(chosen) == self.k:
                return np.array(chosen, dtype=np.int64)
            together, alone = worths_beside(chosen[-1], chosen)
            added = together - (alone + self._own_noise(random_bytes))
            least = added if len(chosen) == 1 else np.minimum(least, added)

    def _own_noise(self, random_bytes):
        return discrete_laplace(self._own_scale, 1, random_bytes)[0] if self._own_scale else 0
