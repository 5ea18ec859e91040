"""Out-of-core data: exact, mergeable counts on public grids, from chunks, engines and clusters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
