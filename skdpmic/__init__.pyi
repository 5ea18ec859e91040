from . import causal, correlation, counting, datasets, plotting, two_party
from ._utils.texts import BudgetError, PrivacyLeakWarning
from .budget.ledger import BudgetLedger
from .cards.release_card import release_card
from .codebook.codebook import Codebook
from .models.additive import PrivateAdditiveClassifier, PrivateAdditiveRegressor
from .models.evaluation import private_evaluation
from .planning.plan import plan_release
from .preprocessing.public_encoder import PublicEncoder
from .release.bounds import private_bounds
from .release.summary import private_summary
from .search.costs import search_cost
from .search.grid_search import PrivateGridSearch
from .selection.private_score import private_score
from .selection.selectors import DPMICScorer, DPMICSelector, PrivateSelectKBest, dp_mic_classif, dp_mic_regression
from .statistics.mic.characteristic import characteristic_matrix, mic_e
from .statistics.mic.many_pairs import mic_cross, mic_pairs
from .statistics.mic.mic_r import mic_r
from .statistics.mtv.mtv_r import mtv_r

__version__: str

__all__ = [
    "BudgetError",
    "BudgetLedger",
    "Codebook",
    "DPMICScorer",
    "DPMICSelector",
    "PrivacyLeakWarning",
    "PrivateAdditiveClassifier",
    "PrivateAdditiveRegressor",
    "PrivateGridSearch",
    "PrivateSelectKBest",
    "PublicEncoder",
    "causal",
    "characteristic_matrix",
    "correlation",
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
    "private_evaluation",
    "private_score",
    "private_summary",
    "release_card",
    "search_cost",
    "two_party",
]
