"""The nearest correlation matrix, and forward selection, against what defines them."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from skdpmic.correlation.kendall_release import concordances
from skdpmic.correlation.matrices import (
    _RIDGE,
    columns_with_ties,
    forward_order,
    known_shares,
    nearest_correlation,
    pearson_of_kendall,
)
from skdpmic.statistics.ranks.kernels import mid_ranks


def random_correlation(p, rng, rank=None):
    factor = rng.normal(size=(p, rank or p))
    factor /= np.linalg.norm(factor, axis=1, keepdims=True)
    return factor @ factor.T


def symmetric_noise(p, rng):
    noise = np.triu(rng.normal(size=(p, p)), 1)
    return noise + noise.T


def assert_is_correlation(matrix):
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(matrix.diagonal(), 1.0)
    assert np.abs(matrix).max() <= 1
    assert np.linalg.eigvalsh(matrix)[0] > -1e-12


NOISE = [0.01, 0.1, 1.0, 1e6]


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("p", [2, 3, 10, 40])
def test_the_nearest_is_a_correlation_matrix_and_no_farther_from_any_than_the_noisy_one(p, noise):
    rng = np.random.default_rng(p)
    for rank in (1, p):
        truth = random_correlation(p, rng, rank)
        noisy = truth + noise * symmetric_noise(p, rng)
        nearest = nearest_correlation(noisy)
        assert_is_correlation(nearest)
        assert np.linalg.norm(nearest - truth) <= np.linalg.norm(noisy - truth) + 1e-9


def test_it_is_the_nearest_of_all():
    # A projection on a convex set: it makes an obtuse angle with the way to any other member.
    rng = np.random.default_rng(0)
    for p in (3, 6, 15):
        noisy = np.clip(random_correlation(p, rng, 2) + 0.5 * symmetric_noise(p, rng), -1, 1)
        np.fill_diagonal(noisy, 1.0)
        nearest = nearest_correlation(noisy)
        members = [random_correlation(p, rng, rank) for rank in (1, 2, p) for _ in range(200)]
        assert max(((noisy - nearest) * (member - nearest)).sum() for member in members) < 1e-6


def test_of_three_columns_it_is_what_a_search_finds():
    noisy = np.array([[1, 0.9, -0.8], [0.9, 1, 0.7], [-0.8, 0.7, 1]])

    def farness(angles):
        a, b, c = angles
        rows = np.array([[1, 0, 0], [math.cos(a), math.sin(a), 0],
                         [math.cos(b), math.sin(b) * math.cos(c), math.sin(b) * math.sin(c)]])  # fmt: skip
        return ((rows @ rows.T - noisy) ** 2).sum()

    best = min(
        optimize.minimize(farness, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).fun
        for start in np.random.default_rng(0).uniform(0, 3, size=(10, 3))
    )
    assert ((nearest_correlation(noisy) - noisy) ** 2).sum() == pytest.approx(best, abs=1e-7)


def test_a_correlation_matrix_is_its_own_nearest():
    rng = np.random.default_rng(0)
    for p in (2, 5, 30):
        matrix = random_correlation(p, rng)
        np.testing.assert_allclose(nearest_correlation(matrix), matrix, atol=1e-12)
    np.testing.assert_array_equal(nearest_correlation(np.eye(3)), np.eye(3))


def test_the_matrix_of_a_table_is_a_correlation_matrix_with_ties_too():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(40, 8)).astype(float)
    taus = np.eye(8)
    above = np.triu_indices(8)
    taus[above] = taus.T[above] = concordances([mid_ranks(column) for column in X.T]) / 780
    np.fill_diagonal(taus, 1.0)
    assert np.linalg.eigvalsh(taus)[0] >= 0


def test_greiner_turns_kendall_into_pearson_for_normal_columns():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=20_000, method="cholesky")
    tau = concordances([mid_ranks(column) for column in X.T])[1] * 2 / (20_000 * 19_999)
    assert pearson_of_kendall(tau) == pytest.approx(0.6, abs=0.02)
    assert pearson_of_kendall(np.array([-3.0, -1, 0, 1, 3])).tolist() == [-1, -1, 0, 1, 1]


# --- Forward selection ------------------------------------------------------------------------------------------------


def kendall_of_pearson(correlation):
    taus = np.arcsin(np.clip(correlation, -1, 1)) * 2 / math.pi
    np.fill_diagonal(taus, 1.0)
    return taus


def r2_of(correlation, chosen):
    with_target = correlation[chosen, -1]
    return float(with_target @ np.linalg.solve(correlation[np.ix_(chosen, chosen)], with_target))


def naive_forward(correlation):
    """By a linear model of every set that could be next."""
    chosen, r2 = [], []
    while len(chosen) < len(correlation) - 1:
        free = [j for j in range(len(correlation) - 1) if j not in chosen]
        chosen.append(max(free, key=lambda j: r2_of(correlation, [*chosen, j])))
        r2.append(r2_of(correlation, chosen))
    return chosen, r2


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_it_is_forward_selection_by_linear_models(seed):
    correlation = random_correlation(9, np.random.default_rng(seed))
    order, r2 = forward_order(kendall_of_pearson(correlation), np.ones(9), 0.0)
    expected, expected_r2 = naive_forward(correlation)
    assert order.tolist() == expected
    np.testing.assert_allclose(r2, expected_r2, atol=1e-8)


def test_ties_are_made_up_for_by_the_shares_that_are_untied():
    # Column 1 is column 0 with half of its pairs tied, and column 2 adds a little: tau-a of the copies is low.
    shares = np.array([0.5, 0.5, 1.0, 1.0])
    of_pairs = np.array([[1, 0.95, 0, 0.6], [0.95, 1, 0, 0.59], [0, 0, 1, 0.1], [0.6, 0.59, 0.1, 1]])
    taus = of_pairs * np.sqrt(np.outer(shares, shares))
    np.fill_diagonal(taus, 1.0)
    assert forward_order(taus, shares, 0.0)[0].tolist() == [0, 2, 1]
    assert forward_order(taus, np.ones(4), 0.0)[0].tolist()[1] == 1  # as if nothing were tied, the copy seems to add


def test_ties_that_may_be_noise_alone_are_taken_for_none():
    """Up to three standard deviations; and no share is so small that dividing by it would make noise of all."""
    untied = np.array([1.01, 0.95, 0.93, 0.5, 0.01])
    assert known_shares(untied, 0.02).tolist() == [1.0, 1.0, 0.93, 0.5, 0.06]
    assert known_shares(untied, 0.0).tolist() == [1.0, *untied[1:]]


def test_noise_takes_some_of_what_a_feature_explains_and_none_of_what_there_is_to_explain():
    """A ridge is on the variance of the feature alone: R squared is the square of the correlation over 1 + ridge."""
    noise_scale, correlation = 0.01, 0.8
    ridge = _RIDGE * math.sqrt(2) * noise_scale * math.pi / 2
    taus = kendall_of_pearson(np.array([[1, correlation], [correlation, 1]]))
    assert forward_order(taus, np.ones(2), noise_scale)[1] == pytest.approx([correlation**2 / (1 + ridge)])


@pytest.mark.parametrize("noise_scale", [0.0, 1e-3, 0.05, 0.4, 3.0, 1e6])
def test_it_is_an_order_of_all_features_and_r2_never_falls_however_large_the_noise(noise_scale):
    rng = np.random.default_rng(0)
    for p in (2, 3, 20):
        taus = kendall_of_pearson(random_correlation(p, rng, 2)) + noise_scale * symmetric_noise(p, rng)
        order, r2 = forward_order(taus, np.ones(p), noise_scale)
        assert sorted(order.tolist()) == list(range(p - 1))
        assert (np.diff(r2) >= -1e-12).all()
        assert (r2 >= 0).all()
        assert (r2 <= 1).all()


def test_copies_and_constants_come_after_what_adds_something_without_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    X[:, 1], X[:, 3] = X[:, 0], 7.0
    y = 2 * X[:, 0] + X[:, 2] + 0.5 * X[:, 4] + rng.normal(size=500)
    columns = [*X.T, y]
    sums, above = concordances([mid_ranks(column) for column in columns]), np.triu_indices(6)
    taus = np.eye(6)
    taus[above] = taus.T[above] = sums / (500 * 499 // 2)
    shares = taus.diagonal().copy()
    np.fill_diagonal(taus, 1.0)
    order, r2 = forward_order(taus, shares, 0.0)
    assert order.tolist()[0] in (0, 1)
    assert order.tolist()[1:3] == [2, 4]
    constant = order.tolist().index(3)
    np.testing.assert_allclose(r2[2:constant], r2[2], atol=1e-6)
    assert np.isnan(r2[constant:]).all()


@pytest.mark.parametrize("n_known", [0, 1, 3, 5])
def test_r2_is_not_known_from_the_first_column_with_many_ties_on_and_is_till_then_as_without_such_columns(n_known):
    correlation = random_correlation(6, np.random.default_rng(0))
    taus = kendall_of_pearson(correlation)
    order, r2 = forward_order(taus, np.ones(6), 0.0)
    shares = np.ones(6)
    shares[order[n_known:]] = 0.98
    of_pairs = np.sqrt(np.outer(shares, shares))
    np.fill_diagonal(of_pairs, 1.0)
    same_order, known = forward_order(taus * of_pairs, shares, 0.0)
    np.testing.assert_array_equal(same_order, order)
    np.testing.assert_allclose(known[:n_known], r2[:n_known], atol=1e-8)
    assert np.isnan(known[n_known:]).all()


def test_r2_of_a_target_with_many_ties_is_not_known_at_all():
    taus = kendall_of_pearson(random_correlation(6, np.random.default_rng(0)))
    order, r2 = forward_order(taus, np.array([1, 1, 1, 1, 1, 0.5]), 0.0)
    assert sorted(order.tolist()) == list(range(5))
    assert np.isnan(r2).all()


def test_what_may_be_noise_is_no_tie():
    assert columns_with_ties(np.array([0.98, 0.5, 1.01]), 0.02) == [1]
    assert columns_with_ties(np.array([0.98, 0.5, 1.01]), 0.0) == [0, 1]
    assert columns_with_ties(np.array([0.991, 0.99, 0.989]), 0.0) == [2]
    assert columns_with_ties(np.array([0.0, -0.5]), 9.0) == []


@pytest.mark.parametrize("n_values, pearson, partial_by_sine", [(2, [0.2, 0.447], -0.125), (5, [0.667, 0.816], -0.28)])
def test_the_sine_of_tau_b_is_not_pearsons_correlation_of_a_column_with_many_ties(n_values, pearson, partial_by_sine):
    """s -> a and s -> b, with s of few values. Fixed seed; 4,000 records, so correlations are off by 0.016 or so."""
    rng = np.random.default_rng(0)
    s = rng.integers(n_values, size=4000)
    a, b = s + rng.normal(size=(2, 4000))

    def of_three(correlation):
        ab, as_, bs = correlation(a, b), correlation(a, s), correlation(b, s)
        return ab, as_, (ab - as_ * bs) / math.sqrt((1 - as_**2) * (1 - bs**2))

    def sine(x, y):
        return math.sin(math.pi / 2 * stats.kendalltau(x, y).statistic)

    np.testing.assert_allclose(of_three(lambda x, y: np.corrcoef(x, y)[0, 1]), [*pearson, 0], atol=0.05)
    ab, as_, partial = of_three(sine)
    assert as_ > pearson[1] + 0.04
    assert partial == pytest.approx(partial_by_sine, abs=0.05)  # though a and b are independent given s
    if n_values == 2:  # as docs/theory/kendall_matrix.md has it
        agree = 2 * stats.norm.cdf(1 / math.sqrt(2)) - 1
        ab, as_ = math.sin(math.pi / 4 * agree**2), math.sin(math.pi / 2 * agree / math.sqrt(2))
        assert [round(x, 3) for x in (ab, as_, (ab - as_**2) / (1 - as_**2))] == [0.211, 0.546, -0.125]


@pytest.mark.parametrize("seed", range(5))
def test_rounding_errors_do_not_decide_between_copies(seed):
    # They differ between processors; the first of two copies comes first, and then what adds nothing, as it is given.
    rng = np.random.default_rng(seed)
    columns = rng.permutation([0, 0, 1, 1, 2, 2, 3])
    with_target = random_correlation(5, rng)
    correlation = with_target[np.ix_([*columns, 4], [*columns, 4])]
    firsts = [columns.tolist().index(column) for column in range(4)]
    expected = [firsts[j] for j in forward_order(kendall_of_pearson(with_target), np.ones(5), 0.0)[0]]
    expected += [j for j in range(7) if j not in expected]
    for _ in range(20):
        taus = kendall_of_pearson(correlation) + 1e-15 * symmetric_noise(8, rng)
        assert forward_order(taus, np.ones(8), 0.0)[0].tolist() == expected


def test_with_noise_what_may_be_a_copy_by_chance_alone_is_not_taken_for_one():
    # Of 30 tables with six true features among 24 independent ones: shrunk correlations find more of these.
    rng = np.random.default_rng(0)
    truth = np.eye(25)
    truth[:6, -1] = truth[-1, :6] = np.linspace(0.5, 0.2, 6)
    found = []
    for _ in range(30):
        taus = kendall_of_pearson(truth) + 0.06 * symmetric_noise(25, rng)
        untied = 1 + 0.06 * rng.normal(size=25)
        found.append([np.sum(forward_order(taus, untied, scale)[0][:6] < 6) for scale in (0.06, 1e-9)])
    with_noise_known, as_if_none = np.mean(found, axis=0)
    assert with_noise_known > as_if_none + 0.3


def test_the_correlation_matrix_is_the_nearest_to_the_noisy_one_cut_to_minus_one_and_one():
    """Not always to the noisy one itself: three columns, one entry of which noise has taken beyond 1."""
    noisy = np.array([[1.0, 1.6, 0.9], [1.6, 1.0, -0.5], [0.9, -0.5, 1.0]])
    found, cut = nearest_correlation(noisy), np.clip(noisy, -1, 1)
    np.testing.assert_allclose(found, nearest_correlation(cut), atol=1e-12)
    # Of a grid of correlation matrices, none is nearer to the cut one, and some are to the noisy one.
    values = np.linspace(-1, 1, 81)
    a, b, c = (corner.ravel() for corner in np.meshgrid(values, values, values))
    is_one = 1 + 2 * a * b * c - a**2 - b**2 - c**2 >= 0
    every = np.stack([a, b, c], axis=1)[is_one]
    above = np.triu_indices(3, 1)

    def least(target):
        return ((every - target[above]) ** 2).sum(axis=1).min(), ((found - target)[above] ** 2).sum()

    nearest_of_grid, of_found = least(cut)
    assert of_found <= nearest_of_grid + 1e-6
    nearest_of_grid, of_found = least(noisy)
    assert of_found > nearest_of_grid + 1e-3


def test_single_entries_and_the_largest_may_be_farther_off_than_the_noisy_ones():
    """So of these nothing is said, only of the sum of squares."""

    def matrix(a, b, c):
        return np.array([[1, a, b], [a, 1, c], [b, c, 1]])

    noisy = matrix(-0.8, -0.8, 0.0)
    assert nearest_correlation(noisy)[1, 2] == pytest.approx(0.05, abs=0.005)  # of which 0 is the truth
    truth, noisy = matrix(0.05, -0.61, 0.73), matrix(0.34, -0.85, 0.42)
    errors = np.abs(nearest_correlation(noisy) - truth), np.abs(noisy - truth)
    assert errors[0].max() == pytest.approx(0.36, abs=0.005)
    assert errors[1].max() == pytest.approx(0.31, abs=0.005)
    assert (errors[0] ** 2).sum() < (errors[1] ** 2).sum()
