"""Every public name has type hints that can be evaluated; mypy checks them against user code (``.ci/run``)."""

import inspect
import typing

from tests.folding import each
from tests.public import NAMES


def functions_of(public):
    """A function itself, or the constructor and all public methods that a class gets from this package."""
    if not inspect.isclass(public):
        yield public
        return
    for name in dir(public):
        method = inspect.unwrap(getattr(public, name)) if callable(getattr(public, name)) else None
        is_ours = inspect.isfunction(method) and method.__module__.startswith("skdpmic")
        if is_ours and (name == "__init__" or not name.startswith("_")):
            yield method
    for value in vars(public).values():
        if isinstance(value, property):
            yield value.fget


FUNCTIONS = {
    f"{name}: {function.__qualname__}": function
    for name, public in NAMES.items()
    if callable(public)
    for function in functions_of(public)
}


@each("name", FUNCTIONS)
def test_every_argument_and_result_has_a_type(name):
    function = inspect.unwrap(FUNCTIONS[name])
    if "<locals>" in function.__qualname__ or function.__qualname__.startswith("__create_fn__"):
        return  # generated for a dataclass
    expected = set(inspect.signature(function).parameters) - {"self", "cls"} | {"return"}
    is_plotting = function.__module__.startswith("skdpmic.plotting")  # it imports matplotlib only to draw
    hints = function.__annotations__ if is_plotting else typing.get_type_hints(function)
    assert expected <= set(hints)
