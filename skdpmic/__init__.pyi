from . import counting, datasets, plotting
from ._utils.exceptions import BudgetError, PrivacyLeakWarning
from .budget.ledger import BudgetLedger
from .causal.private_pc import PrivatePC
from .correlation.forward_selector import DPForwardSelector
from .correlation.private_correlation import PrivateCorrelation
from .counting.sketch import RangeGridSketch
from .counting.streams import count_stream
from .planning.plan import plan_release
from .release.bounds.learnt_bounds import private_bounds
from .search.cost_of_searches import search_cost
from .search.grid_search import PrivateGridSearch
from .selection.private_score import private_score
from .selection.scorer import DPMICScorer, dp_mic_classif, dp_mic_regression
from .selection.selector import DPMICSelector
from .statistics.mic.characteristic import characteristic_matrix
from .statistics.mic.many_pairs import mic_cross, mic_pairs
from .statistics.mic.mic_e import mic_e
from .statistics.mic.mic_r import mic_r
from .statistics.mtv.mtv_r import mtv_r
from .two_party.randomized_response import RandomizedParts
from .two_party.two_party_scorer import TwoPartyScorer

__version__: str

__all__ = [
    "BudgetError",
    "BudgetLedger",
    "DPForwardSelector",
    "DPMICScorer",
    "DPMICSelector",
    "PrivacyLeakWarning",
    "PrivateCorrelation",
    "PrivateGridSearch",
    "PrivatePC",
    "RandomizedParts",
    "RangeGridSketch",
    "TwoPartyScorer",
    "characteristic_matrix",
    "count_stream",
    "counting",
    "datasets",
    "dp_mic_classif",
    "dp_mic_regression",
    "mic_cross",
    "mic_e",
    "mic_pairs",
    "mic_r",
    "mtv_r",
    "plan_release",
    "plotting",
    "private_bounds",
    "private_score",
    "search_cost",
]
