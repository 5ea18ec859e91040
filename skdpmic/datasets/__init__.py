"""Distributions with a known MIC*: the 21 functional relationships of the paper, at nine noise levels."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
