"""The release of an additive model: noisy tables of pairs of columns, and of each column with the target."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skdpmic.budget.filters import Cost
from skdpmic.models.parts import codes_of, n_parts_of, offsets_of
from skdpmic.models.ridge import moment_matrix, ridge
from skdpmic.models.target_steps import in_steps, sums_in_parts
from skdpmic.models.target_window import share_besides
from skdpmic.models.two_way_noise import TwoWayNoise, target_change
from skdpmic.privacy.composition import budget_of
from skdpmic.release.count_tables import counts_of_sets, with_gaussian_noise

MOST_PARTS = 4_000  # of all columns together, to limit memory and time


@dataclass(frozen=True)
class TwoWayRelease:
    """Tables of pairs of columns, counts of columns and sums of the target, in one release with Gaussian noise."""

    epsilon: float
    delta: float
    n_features: int
    is_bent: bool = False  # the axis of the target

    publishes = "tables"
    k = None
    epsilon_of_target = 0
    kind = "two-way"

    @property
    def cost(self):
        """The charge of the ledger."""
        return Cost.concentrated(self.epsilon, self.delta)

    def noise(self, n_classes, rows_per_group=1):
        """The noise."""
        rho = budget_of(self.epsilon, self.delta).part(1 - share_besides(n_classes is None, self.is_bent)).rho
        return TwoWayNoise.for_budget(rho, self.n_features, target_change(n_classes), rows_per_group)

    def draw(self, records, noise, n_jobs, random_bytes):
        """The published attributes, and the effects of all parts."""
        columns, domains = records.map_features(codes_of, n_jobs), records.domains
        sizes, progress = [n_parts_of(domain) for domain in domains], records.progress
        singles = [(j,) for j in range(len(sizes))]
        sets = list(combinations(range(len(sizes)), 2))
        exact = counts_of_sets(columns, sizes, singles) + counts_of_sets(columns, sizes, sets, n_jobs, progress)
        tables = with_gaussian_noise(exact, noise.count_variance, random_bytes)
        counts, pairs = tables[: len(sizes)], dict(zip(sets, tables[len(sizes) :], strict=True))
        values, n_steps = in_steps(records.target)
        sums = sums_in_parts(columns, sizes, values)
        (sums,) = with_gaussian_noise([sums], noise.sum_variance * n_steps**2, random_bytes)
        sums = sums / n_steps
        offsets = offsets_of(sizes)
        moments = moment_matrix(records.n_samples, counts, pairs, offsets)
        of_centred = noise.sum_scale * np.sqrt(1 - 1 / sums.shape[1]) if sums.shape[1] > 1 else noise.sum_scale
        effects = ridge(moments, _centred(sums), offsets, noise.noise_scale, of_centred)
        published = {"noisy_counts_": counts, "noisy_pairs_": pairs, "noisy_sums_": sums}
        return {"kind_": self.kind} | published, effects


def _centred(sums):
    """Sums of several classes minus their mean, so that effects are on differences from equal shares."""
    return sums - sums.mean(axis=1, keepdims=True) if sums.shape[1] > 1 else sums
