"""Feature selection under differential privacy, by private Maximal Information Coefficients."""

from skdpmic.accounting import search_cost
from skdpmic.dependence.total_variation import mtv_r
from skdpmic.exceptions import BudgetError, PrivacyLeakWarning
from skdpmic.mic.characteristic import characteristic_matrix
from skdpmic.mic.mic_e import mic_e
from skdpmic.mic.pairs import mic_cross, mic_pairs
from skdpmic.mic.statistics import mic_r
from skdpmic.privacy.ledger import BudgetLedger
from skdpmic.privacy.pairs import mic_e_laplace, mic_r_geometric, mic_r_laplace
from skdpmic.privacy.rank_pairs import (
    chatterjee_laplace,
    distance_correlation_laplace,
    kendall_laplace,
    spearman_laplace,
)
from skdpmic.privacy.total_variation_pair import mtv_r_laplace
from skdpmic.scorer import DPMICScorer, dp_mic_classif, dp_mic_regression
from skdpmic.search import PrivateGridSearch
from skdpmic.selector import DPMICSelector
from skdpmic.sketch import RangeGridSketch

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "BudgetLedger",
    "DPMICScorer",
    "DPMICSelector",
    "PrivacyLeakWarning",
    "PrivateGridSearch",
    "RangeGridSketch",
    "characteristic_matrix",
    "chatterjee_laplace",
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
    "search_cost",
    "spearman_laplace",
]
