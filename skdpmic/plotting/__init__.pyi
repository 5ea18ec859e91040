from .column_shares import SummaryDisplay
from .gaps import GapsDisplay
from .graphs import GraphDisplay
from .ledgers import LedgerDisplay
from .plans import PlanDisplay
from .scores import ScoresDisplay

__all__ = [
    "GapsDisplay",
    "GraphDisplay",
    "LedgerDisplay",
    "PlanDisplay",
    "ScoresDisplay",
    "SummaryDisplay",
]
