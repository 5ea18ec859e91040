"""Two parties with different columns of the same records: one reports its columns with noise, the other scores them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
