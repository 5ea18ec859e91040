"""MTVr between two parties with a known margin: the score, its sensitivity, its noise and the score by chance."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from skdpmic import BudgetLedger
from skdpmic.privacy.noise import entropy_source
from skdpmic.two_party import TwoPartyScorer
from skdpmic.two_party.randomized_response import inverse_response_matrix
from skdpmic.two_party.two_party_scorer import (
    STEPS,
    known_score,
    noise_scale,
    noisy_score,
    sensitivity,
    sensitivity_in_steps,
)
from tests.two_party.sent import reports_of

pytest.importorskip("pyarrow", reason="reports are tables of Arrow")


def naive(counts, inverse, shares):
    """The formula, term by term."""
    m, n = len(counts), sum(map(sum, counts))
    debiased = [[sum(inverse[i][r] * counts[r][j] for r in range(m)) for j in range(len(shares))] for i in range(m)]
    total = sum(abs(row[j] - t * sum(row)) for row in debiased for j, t in enumerate(shares))
    return min(total / (2 * n * max(1 - t for t in shares)), 1.0)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.2, 0.8), (0.2, 0.3, 0.5)])
def test_the_score_follows_the_formula(shares):
    counts = np.random.default_rng(0).integers(20, size=(4, len(shares)))
    inverse = inverse_response_matrix(4, 3.0)
    assert known_score(counts, inverse, np.array(shares)) == pytest.approx(naive(counts, inverse, shares), rel=1e-12)
    if len(shares) == 2:  # as in docs/theory/known_margin.md
        t, debiased = shares[0], inverse @ counts
        of_two = np.abs((1 - t) * debiased[:, 0] - t * debiased[:, 1]).sum() / (counts.sum() * max(t, 1 - t))
        assert known_score(counts, inverse, np.array(shares)) == pytest.approx(of_two, rel=1e-12)


# --- Sensitivity ------------------------------------------------------------------------------------------------------


def largest_change(n, inverse, shares, score=known_score):
    """The largest change of the score if one target is replaced, over all reports and targets of n records."""
    m, groups = len(inverse), range(len(shares))
    largest = 0.0
    for reports in combinations_with_replacement(range(m), n):
        scores = {}
        for target in product(groups, repeat=n):
            counts = np.zeros((m, len(shares)), dtype=int)
            np.add.at(counts, (list(reports), list(target)), 1)
            scores[target] = float(score(counts, inverse, shares))
        for target, value in scores.items():
            for i, j in product(range(n), groups):
                largest = max(largest, abs(value - scores[(*target[:i], j, *target[i + 1 :])]))
    return largest


CASES = [
    (n, m, np.array(shares))
    for n, m, shares in [(4, 2, (0.5, 0.5)), (4, 3, (0.5, 0.5)), (4, 3, (0.3, 0.7)), (3, 3, (0.2, 0.3, 0.5))]
]


@pytest.mark.parametrize("n, m, shares", CASES, ids=range(len(CASES)))
def test_replacing_a_target_changes_the_score_by_almost_the_sensitivity_and_no_more(n, m, shares):
    """For every table of so few records."""
    inverse = inverse_response_matrix(m, 3.0)
    most = sensitivity(n, inverse, shares)
    assert most < 1  # otherwise the clamp alone would bound it
    assert 0.8 * most < largest_change(n, inverse, shares) <= most * (1 + 1e-12)

    def in_steps(*table):
        return round(float(known_score(*table)) * STEPS)

    assert largest_change(n, inverse, shares, in_steps) <= sensitivity_in_steps(n, inverse, shares)


# --- Noise ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_noise_has_the_scale_of_the_formula():
    scale = noise_scale(0.5, 2 * 1000)
    assert scale == Fraction(4000)
    source = entropy_source(0)
    noise = np.array([noisy_score(0.25, scale, source) - 0.25 for _ in range(1000)]) * STEPS
    assert np.abs(noise).mean() == pytest.approx(4000, rel=0.1)  # 3 standard errors
    assert noisy_score(0.25, noise_scale(math.inf, 2000), None) == 0.25


# --- The score by chance, and the scorer ------------------------------------------------------------------------------


def line_and_noise(n, rng):
    X = rng.random((n, 2))
    return X, X[:, 0] + 0.25 * rng.standard_normal(n)


KNOWN = {"target_bounds": (-0.5, 1.5), "target_shares": [0.5, 0.5]}


def test_what_is_published_follows_from_the_noisy_scores_and_is_charged(tmp_path):
    X, y = line_and_noise(300, np.random.default_rng(0))
    sent, ledger = reports_of(np.c_[X, y], 4.0, columns_per_record=2), BudgetLedger(tmp_path / "bob.db", epsilon=1.0)
    bob = TwoPartyScorer("mtv_r", epsilon=0.5, ledger=ledger, **KNOWN).fit(sent, y)
    assert str(ledger.entries()[0]) == "TwoPartyScorer, mtv_r, scores of 3, geometric"
    assert ledger.spent() == (0.5, 0.0)
    expected = (bob.noisy_scores_ - bob.null_scores_) / (1 - bob.null_scores_)
    np.testing.assert_allclose(bob.scores_, np.clip(expected, 0, 1))
    inverse = inverse_response_matrix(7, 2.0)
    assert max(bob.n_reported_) < 300
    n_steps = [sensitivity_in_steps(n, inverse, np.array([0.5, 0.5])) for n in bob.n_reported_]
    assert bob.noise_scales_ == pytest.approx(2 * np.array(n_steps) / STEPS / 0.5)
    assert not hasattr(bob, "noisy_counts_")
    assert "on each score" in bob._repr_html_()
    for name in ("noisy_scores_", "noise_scales_", "null_scores_"):
        assert not hasattr(TwoPartyScorer().fit(sent, y), name)
    bob.set_params(target_shares=None, ledger=None).fit(sent, y)
    assert hasattr(bob, "noisy_counts_")
    assert not hasattr(bob, "null_scores_")


def test_in_zcdp_the_costs_of_all_scores_are_added_and_unseeded_publications_differ(tmp_path):
    """A record is in two scores, each at half of epsilon."""
    X, y = line_and_noise(300, np.random.default_rng(0))
    ledger = BudgetLedger(tmp_path / "bob.db", epsilon=3.0, delta=1e-6)
    bob, sent = TwoPartyScorer("mtv_r", epsilon=0.5, ledger=ledger, **KNOWN), reports_of(X, 4.0, columns_per_record=2)
    first = bob.fit(sent, y).noisy_scores_
    assert ledger.entries()[0].rho == 2 * (0.5 / 2) ** 2 / 2
    assert np.all(first != bob.fit(sent, y).noisy_scores_)
