from .randomized_response import RandomizedResponse
from .two_party_scorer import TwoPartyScorer

__all__ = ["RandomizedResponse", "TwoPartyScorer"]
