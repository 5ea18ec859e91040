from .column_shares import SummaryDisplay
from .graphs import GraphDisplay
from .ledgers import LedgerDisplay
from .models import EffectsDisplay, EvaluationDisplay
from .plans import PlanDisplay
from .scores import GapsDisplay, ScoresDisplay

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
