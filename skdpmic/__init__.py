"""Feature selection under differential privacy, by private Maximal Information Coefficients."""

from skdpmic.exceptions import PrivacyLeakWarning
from skdpmic.mic.statistics import mic_r
from skdpmic.privacy.pairs import mic_r_laplace
from skdpmic.scorer import DPMICScorer, dp_mic_classif, dp_mic_regression
from skdpmic.selector import DPMICSelector

__version__ = "0.1.0"

__all__ = [
    "DPMICScorer",
    "DPMICSelector",
    "PrivacyLeakWarning",
    "dp_mic_classif",
    "dp_mic_regression",
    "mic_r",
    "mic_r_laplace",
]
