"""Pictures of what was released. matplotlib is imported only when one is drawn."""

from skdpmic.plotting.noisy_counts import NoisyCountsDisplay
from skdpmic.plotting.stability import StabilityDisplay

__all__ = ["NoisyCountsDisplay", "StabilityDisplay"]
