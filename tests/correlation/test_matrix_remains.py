"""What the estimators of a noisy matrix hold is a function of public numbers and of what was released.

As in ``test_nothing_raw_remains.py``: two neighbouring tables whose correlations differ are fitted, each with the noise
that makes what is released equal. All else must then be equal too, byte for byte.
"""

import copy
import pickle
import re
import sys
from functools import partial

import joblib
import numpy as np
import pytest

from skdpmic import BudgetLedger
from skdpmic._utils import no_cache as uncached
from skdpmic._utils.private_estimator import PrivateEstimator
from skdpmic.causal import PrivatePC
from skdpmic.causal.graph_result import GraphResultMixin
from skdpmic.correlation import PrivateCorrelation
from skdpmic.correlation import kendall_release as concordance
from skdpmic.correlation import kendall_release as noisy_matrix
from skdpmic.correlation.matrix_plan import MatrixPlan, PrivateMatrixEstimator
from skdpmic.release.fit_plan import FitPlan
from skdpmic.release.path import publish, store
from tests._utils.test_rollback import functions_of, interrupted_everywhere, prepared

N, D = 60, 5
KINDS = [PrivateCorrelation, partial(PrivateCorrelation, n_jobs=2), PrivatePC]


def neighbours():
    rng = np.random.default_rng(0)
    X, y = rng.random((N, D)), rng.random(N)
    X_other, y_other = X.copy(), y.copy()
    X_other[7], y_other[7] = 1 - X[7], 1 - y[7]
    return (X, y), (X_other, y_other)


def fit_with_released_values(make, table, monkeypatch):
    """What is released is the same whatever the table: noise is what is missing to it."""
    released = np.random.default_rng(1).integers(-900, 900, size=100)
    sums = []
    compute = noisy_matrix.concordances

    def with_progress(*arguments):
        sums.append(compute(*arguments))
        return sums[-1]

    with monkeypatch.context() as patch:
        patch.setattr(noisy_matrix, "concordances", with_progress)
        patch.setattr(concordance, "discrete_gaussian", lambda sigma2, size, source: released[:size] - sums[-1])
        fitted = make().fit(*table)
    return fitted, sums[-1]


def everything_visible(estimator):
    getattr(estimator, "cpdag_", None)  # which is computed when it is asked for
    vars(estimator).pop("_tests", None)  # functions of what was released, which no pickle has
    return {
        "attributes": {name: repr(value) for name, value in vars(estimator).items()},
        "pickle": pickle.dumps(estimator),
        "html": re.sub(r"sk-(container-id|estimator-id)-[\w-]+", "", estimator._repr_html_()),
        "text": repr(estimator),
    }


@pytest.mark.parametrize("make", KINDS)
def test_equal_releases_leave_equal_estimators(make, monkeypatch):
    monkeypatch.setattr(uncached, "fresh_nonce", lambda: b"nonce")
    (here, sums_here), (there, sums_there) = (
        fit_with_released_values(make, table, monkeypatch) for table in neighbours()
    )
    assert (sums_here != sums_there).sum() > 9
    assert everything_visible(here) == everything_visible(there)
    here._raw = sums_here
    there._raw = sums_there
    assert everything_visible(here) != everything_visible(there)  # the comparison sees what is kept


@pytest.mark.filterwarnings("ignore::skdpmic.PrivacyLeakWarning")
@pytest.mark.parametrize("make", KINDS)
def test_nothing_is_as_long_as_the_data_and_no_sum_is_there_without_noise(make, monkeypatch):
    fitted = make(random_state=0).fit(*neighbours()[0])  # a noise of 0 occurs, once in some thousand draws
    for name, value in vars(fitted).items():
        assert np.size(value) <= (D + 1) ** 2, name
    _, sums = fit_with_released_values(make, neighbours()[0], monkeypatch)
    p = len(fitted.noisy_correlation_)
    exact = np.zeros((p, p))
    exact[np.triu_indices(p)] = sums / (N * (N - 1) // 2)
    above = np.triu_indices(p, 1)
    assert (exact[above] != fitted.noisy_correlation_[above]).all()
    assert (exact.diagonal() != fitted.untied_fraction_).all()


# --- Interrupts -----------------------------------------------------------------------------------------------------

CLASSES = (PrivateEstimator, PrivateMatrixEstimator, MatrixPlan, FitPlan, noisy_matrix.KendallRelease)
CLASSES += (PrivateCorrelation, concordance.NoisyConcordances, GraphResultMixin, PrivatePC)


@pytest.mark.parametrize("before", ["new", "fitted"])
@pytest.mark.parametrize("make", [PrivateCorrelation, PrivatePC])
@pytest.mark.combinations
def test_an_estimator_that_is_interrupted_at_any_line_is_as_it_was_or_fitted(make, before):
    X, y = neighbours()[0]

    def prepare():
        return prepared(make() if before == "new" else make().fit(X[:30, :4], y[:30]))

    fitted = make().fit(X, y)
    was_as_before = []
    for interrupted in interrupted_everywhere(
        prepare, lambda interrupted: interrupted.estimator.fit(X, y), [*functions_of(*CLASSES), publish, store]
    ):
        was_as_before.append(interrupted.is_as_before())
        assert was_as_before[-1] or vars(interrupted.estimator).keys() == vars(fitted).keys()
    assert was_as_before == sorted(was_as_before, reverse=True)
    assert was_as_before.count(True) > 20
    assert not was_as_before[-1]


def test_an_interrupt_after_the_charge_loses_the_result_not_the_charge(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    ledger = BudgetLedger(tmp_path / "budget.db", 1.0, delta=1e-5)
    private = PrivateCorrelation(epsilon=0.3, ledger=ledger)
    monkeypatch.setattr(concordance, "discrete_gaussian", interrupt)
    with pytest.raises(KeyboardInterrupt):
        private.fit(neighbours()[0][0])
    assert len(ledger.entries()) == 1
    assert not hasattr(private, "noisy_correlation_")


# --- Never from a cache -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", KINDS)
def test_no_two_hashes_agree_and_copies_have_the_same_attributes(make, tmp_path):
    fitted = make().fit(*neighbours()[0])
    assert len({joblib.hash(fitted) for _ in range(5)}) == 5
    for other in (copy.copy(fitted), copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert repr(vars(other)) == repr(vars(fitted))


# --- Errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [PrivateCorrelation, PrivatePC])
def test_no_traceback_of_bad_data_holds_a_value(make):
    X, y = neighbours()[0]
    bad = X.astype(object)
    bad[3, 2] = "secret"
    try:
        make().fit(bad, y)
    except ValueError:
        error, seen = sys.exc_info()[1], ""
        while error is not None:
            seen += repr(error)
            error = error.__cause__ or error.__context__
    assert "secret" not in seen
    assert "ValueError" in seen
