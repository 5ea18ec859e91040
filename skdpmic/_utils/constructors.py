"""Constructors of estimators, which name each parameter once."""

from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

_Class = TypeVar("_Class", bound=type)


@dataclass_transform(eq_default=False)
def parameters(cls: _Class) -> _Class:
    """Give a class a constructor that only stores its fields; errors name the estimator.

    The class is called `...Parameters`, after the estimator, which has it as its first base.
    """
    with_constructor: Any = dataclass(eq=False, repr=False)(cls)
    with_constructor.__init__.__qualname__ = f"{cls.__name__.removesuffix('Parameters')}.__init__"
    return with_constructor
