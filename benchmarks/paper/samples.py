"""Samples of the 189 distributions of Section 5.1, each with its MIC*."""

from functools import lru_cache

from benchmarks.paper.mechanisms import Pair
from benchmarks.store import seed_of
from skdpmic.datasets import load_mic_star, relationship

UNIT = ((0, 1), (0, 1))
QUICK_R2 = {f"F{i}": round(0.1 + 0.4 * (i % 3), 1) for i in range(1, 22)}  # 0.1, 0.5 or 0.9


def distributions(quick):
    """(name, R²) of the distributions in increasing order of MIC*: 189, or one of each relationship."""
    mic_star = load_mic_star()
    keys = sorted(mic_star, key=mic_star.get)
    return [key for key in keys if QUICK_R2[key[0]] == key[1]] if quick else keys


@lru_cache(maxsize=64)
def sample(name, r2, n, run):
    """The same for all mechanisms, which are thus compared on the same data."""
    points = relationship(name, r2).sample(n, seed_of((name, r2, n, run)))
    return Pair(points[:, 0].copy(), points[:, 1].copy(), UNIT)
