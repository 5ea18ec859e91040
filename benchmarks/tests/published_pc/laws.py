"""Laws of the published mechanisms, by quadrature and independently of their code, for exact audits."""

import math
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
from scipy import stats

from benchmarks.published_pc.em_pc import chances, most_independent, scores_of_numbers


def log_chance_of_answers(values, above, threshold, query_scale):
    """Log-probability that a sparse vector with one threshold answers so.

    Parameters
    ----------
    values : sequence of float
        What is asked for, without noise.
    above : sequence of bool
        The answers.
    threshold : scipy frozen distribution
        Law of the noisy threshold.
    query_scale : float
        Of the Laplace noise on each value.
    """
    centre, width = threshold.mean(), threshold.std()
    t = np.linspace(centre - 40 * width, centre + 60 * width, 40_001)
    log_terms = threshold.logpdf(t) + math.log(t[1] - t[0])
    for (value, is_above), times in Counter(zip(values, above, strict=True)).items():
        of_query = stats.laplace(value, query_scale)
        log_terms = log_terms + times * (of_query.logsf(t) if is_above else of_query.logcdf(t))
    return float(np.logaddexp.reduce(log_terms))


def hockey_stick(here, there, epsilon):
    """The least delta of two continuous laws: the integral of what `here` has above exp(epsilon) times `there`.

    Both are scipy frozen distributions. Where the sign changes is found on a grid that is fine near both centres.
    """
    near = [law.mean() + law.std() * np.linspace(-60, 60, 12_001) for law in (here, there)]
    z = np.sort(np.concatenate(near))
    is_above = here.logpdf(z) - there.logpdf(z) > epsilon
    changes = np.flatnonzero(np.diff(is_above.astype(int)))
    ends = np.concatenate([[-np.inf], (z[changes] + z[changes + 1]) / 2, [np.inf]])
    return sum(
        max(0.0, _mass(here, low, high) - math.exp(epsilon) * _mass(there, low, high)) for low, high in pairwise(ends)
    )


def _mass(law, low, high):
    if low >= law.mean():  # of two small numbers in the tail, not of two near 1
        return law.sf(low) - law.sf(high)
    return law.cdf(high) - law.cdf(low)


def law_of_em_step(records, i, neighbours, order, epsilon, alpha=0.1):
    """Probability of each sequence of neighbours, as their places, that EM-PC parts column i from in one step."""
    best = [most_independent(records, i, j, neighbours, order, alpha) for j in neighbours]
    distances, p_values = (np.array([of_one[place] for of_one in best], dtype=float) for place in (1, 2))
    return law_of_parting(distances, p_values, epsilon, alpha)


def law_of_parting(distances, p_values, epsilon, alpha):
    """As above, of neighbours at these distances."""
    law = {}
    for n_parted, chance in enumerate(chances(scores_of_numbers(distances, p_values, alpha), epsilon / 2)):
        for sequence in permutations(range(len(distances)), n_parted):
            left, law[sequence] = distances.copy(), chance
            for place in sequence:
                law[sequence] *= chances(left, epsilon / 2 / n_parted)[place]
                left[place] = -np.inf
    return law
