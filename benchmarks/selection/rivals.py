"""Dependence scores that rival MICr, each with a bound on what replacing one record can do to it, and the proof.

None of them is part of the package: they are here to be compared with. All scores are of each feature with the target,
in an array of shape (n_features,); n is the number of records.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from skdpmic.privacy.sensitivity import binary_mi_sensitivity, mi_sensitivity

N_PARTS = 16  # of the grid for binned information: of 4, 6, 8, 10, 12, 16 and 24 the best, or within 0.09 of its recall


class Table(NamedTuple):
    """Records, and where they are said to lie."""

    X: np.ndarray  # (n_samples, n_features)
    y: np.ndarray  # (n_samples,); class numbers 0 ... n_classes - 1 if the target is discrete
    lower: np.ndarray  # (n_features,), public
    upper: np.ndarray
    target_bounds: tuple | None  # public; None for a discrete target
    n_classes: int | None = None

    def rows(self, chosen):
        """The table of some of the records."""
        return self._replace(X=self.X[chosen], y=self.y[chosen])

    def columns(self, chosen):
        """The table of some of the features."""
        return self._replace(X=self.X[:, chosen], lower=self.lower[chosen], upper=self.upper[chosen])

    def in_unit_square(self):
        """Features and target clipped to their bounds, and moved to [0, 1]. Class numbers count as numbers."""
        lo, hi = self.target_bounds or (0, self.n_classes - 1)
        X = (np.clip(self.X, self.lower, self.upper) - self.lower) / (self.upper - self.lower)
        return X, (np.clip(self.y, lo, hi) - lo) / (hi - lo)


# --- Pearson's correlation, without what makes it unbounded ---------------------------------------------------------


def covariance(table):
    """|Covariance| of feature and target, both clipped to public bounds and moved to [-1, 1].

    The correlation itself has no useful sensitivity: where all other records nearly coincide, one record decides it. So
    the covariance is divided by the public ranges, not by the standard deviations of the data.

    Noisy sums of x, x**2 and x y of each feature, with the budget split evenly, would give correlations too. In
    [-1, 1] the three sums change by 4 together (x = y = 1 becomes x = -1, y = 1), and those of all d features must be
    published: the noise on each mean of x y has scale 4 d / (n epsilon). To choose k of d features by their covariances
    takes noise of scale 8 k / (n epsilon) only. That is why covariances stand for Pearson here.
    """
    X, y = table.in_unit_square()
    return 4 * np.abs((y - y.mean()) @ (X - X.mean(axis=0))) / len(y)


def covariance_sensitivity(n):
    """4 (n - 1) / n**2, attained.

    Let a, b be the means of the n - 1 other records, and C the sum of their (x_i - a)(y_i - b). With the record (x, y),
    n Cov = C + (n - 1) / n (x - a)(y - b). A bilinear function is largest and smallest at corners of [-1, 1]**2: here
    the largest value is (1 - a)(1 - b) or (1 + a)(1 + b), the smallest -(1 - a)(1 + b) or -(1 + a)(1 - b). Their
    difference is 2 (1 - a), 2 (1 - b), 2 (1 + b) or 2 (1 + a), at most 4. Hence n Cov, and n |Cov|, change by at most
    4 (n - 1) / n. Attained: all records at (1, 1), and one goes to (-1, -1).
    """
    return 4 * (n - 1) / n**2


# --- Ranks ----------------------------------------------------------------------------------------------------------


def kendall(table):
    """|Kendall's tau-a|: the concordant less the discordant pairs, over all n (n - 1) / 2 pairs; tied pairs count 0."""
    X, y = table.in_unit_square()
    pairs = len(y) * (len(y) - 1) / 2
    untied_y = pairs - _tied_pairs(y)
    tau = np.zeros(X.shape[1])
    for j, x in enumerate(X.T):
        untied_x = pairs - _tied_pairs(x)
        if untied_x > 0 and untied_y > 0:  # scipy gives tau-b, which is divided by the pairs without ties
            tau[j] = kendalltau(x, y).statistic * np.sqrt(untied_x * untied_y) / pairs
    return np.abs(tau)


def kendall_sensitivity(n):
    """4 / n, attained: a record is in n - 1 pairs, each -1, 0 or 1 before and after, so 2 (n - 1) / (n (n - 1) / 2)."""
    return 4 / n


def _tied_pairs(values):
    counts = np.unique(values, return_counts=True)[1].astype(float)
    return (counts * (counts - 1) / 2).sum()


def spearman(table, keys):
    """|Spearman's rho| of strict ranks: ties are broken by `keys`, of shape (2, n), one order for X and one for y.

    The keys are drawn without looking at the data, so a replaced record leaves the order of all others as it
    is (docs/theory/mic_e.md).
    """
    X, y = table.in_unit_square()
    n = len(y)
    y_ranks = _ranks(y, keys[1]) - (n - 1) / 2
    x_ranks = np.column_stack([_ranks(x, keys[0]) for x in X.T])
    return np.abs(y_ranks @ x_ranks) * 12 / (n * (n**2 - 1))


def spearman_sensitivity(n):
    """6 / (n + 1), attained.

    rho is 12 / (n (n**2 - 1)) times the sum of the products of ranks, plus a constant. So it is enough that this sum
    changes by at most n (n - 1) / 2. Let one record move from the ranks (p, q) to (P, Q): in x first, then in y.

    When it goes up past another in x, the two exchange neighbouring x-ranks, and the sum rises by q - v, where v is
    the y-rank of the other; when it goes down, by v - q. In the second leg it rises by P - u, or u - P, where u is the
    x-rank of the record passed. The v of the first leg are different numbers, and so are the u of the second.

    Up and up: in the first leg only the records with v < q add anything, in all at most
    (q-1) + (q-2) + ... + 1 = q (q - 1) / 2. At most n - q records are passed in the second leg, which add at most
    (P-1) + (P-2) + ... of as many terms, and since P <= n no more than (n-1) + ... + q = (n (n - 1) - q (q - 1)) / 2.

    Up and down: the records passed in the first leg come before P in x, so they are at most P - 1, and as q <= n they
    add at most (n-1) + ... + (n-P+1). In the second leg only those with u > P add anything, at most (n-P) + ... + 1.

    Either way that is n (n - 1) / 2 in all. The other two cases are these with both axes turned round, which leaves rho
    as it is. |rho| changes no more than rho. Attained for rho: the first of concordant records becomes the last in y.
    """
    return 6 / (n + 1)


def _ranks(values, keys):
    ranks = np.empty(len(values))
    ranks[np.lexsort((keys, values))] = np.arange(len(values))
    return ranks


# --- Mutual information on one grid ---------------------------------------------------------------------------------


def binned_information(table, n_parts=N_PARTS):
    """Mutual information, in bits, of feature and target, each in `n_parts` parts of equal width, or in its classes."""
    X, y = table.in_unit_square()
    y_parts = _parts(y, n_parts) if table.n_classes is None else table.y.astype(np.int64)
    n_y_parts = table.n_classes or n_parts
    n_cells = n_parts * n_y_parts
    return np.array(
        [
            _information(np.bincount(_parts(x, n_parts) * n_y_parts + y_parts, minlength=n_cells).reshape(n_parts, -1))
            for x in X.T
        ]
    )


def binned_information_sensitivity(n, n_classes=None):
    """2 d((n+1)/2) / n bits, or h(1/n) for two classes (docs/theory/sensitivity.md, step 3)."""
    return binary_mi_sensitivity(n) if n_classes == 2 else mi_sensitivity(n)


def _parts(values, n_parts):
    return np.minimum((values * n_parts).astype(np.int64), n_parts - 1)


def _information(counts):
    def g(a):
        return (a * np.log2(np.maximum(a, 1))).sum()

    n = counts.sum()
    return max((g(counts) - g(counts.sum(axis=0)) - g(counts.sum(axis=1)) + g(n)) / n, 0.0)
