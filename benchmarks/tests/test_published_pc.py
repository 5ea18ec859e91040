"""Priv-PC and the sparse vector of SVT-PC fail audits that `PrivatePC` passes.

An algorithm claims an epsilon with each graph that it publishes, at a delta of 1e-3. So an event may include the claim:
no set of outcomes with claims of at most c may violate (c, delta).
"""

import math
from collections import Counter
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import stats

from benchmarks.published_pc import (
    DELTA,
    Records,
    SieveAndExamine,
    SparseVector,
    advanced_composition,
    assumed_sensitivity,
    g_statistic,
    kendall_p_value,
    scales,
)
from skdpmic.causal import PrivatePC
from skdpmic.statistics.sensitivity import mi_sensitivity
from tests.privacy.auditing import privacy_loss_at_least

N, ALPHA = 100_000, 1e-2


# --- Strata that are left out ---------------------------------------------------------------------------------------


def strata(small, excess, constant):
    """Two neighbouring tables of three columns (x, y, z).

    In the last stratum of z, of `small` records, x and y are dependent: cells with x = y have `excess` records more
    than a quarter, the others as many fewer. In the other strata x is constant, except for one record of the second
    neighbour: `constant` has, for each of them, the label of x and how often y is 0 and 1.
    """
    last, quarter = len(constant), small // 4
    counts = {(x, y, last): quarter + (excess if x == y else -excess) for x, y in product((0, 1), repeat=2)}
    for z, (x, zeros, ones) in enumerate(constant):
        counts |= {(x, 0, z): zeros, (x, 1, z): ones}
    there = counts | {(0, 0, 0): counts[0, 0, 0] - 1, (1, 0, 0): 1}
    return tuple(Records(np.array([*c]), np.array([*c.values()]), (2, 2, last + 1)) for c in (counts, there))


ONE_BIG = strata(952, 33, [(0, 49_524, 49_524)])
THREE_BIG = strata(100, 20, [(0, 26_000, 9_000), (0, 8_000, 22_000), (1, 8_700, 26_200)])


def test_one_record_moves_the_p_value_by_fifty_times_its_assumed_sensitivity():
    here, there = (kendall_p_value(records, 0, 1, (2,)) for records in ONE_BIG)
    assert {records.n for records in (*ONE_BIG, *THREE_BIG)} == {N}
    assert (here, there) == pytest.approx((0.0007, 0.38), abs=1e-3)
    assert assumed_sensitivity(N) == pytest.approx(0.0076, rel=0.01)
    # The examination releases p plus Laplace noise of scale sensitivity / epsilon: for the outcome 0 the log-ratio is
    assert (there - here) / assumed_sensitivity(N) == pytest.approx(50, rel=0.01)  # times epsilon


STEP = 0.5


def published_answer(records, rng):
    """Whether x and y are found independent given z, and the claim."""
    test = SieveAndExamine(records, STEP, rng)
    return test.is_independent(0, 1, (2,)), test.claimed_epsilon()


def loss(release, claim, here, there, n_runs):
    """Loss for the event that x and y are found independent with a claim of at most `claim`; alpha = 1e-2."""

    def event(answer_and_claim):
        return answer_and_claim[0] and answer_and_claim[1] <= claim

    return privacy_loss_at_least(release, here, there, event, n_runs, ALPHA, DELTA)


CLAIM = 2 * advanced_composition(STEP / 2, 1, math.log(2 / DELTA))  # with one answer


def test_sieve_and_examine_fails_an_audit():
    # alpha = 1e-2, 500 runs on each neighbour.
    few, many = THREE_BIG
    assert pytest.approx(2.09, abs=0.01) == CLAIM
    release = partial(published_answer, rng=np.random.default_rng(0))
    assert loss(release, CLAIM, many, few, 500) > 1.2 * CLAIM


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:delta=", "ignore::skdpmic.PrivacyLeakWarning")  # 1e-3 is what rivals claim
def test_private_pc_passes_the_same_audit():
    # The same event, neighbours and claim. alpha = 1e-2, 100 runs on each neighbour: enough for a bound
    # of 2.9 on an event that only one of them has, where 2.1 is claimed.
    private = PrivatePC(CLAIM, DELTA, categories={0: [0, 1], 1: [0, 1], 2: range(4)})
    private.set_params(random_state=np.random.RandomState(0))

    def edge(records):
        private.fit(np.repeat(records.rows, records.counts, axis=0))
        return not private.skeleton_[0, 1], CLAIM

    assert loss(edge, CLAIM, *THREE_BIG[::-1], 100) <= CLAIM


def log_probability_of_answers(values, above, threshold, query_scale):
    """Log-probability of these answers of a sparse vector with one threshold.

    Parameters
    ----------
    values : sequence of float
        Noise-free values of the queries.
    above : sequence of bool
        The answers.
    threshold : scipy frozen distribution
        Distribution of the noisy threshold.
    query_scale : float
        Scale of the Laplace noise on each value.
    """
    centre, width = threshold.mean(), threshold.std()
    t = np.linspace(centre - 40 * width, centre + 60 * width, 40_001)
    log_terms = threshold.logpdf(t) + math.log(t[1] - t[0])
    for (value, is_above), times in Counter(zip(values, above, strict=True)).items():
        of_query = stats.laplace(value, query_scale)
        log_terms = log_terms + times * (of_query.logsf(t) if is_above else of_query.logcdf(t))
    return float(np.logaddexp.reduce(log_terms))


# --- The number of answers --------------------------------------------------------------------------------------------


def test_a_run_without_an_answer_claims_nothing_but_reveals_something():
    """The last sieve is not counted: computed exactly, and checked on the code at alpha = 1e-3, 2000 runs on each."""
    sensitivity, n_queries, epsilon = assumed_sensitivity(N), 3, 1.0
    records, rng = THREE_BIG[0], np.random.default_rng(0)
    of_threshold, of_query = scales(epsilon, sensitivity)
    p_values = 0.1 - sensitivity / 2, 0.1 + sensitivity / 2  # of all queries, on two neighbours

    def of_run(p_value):
        test = SparseVector(records, epsilon, rng, p_value=lambda *_: p_value)
        for i in range(n_queries):
            test.is_independent(0, 1, (i,))
        return test.n_answers, test.claimed_epsilon()

    threshold = stats.laplace(0.1, of_threshold)
    less, more = (
        math.exp(log_probability_of_answers([p_value] * n_queries, [False] * n_queries, threshold, of_query))
        for p_value in p_values
    )
    assert less - more > 10 * DELTA  # where (0, delta) allows delta
    for p_value, chance in zip(p_values, (less, more), strict=True):
        runs = [of_run(p_value) for _ in range(2000)]
        assert all((claim == 0) == (n_answers == 0) for n_answers, claim in runs)
        assert stats.binomtest(sum(n_answers == 0 for n_answers, _ in runs), 2000, chance).pvalue > 1e-3


@pytest.mark.parametrize("is_fixed", [True, False])
def test_a_total_by_advanced_composition_is_exceeded_if_the_number_of_answers_depends_on_the_data(is_fixed):
    """Randomised response to one bit, each answer 0.01-DP: until the loss exceeds the claim so far, or 3000 answers.

    For a fixed number of answers, the loss exceeds the claim with a probability of at most delta: that is the theorem.
    """
    epsilon, most = 0.01, 3000
    up = 1 / (1 + math.exp(-epsilon))
    chance = np.zeros(2 * most + 1)  # of losses of -most ... most times epsilon
    chance[most] = 1.0
    exceeded = 0.0
    for count in range(1, most + 1):
        chance = up * np.roll(chance, 1) + (1 - up) * np.roll(chance, -1)
        claimed = advanced_composition(epsilon, count, math.log(1 / DELTA))
        first = most + math.floor(claimed / epsilon) + 1
        if first < len(chance):
            above = chance[first:].sum()
            exceeded = above if is_fixed else exceeded + above
            if not is_fixed:
                chance[first:] = 0.0  # stop here
    assert exceeded < 0.2 * DELTA if is_fixed else exceeded == pytest.approx(2 * DELTA, rel=0.05)


# --- A normal threshold -----------------------------------------------------------------------------------------------


def largest_loss_of_one_answer(distribution, n_below, epsilon=1.0):
    """Loss of `n_below` answers "below" and one "above", if all values rise except the last, which falls."""
    sensitivity = assumed_sensitivity(N)
    of_threshold, of_query = scales(epsilon, sensitivity)
    low, high = 0.1, 0.1 + sensitivity
    answers = [False] * n_below + [True]
    here, there = (
        log_probability_of_answers(values, answers, distribution(0.1, of_threshold), of_query)
        for values in ([low] * n_below + [high], [high] * n_below + [low])
    )
    return here - there


def test_the_loss_of_a_sparse_vector_with_a_normal_threshold_exceeds_epsilon_and_grows_with_queries():
    losses = {
        noise: [largest_loss_of_one_answer(noise, n) for n in (16, 64, 256)] for noise in (stats.laplace, stats.norm)
    }
    assert max(losses[stats.laplace]) <= 1.0
    assert losses[stats.norm][2] > 3
    assert sorted(losses[stats.norm]) == losses[stats.norm]


# --- Tests of independence --------------------------------------------------------------------------------------------


def test_one_record_moves_a_chi_square_test_from_end_to_end_and_a_g_test_by_a_logarithm():
    for n in (10, 1000, 100_000):
        here, there = np.array([[[n - 1, 0], [0, 1]]]), np.array([[[n, 0], [0, 0]]])
        chi2 = stats.chi2_contingency(here[0], correction=False).statistic
        change = g_statistic(here) - g_statistic(there)
        assert chi2 == pytest.approx(n)
        assert 2 * math.log(n) < change < 2 * math.log(n) + 2.01
        assert change <= 2 * math.log(2) * n * mi_sensitivity(n)


@pytest.mark.parametrize("n", [4, 7])
def test_the_g_test_changes_by_at_most_about_4_log_n(n):
    cells = [(0, 0), (0, 1), (1, 0), (1, 1)]
    largest = 0.0
    for counts in product(range(n + 1), repeat=4):
        if sum(counts) == n:
            table = np.array(counts).reshape(1, 2, 2)
            for here, there in product(cells, repeat=2):
                if table[0][here]:
                    other = table.copy()
                    other[0][here] -= 1
                    other[0][there] += 1
                    largest = max(largest, abs(g_statistic(other) - g_statistic(table)))
    assert largest <= 2 * math.log(2) * n * mi_sensitivity(n) < 4 * math.log(n) + 2
