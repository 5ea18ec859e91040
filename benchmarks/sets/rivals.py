"""Private choices of others, on their own ground.

Kendall less redundancy: "DPKendall" of Dick, Gillenwater and Joseph, Better Private Linear Regression Through Better
Private Feature Selection (NeurIPS 2023). One column after another is chosen by the exponential mechanism with a share
epsilon / k of the budget: the one with the largest absolute Kendall correlation with the target, less the mean of those
with the columns chosen before.

Their program takes tau-b, which divides by the pairs that are not tied, with a sensitivity of 3/2 in units of n / 2,
which is one for columns without ties. With ties one record moves tau-b by any amount (the tests have an example), so
here it is tau-a, which one record moves by 4 / n at most, ties or none: 4 / n for the first column, 8 / n for the
later. Labels count in the order of the code book, or of the alphabet, and missing values come first, as in
PrivateCorrelation. Classes that have no order cannot be a target.

Not here: best subset selection of Roy, Wang and Tewari (2024). Its noise is for a public bound on the coefficients of a
linear model in bounded columns, which no code book gives, and beyond few columns its sets are the states of a Markov
chain, whose distance from the law that is private is not known for a given table. What is run would be a choice of
ours, and not their method.
"""

import numpy as np

from benchmarks.selection.ways import NOT_PRIVATE
from skdpmic.statistics.ranks.kernels import kendall, mid_ranks
from skdpmic.statistics.sensitivity import kendall_sensitivity


def kendall_less_redundancy(split, epsilon, seed):
    """Columns in the order in which they are chosen."""
    rng, (n, d), k = np.random.default_rng(seed), split.X.shape, split.table.k
    relevance, redundancy, chosen = _kendall_with(split, None), np.zeros(d), []
    for place in range(k):
        worth = relevance - redundancy / max(place, 1)
        sensitivity = kendall_sensitivity(n) * (1 if place == 0 else 2)
        noise = 0.0 if epsilon == NOT_PRIVATE else rng.gumbel(scale=2 * sensitivity * k / epsilon, size=d)
        worth = worth + noise
        worth[chosen] = -np.inf
        chosen.append(int(np.argmax(worth)))
        redundancy = redundancy + _kendall_with(split, chosen[-1])
    return chosen


def _kendall_with(split, column):
    """|tau-a| of all columns with one of them, or with the target; kept for the next choice on this split."""
    if "ranks" not in split.known:
        y = split.y if split.table.n_classes is None else np.searchsorted(split.table.target["classes"], split.y)
        split.known["ranks"] = [*map(_ranks, (series for _, series in split.X.items())), mid_ranks(np.asarray(y))]
    ranks, key = split.known["ranks"], ("kendall", column)
    if key not in split.known:
        other = ranks[-1 if column is None else column]
        split.known[key] = np.array([kendall(of, other) for of in ranks[:-1]])
    return split.known[key]


def _ranks(column):
    values = column.cat.codes.to_numpy(float) if column.dtype == "category" else column.to_numpy(float)
    lowest = np.nanmin(values, initial=0.0) - 1
    return mid_ranks(np.where(np.isnan(values), lowest, values))
