"""The error and the cost of a private summary of a table, before any data is used."""

import math
from fractions import Fraction

from skdpmic._utils.texts import quoted
from skdpmic.budget.filters import round_up
from skdpmic.planning.rows import PlannedRelease, answers, rounded_up
from skdpmic.release.summary.cells import CellsRelease

_SIZES = (4, 12)  # cells of a numeric column, which has more than one of labels
_ONLY_FOR_FEATURES = ("k", "n_classes", "mean_weight")


def planned_summaries(request):
    """The rows of a plan of :func:`skdpmic.private_summary`: without delta, and with delta if that has less noise.

    Parameters
    ----------
    request : Request
        Checked.

    Returns
    -------
    list of PlannedRelease
        Empty if nothing meets the request.
    """
    for name in _ONLY_FOR_FEATURES:
        if (value := getattr(request, name)) is not None:
            raise ValueError(f"{name} must be None with release='summary', which has no target, got {quoted(value)}.")
    rows = (_row(request, delta) for delta in sorted({0.0, request.delta}))
    return [row for row in rows if row is not None]


def _row(request, delta):
    epsilon, n_samples = answers(request, lambda *pair: _error(request, delta, *pair) <= request.error)
    if epsilon is None or n_samples is None:
        return None
    release, n_rows = _release(request, epsilon, delta), n_samples * (request.max_rows_per_group or 1)
    flags, _ = release.mechanisms
    error = rounded_up(_error(request, delta, epsilon, n_samples)) if request.error is None else request.error
    return PlannedRelease(
        release="summary",
        mechanism=flags.name,
        statistic="shares",
        epsilon=release.cost.epsilon,
        delta=release.cost.delta,
        n_samples=n_samples,
        n_features=request.n_features,
        k=None,
        error=error,
        noise_scale=flags.noise_scale / n_rows,
        found=math.nan,
        epsilon_of_target=0.0,
        rho=round_up(release.cost.in_zcdp, Fraction),
    )


def _error(request, delta, epsilon, n_samples):
    """Half-width of the simultaneous intervals for the shares of flags."""
    n_rows = n_samples * (request.max_rows_per_group or 1)
    return _release(request, epsilon, delta).half_width(0, _SIZES[0]) / n_rows


def _release(request, epsilon, delta):
    return CellsRelease(epsilon, delta, (_SIZES,) * request.n_features, request.max_rows_per_group or 1)
