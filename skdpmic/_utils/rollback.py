"""One change of an object at a time, which is undone on errors.

Calls in progress are listed here, in the order in which they began, and not on the objects, so that copies and pickles
are not locked.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

_WEIGHTS = "sample_weight"
_REMEDY = "give each thread an estimator of its own, by sklearn.base.clone"


@dataclass(frozen=True, eq=False)
class _Call:
    """A call that changes an object, or reads one that must not change meanwhile."""

    thing: object
    only_reads: bool


_calls: list[_Call] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_calls.clear)  # a forked process has its own copies


@contextlib.contextmanager
def in_use(thing, *, only_reads=False, remedy=_REMEDY):
    """Raise a RuntimeError if a call in progress changes `thing`, or if one reads it and this one changes it."""
    call = _Call(thing, only_reads)
    try:
        _calls.append(call)  # of two simultaneous calls, the first in the list proceeds
        before = [other for other in _earlier(call) if other.thing is thing]
        if any(not (other.only_reads and only_reads) for other in before):
            raise RuntimeError(f"this {type(thing).__name__} is in use by another call: {remedy}.")
        yield
    finally:
        if call in _calls:
            _calls.remove(call)


_Method = TypeVar("_Method", bound=Callable[..., Any])


def one_call_at_a_time(method: _Method) -> _Method:
    """A method that changes its object, and refuses to while another call does; it says why it takes no weights."""
    takes_weights = _WEIGHTS in signature(method).parameters

    @wraps(method)
    def alone(thing, *arguments, **options):
        if _WEIGHTS in options and not takes_weights:
            raise TypeError(
                f"{type(thing).__name__}.{method.__name__} does not take sample_weight, because each record counts "
                "once: leave it out. PrivateSelectKBest, DPMICSelector and DPMICScorer take weights, with max_weight."
            )
        with in_use(thing):
            return method(thing, *arguments, **options)

    return alone  # type: ignore[return-value]


def _earlier(call):
    calls = _calls.copy()
    return calls[: calls.index(call)]


@contextlib.contextmanager
def rollback_on_error(thing):
    """Refuse other calls that change `thing`, and restore its attributes if the block raises.

    Yields
    ------
    keep : callable
        ``keep()`` keeps the attributes as they then are, whatever follows in the block.
    """
    with in_use(thing):
        before = vars(thing).copy()

        def keep():
            nonlocal before
            before = vars(thing).copy()

        try:
            yield keep
        except BaseException:
            vars(thing).clear()
            vars(thing).update(before)
            raise
