"""MTVr of independent variables: the grids of each kind, with their number and their tail bound."""

import math
from functools import lru_cache, partial
from itertools import product

import numpy as np
from scipy.special import logsumexp

from skdpmic.statistics.mtv.counts import counts_scorer
from skdpmic.statistics.null_laws import (
    NullGrids,
    ScoreBound,
    log_choices,
    log_division_tail,
    log_tail_of_any,
    log_variation_tail,
)
from skdpmic.table.domains import Nominal


@lru_cache(maxsize=64)
def mtv_r_bound(n, n_labels, family):
    """Bound on the null distribution of MTVr.

    Parameters
    ----------
    n : int
        Number of records.
    n_labels : int or None
        Number of labels of a nominal feature; None for a numeric feature, which may have missing values.
    family : Family
    """
    return ScoreBound(_merges(n, family) if n_labels is None else _label_grids(n, n_labels, family))


def _grids(n, family, side, k, offset, log_tail):
    """A score of s requires a total variation of nu s + offset; `offset` is the amount subtracted from it."""
    if side.n_noisy == 0:
        return NullGrids(family.normaliser(side, k), offset, log_tail)
    # For a released share u >= 1/2, nu is u, and for classes, the offset is proportional to sqrt(u (1 - u)), apart from
    # the part for the error. So the variation that a score requires is concave in u, and least at an end.
    least = family.offset_of_error(side) if family.is_sized else np.inf
    log_tail = partial(_with_noisy_share, log_tail, n=n, n_noisy=side.n_noisy, family=family)
    return NullGrids(0.5, offset, log_tail, least)


def _with_noisy_share(log_tail, tv, *, n, n_noisy, family):
    """Tail of the total variation from a noisy share; it differs from that of the table's share by at most the error.

    The range of the error is divided into 32 intervals. The probability of exceeding each lower end is bounded, and an
    error in an interval counts as its upper end.
    """
    ends = np.multiply.outer(np.arange(_INTERVALS + 1) / _INTERVALS, np.maximum(tv, 0.0))
    exceeds = np.exp(_log_tail_of_error(ends, n, n_noisy, family))
    of_rest = np.exp(log_tail(ends[-1] - ends[1:]))
    rises = np.diff(np.concatenate([of_rest, np.ones_like(of_rest[:1])]), axis=0)
    total = of_rest[0] + (exceeds[1:] * rises).sum(axis=0)
    return np.log(np.clip(total, np.finfo(float).tiny, 1.0))


def _log_tail_of_error(share, n, n_noisy, family):
    """Chernoff bound on the probability that the error of a released share, a sum of Laplace noise, reaches `share`.

    The bound also holds for discrete Laplace noise (docs/theory/learnt_margin.md).
    """
    errors = share / family.share_error
    if n_noisy == 1:
        q = math.exp(-1 / (family.share_error * n))
        bound = math.log(2 / (1 + q)) - errors
    else:
        rate = errors / (n_noisy + np.sqrt(n_noisy**2 + errors**2))
        bound = math.log(2.0) - rate * errors - n_noisy * np.log1p(-(rate**2))
    return np.where(share <= family.share_error * math.sqrt(n_noisy), 0.0, np.minimum(bound, 0.0))


_INTERVALS = 32


def _merges(n, family):
    """Merges of master parts, with missing values after all others or before them, against groups of columns.

    Against two groups, the total variation of a merge is that of its best set of parts. This set is every other part;
    otherwise a merge into fewer parts, with a smaller offset, has the same total variation.
    """
    scorer = counts_scorer(n, family)
    for side in family.sides:
        if side.n_groups == 2:
            cost, numbers = _numbers_of_merges(family, family.most_cost(side))
            log_number, cost = math.log(2.0) + numbers[:, np.newaxis], cost[:, np.newaxis]
            log_tail = log_tail_of_any(math.log(2.0) + log_number, partial(log_division_tail, n=n))
            yield _grids(n, family, side, 2, scorer.offsets(side, cost), log_tail)
            continue
        for cost, number in zip(*_numbers_of_merges(family, family.most_cost(side), n_cuts=1), strict=True):
            of_one = partial(log_variation_tail, n=n, n_rows=2, n_columns=side.n_groups)
            log_tail = log_tail_of_any(math.log(2.0) + number, of_one)
            yield _grids(n, family, side, 2, scorer.offsets(side, cost), log_tail)


def _numbers_of_merges(family, most, n_cuts=math.inf):
    """The costs that cuts can have in all, and logarithms of the numbers of merges by them: two ndarrays.

    A merge has at least one cut and at most `n_cuts`.
    """
    cheaper, n_others = family.cuts.costs, family.n_master - len(family.cuts.costs)
    numbers = {}
    for chosen in product([0, 1], repeat=len(cheaper)):
        spent = sum(np.multiply(chosen, cheaper))
        for n_more in range(min(n_others, (most - spent) // family.cuts.other) + 1):
            if 1 <= sum(chosen) + n_more <= n_cuts:
                cost = int(spent) + n_more * family.cuts.other
                numbers.setdefault(cost, []).append(log_choices(n_others, n_more))
    return np.array(sorted(numbers)), np.array([logsumexp(numbers[cost]) for cost in sorted(numbers)])


def _label_grids(n, n_labels, family):
    """NullGrids with one part per code; for two labels and more than two groups, also one code against the rest."""
    scorer, n_codes = counts_scorer(n, family), Nominal(n_labels).n_parts
    for side in family.sides:
        for n_rows in {n_codes, 2} if n_labels == 2 and side.n_groups > 2 else {n_codes}:
            offset = scorer.offset_of_labels(n_labels, side)
            log_tail = partial(log_variation_tail, n=n, n_rows=n_rows, n_columns=side.n_groups)
            yield _grids(n, family, side, n_rows, offset, log_tail)
