"""``statistic=`` of the estimators: what each finds, its noise, what it needs, and what it refuses."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skdpmic import DPMICScorer, DPMICSelector, PrivateGridSearch, mic_r, mtv_r, search_cost
from skdpmic.counting import RangeGridSketch
from skdpmic.privacy.composition import rho_for
from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.statistics.sensitivity import mic_r_sensitivity
from skdpmic.table.domains import Nominal
from skdpmic.table.records import Shape
from tests.select_names import SelectNames
from tests.statistics.mtv.naive_mtv_r import naive_total_variation

N, D = 200, 4
RANKS = [name for name, statistic in STATISTICS.items() if not statistic.needs_ranges]
WITH_RANGES = [name for name, statistic in STATISTICS.items() if statistic.needs_ranges]
UNIT = {"bounds": (0, 1), "target_bounds": (0, 1)}
STEPS = 2**30


def public(name):
    return UNIT if STATISTICS[name].needs_ranges else {}


def table(n=N, d=D, seed=0):
    X = np.random.default_rng(seed).random((n, d))
    return X, X[:, 1] ** 2


def without_noise(name, X, y, **parameters):
    return DPMICScorer(statistic=name, epsilon=math.inf, **public(name) | parameters).fit(X, y).scores_


SENSITIVITY = {  # by the theorems, in exact fractions except for MICr
    "mic_r": mic_r_sensitivity,
    "mtv_r": lambda n: Fraction(2, n),
    "kendall": lambda n: Fraction(4, n),
}


# --- Scores -------------------------------------------------------------------------------------------------------


def test_mic_r_without_noise_equals_the_function():
    X, y = table()
    scores = without_noise("mic_r", X, y, B=16, c=4)
    assert scores.tolist() == [mic_r(x, y, bounds=((0, 1), (0, 1)), B=16, c=4, correction="miller-madow") for x in X.T]


def test_mtv_r_without_noise_equals_the_function_at_the_published_shares_and_cut():
    X, y = table()
    scorer = DPMICScorer(statistic="mtv_r", epsilon=math.inf, B=16, c=4, **public("mtv_r")).fit(X, y)
    known = {"bounds": ((0, 1), (0, scorer.target_cut_, 1)), "target_shares": scorer.target_shares_}
    assert scorer.scores_.tolist() == pytest.approx([mtv_r(x, y, B=16, c=4, **known) for x in X.T], abs=1e-9)
    assert scorer.target_shares_.tolist() == [(y < scorer.target_cut_).mean(), (y >= scorer.target_cut_).mean()]
    given = DPMICScorer(statistic="mtv_r", epsilon=math.inf, B=16, c=4, **public("mtv_r"), target_shares=[0.6, 0.4])
    known = {"bounds": ((0, 1), (0, 1)), "target_shares": [0.6, 0.4]}
    assert given.fit(X, y).scores_.tolist() == [mtv_r(x, y, B=16, c=4, **known) for x in X.T]


def test_kendall_scores_without_noise_are_those_of_scipy():
    X, y = table()
    expected = [abs(kendalltau(x, y).statistic) for x in X.T]
    np.testing.assert_allclose(without_noise("kendall", X, y), expected, atol=1e-12)


def test_mtv_r_of_two_classes_is_the_total_variation_over_the_share_of_the_larger_one():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(60, 3)).astype(float), rng.integers(0, 2, size=60)
    scores = without_noise("mtv_r", X, y, classes=[0, 1], target_bounds=None)
    larger = Fraction(int(max(np.bincount(y))), len(y))  # the target's share is known, as there is no noise
    exact = [naive_total_variation(x.astype(int).tolist(), y.tolist()) / larger for x in X.T]
    np.testing.assert_allclose(scores, [float(score) for score in exact], atol=1e-12)


# --- Noise --------------------------------------------------------------------------------------------------------


def laplace(d, steps):
    return math.ceil(d * steps / Fraction(3, 10))


def gaussian(d, steps):
    return math.sqrt(d * steps**2 / (2 * rho_for(0.3, 1e-6)))


def k_norm(d, steps):
    return math.ceil(steps / Fraction(3, 10)) * math.sqrt((d + 1) * (d + 2) / 3)


def one_shot(d, steps):
    return math.ceil(2 * 2 * steps / Fraction(3, 10))


def exponential(d, steps):
    return steps * math.sqrt(40 / (2 * rho_for(0.3, 1e-6)))


RELEASES = {
    "laplace": (lambda **given: DPMICScorer(epsilon=0.3, **given), laplace),
    "gaussian": (lambda **given: DPMICScorer(epsilon=0.3, delta=1e-6, mechanism="gaussian", **given), gaussian),
    "k-norm": (lambda **given: DPMICScorer(epsilon=0.3, mechanism="k-norm", **given), k_norm),
    "one-shot": (lambda **given: SelectNames(epsilon=0.3, k=2, **given), one_shot),
    "exponential": (
        lambda **given: SelectNames(epsilon=0.3, delta=1e-6, k=40, **given),
        exponential,
    ),
}


@pytest.mark.few
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.combinations
def test_the_noise_matches_the_formula(name, release):
    make, scale_of = RELEASES[release]
    X, y = table(d=50)
    fitted = make(statistic=name, **public(name)).fit(X, y)
    least = scale_of(50, SENSITIVITY[name](N) * STEPS) / share_for_scores(name, fitted)
    assert least <= fitted.noise_scale_ * STEPS <= least * (1 + 1e-4)


def share_for_scores(name, fitted):
    """The share of epsilon that is for scores, or the square root of that of rho; noise is divided by it."""
    share = Fraction(17, 20) if name == "mtv_r" else Fraction(1)
    return math.sqrt(share) if fitted.privacy_spent_[1] > 0 else share


@pytest.mark.parametrize("name", STATISTICS)
def test_the_cost_is_the_same_for_every_statistic(name, ledger):
    scorer = DPMICScorer(statistic=name, epsilon=0.25, ledger=ledger, **public(name))
    scorer.fit(*table())
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.n, entry.d) == (0.25, N, D)
    target = ", target 0.0375" if name == "mtv_r" else ""
    assert str(entry) == f"DPMICScorer, {name}, scores of {D}, laplace{target}"
    assert scorer.privacy_spent_ == (0.25, 0.0)
    search = GridSearchCV(make_pipeline(scorer, LinearRegression()), {"linearregression__fit_intercept": [True]}, cv=2)
    assert search_cost(search).epsilon == 0.5


# --- What is needed, and what is refused --------------------------------------------------------------------------


def test_three_classes_have_no_order(ledger):
    X, _ = table()
    with pytest.raises(ValueError, match=r"classes must be 2 labels with statistic='kendall', .*, got 3"):
        DPMICScorer(statistic="kendall", classes=[0, 1, 2], ledger=ledger).fit(X, np.arange(N) % 3)
    pipeline = make_pipeline(DPMICSelector(k=1, statistic="kendall", classes=[0, 1, 2]), LogisticRegression())
    search = PrivateGridSearch(pipeline, {"logisticregression__C": [0.1, 1]}, ledger=ledger)
    with pytest.raises(ValueError, match="classes must be 2 labels"):
        search.fit(X, np.arange(N) % 3)
    assert ledger.entries() == []


@pytest.mark.parametrize("given", ["mic", None, 3, ["mic_r"]])
def test_an_unknown_statistic_is_refused(given):
    scorer = DPMICScorer(statistic=given, **UNIT)
    with pytest.raises(ValueError, match="statistic must be one of 'mic_r', 'mtv_r', 'kendall'"):
        scorer.fit(*table())
    assert not hasattr(scorer, "partial_fit")


@pytest.mark.parametrize("name", RANKS)
@pytest.mark.parametrize("method", ["partial_fit", "publish", "fit_sketch", "empty_sketch"])
def test_ranks_cannot_be_computed_in_chunks_and_the_error_says_why(name, method):
    scorer = DPMICScorer(statistic=name)
    assert not hasattr(scorer, method)
    with pytest.raises(AttributeError) as caught:
        getattr(scorer, method)
    assert f"got '{name}': ranks cannot be computed from pieces" in str(caught.value.__cause__)


@pytest.mark.parametrize("name", RANKS)
def test_ranks_refuse_sketches_and_dask(name):
    with pytest.raises(ValueError, match="statistic must be 'mic_r' or 'mtv_r' if records come in pieces"):
        RangeGridSketch(statistic=name, bounds=(0, 1), target_bounds=(0, 1), B=9, n_features=D)
    dask_array = pytest.importorskip("dask.array")
    X, y = map(dask_array.from_array, table())
    with pytest.raises(ValueError, match="statistic must be 'mic_r' or 'mtv_r' if records come in pieces"):
        DPMICScorer(statistic=name).fit(X, y)


# --- Inside scikit-learn ------------------------------------------------------------------------------------------


# --- Several kinds of feature -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [None, 4])
def test_the_noise_of_all_features_covers_the_rounding_of_the_largest_table(n_classes):
    n, few, many = 1000, Shape(1000, [(0, 1)]), Shape(1000, [(0, 1), Nominal(5000), (0, 2)])
    measure = statistic_named("mic_r", "miller-madow").measure(40, 2, n, 1.0, n_classes)
    assert measure.rounding_error(many) == measure.rounding_error(Shape(n, [Nominal(5000)]))
    assert measure.rounding_error(many) > measure.rounding_error(few)
    assert measure.steps(many) >= measure.steps(few)
    assert measure.sensitivity(many) == mic_r_sensitivity(n)
