"""Choosing k features one at a time, each by its gain over those chosen before (``docs/theory/joint.md``).

The gain of a feature depends on those already chosen, so fresh noise is drawn for each choice. It has the same scale as
if all k were chosen at once.
"""

import numpy as np

from skdpmic.privacy.mechanisms import NoiseOnGrid
from skdpmic.privacy.noise import discrete_laplace
from skdpmic.privacy.top_k import OneShotTopK


class ChoicesInTurn(NoiseOnGrid):
    """Publishes only the names of k features, in the order of the choices.

    Parameters
    ----------
    at_once : OneShotTopK or ExponentialTopK
        The mechanism that would choose all k at once.
    own_scale : int
        Scale, in grid steps, of the Laplace noise on the scores by themselves that the gains of others refer to.
    """

    def __init__(self, at_once, own_scale):
        self._own_scale = own_scale
        self.k, self._one_choice = at_once.k, type(at_once)(1, at_once.scale)
        # The noise in each choice, and its effect on the difference of two scores.
        self.scale, self._law, self.margin = at_once.scale, at_once._law, at_once.margin

    @property
    def name(self):
        """For a single choice, one-sided exponential noise is equivalent to "permute-and-flip"."""
        return "permute-and-flip" if isinstance(self._one_choice, OneShotTopK) else self._one_choice.name

    def release(self, candidates, worths, worths_beside, by_chance, random_bytes, kept=()):
        """The k features chosen, in order.

        Parameters
        ----------
        candidates : ndarray of shape (n_candidates,)
            Numbers of the features to choose from, ascending.
        worths : ndarray of shape (n_candidates,) of integers, or None
            Scores by themselves, in grid steps, before any feature is chosen; None if features are kept.
        worths_beside : callable
            ``worths_beside(feature, taken)`` returns the joint scores of all candidates not taken with a feature that
            is kept or chosen, ascending by number, and the score of that feature by itself; in grid steps. It is called
            once for each of these features except the last. A candidate is judged by its smallest gain over any of
            them.
        by_chance : callable
            ``by_chance(feature, taken, own)`` returns the gains of independent candidates, from public numbers and
            `own`, the noisy score of that feature by itself.
        random_bytes : callable
            Random bytes.
        kept : sequence of int, default=()
            Features kept in any case, which count as chosen.
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
            # Scores by themselves are not used from here on.
            worths = None if len(chosen) == 1 and not len(kept) else np.delete(worths, place)
            remaining, compared = np.delete(remaining, place), chosen[-1:]
