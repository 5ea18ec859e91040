"""What draws noise is never answered from a cache (``docs/theory/ledger.md``, on repeated noise).

joblib's caches, such as the `memory` of a pipeline, know a call by a hash of its arguments, and hash an object by what
it gives to be pickled. So each of these objects gives a number that has never been given before; no two hashes agree.
"""

import functools
import importlib
import os
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

_NONCE = "nonce"

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def fresh_nonce():
    """Bytes that nobody has seen."""
    return os.urandom(16)


class NoCacheMixin:
    """An estimator whose every hash is new. Cloning and pickling are unaffected."""

    def __getstate__(self):
        return super().__getstate__() | {_NONCE: fresh_nonce()}

    def __setstate__(self, state):
        super().__setstate__({name: value for name, value in state.items() if name != _NONCE})


class never_cached(Generic[_Parameters, _Result]):
    """Make every hash of a function new. It is called, looks and is pickled as without this decorator.

    A function is pickled, and so hashed, by its name alone; hence a callable object in its place.
    """

    __wrapped__: Callable[_Parameters, _Result]

    def __init__(self, function: Callable[_Parameters, _Result]) -> None:
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        """Call the function."""
        return self.__wrapped__(*arguments, **options)

    def __reduce__(self):
        return _function_named, (self.__module__, self.__qualname__, fresh_nonce())

    def __repr__(self):
        return f"<function {self.__module__}.{self.__qualname__}>"


def _function_named(module, name, nonce):
    """The one function of that name, whatever the nonce."""
    return getattr(importlib.import_module(module), name)
