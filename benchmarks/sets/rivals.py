"""Private choices by others, for comparison.

Kendall less redundancy: "DPKendall" of Dick, Gillenwater and Joseph, Better Private Linear Regression Through Better
Private Feature Selection (NeurIPS 2023). Columns are chosen one at a time by the exponential mechanism, each with a
share epsilon / k of the budget. A column's score is its absolute Kendall correlation with the target, less the mean of
those with the columns already chosen.

Their program uses tau-b, which divides by the number of untied pairs, with a sensitivity of 3/2 in units of n / 2,
which holds only for columns without ties. With ties, one record can move tau-b by any amount (the tests have an
example). So tau-a is used here, which one record moves by at most 4 / n, ties or none: the sensitivity is 4 / n for the
first column and 8 / n for later ones. Labels count in the order of the codebook, or of the alphabet, and missing values
come first, as in PrivateCorrelation. Classes without an order cannot be a target.

Correlations, a set at once: "DP-SIS" of Swope, Khanna, Doldo, Roy and Ryan, Feature Selection from Differentially
Private Correlations (AISec 2024). The canonical Lipschitz mechanism (Shekelyan and Loukides 2022) chooses the whole set
at once from the absolute correlations of the columns with the target. A set has weight exp(-epsilon * gap / (4 *
sensitivity)); the gap is the best score left out less the worst one taken. Columns and target are scaled from their
public ranges to [-1, 1], so one record moves a mean product by 2 / n; missing values count as 0, labels as above. The
means are subtracted without noise, which favours the method.

Not here: best subset selection of Roy, Wang and Tewari (2024). Its noise needs a public bound on the coefficients of a
linear model in bounded columns, which no codebook gives. With more than a few columns, its sets are the states of a
Markov chain, whose distance from the private distribution is not known for a given table. What we ran would be our
choice, not their method.
"""

import numpy as np
from scipy.special import gammaln, logsumexp

from benchmarks.selection.ways import NOT_PRIVATE
from skdpmic.statistics.ranks import kendall, mid_ranks
from skdpmic.statistics.sensitivity import kendall_sensitivity
from skdpmic.table.domains import domain_of


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


def set_of_correlations(split, epsilon, seed):
    """The columns of a set that is chosen at once, by their absolute mean product with the target."""
    rng, k, n = np.random.default_rng(seed), split.table.k, len(split.y)
    if "products" not in split.known:
        target, bounds = _scaled(*_target_of(split)), split.table.features["bounds"]
        columns = (_scaled(*_column_of(name, series, bounds)) for name, series in split.X.items())
        split.known["products"] = np.array([abs(np.nan_to_num(column) @ target) / n for column in columns])
    order = np.argsort(-split.known["products"], kind="stable")
    scores, rate = split.known["products"][order], np.inf if epsilon == NOT_PRIVATE else epsilon * n / 8
    return order[set_at_once(scores, k, rate, rng)]


def set_at_once(scores, k, rate, rng):
    """Positions of a set of k of the scores, which are sorted, drawn with weight exp(-rate * gap).

    A set other than the best is identified by the position of the best score left out, that of the worst one taken, and
    which of those between them are taken.
    """
    if rate == np.inf:
        return np.arange(k)
    out, last = (ends.ravel() for ends in np.meshgrid(np.arange(k), np.arange(k, len(scores)), indexing="ij"))
    between, wanted = last - out - 1, k - out - 1
    logs = gammaln(between + 1) - gammaln(wanted + 1) - gammaln(between - wanted + 1)
    logs = np.append(logs - rate * (scores[out] - scores[last]), rate * (scores[k - 1] - scores[k]))
    drawn = rng.choice(len(logs), p=np.exp(logs - logsumexp(logs)))
    if drawn == len(out):
        return np.arange(k)
    taken = rng.choice(np.arange(out[drawn] + 1, last[drawn]), wanted[drawn], replace=False)
    return np.array([*range(out[drawn]), *sorted(taken), last[drawn]])


def _target_of(split):
    if split.table.n_classes is None:
        return _on_range(split.y, split.table.target["target_bounds"])
    return np.searchsorted(split.table.target["classes"], split.y), 0, split.table.n_classes - 1


def _column_of(name, column, bounds):
    if column.dtype != "category":
        return _on_range(column.to_numpy(float), bounds[name])
    codes = column.cat.codes.to_numpy(float)
    return np.where(codes < 0, np.nan, codes), 0, max(len(column.cat.categories) - 1, 1)


def _on_range(values, entry):
    domain = domain_of(entry, "bounds")
    return domain.encode(values), *domain.encoded


def _scaled(values, lower, upper):
    """From a public range to [-1, 1], less the mean."""
    scaled = 2 * (np.clip(values, lower, upper) - lower) / (upper - lower)
    return scaled - np.nanmean(scaled)
