"""What users learn about a release from missing attributes, warnings and the repr."""

from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skdpmic import DPMICScorer, DPMICSelector, PrivateSelectKBest
from tests.select_names import SelectNames

RNG = np.random.default_rng(0)
X, Y = RNG.random((50, 4)), RNG.random(50)
PUBLIC = {"bounds": (0, 1), "target_bounds": (0, 1), "epsilon": 50.0}


def test_more_features_than_were_published_are_refused():
    selector = SelectNames(k=2, **PUBLIC).fit(X, Y)
    assert selector.get_support().sum() == 2
    assert selector.set_params(k=1).get_support().sum() == 1
    for k in (3, "all"):
        selector.set_params(k=k)
        for ask in (selector.get_support, lambda: selector.transform(X), selector.get_feature_names_out):
            with pytest.raises(ValueError, match=f"k must be at most 2, .*whose names were published, got {k!r}"):
                ask()
    assert DPMICSelector(k=2, **PUBLIC).fit(X, Y).set_params(k=3).get_support().sum() == 3


@pytest.mark.parametrize("kind", [DPMICScorer, DPMICSelector])
def test_counted_chunks_must_be_published_first(kind):
    estimator = kind(**PUBLIC)
    with pytest.raises(NotFittedError, match=r"is not fitted yet. Call 'fit'"):
        estimator.transform(X)
    estimator.partial_fit(X, Y)
    for ask in (lambda: estimator.transform(X), estimator.scores_interval, estimator.p_values):
        with pytest.raises(NotFittedError, match=r"has counted records that are not published yet. Call 'publish'"):
            ask()


@pytest.mark.filterwarnings("error", "ignore:noise will exceed the signal:UserWarning")
@pytest.mark.parametrize("delta, warned", [(0.019, False), (0.021, True)])
@pytest.mark.parametrize("kind", [partial(DPMICSelector, mechanism="gaussian"), PrivateSelectKBest])
def test_a_delta_that_covers_a_whole_person_gives_a_warning(delta, warned, kind):
    selector = kind(k=1, delta=delta, **PUBLIC)
    if not warned:
        selector.fit(X, Y)
        return
    with pytest.warns(UserWarning, match=r"delta=0.021 is above 1 / n = 0.02 for n = 50"):
        selector.fit(X, Y)
