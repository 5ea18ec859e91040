from .budgets import LedgerDisplay, PlanDisplay
from .models import EffectsDisplay, EvaluationDisplay, GraphDisplay
from .releases import GapsDisplay, ScoresDisplay, SummaryDisplay

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
