"""All Kendall correlations of a table in one release, by Gaussian noise (``docs/theory/kendall_matrix.md``)."""

from dataclasses import dataclass

import numpy as np

from skdpmic.privacy.composition import rho_for, scale_for_rho
from skdpmic.privacy.mechanisms import gaussian_quantile
from skdpmic.privacy.noise import discrete_gaussian
from skdpmic.statistics.ranks.sensitivity import kendall_matrix_squared_sensitivity


@dataclass(frozen=True)
class NoisyConcordances:
    """Independent noise on all Kendall sums, which are integers, so that nothing is rounded.

    Parameters
    ----------
    scale : int
        Standard deviation of the noise on a sum, in pairs of records; 0 for none.
    n_pairs : int
        Of records.
    """

    scale: int
    n_pairs: int

    name = "gaussian"

    @classmethod
    def for_budget(cls, epsilon, delta, n_columns, n, rows_per_group=1):
        """The mechanism that releases the sums of so many columns and records with budget (epsilon, delta)."""
        squared_sensitivity = kendall_matrix_squared_sensitivity(n_columns, n, rows_per_group)
        return cls(scale_for_rho(rho_for(epsilon, delta), squared_sensitivity, 1), n * (n - 1) // 2)

    @property
    def noise_scale(self):
        """Standard deviation of the noise on a correlation."""
        return self.scale / self.n_pairs

    def release(self, sums, random_bytes):
        """Correlations with noise, not clamped to [-1, 1]: a float64 ndarray of the shape of `sums`."""
        noisy = sums.astype(object)
        if self.scale > 0:
            noisy = noisy + discrete_gaussian(self.scale**2, len(sums), random_bytes)
        return np.array([total / self.n_pairs for total in noisy])

    def margin(self, confidence):
        """How far a correlation with noise lies from the one without, with at least this confidence."""
        return 0.0 if self.scale == 0 else (gaussian_quantile(self.scale, confidence) + 1) / self.n_pairs
