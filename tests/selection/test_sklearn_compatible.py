"""All estimators pass scikit-learn's estimator checks in every setting, except those of sample weights.

Weights need `max_weight`, a public number, which the checks do not set; tests/selection/test_weights.py checks the same
things with it.
"""

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdpmic import DPMICScorer, DPMICSelector, PrivateGridSearch, PrivateSelectKBest
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.two_party import RandomizedResponse
from tests.labels_of_y import TakesLabelsOfY

# The checks' tables are standardised and their labels small integers.
CONTINUOUS = {"bounds": (-10, 10), "target_bounds": (-10, 10)}
DISCRETE = {"bounds": (-10, 10), "classes": [0, 1, 2]}


class Scorer(TakesLabelsOfY, DPMICScorer):
    pass


class Selector(TakesLabelsOfY, DPMICSelector):
    pass


class SelectKBest(TakesLabelsOfY, PrivateSelectKBest):
    pass


WEIGHT_CHECKS = dict.fromkeys(
    [
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_list",
        "check_all_zero_sample_weights_error",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "sample_weight needs max_weight",
)


def expected_failures(estimator):
    return WEIGHT_CHECKS if hasattr(estimator, "max_weight") else {}


SETTINGS = [
    DPMICScorer(**CONTINUOUS, delta=1e-6, mechanism="gaussian"),
    Selector(**DISCRETE, k=1),
    PrivateSelectKBest(**CONTINUOUS, k="all", criterion="joint"),
    PrivateCorrelation(),
]
MORE_SETTINGS = [  # so that each estimator, kind of target, mechanism and way to release is checked
    DPMICScorer(**CONTINUOUS),
    Scorer(**DISCRETE, mechanism="geometric"),
    DPMICScorer(**CONTINUOUS, epsilon=10.0, B=9, c=1.5),
    DPMICSelector(k=1, statistic="kendall"),
    DPMICSelector(**CONTINUOUS, mechanism="k-norm"),
    Selector(**DISCRETE, k=1, n_jobs=2),
    DPMICSelector(**CONTINUOUS, threshold=0.0),
    SelectKBest(**DISCRETE, k=1, statistic="mtv_r"),
    PrivateSelectKBest(**CONTINUOUS, k=1, statistic="mic_r"),
    SelectKBest(**DISCRETE, k="all", criterion="joint", delta=0.4, n_jobs=2),
    RandomizedResponse(bounds=(-10, 10)),
    RandomizedResponse(epsilon=20.0, bounds=(-10, 10), allow_missing=False),
    PrivatePC(),
    PrivatePC(categories={}, alpha=0.2, max_order=0, n_jobs=2),
]


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning", "ignore:k=10 is greater than n_features")
@parametrize_with_checks(SETTINGS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning", "ignore:k=10 is greater than n_features")
@parametrize_with_checks(MORE_SETTINGS, expected_failed_checks=expected_failures)
def test_scikit_learn_check_of_another_setting(estimator, check):
    check(estimator)


SEARCHES = [
    PrivateGridSearch(LogisticRegression(), {"C": [0.1, 1]}, n_subsets=2),
    PrivateGridSearch(Ridge(), {"alpha": [0.1, 1]}, n_subsets=2),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@parametrize_with_checks(SEARCHES, expected_failed_checks=lambda search: {})
def test_scikit_learn_check_of_a_search(estimator, check):
    check(estimator)
