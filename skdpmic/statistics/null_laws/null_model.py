"""The data that a fitted estimator keeps for p-values, and their computation: public numbers only."""

import numbers
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from skdpmic._utils.arguments import check_whole, is_auto
from skdpmic.table.domains import Nominal


@dataclass(frozen=True, eq=False)
class NullModel:
    """The data for p-values, besides the scores and the noise.

    Parameters
    ----------
    measure : Measure
    n_samples : int
    rows_per_group : int
    n_labels : int ndarray of shape (n_features,)
        Number of labels of nominal features; 0 for numbers.
    is_untied : bool ndarray of shape (n_features,)
        Whether there are no ties; False with noise, when this is unknown.
    """

    measure: object
    n_samples: int
    rows_per_group: int
    n_labels: np.ndarray
    is_untied: np.ndarray

    @classmethod
    def of_shape(cls, measure, shape, is_untied=False):
        """The model from a measure and the public numbers of a table."""
        n_labels = [domain.n_labels if isinstance(domain, Nominal) else 0 for domain in shape.domains]
        is_untied = np.broadcast_to(is_untied, len(n_labels))
        return cls(measure, shape.n_samples, shape.rows_per_group, np.array(n_labels), is_untied)

    def p_values(self, scores, noise, n_resamples, random_state):
        """The p-value of each score, of shape (n_features,).

        Parameters
        ----------
        scores : ndarray of shape (n_features,)
            Released noisy scores.
        noise : frozen law of scipy.stats or None
            None without noise.
        n_resamples, random_state
            Of simulations.
        """
        if self.rows_per_group > 1:
            raise AttributeError(
                "p_values requires independent records, which several rows of one person are not: fit with "
                f"max_rows_per_group=1, got {self.rows_per_group}."
            )
        n_resamples = _enough(n_resamples, len(scores))
        p_values, seed = np.empty(len(scores)), _seed_of(random_state)
        for n_labels, is_untied in set(zip(self.n_labels.tolist(), self.is_untied.tolist(), strict=True)):
            of_kind = (self.n_labels == n_labels) & (self.is_untied == is_untied)
            law = self.measure.null_law(self.n_samples, n_labels or None)
            law = law.of_strict_ranks() if is_untied else law
            p_values[of_kind] = law.p_values(scores[of_kind], noise, n_resamples, seed)
        return p_values


def _enough(n_resamples, n_features):
    """The requested number of simulations; "auto" resolves the p-values that a false discovery rate compares."""
    if is_auto(n_resamples):
        return 9_999 if n_features <= 100 else 99_999
    check_whole(n_resamples, "n_resamples")
    return int(n_resamples)


def _seed_of(random_state):
    """A seed for caching simulations: that of the user, or one drawn by a generator."""
    is_seed = isinstance(random_state, numbers.Integral) and random_state >= 0
    return int(random_state) if is_seed else check_random_state(random_state).randint(2**31)
