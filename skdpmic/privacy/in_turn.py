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
        Of the Laplace noise on what each feature is worth by itself that others are compared with; in grid steps.
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

    def release(self, candidates, worths, worths_beside, by_chance, random_bytes, kept=()):
        """The k features chosen, in order.

        Parameters
        ----------
        candidates : ndarray of shape (n_candidates,)
            The numbers of the features to choose from, ascending.
        worths : ndarray of shape (n_candidates,) of Python integers, or None
            In grid steps, where no feature is kept: before any is chosen.
        worths_beside : callable
            ``worths_beside(feature, taken)`` is what each candidate that was not taken is worth together with a feature
            that is kept or was chosen, ascending by number, and what that one is worth by itself; in grid steps, too.
            Asked for once for each of those but the last. What counts is how much a candidate adds to the one it adds
            least to.
        by_chance : callable
            ``by_chance(feature, taken, own)`` is how much each of them would add by chance: from public numbers and
            `own`, what that one is worth by itself, with noise.
        random_bytes : callable
            Random bytes.
        kept : sequence of int, default=()
            Features that are no candidates, and count as chosen.
        """
        remaining, chosen, compared = np.array(candidates), [], kept
        while True:
            for feature in compared:
                taken = [*kept, *chosen]
                together, alone = worths_beside(feature, taken)
                own = alone + (discrete_laplace(self._own_scale, 1, random_bytes)[0] if self._own_scale else 0)
                added = together - own - by_chance(feature, taken, own)
                worths = added if worths is None else np.minimum(worths, added)
            place = self._one_choice.choose(worths, random_bytes)
            chosen.append(int(remaining[place]))
            if len(chosen) == self.k:
                return np.array(chosen, dtype=np.int64)
            # What each is worth by itself says nothing from now on.
            worths = None if len(chosen) == 1 and not len(kept) else np.delete(worths, place)
            remaining, compared = np.delete(remaining, place), chosen[-1:]
