"""What a feature that has nothing to do with the target scores on average, by public numbers only.

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
_UNIT = (0.0, 1.0)


def chance_scores(measure, shape):
    """What features of each scale score by chance; 0 if all are of one kind, so that this decides nothing.

    Parameters
    ----------
    measure : Measure
    shape : Shape

    Returns
    -------
    ndarray of shape (n_features,)
    """
    kinds = {scale if isinstance(scale, Nominal) else _UNIT for scale in shape.scales}
    if len(kinds) == 1 or not hasattr(measure, "chance_rate"):
        return np.zeros(shape.n_features)
    factor, measure = measure.chance_factor, measure.before_learning()
    return factor * np.array([chance_score(measure, scale, shape.n_groups) for scale in shape.scales])


def chance_score(measure, scale, n):
    """Mean score of independent variables, each of whose values, labels or classes is as likely as another.

    Parameters
    ----------
    measure : Measure
        With grids: it has a `chance_rate`.
    scale : pair of floats or Nominal
        Of the feature. The range of numbers says nothing here; nobody is missing, and nobody has another label.
    n : int
        Number of records.

    Returns
    -------
    float
        In [0, 1]; by simulation with random numbers that are always the same.
    """
    return _simulated(measure, scale if isinstance(scale, Nominal) else _UNIT, int(n))


@lru_cache(maxsize=256)
def _simulated(measure, scale, n):
    n_drawn = min(n, _MOST_SAMPLES)
    random = np.random.RandomState(0)
    scores = []
    for _ in range(_DRAWS):
        target = _target(measure.n_classes, n_drawn, random)
        scorer = measure.knowing_all_of(target).scorer(target, None)
        scores.append(scorer.score(_feature(scale, n_drawn, random), scale))
    return float(np.mean(scores)) * (n_drawn / n) ** measure.chance_rate


def _target(n_classes, n, random):
    if n_classes is None:
        return NumericTarget(random.random_sample(n), _UNIT)
    return ClassTarget(random.randint(n_classes, size=n), n_classes)


def _feature(scale, n, random):
    if isinstance(scale, Nominal):
        return random.randint(scale.n_labels, size=n).astype(np.uint32)
    return random.random_sample(n)
