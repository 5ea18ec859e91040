from . import counting, datasets, plotting
from .accounting.searches import search_cost
from .causal.private_pc import PrivatePC
from .correlation import PrivateCorrelation
from .counting.sketch import RangeGridSketch
from .counting.streams import count_stream
from .dependence.characteristic import characteristic_matrix
from .dependence.many_pairs import mic_cross, mic_pairs
from .dependence.mic_e import mic_e
from .dependence.mic_r import mic_r
from .dependence.mtv_r import mtv_r
from .exceptions import BudgetError, PrivacyLeakWarning
from .forward import DPForwardSelector
from .learnt_bounds import private_bounds
from .pairs.mic import mic_e_laplace, mic_r_geometric, mic_r_laplace
from .pairs.mtv import mtv_r_laplace
from .pairs.ranks import (
    chatterjee_laplace,
    distance_correlation_laplace,
    kendall_laplace,
    spearman_laplace,
)
from .planning.plan import plan_release
from .privacy.ledger import BudgetLedger
from .scorer import DPMICScorer, dp_mic_classif, dp_mic_regression
from .search import PrivateGridSearch
from .selector import DPMICSelector

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
    "RangeGridSketch",
    "characteristic_matrix",
    "chatterjee_laplace",
    "count_stream",
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
]
