from .forward_selector import PrivateForwardSelector
from .private_correlation import PrivateCorrelation

__all__ = ["PrivateCorrelation", "PrivateForwardSelector"]
