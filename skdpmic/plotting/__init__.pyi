from .column_shares import SummaryDisplay
from .gaps import GapsDisplay
from .graphs import GraphDisplay
from .ledgers import LedgerDisplay
from .noisy_counts import NoisyCountsDisplay
from .plans import PlanDisplay
from .scores import ScoresDisplay
from .stability import StabilityDisplay

__all__ = [
    "GapsDisplay",
    "GraphDisplay",
    "LedgerDisplay",
    "NoisyCountsDisplay",
    "PlanDisplay",
    "ScoresDisplay",
    "StabilityDisplay",
    "SummaryDisplay",
]
