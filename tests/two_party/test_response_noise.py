"""Randomised response has exactly the stated probabilities."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from skdpmic.privacy.noise import bernoulli_exp, entropy_source
from skdpmic.two_party import randomized_response as module
from skdpmic.two_party.randomized_response import (
    drawn_columns,
    inverse_response_matrix,
    keep_probability,
    n_columns_for,
    n_parts_for,
    randomized_response,
)
from tests.two_party.response_probabilities import response_matrix

ALPHA = 1e-6  # of every chi-square test here


class _AnotherRound(Exception):
    pass


def exact_probabilities(m, epsilon, true, monkeypatch):
    """P(report | true part), by running the sampler on every proposal and coin of its first round."""
    first_round = [0.0] * m
    for proposal in range(m):
        for coin, probability in ((True, math.exp(-epsilon)), (False, -math.expm1(-epsilon))):
            rounds = []

            def uniform_below(bound, size, source, proposal=proposal, rounds=rounds):
                assert (bound, size) == (m, 1)
                rounds.append(proposal)
                if len(rounds) > 1:
                    raise _AnotherRound
                return np.array([proposal])

            def bernoulli(gamma, size, source, coin=coin):
                assert gamma == epsilon  # exactly
                return np.array([coin])

            monkeypatch.setattr(module, "uniform_below", uniform_below)
            monkeypatch.setattr(module, "bernoulli_exp", bernoulli)
            try:
                (report,) = randomized_response(np.array([true]), m, epsilon, None)
            except _AnotherRound:
                continue
            first_round[report] += probability / m
    return np.array(first_round) / sum(first_round)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5, 2), Fraction(7)])
def test_every_report_has_the_probability_of_the_formula(m, epsilon, monkeypatch):
    probabilities = np.array([exact_probabilities(m, epsilon, true, monkeypatch) for true in range(m)])
    kept, other = (weight / (math.exp(epsilon) + m - 1) for weight in (math.exp(epsilon), 1))
    np.testing.assert_allclose(probabilities, np.where(np.eye(m) == 1, kept, other), rtol=1e-13)
    np.testing.assert_allclose(response_matrix(m, epsilon), probabilities, rtol=1e-12)
    assert keep_probability(m, epsilon) == pytest.approx(kept, rel=1e-13)
    loss = np.log(probabilities.max(axis=0) / probabilities.min(axis=0))
    np.testing.assert_allclose(loss, float(epsilon), rtol=1e-12)  # epsilon-LDP, attained by every report


def test_bernoulli_draws_have_the_probability_of_the_formula():
    n, source = 100_000, entropy_source(0)
    for gamma in (Fraction(1, 10), Fraction(1), Fraction(7, 3), Fraction(1, 2**70), 0):
        heads = bernoulli_exp(gamma, n, source).sum()
        assert stats.binomtest(int(heads), n, math.exp(-gamma)).pvalue > ALPHA
        assert gamma == Fraction(7, 3) or stats.binomtest(int(heads), n, math.exp(-gamma) * 0.97).pvalue < ALPHA


def test_without_noise_reports_are_the_parts():
    parts = np.array([3, 0, 1])
    reports = randomized_response(parts, 4, math.inf, None)
    assert reports.tolist() == [3, 0, 1]
    assert reports is not parts
    np.testing.assert_array_equal(inverse_response_matrix(4, math.inf), np.eye(4))


def test_every_choice_of_columns_is_equally_likely():
    drawn = drawn_columns(60_000, 5, 2, entropy_source(0))
    assert np.all(drawn.sum(axis=1) == 2)
    counts = [np.all(drawn[:, list(pair)], axis=1).sum() for pair in combinations(range(5), 2)]
    assert stats.chisquare(counts).pvalue > ALPHA
    assert drawn_columns(3, 2, 2, None).all()


def test_wide_tables_draw_their_columns_in_blocks():
    drawn = drawn_columns(300, 10_000, 3, entropy_source(0))  # 104 records at once
    assert np.all(drawn.sum(axis=1) == 3)
    assert len(np.unique(drawn[:104].argmax(axis=1))) > 50
    assert not np.array_equal(drawn[:100], drawn[104:204])


def test_the_automatic_numbers_are_as_documented():
    assert [n_columns_for(epsilon, 4) for epsilon in (0.1, 2.4, 5, 7.6, 100, math.inf)] == [1, 1, 2, 3, 4, 4]
    assert [n_parts_for(epsilon) for epsilon in (0.1, 1.4, 1.5, 2.9, 3, math.inf)] == [4, 4, 6, 6, 8, 8]
