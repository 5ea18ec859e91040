"""A table of noise scales at epsilon = 1, for MICr scores and for names by MTVr: python benchmarks/noise.py."""

from skdpmic.privacy.mechanisms import grid_sensitivity
from skdpmic.release.kinds import BestFeatures
from skdpmic.statistics.sensitivity import binary_mi_sensitivity, mtv_r_sensitivity

ROWS = (1000, 5000, 20_000, 100_000, 1_000_000)


def table():
    lines = []
    for n in ROWS:
        scales = [factor * binary_mi_sensitivity(n) for factor in (1, 10, 100)]
        steps = grid_sensitivity(mtv_r_sensitivity(n, knows_target_shares=True), 0)
        scales.append(BestFeatures(1.0, 0.0, 5, spends_on_target=True).noise_for(steps).noise_scale)
        lines.append(" | ".join([f"| {n:,}", *(f"{scale:.2g}" for scale in scales)]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
