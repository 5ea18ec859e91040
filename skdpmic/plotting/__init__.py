"""Plots of releases, plans and ledgers. matplotlib is imported only when a figure is drawn."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
