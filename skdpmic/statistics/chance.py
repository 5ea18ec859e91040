"""What a feature that has nothing to do with the target scores or adds on average, by public numbers only.

Features of one scale score as much by chance, and so rank as they are. A nominal feature has other grids than numbers:
before kinds are compared, what each has by chance is to be taken off. It is the same for all data sets, so the
sensitivity stays as it is.
"""

from functools import lru_cache

import numpy as np

from skdpmic.table.nominal import Nominal
from skdpmic.table.targets import ClassTarget, NumericTarget

_MOST_SAMPLES = 10_000  # drawn; of more records, chance makes less by the measure's rate
_DRAWS = 24
_LEVELS = (0.0, 0.05, 0.1, 0.2, 0.4)  # of what a feature tells by itself, at which it is simulated what others add
_UNIT = (0.0, 1.0)


def chance_scores(measure, shape, candidates=None):
    """What features of each scale score by chance; 0 if all are of one kind, so that this decides nothing.

    Parameters
    ----------
    measure : Measure
    shape : Shape
    candidates : ndarray of shape (n_candidates,), default=None
        The numbers of the features; None for all.

    Returns
    -------
    ndarray of shape (n_candidates,)
    """
    scales = shape.scales if candidates is None else [shape.scales[j] for j in candidates]
    kinds = [_kind(scale) for scale in scales]
    if len(set(kinds)) == 1 or not hasattr(measure, "chance_rate"):
        return np.zeros(len(scales))
    factor, measure = measure.chance_factor, measure.before_learning()
    return factor * np.array([chance_score(measure, kind, shape.n_groups) for kind in kinds])


def chance_added(measure, shape, given, alone, candidates):
    """What features that have nothing to do with the target or another feature add to that; 0 if all are of one kind.

    Parameters
    ----------
    measure : MtvRGrids
    shape : Shape
    given : int
        The number of that feature.
    alone : float
        What it tells by itself: released, or public. The less that is, the more others add by chance.
    candidates : sequence of int
        The numbers of the features.

    Returns
    -------
    ndarray of shape (n_candidates,)
    """
    kinds = [_kind(shape.scales[j]) for j in candidates]
    if len(set(kinds)) == 1:
        return np.zeros(len(kinds))
    factor, shares, n = measure.chance_factor, _class_shares(measure), int(shape.n_groups)
    level = max(level for level in _LEVELS if level <= max(alone, 0.0) / _most_told(shares))
    public = (measure.before_learning(), shares, _kind(shape.scales[given]), n, level)
    return factor * np.array([_added(kind, *public) for kind in kinds])


def _class_shares(measure):
    """Of the classes, as far as they are known, in fiftieths, so that a simulation serves for many fits; or None."""
    n_classes = measure.n_classes
    if n_classes is None:
        return None
    known = np.full(n_classes, 1 / n_classes) if measure.margin is None else measure.margin.published()
    fiftieths = np.maximum(np.round(known * 50), 1)
    return tuple((fiftieths / fiftieths.sum()).tolist())


def _most_told(shares):
    """About what a feature of two values can tell of the two halves of a target whose classes have these shares."""
    if shares is None:
        return 1.0
    ends = np.cumsum((0.0, *shares))
    below = np.diff(np.minimum(ends, 0.5))
    return float(np.mean([abs(s - 2 * low) / max(s, 1 - s) for s, low in zip(shares, below, strict=True)]))


def _kind(scale):
    """The range of numbers says nothing here."""
    return scale if isinstance(scale, Nominal) else _UNIT


def chance_score(measure, scale, n):
    """Mean score of independent variables, each of whose values, labels or classes is as likely as another.

    Parameters
    ----------
    measure : Measure
        With grids: it has a `chance_rate`.
    scale : pair of floats or Nominal
        Of the feature. Nobody is missing, and nobody has another label.
    n : int
        Number of records.

    Returns
    -------
    float
        In [0, 1]; by simulation with random numbers that are always the same.
    """
    return _simulated(measure, _kind(scale), int(n))


@lru_cache(maxsize=256)
def _simulated(measure, scale, n):
    n_drawn = min(n, _MOST_SAMPLES)
    random = np.random.RandomState(0)
    scores = []
    for _ in range(_DRAWS):
        n_classes = measure.n_classes
        values = random.randint(n_classes, size=n_drawn) if n_classes else random.random_sample(n_drawn)
        target = _target(n_classes, values)
        scorer = measure.knowing_all_of(target).scorer(target, None)
        scores.append(scorer.score(_feature(scale, n_drawn, random), scale))
    return float(np.mean(scores)) * (n_drawn / n) ** measure.chance_rate


@lru_cache(maxsize=256)
def _added(scale, measure, shares, given, n, level):
    """To a feature of which each half tells of one half of the target."""
    n_drawn = min(n, _MOST_SAMPLES)
    random = np.random.RandomState(0)
    added = []
    for _ in range(_DRAWS // 2):
        column = _feature(given, n_drawn, random)
        half = 2 * column < (given.n_labels if isinstance(given, Nominal) else 1)
        is_upper = half == (2 * random.random_sample(n_drawn) < 1 + level)
        places = (is_upper + random.random_sample(n_drawn)) / 2
        values = places if shares is None else np.searchsorted(np.cumsum(shares)[:-1], places, side="right")
        target = _target(measure.n_classes, values)
        scorer = measure.knowing_all_of(target).scorer_beside(target, column, given)
        added.append(scorer.score(_feature(scale, n_drawn, random), scale) - scorer.score(column, given))
    return max(float(np.mean(added)), 0.0) * (n_drawn / n) ** measure.chance_rate


def _target(n_classes, values):
    return ClassTarget(values, n_classes) if n_classes else NumericTarget(values, _UNIT)


def _feature(scale, n, random):
    if isinstance(scale, Nominal):
        return random.randint(scale.n_labels, size=n).astype(np.uint32)
    return random.random_sample(n)
