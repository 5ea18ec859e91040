"""Estimators of a noisy matrix hold only functions of public numbers and of the release.

As in ``test_nothing_raw_remains.py``: two neighbouring tables with different correlations are fitted, with noise that
makes their releases equal. Everything else must then be equal, too, byte for byte.
"""

import pickle
import re

import numpy as np
import pytest

from skdpmic._utils import private_estimator as uncached
from skdpmic._utils.private_estimator import PrivateEstimator
from skdpmic.causal import PrivatePC
from skdpmic.correlation import PrivateCorrelation
from skdpmic.correlation import private_correlation as matrix_release
from skdpmic.correlation.private_correlation import MatrixPlan, PrivateMatrixEstimator
from skdpmic.release.path import FitPlan, run, store
from tests._utils.test_rollback import functions_of, interrupted_everywhere, prepared

N, D = 60, 5
KINDS = [PrivateCorrelation, PrivatePC]


def neighbours():
    here = np.random.default_rng(0).random((N, D))
    there = here.copy()
    there[7] = 1 - here[7]
    return here, there


def fit_with_fixed_release(make, table, monkeypatch):
    """A fit whose release is the same for any table: the noise is the difference from the exact sums."""
    released = np.random.default_rng(1).integers(-900, 900, size=100)
    sums = []
    compute = matrix_release.concordances

    def recording(*arguments):
        sums.append(compute(*arguments))
        return sums[-1]

    with monkeypatch.context() as patch:
        patch.setattr(matrix_release, "concordances", recording)
        patch.setattr(matrix_release, "discrete_gaussian", lambda sigma2, size, source: released[:size] - sums[-1])
        fitted = make().fit(table)
    return fitted, sums[-1]


def everything_visible(estimator):
    getattr(estimator, "cpdag_", None)  # computed on first access
    vars(estimator).pop("_tests", None)  # functions of the release, never pickled
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
        fit_with_fixed_release(make, table, monkeypatch) for table in neighbours()
    )
    assert (sums_here != sums_there).sum() > 9
    assert everything_visible(here) == everything_visible(there)
    here._raw = sums_here
    there._raw = sums_there
    assert everything_visible(here) != everything_visible(there)  # the comparison detects raw sums


# --- Interrupts -----------------------------------------------------------------------------------------------------

CLASSES = (PrivateEstimator, PrivateMatrixEstimator, MatrixPlan, FitPlan, matrix_release.KendallRelease)
CLASSES += (PrivateCorrelation, matrix_release.NoisyConcordances, PrivatePC)


@pytest.mark.slow
@pytest.mark.parametrize("before", ["new", "fitted"])
@pytest.mark.parametrize("make", [PrivateCorrelation, PrivatePC])
@pytest.mark.combinations
def test_an_estimator_interrupted_at_any_line_is_unchanged_or_fitted(make, before):
    X = neighbours()[0]

    def prepare():
        return prepared(make() if before == "new" else make().fit(X[:30, :4]))

    fitted = make().fit(X)
    was_as_before = []
    for interrupted in interrupted_everywhere(
        prepare, lambda interrupted: interrupted.estimator.fit(X), [*functions_of(*CLASSES), run, store]
    ):
        was_as_before.append(interrupted.is_as_before())
        assert was_as_before[-1] or vars(interrupted.estimator).keys() == vars(fitted).keys()
    assert was_as_before == sorted(was_as_before, reverse=True)
    assert was_as_before.count(True) > 20
    assert not was_as_before[-1]
