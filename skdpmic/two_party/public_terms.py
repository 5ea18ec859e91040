"""What a fit of a TwoPartyScorer needs besides the target: from the reports and public numbers, before the charge."""

import math
from typing import Any, NamedTuple

import numpy as np

from skdpmic.two_party.known_margin import noise_scale_of_score, score_of_independent, sensitivity_in_steps
from skdpmic.two_party.response_noise import inverse_response_matrix
from skdpmic.two_party.response_tables import n_target_parts, noise_scale

_LEAST = 1e-6  # epsilon per report: with less, more reports than can be read would tell nothing


class Terms(NamedTuple):
    """Public numbers of one fit."""

    inverses: list  # of the response matrices, by column; those of equal columns are the same object
    n_target: int  # parts of a numeric target
    scale: Any = 0  # of the noise on counts, a Fraction; 0 for none
    scales: Any = None  # of the noise on each score, in steps, if the shares of the target are known
    null_scores: Any = None  # mean scores of independent targets with these shares


def terms_of_tables(statistic, epsilon, reports):
    """The terms if tables of counts are scored; `epsilon` is None without noise."""
    spent, k = math.inf if epsilon is None else epsilon, reports.description.columns_per_record
    n_target = n_target_parts(statistic, spent * reports.n_samples / len(reports.parts))
    return Terms(_inverses(reports.description), n_target, noise_scale(spent, k))


def terms_of_known_shares(shares, epsilon, reports):
    """The terms if the shares of the target are public; `epsilon` is None without noise."""
    spent, k = math.inf if epsilon is None else epsilon, reports.description.columns_per_record
    inverses, scales, null_scores = _inverses(reports.description), [], []
    for parts, inverse in zip(reports.parts, inverses, strict=True):
        reported = np.bincount(parts[parts >= 0], minlength=len(inverse))
        n_steps = sensitivity_in_steps(reported.sum(), inverse, shares)
        scales.append(noise_scale_of_score(spent, k, n_steps))
        null_scores.append(score_of_independent(reported, inverse, shares))
    return Terms(inverses, len(shares), scales=scales, null_scores=np.array(null_scores))


def _inverses(description):
    epsilon = float(description.epsilon_per_column)
    if epsilon < _LEAST:
        raise ValueError(
            f"reports must have an epsilon of at least {_LEAST:g} for each column that a record reports, to tell "
            f"anything, got {epsilon:g}."
        )
    sizes = [column.n_parts for column in description.columns]
    of_size = {n_parts: inverse_response_matrix(n_parts, epsilon) for n_parts in set(sizes)}
    return [of_size[n_parts] for n_parts in sizes]
