"""Private scores that are not in the package, each with a proof of how far replacing one record can move it.

They are here for comparison. All scores are of each feature with the target, in an array of shape (n_features,); n is
the number of records.
"""

import numpy as np

from skdpmic.statistics.sensitivity import binary_mi_sensitivity, mi_sensitivity

N_BINS = 16  # per axis: the best of 4, 6, 8, 10, 12, 16 and 24, or within 0.09 of its recall

# --- Pearson's correlation, without what makes it unbounded ---------------------------------------------------------


def covariance(table):
    """|Covariance| of feature and target, both clipped to public bounds and moved to [-1, 1].

    The correlation itself has no useful sensitivity: where all other records nearly coincide, one record decides it. So
    the covariance is divided by the public ranges, not by the standard deviations of the data.

    Noisy sums of x, x**2 and x y of each feature, with the budget split evenly, would give correlations too. In
    [-1, 1] the three sums change by 4 together (x = y = 1 becomes x = -1, y = 1), and those of all d features must be
    published: the noise on each mean of x y has scale 4 d / (n epsilon). To choose k of d features by their covariances
    only takes noise of scale 8 k / (n epsilon). That is why covariances stand in for Pearson here.
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


# --- Mutual information on one grid ---------------------------------------------------------------------------------


def binned_information(table, n_bins=N_BINS):
    """Mutual information, in bits, of feature and target, each in `n_bins` bins of equal width, or in its classes."""
    X, y = table.in_unit_square()
    y_bins = _bins(y, n_bins) if table.n_classes is None else table.y.astype(np.int64)
    n_y_bins = table.n_classes or n_bins
    n_cells = n_bins * n_y_bins
    return np.array(
        [
            _information(np.bincount(_bins(x, n_bins) * n_y_bins + y_bins, minlength=n_cells).reshape(n_bins, -1))
            for x in X.T
        ]
    )


def binned_information_sensitivity(n, n_classes=None):
    """2 d((n+1)/2) / n bits, or h(1/n) for two classes (docs/theory/sensitivity.md, step 3)."""
    return binary_mi_sensitivity(n) if n_classes == 2 else mi_sensitivity(n)


def _bins(values, n_bins):
    return np.minimum((values * n_bins).astype(np.int64), n_bins - 1)


def _information(counts):
    def g(a):
        return (a * np.log2(np.maximum(a, 1))).sum()

    n = counts.sum()
    return max((g(counts) - g(counts.sum(axis=0)) - g(counts.sum(axis=1)) + g(n)) / n, 0.0)
