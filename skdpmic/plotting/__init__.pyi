from .column_shares import SummaryDisplay
from .effects import EffectsDisplay
from .evaluations import EvaluationDisplay
from .gaps import GapsDisplay
from .graphs import GraphDisplay
from .ledgers import LedgerDisplay
from .plans import PlanDisplay
from .scores import ScoresDisplay

__all__ = [
    "EffectsDisplay",
    "EvaluationDisplay",
    "GapsDisplay",
    "GraphDisplay",
    "LedgerDisplay",
    "PlanDisplay",
    "ScoresDisplay",
    "SummaryDisplay",
]
