"""MTVr where there is no dependence: the grids that it looks at, each with its number and its tail."""

import math
from functools import lru_cache, partial

import numpy as np

from skdpmic.statistics.mtv.counts import counts_scorer
from skdpmic.statistics.null_laws.grid_bounds import Grids, ScoreBound, log_tail_of_any
from skdpmic.statistics.null_laws.tails import log_choices, log_division_tail, log_variation_tail
from skdpmic.table.nominal import Nominal


@lru_cache(maxsize=64)
def mtv_r_bound(n, n_labels, family):
    """The law of MTVr where there is no dependence, bounded.

    Parameters
    ----------
    n : int
        Number of records.
    n_labels : int or None
        Of a nominal feature; None for numbers, of which some may be missing.
    family : Family
    """
    return ScoreBound(_merges(n, family) if n_labels is None else _of_labels(n, n_labels, family))


def _grids(nu, offset, log_tail):
    """Where the score reaches s, the total variation reaches nu (s + offset)."""
    return Grids(nu, nu * offset, log_tail)


def _merges(n, family):
    """Of master parts, with missing values after all others or before them, against groups of columns.

    Against two groups, the total variation of a merge is that of the best set of its parts. Every other part of a merge
    is in it, or a merge into fewer parts, of which less is taken off, has as much.
    """
    scorer = counts_scorer(n, family)
    for side in family.sides:
        sizes = np.arange(2, min(side.k_max, family.n_master + 1) + 1)
        for k in [sizes[:, np.newaxis]] if side.n_groups == 2 else sizes:
            log_number = math.log(2.0) + log_choices(family.n_master, k - 1)
            if side.n_groups == 2:
                log_tail = log_tail_of_any(math.log(2.0) + log_number, partial(log_division_tail, n=n))
            else:
                of_one = partial(log_variation_tail, n=n, n_rows=k, n_columns=side.n_groups)
                log_tail = log_tail_of_any(log_number, of_one)
            yield _grids(family.normaliser(side, k), scorer.offsets(side, k), log_tail)


def _of_labels(n, n_labels, family):
    """Of all codes apart; of two labels, one against the rest, too, where the target is in more than two groups."""
    scorer, n_codes = counts_scorer(n, family), Nominal(n_labels).n_parts
    for side in family.sides:
        size = side.size if side.n_groups == 2 else side.n_groups
        for n_rows in {n_codes, 2} if n_labels == 2 and side.n_groups > 2 else {n_codes}:
            nu = family.normaliser(side, n_rows)
            offset = scorer.offset_of_labels(n_labels, size) / nu
            log_tail = partial(log_variation_tail, n=n, n_rows=n_rows, n_columns=side.n_groups)
            yield _grids(nu, offset, log_tail)
