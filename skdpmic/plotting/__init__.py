"""Pictures of what was released. matplotlib is imported only when one is drawn."""

from skdpmic.plotting.graphs import GraphDisplay
from skdpmic.plotting.ledgers import LedgerDisplay
from skdpmic.plotting.noisy_counts import NoisyCountsDisplay
from skdpmic.plotting.plans import PlanDisplay
from skdpmic.plotting.scores import ScoresDisplay
from skdpmic.plotting.stability import StabilityDisplay

__all__ = ["GraphDisplay", "LedgerDisplay", "NoisyCountsDisplay", "PlanDisplay", "ScoresDisplay", "StabilityDisplay"]
