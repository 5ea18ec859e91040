"""The distribution that reports must have."""

import numpy as np

from skdpmic.two_party.randomized_response import keep_probability


def response_matrix(n_parts, epsilon):
    """R: the probability of each report, in columns, for each true part, in rows."""
    kept = keep_probability(n_parts, epsilon)
    other = (1 - kept) / (n_parts - 1)
    return np.full((n_parts, n_parts), other) + (kept - other) * np.eye(n_parts)
