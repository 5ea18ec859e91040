"""Functions whose results no cache keeps: a release that is repeated is a new release."""

import functools
import importlib
import os
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def fresh_nonce():
    """Bytes that were never used before."""
    return os.urandom(16)


class never_cached(Generic[_Parameters, _Result]):
    """Make every hash of a function new, without changing calls, appearance and pickling.

    A function is pickled, and so hashed, by its name only; hence it is replaced by a callable object.
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
    """The function of that name, for any nonce."""
    return getattr(importlib.import_module(module), name)
