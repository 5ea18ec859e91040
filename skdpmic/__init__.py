"""Feature selection under differential privacy, by private Maximal Information Coefficients."""

from skdpmic.accounting.searches import search_cost
from skdpmic.correlation import PrivateCorrelation
from skdpmic.counting.sketch import RangeGridSketch
from skdpmic.counting.streams import count_stream
from skdpmic.dependence.characteristic import characteristic_matrix
from skdpmic.dependence.many_pairs import mic_cross, mic_pairs
from skdpmic.dependence.mic_e import mic_e
from skdpmic.dependence.mic_r import mic_r
from skdpmic.dependence.mtv_r import mtv_r
from skdpmic.exceptions import BudgetError, PrivacyLeakWarning
from skdpmic.forward import DPForwardSelector
from skdpmic.learnt_bounds import private_bounds
from skdpmic.pairs.mic import mic_e_laplace, mic_r_geometric, mic_r_laplace
from skdpmic.pairs.mtv import mtv_r_laplace
from skdpmic.pairs.ranks import (
    chatterjee_laplace,
    distance_correlation_laplace,
    kendall_laplace,
    spearman_laplace,
)
from skdpmic.planning.plan import plan_release
from skdpmic.privacy.ledger import BudgetLedger
from skdpmic.scorer import DPMICScorer, dp_mic_classif, dp_mic_regression
from skdpmic.search import PrivateGridSearch
from skdpmic.selector import DPMICSelector

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "BudgetLedger",
    "DPForwardSelector",
    "DPMICScorer",
    "DPMICSelector",
    "PrivacyLeakWarning",
    "PrivateCorrelation",
    "PrivateGridSearch",
    "RangeGridSketch",
    "characteristic_matrix",
    "chatterjee_laplace",
    "count_stream",
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
    "private_bounds",
    "search_cost",
    "spearman_laplace",
]
