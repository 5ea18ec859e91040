from . import causal, correlation, counting, datasets, plotting, two_party
from ._utils.exceptions import BudgetError, PrivacyLeakWarning
from .budget.ledger import BudgetLedger
from .pairs.conditional import conditional_kendall_laplace, conditional_spearman_laplace
from .pairs.mic import mic_e_laplace, mic_r_geometric, mic_r_laplace
from .pairs.mtv import mtv_r_laplace
from .pairs.ranks import (
    chatterjee_laplace,
    distance_correlation_laplace,
    kendall_laplace,
    spearman_laplace,
)
from .planning.plan import plan_release
from .release.bounds.learnt_bounds import private_bounds
from .search.cost_of_searches import search_cost
from .search.grid_search import PrivateGridSearch
from .selection.scorer import DPMICScorer, dp_mic_classif, dp_mic_regression
from .selection.select_k_best import PrivateSelectKBest
from .selection.selector import DPMICSelector
from .statistics.mic.characteristic import characteristic_matrix
from .statistics.mic.many_pairs import mic_cross, mic_pairs
from .statistics.mic.mic_e import mic_e
from .statistics.mic.mic_r import mic_r
from .statistics.mtv.mtv_r import mtv_r

__version__: str

__all__ = [
    "BudgetError",
    "BudgetLedger",
    "DPMICScorer",
    "DPMICSelector",
    "PrivacyLeakWarning",
    "PrivateGridSearch",
    "PrivateSelectKBest",
    "causal",
    "characteristic_matrix",
    "chatterjee_laplace",
    "conditional_kendall_laplace",
    "conditional_spearman_laplace",
    "correlation",
    "counting",
    "datasets",
    "distance_correlation_laplace",
    "dp_mic_classif",
    "dp_mic_regression",
    "kendall_laplace",
    "mic_cross",
    "mic_e",
    "mic_e_laplace",
    "mic_pairs",
    "mic_r",
    "mic_r_geometric",
    "mic_r_laplace",
    "mtv_r",
    "mtv_r_laplace",
    "plan_release",
    "plotting",
    "private_bounds",
    "search_cost",
    "spearman_laplace",
    "two_party",
]
