"""Feature selection under differential privacy, by private Maximal Information Coefficients.

The public names of the package and of its submodules are in their ``__init__.pyi``, which type checkers also read. A
name is imported when it is first used.
"""

import lazy_loader

__version__ = "1.0.0rc1"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
