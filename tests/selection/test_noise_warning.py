"""A fit whose noise will exceed the signal warns before the charge, from public numbers only."""

import math
import re
import warnings

import numpy as np
import pytest
from scipy import stats

from skdpmic import BudgetLedger, DPMICScorer, DPMICSelector, PrivacyLeakWarning, PrivateSelectKBest
from skdpmic.planning.chances import share_found, tolerance_of
from tests.folding import each
from tests.select_names import SelectNames

PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1)}


def table(n=40, d=8, seed=0):
    X = np.random.default_rng(seed).random((n, d))
    return X, X[:, 0]


TOO_NOISY = [
    DPMICScorer(**PUBLIC),
    DPMICScorer(**PUBLIC, mechanism="gaussian", delta=1e-6),
    DPMICScorer(**PUBLIC, mechanism="k-norm", epsilon=0.5),
    DPMICScorer(**PUBLIC, mechanism="geometric", epsilon=0.1),
    DPMICScorer(statistic="kendall", epsilon=0.5),
    DPMICSelector(3, **PUBLIC, epsilon=0.5),
    SelectNames(3, **PUBLIC, epsilon=0.3),
    SelectNames(3, **PUBLIC, epsilon=0.05, delta=0.01),
    DPMICSelector(k="all", **PUBLIC, epsilon=0.1),
    DPMICSelector(3, **PUBLIC, statistic="mtv_r", threshold=0.3, epsilon=0.5),
]
NOT_TOO_NOISY = [
    DPMICScorer(**PUBLIC, epsilon=200.0),
    DPMICScorer(**PUBLIC, mechanism="gaussian", delta=1e-6, epsilon=1000.0),
    DPMICScorer(**PUBLIC, mechanism="k-norm", epsilon=100.0),
    DPMICScorer(**PUBLIC, mechanism="geometric", epsilon=500.0),
    DPMICScorer(statistic="kendall", epsilon=50.0),
    SelectNames(3, **PUBLIC, epsilon=100.0),
    PrivateSelectKBest(3, **PUBLIC, epsilon=20.0),
    DPMICSelector(k="all", **PUBLIC, epsilon=200.0),
    *(DPMICScorer(**PUBLIC, epsilon=math.inf, mechanism=mechanism) for mechanism in ("laplace", "geometric")),
    SelectNames(3, **PUBLIC, epsilon=math.inf),
]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", TOO_NOISY, ids=repr)
def test_a_warning_comes_before_the_charge(estimator, tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db", 10.0, delta=0.5)
    estimator = type(estimator)(**(estimator.get_params() | {"ledger": ledger}))
    before = vars(estimator).copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(
            UserWarning, match="noise will exceed the signal of a typical table: with n_samples=40, n_features=8"
        ):
            estimator.fit(*table())
    assert ledger.entries() == []
    assert vars(estimator) == before


@each("estimator", NOT_TOO_NOISY)
def test_no_warning_if_half_of_the_best_are_found_on_typical_tables(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(*table())


def noise_warning(call):
    """The text of a call's only warning, which says that noise will exceed the signal."""
    with pytest.warns(UserWarning, match="noise will exceed the signal") as caught:
        call()
    (warning,) = caught
    assert warning.filename == __file__
    return str(warning.message)


WAYS_TO_PUBLISH = {
    "fit": lambda scorer, X, y: scorer.fit(X, y),
    "publish": lambda scorer, X, y: scorer.partial_fit(X, y, n_expected=40).publish(),
    "fit_sketch": lambda scorer, X, y: scorer.fit_sketch(scorer.empty_sketch(40, n_features=8).update(X, y)),
}


@pytest.mark.parametrize("way", WAYS_TO_PUBLISH)
def test_every_way_to_publish_warns_before_the_charge(way, ledger):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="noise will exceed the signal"):
            WAYS_TO_PUBLISH[way](DPMICScorer(**PUBLIC, ledger=ledger), *table())
    assert ledger.entries() == []


def test_the_warning_does_not_depend_on_the_data():
    messages = {
        noise_warning(lambda X=X, y=y: DPMICScorer(**PUBLIC).fit(X, y))
        for X, y in (table(), (table()[0] * 0, table()[1]))
    }
    assert len(messages) == 1


@pytest.mark.slow
@each("epsilon", [0.02, 0.1])
@each("criterion", ["single", "joint"])
def test_the_budget_that_the_warning_asks_for_is_enough(epsilon, criterion):
    """The plan for that budget finds half, and a fit with slightly more does not warn."""
    n, public = 400, {**PUBLIC, "criterion": criterion, "target_shares": [0.5, 0.5]}
    X, y = table(n, d=20)
    message = noise_warning(lambda: PrivateSelectKBest(4, epsilon=epsilon, **public).fit(X, y))
    pattern = r"(\d+)% of .* epsilon = (\S+), which is (\S+) here"
    found, asked, here = re.search(pattern, message).groups()
    assert float(here) == pytest.approx(n * epsilon)
    assert int(found) < 50
    enough = PrivateSelectKBest(4, epsilon=float(asked) / n * 1.01, **public)
    planned, in_many = enough.plan(n, 20)[0], 10**9  # so many people that the tolerance is no help
    law = stats.expon(scale=planned.noise_scale)
    assert share_found("mtv_r", "weak", 20, 4, law, tolerance_of(in_many)) == pytest.approx(0.5, abs=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough.fit(X, y)


def test_kept_columns_do_not_count_as_candidates():
    X, y = table(400, d=20)
    selector = PrivateSelectKBest(4, epsilon=0.05, keep=list(range(12)), criterion="single", **PUBLIC)
    assert "of the best 2 features will be found" in noise_warning(lambda: selector.fit(X, y))


@each(
    "estimator, advice",
    [
        (DPMICSelector(3, **PUBLIC), "statistic='mtv_r' or mechanism='k-norm' or publishing names only"),
        (DPMICSelector(3, **PUBLIC, statistic="mtv_r", mechanism="k-norm"), "publishing names only"),
        (PrivateSelectKBest(3, **PUBLIC), "a smaller k"),
    ],
)
def test_the_warning_names_what_has_less_noise_first(estimator, advice):
    with pytest.warns(UserWarning, match=rf"Fewer features, {advice}.* also reduce the noise"):
        estimator.fit(*table())


# --- After the release, from what it shows


def select(weight, share, epsilon, **options):
    """An estimator, a table and equal weights; the first column decides which records are in the rarer class."""
    X = np.random.default_rng(0).random((20_000, 12))
    y, weights = (X[:, 0] < share).astype(int), np.full(len(X), weight)
    public = {"bounds": (0, 1), "classes": [0, 1], "max_weight": 1.0, "criterion": "single", "random_state": 0}
    return PrivateSelectKBest(3, epsilon=epsilon, **public, **options), (X, y), weights


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@each(
    "weight, share, epsilon, shown",
    [
        (0.005, 0.5, 1.0, r"the mean weight is 0\.0(\d+), 0\.\d+% of max_weight"),
        (0.9, 0.005, 0.2, r"the mean weight is 0\.\d+, \d+\.\d+% of max_weight and no score can exceed 0\.0\d+: "),
    ],
)
def test_the_warning_for_small_weights_and_rare_classes_states_a_sufficient_budget(weight, share, epsilon, shown):
    estimator, table, weights = select(weight, share, epsilon)
    with pytest.warns(UserWarning, match=f"^noise exceeds .* as the release shows: {shown}") as caught:
        estimator.fit(*table, sample_weight=weights)
    asked = float(re.search(r"n_samples \* epsilon = (\S+),", str(caught[-1].message)).group(1))
    estimator, *_ = select(weight, share, 1.5 * asked / len(weights))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        estimator.fit(*table, sample_weight=weights)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
def test_the_warning_states_how_little_better_than_chance_names_are():
    # In 20 random choices of 3 of 12 columns, the first is chosen 11 times or more with a probability below 0.5%.
    estimator, table, weights = select(0.002, 0.5, 0.3)
    with pytest.warns(UserWarning, match=r" [0-9]% of the best 3 features were found in spite of it, beyond chance"):
        estimator.fit(*table, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seeds = [select(0.002, 0.5, 0.3)[0].set_params(random_state=seed) for seed in range(20)]
        first = [each.fit(*table, sample_weight=weights).get_support()[0] for each in seeds]
    assert sum(first) <= 10


def test_a_charged_release_is_kept_if_warnings_are_errors(ledger):
    estimator, table, weights = select(0.002, 0.5, 0.3)
    estimator.set_params(ledger=ledger, random_state=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="as the release shows"):
            estimator.fit(*table, sample_weight=weights)
    assert len(ledger.entries()) == 1
    assert estimator.get_support().sum() == 3
