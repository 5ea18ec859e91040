"""Feature selection under differential privacy, by private Maximal Information Coefficients.

What is public is listed in ``__init__.pyi``, which type checkers read, too. A name is imported when it is used first.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
