"""The share of features that a plan expects to be found follows from its public assumption."""

import math
from functools import partial
from unittest import mock

import numpy as np
import pytest
from scipy import stats

from skdpmic import PrivateSelectKBest
from skdpmic.planning import chances
from skdpmic.planning.chances import above_chance, share_found, share_of, tolerance_of
from skdpmic.privacy.mechanisms import CubeLaw
from skdpmic.statistics.registry import STATISTICS
from tests.folding import each
from tests.privacy.laws import cube_vectors

LAWS = {"laplace": stats.laplace, "normal": stats.norm, "exponential": stats.expon, "gumbel": stats.gumbel_r}
SHAPE = np.linspace(1, 0, len(chances.PLACES)) ** 2
SIZES = np.array([0.1, 0.2, 0.4, 0.5, 0.9])
N = 2500


def share_in_trials(d, k, law, tolerance, n_trials=4000):
    """The share found beyond chance, from choices among d scores with independent noise on each."""
    random = np.random.default_rng(5)
    known = max(100, 4 * k)
    scores = np.interp((np.minimum(np.arange(d), known) + 0.5) / min(d, known), chances.PLACES, SHAPE)
    counted, by_chance = [], []
    for size in SIZES:
        if isinstance(law, CubeLaw):
            noise = cube_vectors(law, n_trials, random)
        else:
            noise = law.rvs(size=(n_trials, d), random_state=random)
        sizes_near = size * 2 ** np.linspace(-0.5, 0.5, 101)[:, None]  # for all of which this one stands
        counts = np.mean(sizes_near * (scores[k - 1] - scores) <= tolerance, axis=0)
        best = np.argsort(-(size * scores + noise), axis=1)[:, :k]
        counted.append(counts[best].mean())
        by_chance.append(counts.mean())
    return (np.mean(counted) - np.mean(by_chance)) / (1 - np.mean(by_chance))


@pytest.mark.parametrize("tolerance", [0.0, 0.04])
@pytest.mark.parametrize("d, k", [(40, 6), (1000, 3)])
@pytest.mark.parametrize("name, scale", [("exponential", 0.02), ("laplace", 0.05), ("gumbel", 0.15), ("cube", 0.05)])
@pytest.mark.combinations
def test_the_share_is_that_of_simulated_choices(name, scale, d, k, tolerance):
    """4,000 trials and 500 draws, five sizes: a standard error of about 0.007."""
    law = CubeLaw(d, scale / CubeLaw(d, 1.0).std()) if name == "cube" else LAWS[name](scale=scale)
    expected = share_in_trials(d, k, law, tolerance)
    assert share_of(SIZES, SHAPE, d, k, law, tolerance) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("law", [stats.laplace(), stats.expon(), stats.gumbel_r(), CubeLaw(3, 1.0), CubeLaw(90, 1.0)])
def test_the_fixed_draws_of_the_noise_have_its_standard_deviation(law):
    """Up to 5%; 500 draws of each of 3 or 90 scores, fixed by the package. A cube of one size is 18% too narrow."""
    draws = chances._noise(law, getattr(law, "n_scores", 90), 0, 1)
    assert draws.std() == pytest.approx(law.std(), rel=0.05)


def test_all_is_found_without_noise_and_nothing_with_too_much_or_where_all_counts():
    find = partial(share_of, SIZES, SHAPE, 40, 6)
    assert find(stats.expon(scale=1e-9), 0.0) == find(stats.expon(scale=1e-9), 0.05) == 1
    assert find(stats.expon(scale=1e6), 0.0) < 0.02 > find(stats.expon(scale=1e6), 0.05)
    assert find(stats.expon(scale=0.01), 1.0) == 0  # chance finds as much
    with np.errstate(all="raise"):
        assert share_of(0 * SIZES, SHAPE, 40, 6, stats.expon(scale=0.01), 0.0) == 0
    shares = [above_chance(0.6, 0.2), above_chance(0.1, 0.2), above_chance(1.0, 1.0)]
    assert shares == pytest.approx([0.5, 0, 0])


def test_a_tolerance_counts_what_other_people_could_have_ranked_higher():
    """Scores of n people vary by about 1/sqrt(n): two standard errors of a score of this kind, n = 400, 2,000 draws."""
    random, n = np.random.default_rng(0), 400
    agree = random.random((2000, n)) < 0.6  # two binary columns that agree in 60% of records: a score of 0.2
    scores = np.abs(2 * agree.mean(axis=1) - 1)
    assert np.quantile(np.abs(scores - 0.2), 0.95) == pytest.approx(tolerance_of(n), rel=0.1)


# --- The public assumption ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_more_noise_more_features_or_a_weaker_signal_lowers_the_share_found():
    law, tolerance = stats.laplace(scale=0.03), tolerance_of(1e5)
    for statistic in STATISTICS:
        scales = np.geomspace(1e-5, 30, 8)
        shares = [share_found(statistic, "typical", 50, 5, stats.laplace(scale=s), tolerance) for s in scales]
        assert all(np.diff(shares) < 1e-3)
        assert shares[0] > 0.97
        assert shares[-1] < 0.03
        of_sizes = [share_found(statistic, "typical", d, 5, law, tolerance) for d in (5, 10, 100, 1000)]
        assert of_sizes[0] == 1.0
        assert all(np.diff(of_sizes) < 0)
        of_signals = [share_found(statistic, signal, 50, 5, law, tolerance) for signal in chances.SIGNALS]
        assert all(np.diff(of_signals) < 0)


@each("n_features, k", [(10, 3), (20, 5), (100, 5), (30, 10)])
@each("signal", ["weak", "typical"])
def test_what_a_fit_plans_to_find_never_falls_with_epsilon_or_people(signal, n_features, k):
    """By at most .02, also where joint choices take over from single ones, and from a cube to one-shot noise."""
    people, epsilons = (300, 1000, 3000, 10_000, 100_000, 1_000_000), np.geomspace(0.03, 10, 7)
    make = partial(PrivateSelectKBest, k, bounds=(0, 1), target_bounds=(0, 1))
    found = np.array(
        [[make(epsilon=e).plan(n, n_features, signal=signal)[0].found for n in people] for e in epsilons.tolist()]
    )
    assert np.diff(found, axis=0).min() > -0.02 < np.diff(found, axis=1).min()
    assert found.max() > 0.99


@each("seed", range(20))
def test_what_a_fit_plans_to_find_never_falls_from_one_number_of_people_to_the_next(seed):
    """By at most .02 below any smaller number; for random numbers of features, also where nearly all are chosen."""
    rng = np.random.default_rng(seed)
    n_features = int(rng.choice([6, 7, 10, 20, 50, 100, 300, 1000]))
    k = int(min(rng.integers(1, n_features), rng.choice([1, 3, 8, 30])))
    public = {"epsilon": float(rng.choice([0.05, 0.2, 0.7])), "bounds": (0, 1), "target_bounds": (0, 1)}
    signal, people = str(rng.choice(["weak", "typical"])), np.geomspace(30, 1e5, 40)
    fit = PrivateSelectKBest(k, **public)
    with mock.patch("skdpmic.planning.plan.plan_release", return_value=[]):  # of which this test needs no rows
        found = np.array([fit.plan(int(n), n_features, signal=signal)[0].found for n in people])
    assert (np.maximum.accumulate(found) - found).max() < 0.02, (n_features, k, public, signal)


@pytest.mark.slow
@each("seed", range(10))
def test_what_a_fit_plans_to_find_falls_little_where_joint_choices_begin(seed):
    """By at most .02 below any smaller epsilon, in steps of 1%."""
    rng = np.random.default_rng(seed)
    n_features, n = int(rng.choice([6, 10, 20, 50, 100, 300])), int(rng.choice([3000, 20_000, 100_000, 1_000_000]))
    k = int(min(rng.integers(2, n_features), rng.choice([2, 3, 5, 8])))
    signal, begins = str(rng.choice(["weak", "typical", "strong"])), 520 * k / n  # with noise of .01
    with mock.patch("skdpmic.planning.plan.plan_release", return_value=[]):
        fits = [
            PrivateSelectKBest(k, epsilon=e, bounds=(0, 1), classes=[0, 1]) for e in np.geomspace(1, 4, 140) * begins
        ]
        rows = [fit.plan(n, n_features, signal=signal)[0] for fit in fits]
    found = np.array([row.found for row in rows])
    assert (np.maximum.accumulate(found) - found).max() < 0.02, (n_features, n, k, signal)
    assert rows[-1].mechanism == "permute-and-flip"


@pytest.mark.slow
@pytest.mark.parametrize("n_features, k", [(40, 10), (1000, 5), (200, 50), (100_000, 5)])
def test_the_noise_that_finds_half_exists_for_wide_tables_and_falls_with_their_width(n_features, k):
    law, tolerance = stats.expon(scale=1.0), tolerance_of(1e9)
    for statistic in STATISTICS:
        for signal in chances.SIGNALS:
            assert 1 < chances.excess_of_noise(statistic, signal, n_features, k, law, tolerance) < 10_000
    wider = chances.excess_of_noise("mtv_r", "weak", 10 * n_features, k, law, tolerance)
    assert wider > chances.excess_of_noise("mtv_r", "weak", n_features, k, law, tolerance)


def test_no_noise_finds_half_where_chance_finds_all():
    assert chances.excess_of_noise("mtv_r", "weak", 40, 5, stats.expon(scale=1.0), tolerance_of(20)) == math.inf


@pytest.mark.parametrize(
    "law",
    [stats.expon(scale=0.2), stats.norm(scale=0.03), CubeLaw(12, 0.01)],
    ids=["exponential", "normal", "cube"],
)
def test_noise_divided_by_its_excess_finds_half(law):
    public = "mtv_r", "typical", 12, 3, law
    excess = chances.excess_of_noise(*public, tolerance_of(1e5))
    assert share_found(*public, tolerance_of(1e5), excess) == pytest.approx(0.5, abs=0.02)
