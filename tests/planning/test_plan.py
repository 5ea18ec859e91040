"""A plan states what the mechanisms of a fit do, and never understates the cost."""

import math
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from skdpmic import BudgetLedger, DPMICScorer, DPMICSelector, PrivateSelectKBest, plan_release
from skdpmic.planning.plan import CONFIDENCE
from skdpmic.privacy.composition import Cost, round_up
from skdpmic.privacy.mechanisms import GaussianMechanism, KNormMechanism, LaplaceMechanism
from skdpmic.privacy.noise import entropy_source
from skdpmic.privacy.top_k import ExponentialTopK, OneShotTopK
from skdpmic.release.kinds import BestFeatures, NoisyScores
from skdpmic.statistics.registry import STATISTICS, statistic_named
from skdpmic.table.records import Shape
from tests.folding import each
from tests.select_names import SelectNames

SHAPE = {"n_samples": 5000, "n_features": 30}
REQUESTS = [
    {"error": 0.1, **SHAPE},
    {"error": 0.03, "k": 4, "delta": 1e-6, **SHAPE},
    {"error": 0.1, "k": 30, "delta": 1e-9, "n_classes": 2, "n_samples": 777, "n_features": 30},
    {"epsilon": 0.7, "error": 0.05, "k": 2, "delta": 1e-6, "n_features": 11},
    {"epsilon": 0.1, "error": 0.1, "k": 3, "delta": 1e-8, "n_classes": 5, "n_features": 20},
    {"epsilon": 1 / 3, "k": 5, "delta": 1e-5, **SHAPE},
    {"epsilon": 10, "n_samples": 4, "n_features": 2, "k": 1, "n_classes": 3},
]


def names(row):
    return partial(BestFeatures, row.epsilon, row.delta, row.k, n_candidates=row.n_features)


WAYS = {
    "laplace, scores": lambda row: partial(NoisyScores, row.epsilon, 0.0, LaplaceMechanism, row.n_features),
    "gaussian, scores": lambda row: partial(NoisyScores, row.epsilon, row.delta, GaussianMechanism, row.n_features),
    "k-norm, scores": lambda row: partial(NoisyScores, row.epsilon, 0.0, KNormMechanism, row.n_features),
    **{f"{name}, names": names for name in ("one-shot", "exponential", "k-norm")},
}


def rebuilt(row, n_classes, rows_per_group=1):
    """Kind of release and mechanism of a fit to a table of this shape, from the modules that a fit uses."""
    way = WAYS[f"{row.mechanism}, {row.release}"](row)(
        spends_on_target=STATISTICS[row.statistic].spends_on_target(n_classes)
    )
    measure = way.measure(statistic_named(row.statistic, "miller-madow"), "auto", "auto", row.n_samples, n_classes)
    shape = Shape(row.n_samples * rows_per_group, [(0.0, 1.0)] * row.n_features, rows_per_group)
    return way, way.mechanism(measure, shape)


@pytest.mark.few
@pytest.mark.parametrize("request_", REQUESTS)
def test_a_fit_has_the_stated_noise_and_cost_and_the_cheapest_comes_first(request_):
    plan = plan_release(**request_)
    assert len(plan) > 0
    for row in plan:
        way, mechanism = rebuilt(row, request_.get("n_classes"))
        assert (mechanism.name, mechanism.noise_scale) == (row.mechanism, row.noise_scale)
        assert (way.cost.epsilon, way.cost.delta) == (row.epsilon, row.delta)
        assert row.rho == round_up(way.cost.in_zcdp, Fraction)
        assert row.epsilon_of_target == float(way.epsilon_of_target)
        assert (row.epsilon_of_target > 0) == (row.statistic == "mtv_r" and request_.get("n_classes", 2) <= 4)
        assert mechanism.half_width(CONFIDENCE) <= row.error
        for name, value in request_.items():
            assert name in ("delta", "n_classes") or getattr(row, name) == value
    answers = [getattr(row, plan.sought) for row in plan]
    assert answers == sorted(answers)  # the cheapest comes first


def below(value):
    """The next smaller number with three significant digits, or the next smaller integer."""
    if isinstance(value, int) and value < 1000:
        return value - 1
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return type(value)(round((round(value / step) - 1) * step, 12))


@pytest.mark.few
@pytest.mark.parametrize("request_", [request for request in REQUESTS if "error" in request])
def test_no_smaller_answer_with_three_digits_suffices(request_):
    plan = plan_release(**request_)
    for row in plan:
        answer = getattr(row, plan.sought)
        if answer > 4 or plan.sought == "epsilon":
            smaller = row._replace(**{plan.sought: below(answer)})
            assert rebuilt(smaller, request_.get("n_classes"))[1].half_width(CONFIDENCE) > request_["error"]


@pytest.mark.parametrize(
    "request_",
    [
        {"found": 0.8, "k": 5, "n_samples": 5000, "n_features": 100},
        {"found": 0.5, "k": 4, "n_classes": 3, "delta": 1e-6, "epsilon": 0.3, "n_features": 30, "signal": "typical"},
        {"found": 0.9, "k": 12, "max_rows_per_group": 3, "epsilon": 2, "n_features": 20},
    ],
)
def test_the_least_answer_that_finds_a_share_is_returned_for_each_release(request_):
    plan = plan_release(**request_)
    assert {(row.release, row.statistic) for row in plan} >= {("names", "mtv_r"), ("scores", "mtv_r")}
    given = {name: value for name, value in request_.items() if name not in ("found", "epsilon", "n_samples")}
    for row in plan:
        assert row.found >= request_["found"]
        public = {name: getattr(row, name) for name in ("epsilon", "n_samples")}
        public[plan.sought] = below(public[plan.sought])
        with_less = {other[:3]: other.found for other in plan_release(**given, **public)}
        assert with_less.get(row[:3], 0) < request_["found"]


@pytest.mark.parametrize(
    "bad, message",
    [
        ({"found": 1.0}, r"found must be a number in \(0, 1\), got 1.0"),
        ({"found": "most"}, r"found must be a number in \(0, 1\), got 'most'"),
        ({"found": 0.8, "k": None}, "k must be given with found, got None"),
        ({"found": 0.8, "k": 20}, "k must be less than n_features=20, got 20"),  # nothing to find
        ({"found": 0.8, "error": 0.1}, "exactly two of epsilon, n_samples, error .or found, in place of error. must"),
        ({"found": 0.8, "epsilon": 1.0}, "exactly two of .* got epsilon, n_samples, found"),
        ({"found": 0.8, "k": None, "release": "summary"}, "found must be None with release='summary'"),
    ],
)
def test_a_share_that_cannot_be_planned_for_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        plan_release(**{"n_samples": 1000, "n_features": 20, "k": 3} | bad)


@pytest.mark.slow
@pytest.mark.parametrize("request_", [request for request in REQUESTS if "error" not in request])
def test_an_error_is_rounded_up_by_at_most_one_percent(request_):
    for row in plan_release(**request_):
        margin = rebuilt(row, request_.get("n_classes"))[1].half_width(CONFIDENCE)
        assert margin <= row.error <= margin * 1.01


@pytest.mark.slow
def test_every_possible_release_mechanism_and_statistic_has_a_row():
    scores = [("scores", "laplace"), ("scores", "k-norm"), ("scores", "gaussian")]
    kinds = [*scores, ("names", "one-shot"), ("names", "exponential")]
    shape = {"n_samples": 1000, "n_features": 30, "epsilon": 1}
    rows = plan_release(k=12, delta=1e-6, **shape)
    assert {row[:3] for row in rows} == {(*kind, statistic) for kind in kinds for statistic in STATISTICS}
    assert len(rows) == 15
    assert {row[:2] for row in plan_release(k=12, **shape)} == {*kinds[:2], kinds[3]}
    # For many names, noise in a cube needs no delta.
    assert {row[:2] for row in plan_release(k=24, delta=1e-6, **shape)} == {*kinds[:3], ("names", "k-norm")}
    assert {row[:2] for row in plan_release(**shape)} == set(kinds[:2])
    # For one feature, neither mechanism needs delta, so it is planned once.
    assert {row[:2] for row in plan_release(k=1, delta=1e-6, **shape)} == set(kinds[:4])
    # On one score, noise in a cube is Laplace noise.
    assert {row[:2] for row in plan_release(n_samples=1000, n_features=1, epsilon=1)} == set(kinds[:1])
    of_three_classes = {row.statistic for row in plan_release(n_classes=3, **shape)}
    assert of_three_classes == set(STATISTICS) - {"kendall"}


# --- The stated noise, compared with draws ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(OneShotTopK, marks=pytest.mark.slow), ExponentialTopK])
def test_scores_that_differ_by_the_error_swap_places_once_in_forty_draws(kind):
    mechanism = kind(1, 2**24)
    source = entropy_source(0)
    scores = np.array([0.3, 0.3 + mechanism.half_width(CONFIDENCE)])
    first = [mechanism.release(scores, source)[0] for _ in range(2000)]
    assert np.mean(np.array(first) == 0) == pytest.approx(0.025, abs=4 * (0.05 * 0.95 / 2000) ** 0.5)


def table(n=400, d=3):
    X = np.random.default_rng(0).random((n, d))
    return X, X[:, 0]


@pytest.mark.slow
def test_a_fit_has_the_cost_and_the_noise_that_every_row_states():
    X, y = table()
    for row in plan_release(n_samples=400, n_features=3, k=2, epsilon=2.0, delta=1e-6):
        kind = PrivateSelectKBest if row.release == "names" else partial(DPMICSelector, mechanism=row.mechanism)
        selector = kind(
            row.k, statistic=row.statistic, epsilon=row.epsilon, delta=row.delta, bounds=(0, 1), target_bounds=(0, 1)
        ).fit(X, y)
        assert selector.noise_scale_ == row.noise_scale
        assert selector.privacy_spent_ == (row.epsilon, row.delta)
        assert getattr(selector, "mechanism_", row.mechanism) == row.mechanism


# --- From an estimator --------------------------------------------------------------------------------------------

NUMBERS = {"bounds": (0, 1), "target_bounds": (0, 1)}
ESTIMATORS = [
    DPMICScorer(**NUMBERS),
    DPMICScorer(**NUMBERS, statistic="mtv_r", epsilon=0.1, B=0.5, c=3),
    DPMICScorer(**NUMBERS, mechanism="gaussian", delta=1e-5, correction=None),
    DPMICScorer(**NUMBERS, mechanism="k-norm"),
    DPMICScorer(**NUMBERS, mechanism="geometric"),
    DPMICScorer(bounds=(0, 1), classes=[0, 1, 2], B=30),
    DPMICSelector(2, **NUMBERS, epsilon=3),
    DPMICSelector(k="all", **NUMBERS),
    DPMICSelector(2, **NUMBERS, threshold=0.3),
    SelectNames(2, **NUMBERS, statistic="kendall"),
    SelectNames(1, bounds=(0, 1), classes=[0, 1, 2], delta=1e-3, epsilon=0.02),
    PrivateSelectKBest(2, **NUMBERS, criterion="joint", epsilon=20),
    PrivateSelectKBest(2, bounds=(0, 1), classes=[0, 1, 2], criterion="joint", delta=1e-3, epsilon=0.02),
]


def released_by(estimator):
    """The name of the mechanism that added the noise."""
    return estimator.mechanism_ if hasattr(estimator, "mechanism_") else estimator.mechanism


@pytest.mark.slow
@each("estimator", ESTIMATORS)
def test_the_first_row_of_an_estimators_plan_describes_its_fit(estimator):
    X, y = table()
    plan = estimator.plan(*X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        estimator.fit(X, y if estimator.classes is None else np.floor(3 * y))
    own = plan[0]
    assert own.noise_scale == estimator.noise_scale_
    assert (own.epsilon, own.delta) == estimator.privacy_spent_
    assert own.mechanism == released_by(estimator)
    assert own.statistic == estimator.statistic
    assert own.release == ("names" if isinstance(estimator, PrivateSelectKBest) else "scores")
    if released_by(estimator) == "geometric":
        assert math.isnan(own.error)
    elif own.release == "scores":
        lower, upper = estimator.scores_interval()
        assert (upper - lower).max() <= 2 * own.error
    others = plan[1:]
    assert [row.error for row in others] == sorted(row.error for row in others)
    assert all(row[:3] != own[:3] and row.epsilon == own.epsilon for row in others)


@pytest.mark.few
@pytest.mark.filterwarnings("ignore")
@pytest.mark.few
@pytest.mark.parametrize(
    "estimator",
    [
        DPMICScorer(epsilon=0.3, **NUMBERS),
        DPMICScorer(epsilon=0.3, mechanism="geometric", **NUMBERS),
        DPMICScorer(epsilon=0.3, delta=1e-6, mechanism="gaussian", **NUMBERS),
        PrivateSelectKBest(2, epsilon=0.3, **NUMBERS),
        PrivateSelectKBest(3, epsilon=0.3, criterion="joint", **NUMBERS),
    ],
)
def test_a_ledger_that_adds_up_zcdp_is_charged_exactly_the_planned_rho(estimator, tmp_path):
    rng = np.random.default_rng(0)
    ledger = BudgetLedger(tmp_path / "budget.db", 5.0, 1e-5)
    estimator.set_params(ledger=ledger).fit(rng.random((100, 7)), rng.random(100))
    (entry,) = ledger.entries()
    assert estimator.plan(100, 7)[0].rho == round_up(Cost(*entry[2:4], entry.rho).in_zcdp, Fraction)


# --- The table ----------------------------------------------------------------------------------------------------


def test_a_plan_is_shown_as_text_html_and_dataframe():
    pandas = pytest.importorskip("pandas")
    plan = plan_release(n_samples=5000, n_features=100, k=5, error=0.1)
    caption, *text = repr(plan).replace("n_features=100,\n", "n_features=100, ").splitlines()
    asked = "n_samples=5,000, n_features=100, error=0.1, tolerance=0.0283"
    assert caption == f"epsilon of each release, with delta=0, {asked}"
    shown = ("release", "mechanism", "statistic", "epsilon", "noise", "found")
    assert tuple(text[0].split()) == shown
    assert len(text) == 1 + len(plan)
    assert text[1].split()[:7] == ["5", "names", "of", "100", "one-shot", "mtv_r", "0.141"]
    assert max(map(len, repr(plan).splitlines())) <= 80
    assert plan._repr_html_().count("<tr>") == 1 + len(plan)
    frame = plan.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(plan[0]._fields)
    assert frame["epsilon"].tolist() == [row.epsilon for row in plan]


def test_a_plan_for_a_billion_records_allocates_no_memory_for_them():
    tracemalloc = pytest.importorskip("tracemalloc")
    tracemalloc.start()
    rows = plan_release(n_samples=10**9, n_features=10, error=0.001)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {row.statistic for row in rows} == set(STATISTICS)
    assert peak < 10**8


# --- People with several rows -----------------------------------------------------------------------------------------


# --- Arguments ----------------------------------------------------------------------------------------------------

GOOD = {"n_samples": 1000, "n_features": 10, "epsilon": 1.0}
BAD = [
    ({"epsilon": None}, "exactly two of epsilon, n_samples, error .or found, .* must be given, got n_samples"),
    ({"error": 0.1}, "two of epsilon, .* got epsilon, n_samples, error"),
    ({"n_features": None}, "n_features must be an int >= 1, got None"),
    ({"n_samples": 3}, "n_samples must be an int >= 4, got 3"),
    ({"n_samples": 1e3}, "n_samples must be an int >= 4, got 1000.0"),
    ({"k": 0}, "k must be an int >= 1, got 0"),
    ({"k": 11}, "k must be at most n_features=10, got 11"),
    ({"epsilon": -1}, "epsilon must be a number > 0"),
    ({"epsilon": math.inf}, "epsilon must be finite"),
    ({"delta": 1}, r"delta must be a number in \[0, 1\), got 1"),
    ({"n_classes": 1}, "n_classes must be an int >= 2, got 1"),
    ({"max_rows_per_group": 0}, "max_rows_per_group must be an int >= 1, got 0"),
    ({"epsilon": None, "error": 0}, r"error must be a number in \[1e-06, 1\], got 0"),
    ({"epsilon": None, "error": 2.0}, r"error must be a number in \[1e-06, 1\], got 2.0"),
    ({"n_samples": None, "error": 1e-6, "epsilon": 1e-6}, "no release meets error=1e-06"),
]


@each("changed, message", BAD)
def test_invalid_arguments_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        plan_release(**(GOOD | changed))
