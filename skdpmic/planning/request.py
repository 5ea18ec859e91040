"""What a plan is asked for, in public numbers only."""

import math
import numbers
from typing import NamedTuple

from skdpmic.privacy.parameters import check_delta, check_epsilon
from skdpmic.table.shape import Shape

SOUGHT = ("epsilon", "n_samples", "error")  # two of them are given, and the third is found
SMALLEST_ERROR = 1e-6


class Request(NamedTuple):
    """What is public about a table and its release; one of epsilon, n_samples and error is None."""

    n_samples: int | None
    n_features: int | None
    k: int | None
    epsilon: float | None
    error: float | None
    delta: float
    n_classes: int | None
    max_rows_per_group: int | None

    @property
    def sought(self):
        """What is to be found."""
        return next(name for name in SOUGHT if getattr(self, name) is None)

    def row_fields(self):
        """What a row needs to know of it."""
        return {"k": self.k, "n_classes": self.n_classes, "error": self.error}

    def shape(self, n_samples):
        """The shape of a table of this many people."""
        rows_per_group = self.max_rows_per_group or 1
        return Shape(n_samples * rows_per_group, [(0.0, 1.0)] * self.n_features, rows_per_group)


def checked(request):
    """The request, with whole numbers as Python's, which have no largest one; raise unless it is as described.

    :func:`skdpmic.plan_release` describes it.
    """
    given = [name for name in SOUGHT if getattr(request, name) is not None]
    if len(given) != len(SOUGHT) - 1:
        raise ValueError(
            f"two of {', '.join(SOUGHT)} must be given, and the third is found, got {', '.join(given) or 'none'}."
        )
    _check_int("n_features", request.n_features, 1)
    if request.n_samples is not None:
        _check_int("n_samples", request.n_samples, 4)
    if request.n_classes is not None:
        _check_int("n_classes", request.n_classes, 2)
    if request.max_rows_per_group is not None:
        _check_int("max_rows_per_group", request.max_rows_per_group, 1)
    if request.k is not None:
        _check_int("k", request.k, 1)
        if request.k > request.n_features:
            raise ValueError(f"k must be at most n_features={request.n_features}, got {request.k!r}.")
    check_delta(request.delta)
    if request.epsilon is not None:
        check_epsilon(request.epsilon)
        if request.epsilon == math.inf:
            raise ValueError("epsilon must be finite, as nothing is private or noisy otherwise, got inf.")
    error = request.error
    if error is not None and not (isinstance(error, numbers.Real) and SMALLEST_ERROR <= error <= 1):
        raise ValueError(f"error must be a number in [{SMALLEST_ERROR}, 1], got {error!r}.")
    whole = ("n_samples", "n_features", "k", "n_classes", "max_rows_per_group")
    return request._replace(
        **{name: int(getattr(request, name)) for name in whole if getattr(request, name) is not None}
    )


def _check_int(name, value, least):
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an int >= {least}, got {value!r}.")
