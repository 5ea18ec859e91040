from .additive_classifier import PrivateAdditiveClassifier
from .additive_regressor import PrivateAdditiveRegressor

__all__ = ["PrivateAdditiveClassifier", "PrivateAdditiveRegressor"]
