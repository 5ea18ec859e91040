"""The privacy loss of diffprivlib's LogisticRegression at a given epsilon: python -m benchmarks.models.guarantee.

Its mechanism is objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011, algorithm 2), which the paper proves
for rows of norm at most 1. For rows of norm R, curvature grows by R squared; ``Vector`` of diffprivlib 0.6.6 counts R
once. For a table of one record and one column, the privacy loss follows exactly from the density of the released
weight: the noise b that leads to a weight w is known, and so is its derivative.
"""

import math

import numpy as np
from scipy.special import expit


def largest_loss(data_norm, epsilon, alpha=1.0):
    """The largest log density ratio between two tables of one record, over a grid of weights.

    Parameters
    ----------
    data_norm : float
        Upper bound on the norm of a row, as passed to LogisticRegression without an intercept.
    epsilon : float
        The epsilon passed to it.
    alpha : float, default=1.0
        1 / C.

    Returns
    -------
    float
        Above epsilon, the guarantee does not hold. A smaller value proves nothing, as a grid can miss the maximum.
    """
    # As in Vector.randomise, with a function sensitivity of 1/4 and n = 1.
    left = epsilon - 2 * math.log1p(0.25 * data_norm / alpha)
    if left <= 0:
        alpha, left = 0.25 * data_norm / math.expm1(epsilon / 4), epsilon / 2
    scale = 2 * data_norm / left
    weights = np.linspace(-3, 3, 6001)

    def log_density(x):
        noise = x * expit(-x * weights) - alpha * weights
        return np.log(alpha + x**2 * expit(x * weights) * expit(-x * weights)) - np.abs(noise) / scale

    densities = [log_density(x) for x in (-data_norm, 0.0, data_norm)]
    return max(np.max(np.abs(one - other)) for one in densities for other in densities)


def main():
    print("data_norm  epsilon  loss")
    for data_norm in (1.0, math.sqrt(6), math.sqrt(130), 20.0):
        for epsilon in (0.1, 0.5, 1.0, 3.0):
            print(f"{data_norm:9.2f}  {epsilon:7.1f}  {largest_loss(data_norm, epsilon):.2f}")


if __name__ == "__main__":
    main()
