from .private_correlation import PrivateCorrelation

__all__ = ["PrivateCorrelation"]
