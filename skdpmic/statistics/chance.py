"""Mean scores and gains of features that are independent of the target, from public numbers only.

Features of the same domain have the same mean score by chance, so their ranking is unaffected. Nominal and numeric
features have different grids: before they are compared, the mean score of each kind is subtracted. It is the same for
all data sets, so the sensitivity does not change.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from skdpmic.table.domains import UNIT, Nominal, Whole, kind_of
from skdpmic.table.values import ClassTarget, NumericTarget

_MOST_SAMPLES = 10_000  # simulated; for more records, chance scores fall at the rate of the measure
_DRAWS = 24
_FEW_INTEGERS, _LARGEST_POWER = 8, 20  # of √2: 1,024 integers
_LEVELS = (0.0, 0.05, 0.1, 0.2, 0.4)  # single scores of a feature at which the gains of others are simulated


class ChanceScores(NamedTuple):
    """Mean scores of independent features, simulated before a release: nothing that is simulated fails after it.

    Parameters
    ----------
    public : Measure
        Without shares of the target that are still to be released.
    n : int
        Number of people.
    kinds : list of length n_candidates
    simulated : dict
        Mean score of each kind, at the `shares` that are known; empty if there is one kind, so that scores do not
        matter.
    shares : tuple of float or None
    """

    public: Any
    n: int
    kinds: list
    simulated: dict
    shares: tuple | None

    @classmethod
    def of(cls, measure, shape, candidates=None):
        """Those of features of a table, of which the indices of some may be given."""
        kinds = [_kind(shape.domains[j]) for j in (range(shape.n_features) if candidates is None else candidates)]
        distinct = dict.fromkeys(kinds)
        public, n, shares = measure.without_target_shares(), int(shape.n_groups), _simulated_shares(measure)
        is_needed = len(distinct) > 1 and measure.chance_rate is not None
        simulated = {kind: chance_score(public, kind, n, shares) for kind in distinct} if is_needed else {}
        return cls(public, n, kinds, simulated, shares)

    def at(self, measure):
        """The score of each candidate, at the shares of the target that the measure knows: (n_candidates,)."""
        if not self.simulated:
            return np.zeros(len(self.kinds))
        simulated, shares = self.simulated, _simulated_shares(measure)
        if shares != self.shares:  # of three or four classes, which have been learnt
            simulated = {kind: chance_score(self.public, kind, self.n, shares) for kind in simulated}
        factor = measure.chance_factor * _rare_class_ratio(measure)
        return factor * np.array([simulated[kind] for kind in self.kinds])


def _rare_class_ratio(measure):
    """Chance scores against two classes of these shares, relative to those against equal classes."""
    if measure.n_classes != 2 or measure.class_shares is None:
        return 1.0
    rarer = min(measure.class_shares)
    return math.sqrt(rarer * (1 - rarer)) / (1 - rarer)


def _simulated_shares(measure):
    """The shares for simulating more than two classes, rounded so that a simulation serves many fits; or None."""
    return None if measure.class_shares is None or measure.n_classes == 2 else _rounded(measure.class_shares)


def chance_added(measure, shape, given, alone, candidates):
    """Mean gains over a given feature of features independent of it and of the target; 0 if all are of one kind.

    Parameters
    ----------
    measure : MtvRGrids
    shape : Shape
    given : int
        Index of that feature.
    alone : float
        Its released or public single score. The smaller it is, the larger the gains of others by chance.
    candidates : sequence of int
        Indices of the features.

    Returns
    -------
    ndarray of shape (n_candidates,)
    """
    kinds = [_kind(shape.domains[j]) for j in candidates]
    if len(set(kinds)) == 1:
        return np.zeros(len(kinds))
    factor, n_classes, n = measure.chance_factor, measure.n_classes, int(shape.n_groups)
    shares = None if n_classes is None else _rounded(measure.class_shares or (1 / n_classes,) * n_classes)
    level = max(level for level in _LEVELS if level <= max(alone, 0.0) / _largest_binary_score(shares))
    public = (measure.without_target_shares(), shares, _kind(shape.domains[given]), n, level)
    return factor * np.array([_added(kind, *public) for kind in kinds])


def _rounded(shares):
    """Shares in fiftieths, so that a simulation serves many fits."""
    fiftieths = np.maximum(np.round(np.array(shares) * 50), 1)
    return tuple((fiftieths / fiftieths.sum()).tolist())


def _largest_binary_score(shares):
    """Approximate largest score of a binary feature against a target cut in two, whose classes have these shares."""
    if shares is None:
        return 1.0
    ends = np.cumsum((0.0, *shares))
    below = np.diff(np.minimum(ends, 0.5))
    return float(np.mean([abs(s - 2 * low) / max(s, 1 - s) for s, low in zip(shares, below, strict=True)]))


def _kind(domain):
    """The kind simulated for a domain: for more than 8 integers, the nearest power of √2 of them; for many, numbers.

    So at most 22 kinds of integers and numbers are simulated. What this changes is less than twice the error of that.
    """
    kind = kind_of(domain)
    if not isinstance(kind, Whole) or kind.n_integers <= _FEW_INTEGERS:
        return kind
    power = round(2 * math.log2(kind.n_integers))
    return Whole(-0.5, round(2 ** (power / 2)) - 0.5) if power <= _LARGEST_POWER else UNIT


@lru_cache(maxsize=256)
def chance_score(measure, domain, n, shares=None):
    """Mean score of independent variables with uniform distributions, from a simulation with fixed random numbers.

    Parameters
    ----------
    measure : Measure
        Measure with grids, which has a `chance_rate`.
    domain : pair of floats, Whole or Nominal
        Kind of the feature, from :func:`skdpmic.table.domains.kind_of`. No values are missing, and there are no other
        labels.
    n : int
        Number of records.
    shares : tuple of float, default=None
        Shares of the classes; None for equal ones.

    Returns
    -------
    float
        In [0, 1].
    """
    n_drawn = min(n, _MOST_SAMPLES)
    random = np.random.RandomState(0)
    scores = []
    with measure.in_numpy_if_little(n_drawn, _DRAWS):
        for _ in range(_DRAWS):
            if measure.n_classes and shares is None:
                target = ClassTarget(random.randint(measure.n_classes, size=n_drawn), measure.n_classes)
            else:
                target = _target(measure.n_classes, shares, random.random_sample(n_drawn))
            scorer = measure.with_shares_of(target).scorer(target, None)
            scores.append(scorer.score(_feature(domain, n_drawn, random), domain))
    return float(np.mean(scores)) * (n_drawn / n) ** measure.chance_rate


@lru_cache(maxsize=256)
def _added(domain, measure, shares, given, n, level):
    """Gain over a feature whose halves determine those of the target."""
    n_drawn = min(n, _MOST_SAMPLES)
    random = np.random.RandomState(0)
    added = []
    for _ in range(_DRAWS // 2):
        column = _feature(given, n_drawn, random)
        half = 2 * column < _n_values(given)
        is_upper = half == (2 * random.random_sample(n_drawn) < 1 + level)
        places = (is_upper + random.random_sample(n_drawn)) / 2
        target = _target(measure.n_classes, shares, places)
        scorer = measure.with_shares_of(target).scorer_beside(target, column, given)
        added.append(scorer.score(_feature(domain, n_drawn, random), domain) - scorer.score(column, given))
    return max(float(np.mean(added)), 0.0) * (n_drawn / n) ** measure.chance_rate


def _target(n_classes, shares, places):
    """A target of numbers at these places in [0, 1), or of classes, into which it is divided by their shares."""
    if n_classes is None:
        return NumericTarget(places, UNIT)
    return ClassTarget(np.searchsorted(np.cumsum(shares)[:-1], places, side="right"), n_classes)


def _n_values(kind):
    """Number of labels or integers, which are 0, 1, ...; for other numbers 1, the end of their range."""
    if isinstance(kind, Nominal):
        return kind.n_labels
    return kind.n_integers if isinstance(kind, Whole) else 1


def _feature(kind, n, random):
    if kind == UNIT:
        return random.random_sample(n)
    return random.randint(_n_values(kind), size=n).astype(np.uint32 if isinstance(kind, Nominal) else np.float64)
