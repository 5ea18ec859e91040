"""The parameters of an estimator, each named once."""

from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

_Class = TypeVar("_Class", bound=type)


@dataclass_transform(eq_default=False)
def parameters(cls: _Class) -> _Class:
    """Give a class a constructor that keeps what its fields name, and does nothing else; errors name the estimator.

    The class is `...Parameters`, and the estimator, which is named in front of that, has it as its first base.
    """
    with_constructor: Any = dataclass(eq=False, repr=False)(cls)
    with_constructor.__init__.__qualname__ = f"{cls.__name__.removesuffix('Parameters')}.__init__"
    return with_constructor
